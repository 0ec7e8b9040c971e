"""Runs an operation's own tests for hone, with changed files of the package in front of the tree's own.

usage: hone_tests.py DEVICE. What takes long to import is imported once: what is known beforehand, and what a run turned out to
import from outside of the tree, before the next. Each request is answered by a fork, so that nothing of one run is left
for the next. The package is copied with the changes into a folder of hone's own and found there first,
also by processes that the tests spawn; the tree is only read. One answer lists what was collected, the caller names what
to run, a second answer tells the outcome of each test.
"""

import importlib
import json
import os
import shutil
import signal
import sys
import time
import traceback

# pytest puts other files in the place of the standard ones while it runs.
_REQUESTS = os.fdopen(os.dup(0), "r")
_ANSWERS = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
sys.stdout = sys.stderr


def answer(message):
    _ANSWERS.write(json.dumps(message) + "\n")
    _ANSWERS.flush()


def make_overlay(request, folder):
    """A copy of the package below `folder` with the changed files; returns the import path to put first."""
    shutil.rmtree(folder, ignore_errors=True)
    imports, name = request["import_root"], request["package"]
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(os.path.join(request["root"], imports, name), os.path.join(folder, name), ignore=ignore)
    for change in request["changes"]:
        target = os.path.join(folder, os.path.relpath(change["file"], imports))
        with open(target, "w", encoding="utf-8", newline="") as out:
            out.write(change["content"])
    return folder


class TooLong(Exception):
    """A test that ran into its time limit."""


def value_text(value):
    return getattr(value, "__name__", None) or str(value)


class Plugin:
    def __init__(self, request, lines):
        self.request, self.lines = request, lines
        self.results = {}
        self.items = {}
        self.end = None

    def pytest_collection_modifyitems(self, session, config, items):
        listed = []
        for item in items:
            specification = getattr(item, "callspec", None)
            parameters = {}
            if specification is not None:
                parameters = {name: value_text(value) for name, value in specification.params.items()}
            marks = sorted({mark.name for mark in item.iter_markers()})
            listed.append({"id": item.nodeid, "function": item.originalname or item.name, "parameters": parameters, "marks": marks})
            self.items[item.nodeid] = item
        answer({"collected": listed})
        tell_what_was_imported(self.request)
        chosen = json.loads(self.lines.readline())
        self.limit, total = chosen["seconds_each"], chosen["seconds"]
        self.end = time.monotonic() + total
        place = {name: number for number, name in enumerate(chosen["run"])}
        items[:] = sorted((item for item in items if item.nodeid in place), key=lambda item: place[item.nodeid])

    def pytest_runtest_protocol(self, item, nextitem):
        if time.monotonic() > self.end:
            self.results[item.nodeid] = {"id": item.nodeid, "outcome": "not run", "seconds": 0, "message": "the time for all tests was over"}
            return True
        return None

    def pytest_runtest_setup(self, item):
        left = max(0.1, min(self.limit, self.end - time.monotonic()))
        signal.setitimer(signal.ITIMER_REAL, left)

    def pytest_runtest_teardown(self, item):
        signal.setitimer(signal.ITIMER_REAL, 0)

    def pytest_runtest_logreport(self, report):
        signal.setitimer(signal.ITIMER_REAL, 0) if report.when == "teardown" else None
        entry = self.results.setdefault(report.nodeid, {"id": report.nodeid, "outcome": "passed", "seconds": 0, "message": ""})
        entry["seconds"] += report.duration
        if report.outcome == "passed":
            return
        if report.outcome == "skipped":
            entry["outcome"] = "expected failure" if hasattr(report, "wasxfail") else "skipped"
        elif "TooLong" in (report.longreprtext or ""):
            entry["outcome"] = "timed out"
        else:
            entry["outcome"] = "failed"
        lines = [line for line in (report.longreprtext or "").splitlines() if line.strip()]
        marked = [line for line in lines if line.startswith("E ")]
        entry["message"] = (marked or lines or [""])[0][:500] if entry["outcome"] != "skipped" else (lines or [""])[-1][:300]


def end_children():
    import multiprocessing

    for child in multiprocessing.active_children():
        child.kill()


