"""Runs an operation's own tests in this process for hone, with changed files of the package in front of the checkout's.

The package is copied with the changes into a folder of hone's own and found there first, also by processes that the tests
spawn; the checkout is only read. One answer lists what was collected, the caller names what to run, a second answer tells
the outcome of each test.
"""

import json
import os
import shutil
import signal
import sys
import time

# pytest puts other files in the place of the standard ones while it runs.
_REQUESTS = os.fdopen(os.dup(0), "r")
_ANSWERS = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
sys.stdout = sys.stderr


def answer(message):
    _ANSWERS.write(json.dumps(message) + "\n")
    _ANSWERS.flush()


def make_overlay(checkout, folder, changes):
    """A copy of src/liger_kernel below `folder` with the changed files; returns the import path to put first."""
    shutil.rmtree(folder, ignore_errors=True)
    ignore = shutil.ignore_patterns("__pycache__", "*.pyc")
    shutil.copytree(os.path.join(checkout, "src", "liger_kernel"), os.path.join(folder, "liger_kernel"), ignore=ignore)
    for change in changes:
        target = os.path.join(folder, os.path.relpath(change["file"], "src"))
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
        chosen = json.loads(self.lines.readline())
        self.limit, total = chosen["seconds_each"], chosen["seconds"]
        self.end = time.monotonic() + total
        wanted = set(chosen["run"])
        items[:] = [item for item in items if item.nodeid in wanted]

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


def main():
    request = json.loads(_REQUESTS.readline())
    checkout = request["checkout"]
    folder = make_overlay(checkout, request["overlay"], request["changes"])
    source = [folder]
    os.environ["PYTHONPATH"] = os.pathsep.join(source + [checkout] + [p for p in os.environ.get("PYTHONPATH", "").split(os.pathsep) if p])
    os.environ["PYTHONDONTWRITEBYTECODE"] = "1"
    sys.dont_write_bytecode = True
    scripts = os.path.dirname(os.path.abspath(__file__))
    sys.path[:0] = source + [checkout, scripts]
    if request["device"] == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"
        import hone_interpreter

        hone_interpreter.install()
    os.chdir(checkout)

    def too_long(number, frame):
        end_children()
        raise TooLong("longer than the test's time limit")

    signal.signal(signal.SIGALRM, too_long)
    import pytest

    plugin = Plugin(request, _REQUESTS)
    arguments = [request["test_file"], "-p", "no:cacheprovider", "-q", "--disable-warnings", "--rootdir", checkout]
    # The checkout's own setting would put its src in front again.
    arguments += ["-o", f"pythonpath={folder}"]
    code = pytest.main(arguments, plugins=[plugin])
    import liger_kernel

    if plugin.end is None:
        answer({"error": f"pytest collected nothing: exit status {int(code)}"})
        return
    answer({"results": list(plugin.results.values()), "package": os.path.realpath(liger_kernel.__file__)})
    end_children()
    # A process group that a test left behind goes with this process.
    os._exit(0)


if __name__ == "__main__":
    main()
