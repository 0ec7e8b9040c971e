"""What the worker asks of the machine: clocks, device time with the launch latency hidden, cold caches, ceilings.

Everything that measures is bound here at import, before any kernel under test is loaded, so that what a variant does to
torch or time can not reach it; `tampered` says whether it tried.
"""

import ctypes
import math
import statistics
import threading
import time

import torch

_now = time.perf_counter_ns
_Event = getattr(torch.cuda, "Event", None)
_device_synchronize = torch.cuda.synchronize
_sleep = getattr(torch.cuda, "_sleep", None)
_amax = torch.amax

_WATCHED = {
    "time.perf_counter_ns": (time, "perf_counter_ns"),
    "torch.cuda.Event": (torch.cuda, "Event"),
    "torch.cuda.synchronize": (torch.cuda, "synchronize"),
    "torch.cuda.current_stream": (torch.cuda, "current_stream"),
    "torch.cuda.memory_allocated": (torch.cuda, "memory_allocated"),
    "torch.cuda.max_memory_allocated": (torch.cuda, "max_memory_allocated"),
    "torch.autograd.grad": (torch.autograd, "grad"),
    "torch.empty": (torch, "empty"),
    "torch.Tensor.copy_": (torch.Tensor, "copy_"),
}
_KEPT = {name: getattr(owner, attribute, None) for name, (owner, attribute) in _WATCHED.items()}


# Longer than this a device that has nothing to do does not take to say so; the host may, when it is interrupted.
LATE_NS = 500_000


class State:
    """What a kernel must leave as it was: functions, threads, the current stream, autograd and number defaults."""

    def __init__(self, device):
        self.threads = set(threading.enumerate())
        self.stream = torch.cuda.current_stream() if device.type == "cuda" else None
        self.settings = self._settings()

    @staticmethod
    def _settings():
        return (
            torch.is_grad_enabled(),
            torch.get_default_dtype(),
            torch.are_deterministic_algorithms_enabled(),
            torch.backends.cuda.matmul.allow_tf32,
            torch.is_anomaly_enabled(),
        )

    def tampered(self):
        found = [name for name, (owner, attribute) in _WATCHED.items() if getattr(owner, attribute, None) is not _KEPT[name]]
        if self.stream is not None and torch.cuda.current_stream() != self.stream:
            found.append("the current stream")
        if self._settings() != self.settings:
            found.append("torch's global settings")
        # Threads that torch's own backward starts are not Python threads; one left running is the kernel's.
        left = [t.name for t in threading.enumerate() if t not in self.threads and t.is_alive()]
        if left:
            found.append("threads left running: " + ", ".join(left))
        return found


class Nvml:
    """The SM clock, asked of the driver's library directly; 0 where it does not answer."""

    def __init__(self):
        self._handle = None
        try:
            self._library = ctypes.CDLL("libnvidia-ml.so.1")
            handle = ctypes.c_void_p()
            bus = torch.cuda.get_device_properties(torch.cuda.current_device())
            pci = f"{bus.pci_domain_id:08x}:{bus.pci_bus_id:02x}:{bus.pci_device_id:02x}.0"
            if self._library.nvmlInit_v2() == 0 and (
                self._library.nvmlDeviceGetHandleByPciBusId_v2(pci.encode(), ctypes.byref(handle)) == 0
                or self._library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(handle)) == 0
            ):
                self._handle = handle
        except (OSError, AttributeError):
            pass

    def sm_clock_mhz(self):
        if self._handle is None:
            return 0
        value = ctypes.c_uint()
        return value.value if self._library.nvmlDeviceGetClockInfo(self._handle, 1, ctypes.byref(value)) == 0 else 0

    def driver(self):
        if self._handle is None:
            return ""
        text = ctypes.create_string_buffer(96)
        return text.value.decode() if self._library.nvmlSystemGetDriverVersion(text, 96) == 0 else ""