def run(request):
    root = request["root"]
    folder = make_overlay(request, request["overlay"])
    source = [folder]
    os.environ["PYTHONPATH"] = os.pathsep.join(source + [root] + [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p])
    sys.path[:0] = source + [root]
    if request["device"] == "cpu":
        import hone_interpreter

        hone_interpreter.install()
    os.chdir(root)

    def too_long(number, frame):
        end_children()
        raise TooLong("longer than the test's time limit")

    signal.signal(signal.SIGALRM, too_long)
    import pytest

    plugin = Plugin(request, _REQUESTS)
    arguments = [request["test_file"], "-p", "no:cacheprovider", "-q", "--disable-warnings", "--rootdir", root]
    # The tree's own setting would put its sources in front again.
    arguments += ["-o", f"pythonpath={folder}"]
    code = pytest.main(arguments, plugins=[plugin])
    package = importlib.import_module(request["package"])

    if plugin.end is None:
        answer({"error": f"pytest collected nothing: exit status {int(code)}"})
        return
    answer({"results": list(plugin.results.values()), "package": os.path.realpath(package.__file__)})
    end_children()


def import_what_tests_need():
    """The long imports that do not touch the device; one that is not there is the tests' matter."""
    for name in ("torch", "triton", "pytest", "transformers"):
        try:
            importlib.import_module(name)
        except Exception as error:
            print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)


def imported_elsewhere(own_folders):
    """The modules of this process that are not the tree's or its copy's."""
    names = []
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        if isinstance(file, str) and name != "__main__" and not any(file.startswith(folder + os.sep) for folder in own_folders):
            names.append(name)
    return names


def needed_file(request):
    return request["overlay"] + ".modules.json"


def tell_what_was_imported(request):
    """To the process that forked this one, which then waits for the tests and has nothing else to do."""
    own = [os.path.realpath(request["root"]), request["root"], request["overlay"]]
    path = needed_file(request)
    with open(path + ".new", "w", encoding="utf-8") as out:
        json.dump(imported_elsewhere(own), out)
    os.replace(path + ".new", path)


def wait_and_learn(child, request):
    """The child's status; while its tests run, what it imported is imported here, so that the next one finds it. Nothing depends
    on that: a module that can not be imported here is imported, or fails, where a test asks for it."""
    learned = False
    while True:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended != 0:
            return status
        if not learned and os.path.exists(needed_file(request)):
            learned = True
            with open(needed_file(request), encoding="utf-8") as listed:
                import_all(json.load(listed))
        time.sleep(0.02)


def import_all(names):
    for name in names:
        if name not in sys.modules:
            try:
                importlib.import_module(name)
            except BaseException as error:
                print(f"{name}: {type(error).__name__}: {error}", file=sys.stderr)


def device_is_lost():
    """Whether an import has opened the device already: a fork can not use it then."""
    torch = sys.modules.get("torch")
    return torch is not None and torch.cuda._is_in_bad_fork()


def start_anew(device, request):
    path = request["overlay"] + ".json"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as out:
        json.dump(request, out)
    os.dup2(_ANSWERS.fileno(), 1)
    os.execv(sys.executable, [sys.executable, "-u", os.path.abspath(__file__), device, path])


def serve(device):
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    os.environ["PYTORCH_NVML_BASED_CUDA_CHECK"] = "1"  # looking for a device must not open it here
    if device == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"
    import_what_tests_need()
    while True:
        line = _REQUESTS.readline()
        if not line:
            os._exit(0)  # nothing is left to write, and taking torch down takes seconds
        request = json.loads(line)
        if os.path.exists(needed_file(request)):
            os.remove(needed_file(request))  # of an earlier run
        child = os.fork()
        if child == 0:
            try:
                if device != "cpu" and device_is_lost():
                    start_anew(device, request)
                run(request)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
            # A process group that a test left behind goes with this process.
            os._exit(0)
        status = wait_and_learn(child, request)
        if status != 0:
            code = os.waitstatus_to_exitcode(status)
            answer({"error": f"ended by signal {-code}" if code < 0 else f"ended with exit status {code}"})


if __name__ == "__main__":
    sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            run(json.load(file))
        os._exit(0)
    serve(sys.argv[1])
