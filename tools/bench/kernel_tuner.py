#!/usr/bin/env python3
"""hone's sweep beside Kernel Tuner (PyPI kernel-tuner, its C backend) on one kernel text and one space of settings.

  ./dev bench kernel_tuner [--quick] [--write]

The kernel is rms_norm forward, fp32, 4096 rows of 4096 columns, cold caches, on all cores. Kernel Tuner compiles the same
header with the same flags; its function runs the kernel once on pinned threads after the caches were flushed and returns the
time. Its default strategy, brute force, times every configuration and its recording then answers for its other strategies (its
simulation mode): each gets as many evaluations as hone timed, with 20 seeds, and as many as it likes by default. hone profiles
and sweeps for real. At the end all picks are timed anew, interleaved, and compared with the pick of brute force: only these
figures decide, since the luckiest of many noisy timings would otherwise pass for the fastest.

Installs kernel-tuner, pinned, into build/kernel_tuner. A recording that was interrupted goes on where it was.
--quick: 5 seeds and 10 rounds. --write: also writes results/cpu/kernel_tuner.md.
"""
import ctypes
import datetime
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import time

sys.path.pop(0)  # this folder: the package bears the name of this file

VERSION = "1.5.0"
FOLDER = "build/kernel_tuner"
CACHE = f"{FOLDER}/recording.json"
ROWS = COLUMNS = 4096
FLAGS = ["-std=c++20", "-O3", "-march=native", "-shared", "-fPIC", "-pthread", f"-I{os.getcwd()}"]
STRATEGIES = ["random_sample", "greedy_ils", "greedy_mls", "genetic_algorithm", "simulated_annealing", "diff_evo",
              "dual_annealing", "pso"]
KNOBS = ["BLOCK_ROW", "UNROLL", "VECTOR_BYTES", "PREFETCH_ROWS", "STREAMING_STORES", "num_threads"]

HOST = r"""
#include <pthread.h>
#include <sched.h>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>
#define ELEMENT fp32
#define TILE_PASS TILE_FORWARD
#include "kernels/rms_norm/rms_norm.hpp"

// One run of the kernel on `num_threads` pinned threads with cold caches; the time in ms from the first to start to the last to end.
extern "C" float timed_rms_norm(float* y, float* x, float* weight, float* rstd, float* flush) {
  constexpr std::int64_t rows = ROWS, columns = COLUMNS, block = BLOCK_ROW;
  std::int64_t wanted = (64 << 10) / (columns * 4);
  if (wanted < 1) wanted = 1;
  std::int64_t per_program = (wanted + block - 1) / block * block, programs = (rows + per_program - 1) / per_program;
  struct {
    tile::Rows rows;
    tile::Matrix<float> y, x;
    float *weight, *rstd;
    alignas(8) float eps, offset;
  } slots = {{rows, per_program, columns}, {y, columns}, {x, columns}, weight, rstd, 1e-6f, 0};
  void* arguments[sizeof slots / 8];
  for (std::size_t i = 0; i < sizeof slots / 8; ++i) arguments[i] = reinterpret_cast<char*>(&slots) + 8 * i;
  for (std::int64_t i = 0; i < FLUSH_FLOATS; i += 16) flush[i] += 1;
  std::atomic<int> waiting{num_threads};
  std::chrono::steady_clock::time_point begin[num_threads], end[num_threads];
  auto work = [&](int worker) {
    cpu_set_t allowed, one;
    sched_getaffinity(0, sizeof allowed, &allowed);
    int seen = 0;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &allowed) && seen++ == worker) CPU_SET(cpu, &one);
    pthread_setaffinity_np(pthread_self(), sizeof one, &one);
    waiting.fetch_sub(1);
    while (waiting.load() > 0) {}
    begin[worker] = std::chrono::steady_clock::now();
    rms_norm_forward(arguments, programs * worker / num_threads, programs * (worker + 1) / num_threads, worker, num_threads, nullptr);
    end[worker] = std::chrono::steady_clock::now();
  };
  std::vector<std::thread> threads;
  for (int worker = 0; worker < num_threads; ++worker) threads.emplace_back(work, worker);
  for (std::thread& thread : threads) thread.join();
  auto first = begin[0], last = end[0];
  for (int worker = 1; worker < num_threads; ++worker) {
    if (begin[worker] < first) first = begin[worker];
    if (end[worker] > last) last = end[worker];
  }
  return std::chrono::duration<float, std::milli>(last - first).count();
}
"""


def fail(message):
    print(f"kernel_tuner: {message}", file=sys.stderr)
    sys.exit(1)