class CpuMachine:
    """Triton's interpreter: kernels run, and no time is a measurement of them."""

    def __init__(self):
        self.device = torch.device("cpu")

    def info(self):
        return {"kind": "interpreter", "name": "Triton's interpreter on the CPU", "measurable": False}

    def time(self, prepare):
        call = prepare()
        start = _now()
        kept = call()
        wall = _now() - start
        del kept
        return {"device_ns": float(wall), "wall_ns": float(wall), "clock_mhz": 0.0, "outside_ns": 0.0, "blocked": False}

    def time_parts(self, prepare, marked, samples):
        raise NotImplementedError("the interpreter has no time of a kernel")

    def synchronize(self):
        pass


class CudaMachine:
    """Device times by events. A spinning kernel in front keeps the device busy until every launch is queued, so gaps of
    the host do not count; before each run the last-level cache is filled with other data by reading it."""

    def __init__(self, index):
        torch.cuda.set_device(index)
        self.device = torch.device("cuda", index)
        self.properties = torch.cuda.get_device_properties(index)
        self.nvml = Nvml()
        # Reading empties the cache of everything else and leaves no line to be written back during the timed pass.
        words = max(2 * self.properties.L2_cache_size, 64 << 20) // 4
        self._flush = torch.zeros(words, dtype=torch.int32, device=self.device)
        self._flushed = torch.empty((), dtype=torch.int32, device=self.device)
        self._start, self._end = _Event(enable_timing=True), _Event(enable_timing=True)
        self._cycles_per_ns = self._calibrate()
        self._enqueue_ns = 200_000

    def _calibrate(self):
        _sleep(1000)
        _device_synchronize()
        cycles = 4_000_000
        self._start.record()
        _sleep(cycles)
        self._end.record()
        self._end.synchronize()
        return cycles / (self._start.elapsed_time(self._end) * 1e6)

    def info(self):
        p = self.properties
        return {
            "kind": "cuda",
            "name": p.name,
            "measurable": True,
            "compute_capability": f"{p.major}.{p.minor}",
            "sm_count": p.multi_processor_count,
            "total_memory_bytes": p.total_memory,
            "l2_bytes": p.L2_cache_size,
            "shared_memory_per_block_bytes": getattr(p, "shared_memory_per_block_optin", 0),
            "registers_per_sm": getattr(p, "regs_per_multiprocessor", 65536),
            "max_threads_per_sm": p.max_threads_per_multi_processor,
            "driver": self.nvml.driver(),
            "clock_mhz": self.nvml.sm_clock_mhz(),
        }

    def synchronize(self):
        _device_synchronize()

    def _queued(self, call):
        _amax(self._flush, 0, out=self._flushed)
        _sleep(int(self._cycles_per_ns * (1.5 * self._enqueue_ns + 30_000)))
        begin = _now()
        self._start.record()
        kept = call()
        self._end.record()
        queueing = _now() - begin
        # Still spinning when everything was queued? Otherwise gaps of the host are in the time.
        blocked = self._start.query()
        self._end.synchronize()
        ended = _now()
        _device_synchronize()
        outside = _now() - ended
        del kept
        self._enqueue_ns = max(queueing, int(0.9 * self._enqueue_ns)) if queueing < 8_000_000 else self._enqueue_ns
        return self._start.elapsed_time(self._end) * 1e6, outside, blocked, queueing

    def time(self, prepare):
        """One sample: device time with queued launches, then the caller's wall time of a second, equal run."""
        quiet = math.inf
        for _ in range(3):
            device_ns, outside, blocked, queueing = self._queued(prepare())
            # The wait is the host's: one that was only late is not late again, work on another stream is there each time.
            quiet = min(quiet, outside)
            if not blocked and quiet < LATE_NS:
                break
            # The spin was too short for this call: once more with room. A call that waits for the device stays blocked.
            if blocked:
                self._enqueue_ns = min(2 * max(queueing, self._enqueue_ns), 8_000_000)
        clock = self.nvml.sm_clock_mhz()
        call = prepare()
        _amax(self._flush, 0, out=self._flushed)
        _device_synchronize()
        begin = _now()
        kept = call()
        _device_synchronize()
        wall = _now() - begin
        del kept
        return {
            "device_ns": device_ns,
            "wall_ns": float(wall),
            "clock_mhz": float(clock),
            "outside_ns": float(quiet),
            "blocked": bool(blocked),
        }

    def time_parts(self, prepare, marked, samples):
        """Medians of a pass's device time and of each kernel's share in it, by events around its launches. The events cost
        about a microsecond each, so the pass is a little longer here than where it is timed as a whole."""
        passes, kernels = [], {}
        for _ in range(samples):
            call = prepare()
            self._flush.zero_()
            _sleep(int(self._cycles_per_ns * (2 * self._enqueue_ns + 100_000)))
            with marked(lambda: _Event(enable_timing=True)) as seen:
                self._start.record()
                kept = call()
                self._end.record()
            self._end.synchronize()
            del kept
            passes.append(self._start.elapsed_time(self._end) * 1e6)
            own = {}
            for name, before, after in seen.marks:
                own[name] = own.get(name, 0.0) + before.elapsed_time(after) * 1e6
            for name, ns in own.items():
                kernels.setdefault(name, []).append(ns)
        _device_synchronize()
        return {
            "device_ns": statistics.median(passes),
            "kernels": [{"name": name, "device_ns": statistics.median(times)} for name, times in kernels.items()],
        }

    def plain_time_ns(self, run, samples, flush=True):
        times = []
        for _ in range(samples):
            if flush:
                _amax(self._flush, 0, out=self._flushed)
            _sleep(int(self._cycles_per_ns * 100_000))
            self._start.record()
            run()
            self._end.record()
            self._end.synchronize()
            times.append(self._start.elapsed_time(self._end) * 1e6)
        return times

    def ceilings(self, quick):
        """Bandwidths in bytes/s and rates in FLOP/s, as samples by name: PyTorch's own copy, fill, sum and matmul."""
        samples = 8 if quick else 20
        count = 1 << 30 if self.properties.total_memory > 16 << 30 else 1 << 28
        a = torch.empty(count, dtype=torch.uint8, device=self.device).random_(0, 255)
        b = torch.empty_like(a)
        found = {}

        def rate(name, amount, run, n=samples):
            for _ in range(3):
                run()
            found[name] = [amount / (ns * 1e-9) for ns in self.plain_time_ns(run, n)]

        rate("copy_bytes_per_s", 2.0 * count, lambda: b.copy_(a))
        rate("write_bytes_per_s", 1.0 * count, lambda: b.fill_(1))
        words = a.view(torch.int32)
        rate("read_bytes_per_s", 1.0 * count, lambda: torch.max(words))
        del a, b, words
        for name, dtype, n in (
            ("matrix_bf16_flops_per_s", torch.bfloat16, 8192),
            ("matrix_fp16_flops_per_s", torch.float16, 8192),
            ("fma_flops_per_s", torch.float32, 4096),
        ):
            x = torch.randn(n, n, device=self.device, dtype=torch.float32).to(dtype)
            y = torch.randn(n, n, device=self.device, dtype=torch.float32).to(dtype)
            out = torch.empty(n, n, device=self.device, dtype=dtype)
            rate(name, 2.0 * n**3, lambda: torch.mm(x, y, out=out), max(4, samples // 2))
            del x, y, out
        one = torch.zeros(1, device=self.device)
        launch = self.plain_time_ns(lambda: one.add_(1), samples, flush=False)
        found["launch_latency_ns"] = launch
        torch.cuda.empty_cache()
        return found


def machine_for(device):
    if device == "cpu":
        return CpuMachine()
    return CudaMachine(int(device.split(":")[1]) if ":" in device else 0)
