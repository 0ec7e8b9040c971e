#!/usr/bin/env python3
"""Stands in for a python with torch, triton and a GPU, so that a whole run on a Liger checkout takes seconds: it answers hone's
scripts by their names, and every time in its answers is made up. For kill_liger, which looks at what a kill leaves on the
disk; nothing measured with it says anything about a kernel.
"""

import hashlib
import json
import os
import random
import sys
import time

CHECKOUT = os.environ["PLAYED_CHECKOUT"]
VERSIONS = {"torch": "2.11.0", "triton": "3.6.0", "numpy": "2.5.0", "pytest": "9.0.0", "transformers": "5.0.0"}
DEVICE = {
    "kind": "cuda",
    "name": "played GPU",
    "measurable": True,
    "compute_capability": "9.0",
    "sm_count": 132,
    "total_memory_bytes": 1 << 37,
    "l2_bytes": 50 << 20,
    "shared_memory_per_block_bytes": 232448,
    "registers_per_sm": 65536,
    "max_threads_per_sm": 2048,
    "driver": "played",
    "clock_mhz": 1980,
}


def say(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def inspect():
    package = os.path.join(CHECKOUT, "src/liger_kernel/__init__.py")
    report = dict(VERSIONS, python="3.12.3", executable=sys.argv[0], installed="", imported=os.path.realpath(package))
    report.update({"cuda_devices": 1, "cuda_error": "", "cuda": "13.0", "device_names": [DEVICE["name"]]})
    print(json.dumps(report))


class Worker:
    def __init__(self, request):
        self.original = os.path.join(request["source"], request["module"].replace(".", "/") + ".py")
        self.texts = {}

    def start(self, request):
        return {"device": DEVICE, "torch": "2.11.0", "triton": "3.6.0", "python": "3.12.3", "origin": os.path.realpath(self.original)}

    def load(self, request):
        with open(request.get("file") or self.original, encoding="utf-8") as file:
            self.texts[request["name"]] = "" if request["name"] == "formula" else file.read()
        return {}

    def unload(self, request):
        return {}

    def factor(self, request, mode):
        """The same text takes the same time; the original takes 1, a variant 0.7 to 1.1."""
        if request["name"] in ("v0", "formula"):
            return 1.0 if request["name"] == "v0" else 3.0
        key = self.texts[request["name"]] + mode + str(request["shape"]["columns"])
        return 0.7 + 0.4 * int(hashlib.sha256(key.encode()).hexdigest()[:6], 16) / 0xFFFFFF

    def one_sample(self, request, mode):
        base = request["shape"]["rows"] * request["shape"]["columns"] * {"forward": 4, "backward": 6, "full": 10}[mode] / 2e3
        return base * self.factor(request, mode) * random.gauss(1, 0.002)

    def sample(self, request):
        ns = self.one_sample(request, request["mode"])
        return {"device_ns": ns, "wall_ns": ns + 20_000, "clock_mhz": 1980, "outside_ns": 10_000, "blocked": False}

    def parts(self, request):
        ns = self.one_sample(request, request["mode"])
        return {"device_ns": ns, "kernels": [{"name": "_kernel_" + request["mode"], "device_ns": 0.9 * ns}]}

    def build(self, request):
        text = self.texts[request["name"]] + request["mode"] + json.dumps(request["shape"])
        code = hashlib.sha256(text.encode()).hexdigest()
        kernel = {"name": "_kernel", "code_hash": code, "grid": [132, 1, 1], "num_warps": 8, "num_stages": 3, "registers": 64}
        return {"operations": "", "kernels": [dict(kernel, spills=0, shared_bytes=1024, code_bytes=4096)]}

    def ahead(self, request):
        return {"kernels": 0, "finished": True}

    def memory(self, request):
        return {"peak_bytes": 1e8, "saved_bytes": 1e6, "input_bytes": 2e8}

    def check(self, request):
        deviation = {"elements": 64, "non_finite": 0, "worst_error": 1e-7, "norm_error": 1e-7, "largest_reference": 1.0}
        tensor = {"name": "output 0", "dtype": "float32", "same_form": True, "repeats": True, "identical": True}
        tensor.update(original=deviation, candidate=deviation)
        return {"original_refused": "", "candidate_refused": "", "changed_inputs": [], "disturbed": [], "missing": [], "tensors": [tensor]}

    def ceilings(self, request):
        rates = {"copy_bytes_per_s": 4e12, "read_bytes_per_s": 4e12, "write_bytes_per_s": 4e12, "fma_flops_per_s": 5e13}
        rates.update(matrix_bf16_flops_per_s=8e14, matrix_fp16_flops_per_s=8e14, launch_latency_ns=3000)
        return {"samples": {name: [value] * 5 for name, value in rates.items()}}


def work():
    worker = None
    for line in sys.stdin:
        request = json.loads(line)
        if request["do"] == "start":
            worker = Worker(request)
        say(dict(getattr(worker, request["do"])(request), id=request["id"]))


def tests():
    while line := sys.stdin.readline():
        request = json.loads(line)
        listed = [{"id": f"test_it[{n}]", "function": "test_it", "parameters": {}, "marks": []} for n in range(4)]
        say({"collected": listed})
        chosen = json.loads(sys.stdin.readline())
        time.sleep(0.1)
        results = [{"id": name, "outcome": "passed", "seconds": 0.1, "message": ""} for name in chosen["run"]]
        say({"results": results, "package": request["overlay"] + "/liger_kernel/__init__.py"})


def main():
    name = next(os.path.basename(a) for a in sys.argv[1:] if a.endswith(".py"))
    {"hone_inspect.py": inspect, "hone_worker.py": work, "hone_tests.py": tests, "hone_benchmark.py": lambda: None}[name]()


if __name__ == "__main__":
    main()