def run_in_own_environment():
    """Starts this script again inside a virtual environment that has the pinned package."""
    python = f"{FOLDER}/venv/bin/python"
    marker = f"{FOLDER}/venv/{VERSION}"
    if not os.path.exists(marker):
        shutil.rmtree(f"{FOLDER}/venv", ignore_errors=True)
        os.makedirs(FOLDER, exist_ok=True)
        for command in ([sys.executable, "-m", "venv", f"{FOLDER}/venv"],
                        [python, "-m", "pip", "install", "--quiet", f"kernel-tuner=={VERSION}"]):
            if subprocess.run(command).returncode != 0:
                fail(f"kernel-tuner {VERSION} could not be installed; expected python3 with venv and pip, and PyPI within reach")
        open(marker, "w").close()
    os.execv(python, [python, *sys.argv, "--inside"])


def cores():
    return len(os.sched_getaffinity(0))


def last_level_bytes():
    largest = 0
    base = "/sys/devices/system/cpu/cpu0/cache"
    for index in os.listdir(base) if os.path.isdir(base) else []:
        size = f"{base}/{index}/size"
        if os.path.exists(size):
            largest = max(largest, int(open(size).read().strip().rstrip("K")) * 1024)
    return largest or 32 << 20


def space(shipped):
    """The knobs that hone's sweep varies for rms_norm forward on this machine; the others stay as shipped, they are variants of
    their own there."""
    threads = [cores()] + ([cores() // 2] if cores() > 1 else [])
    values = {"BLOCK_ROW": [1, 2, 4], "UNROLL": [1, 2, 4], "VECTOR_BYTES": [shipped["VECTOR_BYTES"]], "PREFETCH_ROWS": [0, 1],
              "STREAMING_STORES": [shipped["STREAMING_STORES"]], "num_threads": threads}
    return values, ["BLOCK_ROW * UNROLL <= 8"]


def recorded_shares():
    """Time over the best of all configurations in the recording of results/cpu/search_rms_norm.csv; empty on another machine."""
    ratios = {}
    path = "results/cpu/search_rms_norm.csv"
    for line in open(path) if os.path.exists(path) else []:
        fields = line.strip().split(",")
        if fields[:3] != ["rms_norm", "forward", str(COLUMNS)]:
            continue
        settings = dict(item.split("=") for item in fields[7].split())
        ratios[tuple(int(settings[k]) for k in KNOBS)] = (float(fields[4]) * float(fields[5])) ** 0.5
    best = min(ratios.values(), default=1)
    return {key: ratio / best for key, ratio in ratios.items()}


def hone_sweep(quick):
    """hone's own sweep: what it picked, what it shipped, how many it timed and the wall time of both stages."""
    workspace = f"{FOLDER}/workspace"
    shutil.rmtree(workspace, ignore_errors=True)
    shutil.rmtree(f"{FOLDER}/hone_cache", ignore_errors=True)
    environment = dict(os.environ, HONE_SETTINGS_DIR=f"{FOLDER}/settings", HONE_CACHE_DIR=f"{FOLDER}/hone_cache")
    common = ["--workspace", workspace, "--autonomous", "--scope", "forward", "--sizes", str(COLUMNS)] + (["--quick"] if quick else [])
    seconds = {}
    for stage in (["profile", "rms_norm"], ["optimize", "rms_norm", "--max-variants", "1"]):
        start = time.monotonic()
        done = subprocess.run(["build/hone", *stage, *common], env=environment, capture_output=True, text=True)
        seconds[stage[0]] = time.monotonic() - start
        if done.returncode != 0:
            fail(f"hone {' '.join(stage)} ended with {done.returncode}:\n{done.stderr}")
    comparison = json.load(open(f"{workspace}/rms_norm/comparison.json"))
    profile = json.load(open(f"{workspace}/rms_norm/profile.json"))
    shipped = {p["name"].split(" ")[0]: int(p["value"]) for p in profile["configuration"]["parameters"] if "backward" not in p["name"]}
    # Where the noise hides all that is left, hone tries nothing and keeps what is shipped.
    variant = f"{workspace}/rms_norm/rms_norm_v1_settings.json"
    settings = json.load(open(variant))["settings"]["forward"]["rules"][0]["settings"] if os.path.exists(variant) else shipped
    if comparison["winner"] == "v0":
        settings = shipped
    return settings, shipped, comparison["evaluations"], seconds, comparison["stop_reason"]


class Picks:
    """Compiled configurations, timed in turns."""

    def __init__(self):
        import numpy
        generator = numpy.random.default_rng(1)
        self.arrays = [numpy.zeros((ROWS, COLUMNS), numpy.float32),
                       generator.standard_normal((ROWS, COLUMNS), dtype=numpy.float32),
                       generator.standard_normal(COLUMNS, dtype=numpy.float32), numpy.zeros(ROWS, numpy.float32),
                       numpy.zeros(2 * last_level_bytes() // 4, numpy.float32)]
        self.functions = {}

    def function(self, settings):
        key = tuple(int(settings[k]) for k in KNOBS)
        if key not in self.functions:
            name = f"{FOLDER}/pick_{'_'.join(map(str, key))}"
            defines = [f"-D{k}={v}" for k, v in zip(KNOBS, key)]
            defines += [f"-DROWS={ROWS}", f"-DCOLUMNS={COLUMNS}", f"-DFLUSH_FLOATS={self.arrays[4].size}"]
            with open(f"{name}.cc", "w") as file:
                file.write(HOST)
            subprocess.run(["g++", *FLAGS, *defines, f"{name}.cc", "-o", f"{name}.so"], check=True)
            function = ctypes.CDLL(os.path.abspath(f"{name}.so")).timed_rms_norm
            function.restype = ctypes.c_float
            self.functions[key] = function
        return self.functions[key]

    def times(self, settings_list, rounds):
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in self.arrays]
        functions = [self.function(s) for s in settings_list]
        times = [[] for _ in functions]
        order = list(range(len(functions)))
        shuffle = random.Random(3)
        for function in functions:
            function(*pointers)
        for _ in range(rounds):
            shuffle.shuffle(order)
            for i in order + order[::-1]:
                times[i].append(functions[i](*pointers))
        return times


def tune(strategy, values, restrictions, arrays, seed=0, evaluations=None, simulate=True):
    import kernel_tuner
    options = {} if evaluations is None else {"max_fevals": evaluations}
    if strategy == "random_sample" and evaluations is None:
        options = {"fraction": 0.1}
    if strategy == "brute_force":
        options = {}
    random.seed(seed)
    import numpy
    numpy.random.seed(seed)
    text = "".join(f"#define {k} {v}\n" for k, v in
                   {"ROWS": ROWS, "COLUMNS": COLUMNS, "FLUSH_FLOATS": arrays[4].size}.items()) + HOST
    root = os.getcwd()
    with open(os.devnull, "w") as nowhere:
        stdout, sys.stdout = sys.stdout, nowhere
        os.chdir(FOLDER)  # it leaves its sources where it stands
        try:
            results, _ = kernel_tuner.tune_kernel(
                "timed_rms_norm", text, 1, list(arrays), values, restrictions=restrictions, lang="C", compiler="g++",
                compiler_options=[f for f in FLAGS if f not in ("-shared",)], strategy=strategy, strategy_options=options,
                cache=f"{root}/{CACHE}", simulation_mode=simulate, verbose=False, quiet=True)
        finally:
            os.chdir(root)
            sys.stdout = stdout
    return [r for r in results if isinstance(r.get("time"), (int, float))]


def cost_s(results):
    """Wall time of evaluations as Kernel Tuner recorded it: compiling, checking and timing."""
    return sum(r.get("compile_time", 0) + r.get("benchmark_time", 0) + r.get("verification_time", 0) + r.get("framework_time", 0)
               for r in results) / 1000


def unique(results):
    seen = {}
    for r in results:
        seen[tuple(r[k] for k in KNOBS)] = r
    return list(seen.values())


def main():
    if "--inside" not in sys.argv:
        run_in_own_environment()
    quick = "--quick" in sys.argv
    seeds, rounds = (5, 10) if quick else (20, 40)
    if not os.path.exists("build/hone"):
        fail("expected build/hone; './dev build' makes it")
    print("hone: profile and sweep", file=sys.stderr)
    chosen, shipped, evaluations, seconds, stopped = hone_sweep(quick)
    values, restrictions = space(shipped)
    recorded = recorded_shares()
    picks = Picks()

    print("Kernel Tuner: brute force", file=sys.stderr)
    tune("brute_force", values, restrictions, picks.arrays, simulate=False)
    everything = unique(tune("brute_force", values, restrictions, picks.arrays))
    best = min(everything, key=lambda r: r["time"])
    budget_of_hone = evaluations["timed"] or round(0.35 * len(everything))

    rows, candidates, failures = [], [], []

    def add(name, count, wall, settings, screened):
        rows.append([name, count, wall, settings, screened])
        candidates.append(settings)

    add("shipped settings (hone's heuristic)", 0, 0.0, shipped, None)
    add("Kernel Tuner, brute force (its default)", len(everything), cost_s(everything), best, None)
    for strategy in STRATEGIES:
        for budget, note in ((budget_of_hone, "as many evaluations as hone may time"), (None, "its own stopping rule")):
            if strategy == "random_sample" and budget is None:
                continue
            outcomes, broken = [], ""
            for seed in range(seeds):
                try:
                    seen = unique(tune(strategy, values, restrictions, picks.arrays, seed, budget))
                except (IndexError, ValueError, ZeroDivisionError) as error:  # some populations do not fit a small space
                    broken, seen = repr(error), []
                if seen:
                    outcomes.append((min(seen, key=lambda r: r["time"]), len(seen), cost_s(seen)))
            if broken:
                failures.append(f"{strategy}, {note}: ended with {broken} for {seeds - len(outcomes)} of {seeds} seeds")
            if not outcomes:
                continue
            lost = [o[0]["time"] / best["time"] - 1 for o in outcomes]
            middle = sorted(outcomes, key=lambda o: o[0]["time"])[len(outcomes) // 2]
            add(f"Kernel Tuner, {strategy}, {note}", round(statistics.mean(o[1] for o in outcomes)),
                statistics.mean(o[2] for o in outcomes), middle[0], (statistics.mean(lost), max(lost)))
    add("hone: sweep (profile and sweep)", evaluations["timed"], seconds["profile"] + seconds["optimize"], chosen, None)

    distinct = []
    for settings in candidates:
        key = tuple(int(settings[k]) for k in KNOBS)
        if key not in distinct:
            distinct.append(key)
    print(f"timing {len(distinct)} picks anew", file=sys.stderr)
    times = picks.times([dict(zip(KNOBS, key)) for key in distinct], rounds)
    reference = times[distinct.index(tuple(int(best[k]) for k in KNOBS))]
    anew = {}
    for key, own in zip(distinct, times):
        ratios = sorted(a / b for a, b in zip(own, reference))
        anew[key] = (statistics.median(own), statistics.median(ratios))

    lines = ["| search | evaluations | wall time, s | best found, settings | ms, timed anew | time over brute force's pick, timed anew | "
             "time over the best in results/cpu/search_rms_norm.csv | in its own recording: mean, worst |", "|---|---|---|---|---|---|---|---|"]
    for name, count, wall, settings, lost in rows:
        key = tuple(int(settings[k]) for k in KNOBS)
        text = " ".join(f"{k}={v}" for k, v in zip(KNOBS, key))
        own = "" if lost is None else f"+{100 * lost[0]:.1f} %, +{100 * lost[1]:.1f} %"
        lines.append(f"| {name} | {count} | {wall:.0f} | {text} | {anew[key][0]:.2f} | {anew[key][1]:.3f} | "
                     f"{f'{recorded[key]:.3f}' if key in recorded else ''} | {own} |")
    import kernel_tuner
    model = next((l.split(":")[1].strip() for l in open("/proc/cpuinfo") if l.startswith("model name")), "unknown CPU")
    commit = subprocess.run(["build/hone", "version"], capture_output=True, text=True).stdout.strip()
    compiler = subprocess.run(["g++", "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    head = [
        "# The sweep beside Kernel Tuner", "",
        f"- kernel: rms_norm forward, fp32, {ROWS} x {COLUMNS}, cold caches; {len(everything)} configurations",
        f"- device: {model}, {cores()} cores; {compiler}",
        f"- {commit}; Kernel Tuner {getattr(kernel_tuner, '__version__', VERSION)}, its C backend; "
        f"{datetime.datetime.now(datetime.timezone.utc):%Y-%m-%dT%H:%M:%SZ}; command `./dev bench kernel_tuner{' --quick' if quick else ''} --write`",
        f"- strategies but brute force: simulated from the recording of brute force, mean of {seeds} seeds; the pick timed anew is the "
        "middle one of the seeds; wall time is what their evaluations took in the recording",
        f"- hone compiled {evaluations['planned']} configurations, {evaluations['distinct_binaries']} differ in machine code or launch; its wall "
        f"time is {seconds['profile']:.0f} s of profile and {seconds['optimize']:.0f} s of sweep, finals, gate and notes, "
        "from an empty cache",
        f"- hone stopped because: {stopped}",
        f"- timed anew: {2 * rounds} runs of each pick in turns; the ratio is the median of ratios to brute force's pick in the same turn", ""]
    document = "\n".join(head + lines + [""] + [f"- {failure}" for failure in failures]) + "\n"
    print(document)
    if "--write" in sys.argv:
        with open("results/cpu/kernel_tuner.md", "w") as file:
            file.write(document)


if __name__ == "__main__":
    main()
