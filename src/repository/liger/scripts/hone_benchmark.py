"""Runs a benchmark script of a checkout as it stands, on a copy of benchmark/, so that the checkout's results stay.

usage: hone_benchmark.py CHECKOUT FOLDER SCRIPT [ARGUMENTS...]. The copy's all_benchmark_data.csv holds what was measured,
also when the script is ended half way.
"""

import os
import re
import runpy
import shutil
import sys

checkout, folder, script = sys.argv[1:4]
shutil.rmtree(folder, ignore_errors=True)
scripts = os.path.join(folder, "benchmark", "scripts")
shutil.copytree(os.path.join(checkout, "benchmark", "scripts"), scripts, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))
os.makedirs(os.path.join(folder, "benchmark", "data"))
data = os.path.join(checkout, "benchmark", "data", "all_benchmark_data.csv")
if os.path.exists(data):
    with open(data) as source, open(os.path.join(folder, "benchmark", "data", "all_benchmark_data.csv"), "w") as copy:
        copy.write(source.readline())  # the header alone: rows of other GPUs and days are not mixed in

sys.path[:0] = [os.path.join(checkout, "src"), scripts]
try:
    import importlib.metadata

    importlib.metadata.version("liger-kernel")
except importlib.metadata.PackageNotFoundError:
    # The scripts ask the installed package for its version; the checkout's own stands in where none is installed.
    with open(os.path.join(checkout, "pyproject.toml")) as project:
        found = re.search(r'^version\s*=\s*"([^"]+)"', project.read(), re.M)
    information = os.path.join(folder, "liger_kernel-0.dist-info")
    os.makedirs(information, exist_ok=True)
    with open(os.path.join(information, "METADATA"), "w") as out:
        out.write(f"Metadata-Version: 2.1\nName: liger-kernel\nVersion: {found.group(1) if found else '0'}\n")
    sys.path.append(folder)
os.chdir(scripts)
sys.argv = [script] + sys.argv[4:]
runpy.run_path(os.path.join(scripts, script), run_name="__main__")
