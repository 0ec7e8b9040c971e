"""Compiles the kernels of many implementations on all cores before they are built one by one.

A pass is run without its launches: Triton is asked for each kernel as a launch would ask, what it would compile is noted,
and child processes compile it into Triton's cache on the disk, where the build then finds it. The children are forks that
make no call to the device. Nothing depends on this: what is not compiled here is compiled by the build, and what does not
compile fails there with its message.
"""

import os
import signal
import time

import triton

from triton.runtime.jit import JITFunction


def possible():
    return hasattr(os, "fork") and not triton.knobs.runtime.interpret and hasattr(JITFunction, "_do_compile")


class _WithoutLaunches:
    """While entered, no kernel is launched, and what would be compiled is noted in `wanted`."""

    def __init__(self, wanted):
        self.wanted = wanted

    def __enter__(self):
        self._run, self._compile = JITFunction.run, JITFunction._do_compile
        run, wanted = JITFunction.run, self.wanted

        def without_launch(function, *args, grid, warmup, **kwargs):
            return run(function, *args, grid=grid, warmup=True, **kwargs)

        def note(function, key, signature, device, constexprs, options, attrs, warmup):
            what = (function.cache_key, str(signature), str(constexprs), str(attrs), str(options))
            wanted.setdefault(what, (function, key, signature, device, constexprs, options, attrs))

        JITFunction.run, JITFunction._do_compile = without_launch, note

    def __exit__(self, *error):
        JITFunction.run, JITFunction._do_compile = self._run, self._compile


class Ahead:
    def __init__(self):
        self._wanted = {}

    def note(self, call):
        """Notes what this call, ready to run, would compile. One that fails is left to the build."""
        with _WithoutLaunches(self._wanted):
            try:
                call()
            except Exception:
                pass

    def compile(self, processes, seconds):
        """On `processes` cores for at most `seconds`. Returns how many kernels were noted, and whether all children ended."""
        wanted = list(self._wanted.values())
        children = [self._child(wanted[index::processes], seconds) for index in range(min(processes, len(wanted)))]
        end = time.monotonic() + seconds
        while children and time.monotonic() < end:
            children = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
            time.sleep(0.005)
        for child in children:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
        return len(wanted), not children

    @staticmethod
    def _child(share, seconds):
        child = os.fork()
        if child != 0:
            return child
        try:
            signal.alarm(int(seconds) + 1)
            for function, key, signature, device, constexprs, options, attrs in share:
                try:
                    function._do_compile(key, signature, device, constexprs, options, attrs, True)
                except Exception:
                    continue  # the build says why
        finally:
            os._exit(0)
