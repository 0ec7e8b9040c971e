"""What this python has for running the kernels of a package, as one JSON object; imports nothing it does not report on.

usage: hone_inspect.py FOLDER PACKAGE: the package as it is found by itself, and with the folder in front.
"""

import importlib.metadata
import importlib.util
import json
import os
import sys


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def location_of(package):
    try:
        found = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return ""
    return os.path.realpath(found.origin) if found is not None and found.origin else ""


def inspect(source, name):
    # An installed package, as a user's `import` would find it, before the folder is put in front.
    report = {"python": sys.version.split()[0], "executable": sys.executable, "installed": location_of(name)}
    for package in ("torch", "triton", "numpy", "pytest", "transformers", "pytest-rerunfailures"):
        report[package] = version_of(package)
    sys.path.insert(0, source)
    report["imported"] = location_of(name)
    report["cuda_devices"], report["cuda_error"] = 0, ""
    if report["torch"]:
        try:
            import torch

            report["cuda"] = torch.version.cuda or ""
            report["cuda_devices"] = torch.cuda.device_count() if torch.cuda.is_available() else 0
            report["device_names"] = [torch.cuda.get_device_name(i) for i in range(report["cuda_devices"])]
        except Exception as error:
            report["cuda_error"] = f"{type(error).__name__}: {error}"
    return report


if __name__ == "__main__":
    print(json.dumps(inspect(sys.argv[1], sys.argv[2])))
