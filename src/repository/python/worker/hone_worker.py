"""Runs an operator's kernels for hone: one request a line on standard input, one answer a line on standard output.

It decides nothing: what to load, which sizes, how often and what counts as right are the caller's. Only the answers go to
the real standard output; whatever a kernel or a library prints goes to standard error.
"""

import gc
import json
import os
import sys
import threading
import time
import traceback

_ANSWERS = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
sys.stdout = sys.stderr


def answer(message):
    _ANSWERS.write(json.dumps(message, allow_nan=True).replace("NaN", "null").replace("-Infinity", "-1e999").replace("Infinity", "1e999") + "\n")
    _ANSWERS.flush()


def watch_parent():
    """A kernel that hangs does not see the end of standard input: the process also goes when its parent has gone."""
    parent = os.getppid()

    def watch():
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(4)

    threading.Thread(target=watch, daemon=True, name="hone: parent").start()


class Worker:
    def __init__(self, request):
        interpret = request["device"] == "cpu"
        if interpret:
            os.environ["TRITON_INTERPRET"] = "1"
        else:
            os.environ.pop("TRITON_INTERPRET", None)
        sys.path.insert(0, request["source"])
        if interpret:
            import hone_interpreter

            hone_interpreter.install()
        import hone_machine
        import torch

        self.torch = torch
        self.machine = hone_machine.machine_for(request["device"])
        # Everything the formulas need is loaded now, before any variant.
        import hone_ahead
        import hone_binary
        import hone_case
        import hone_numerics
        import hone_operator

        self.hone_ahead, self.hone_binary, self.hone_case, self.hone_numerics = hone_ahead, hone_binary, hone_case, hone_numerics
        self.operator = hone_operator.Operator(request["operator"], request["code"], self.machine.device)
        self.module_name = request["module"]
        if self.module_name:  # none where PyTorch alone is timed
            hone_case.load_module("", self.module_name, "")  # the original first: a variant can not stand in for it
        self.implementations = {}
        self.cases = {}
        watch_parent()
        self.state = hone_machine.State(self.machine.device)

    def start(self):
        import triton

        origin = sys.modules[self.module_name].__file__ if self.module_name else ""
        return {
            "device": self.machine.info(),
            "torch": self.torch.__version__,
            "triton": triton.__version__,
            "python": sys.version.split()[0],
            "origin": os.path.realpath(origin) if origin else "",
        }

    def load(self, request):
        key = request["name"]
        if key.startswith("formula"):
            self.implementations[key] = self.hone_case.Implementation(self.operator)
        else:
            module = self.hone_case.load_module(key, self.module_name, request.get("file", ""))
            self.implementations[key] = self.hone_case.Implementation(self.operator, module)
        return self.checked({})

    def unload(self, request):
        self.implementations.pop(request["name"], None)
        return {}

    def case(self, request):
        key = json.dumps([request["shape"], request["dtype"], request["options"], request["seed"]], sort_keys=True)
        if key not in self.cases:
            while len(self.cases) >= 2:
                self.cases.pop(next(iter(self.cases)))
            self.make_room()
            self.cases[key] = self.hone_case.Case(self.operator, request)
        return self.cases[key]

    def make_room(self):
        """Gives back what reference cycles still hold. Looking for them takes a quarter of a second, which a gate of dozens of
        cases would spend on each, so a device looks only where less than half of its memory is free."""
        if self.machine.device.type == "cuda":
            free, total = self.torch.cuda.mem_get_info()
            if free > total // 2:
                return
        gc.collect()
        if self.machine.device.type == "cuda":
            self.torch.cuda.empty_cache()

    def sample(self, request):
        case, implementation = self.case(request), self.implementations[request["name"]]
        with self.torch.enable_grad():
            found = self.machine.time(lambda: case.prepare(implementation, request["mode"]))
        return self.checked(found)

    def ahead(self, request):
        """Compiles on all cores what builds of these passes will ask for: each item is a case with its `name` and `mode`."""
        if not self.hone_ahead.possible():
            return {"kernels": 0, "finished": False}
        # A backward pass is noted behind a forward pass that really runs, so the kernels of forward come first.
        kernels, finished, end = 0, True, time.monotonic() + request["seconds"]
        for forward in (True, False):
            ahead = self.hone_ahead.Ahead()
            with self.torch.enable_grad():
                for item in request["items"]:
                    if (item["mode"] == "forward") != forward or time.monotonic() > end:
                        continue
                    try:
                        ahead.note(self.case(item).prepare(self.implementations[item["name"]], item["mode"]))
                    except Exception as error:
                        if is_sticky(error):
                            raise
                        # A shape that the operator refuses: the build says why.
            noted, ended = ahead.compile(os.cpu_count() or 1, max(1.0, end - time.monotonic()))
            kernels, finished = kernels + noted, finished and ended
        return self.checked({"kernels": kernels, "finished": finished})

    def parts(self, request):
        """A pass apart into its kernels and the rest, over `samples` runs."""
        case, implementation = self.case(request), self.implementations[request["name"]]
        with self.torch.enable_grad():
            found = self.machine.time_parts(lambda: case.prepare(implementation, request["mode"]), self.hone_binary.Marked, request["samples"])
        return self.checked(found)

    def build(self, request):
        return self.checked(self.hone_binary.build(self.case(request), self.implementations[request["name"]], request["mode"]))

    def memory(self, request):
        torch, case, implementation = self.torch, self.case(request), self.implementations[request["name"]]
        saved = {}

        def pack(tensor):
            storage = tensor.untyped_storage()
            saved[storage.data_ptr()] = storage.nbytes()
            return tensor

        inputs = {t.untyped_storage().data_ptr() for t in case.tensors.values()}
        with torch.enable_grad():
            case.prepare(implementation, "full")()
            call = case.prepare(implementation, "full")
            gc.collect()
            self.machine.synchronize()
            torch.cuda.reset_peak_memory_stats()
            before = torch.cuda.memory_allocated()
            kept = call()
            self.machine.synchronize()
            peak = torch.cuda.max_memory_allocated() - before
            del kept
            case.restore()
            with torch.autograd.graph.saved_tensors_hooks(pack, lambda t: t):
                outputs = case.forward(implementation)
            del outputs
        own = sum(size for pointer, size in saved.items() if pointer not in inputs)
        gradients = sum(g.numel() * g.element_size() for g in case.gradients)
        return {"peak_bytes": peak, "saved_bytes": own, "input_bytes": case.input_bytes + gradients}

    def check(self, request):
        original, candidate = self.implementations[request["original"]], self.implementations[request["name"]]
        found = self.hone_numerics.check(self.case(request), original, candidate)
        if found.get("disturbed"):
            self.cases.clear()
        return self.checked(found)

    def ceilings(self, request):
        self.cases.clear()
        return {"samples": self.machine.ceilings(request.get("quick", False))}

    def checked(self, found):
        self.machine.synchronize()
        tampered = self.state.tampered()
        if tampered:
            found["tampered"] = tampered
        return found


def explain(error):
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    text = "".join(lines).strip().splitlines()
    return {"kind": type(error).__name__, "message": str(error)[:2000], "where": "\n".join(text[-6:])[:2000]}


def is_sticky(error):
    """After these the device context is lost and every later call fails."""
    text = f"{type(error).__name__} {error}".lower()
    return "acceleratorerror" in text or "cuda error" in text or "device-side assert" in text


def serve(lines):
    worker = None
    for line in lines:
        request = json.loads(line)
        reply = {"id": request["id"]}
        try:
            if request["do"] == "start":
                worker = Worker(request)
                reply.update(worker.start())
            elif request["do"] == "stop":
                answer(reply)
                os._exit(0)  # taking down torch and the device one by one takes seconds, and leaves nothing else
            else:
                reply.update(getattr(worker, request["do"])(request))
            answer(reply)
        except KeyboardInterrupt:
            return
        except BaseException as error:
            reply["error"] = explain(error)
            reply["sticky"] = is_sticky(error)
            answer(reply)
            if reply["sticky"] or isinstance(error, SystemExit):
                os._exit(3)
            # A traceback holds the frames, and those hold tensors.
            del error
            gc.collect()


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    serve(sys.stdin)
