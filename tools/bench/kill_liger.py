#!/usr/bin/env python3
"""Kills a run of hone on a Liger checkout with SIGKILL at random instants and asks git what is left in the checkout.

  kill_liger [KILLS]      default 50: in turn in optimize, in finalize, and within 20 ms of the moment when finalize begins to
                          write the checkout; needs build/hone and the sources of the liger-kernel package (.deps)
  --write                 also writes the table to results/cpu/kill_liger.md
  --seed N (default 1), --folder DIR (default build/kill_liger, emptied first), --hone FILE

The worker, the tests and the GPU are played by played/python.py, so that a whole run takes seconds; hone itself, its files
and the checkout are real. A kill must leave `git status` of the checkout empty, or the operation's file as the whole text of
one variant that hone made. The run is then started again: it must end, and leave the winner of its report or the original.
Exit 0 when all of it holds, 4 when not.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
KERNEL = "rms_norm"
FILE = f"src/liger_kernel/ops/{KERNEL}.py"


class Campaign:
    def __init__(self, options):
        self.hone, self.folder = options.hone, pathlib.Path(options.folder).resolve()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.checkout, self.work = self.folder / "checkout", self.folder / "work"
        (self.checkout / "src").mkdir(parents=True)
        shutil.copytree(ROOT / ".deps/liger-kernel/liger_kernel", self.checkout / "src/liger_kernel")
        shutil.copytree(ROOT / "tests/repository/liger/checkout", self.checkout, dirs_exist_ok=True)
        self.git("init", "-q")
        self.git("add", "-A")
        self.git("-c", "user.name=hone", "-c", "user.email=hone@example.org", "commit", "-qm", "Sources")
        self.original = (self.checkout / FILE).read_text()
        self.random = random.Random(options.seed)
        self.rows, self.wrong, self.applied, self.ends = {}, [], 0, {}

    def git(self, *arguments):
        command = ["git", "-C", str(self.checkout), *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout

    def start(self):
        environment = dict(os.environ, HONE_PYTHON=str(ROOT / "tools/bench/played/python.py"), PLAYED_CHECKOUT=str(self.checkout))
        environment["HONE_CACHE_DIR"] = str(self.folder / "cache")
        command = [self.hone, "run", KERNEL, "--repo", str(self.checkout), "--autonomous", "--verbose", "--sizes", "1024,4096"]
        command += ["--max-variants", "2", "--workspace", str(self.work)]
        self.log = open(self.folder / "log", "w+")
        return subprocess.Popen(command, stdout=self.log, stderr=subprocess.STDOUT, env=environment, start_new_session=True)

    def log_text(self):
        self.log.seek(0)
        return self.log.read()

    def reset(self, keep_work=False):
        self.git("checkout", "-q", "--", ".")
        self.git("clean", "-fdq")
        if not keep_work:
            shutil.rmtree(self.work, ignore_errors=True)

    def variants(self):
        return {path.read_text() for path in self.work.glob(f"{KERNEL}/overlay/variants/*/{KERNEL}.py")}

    def complain(self, what):
        self.wrong.append(what)
        print(f"kill_liger: WRONG: {what}", file=sys.stderr)

    def state(self, where):
        """ "original", "winner" (the whole text of a variant), or a complaint."""
        status = self.git("status", "--porcelain").splitlines()
        if not status:
            return "original"
        if status != [f" M {FILE}"]:
            self.complain(f"{where}: git status says {status}")
            return "other"
        if (self.checkout / FILE).read_text() in self.variants():
            return "winner"
        self.complain(f"{where}: {FILE} is neither the original nor a whole variant")
        return "other"

    def stage(self):
        """What the run is at, as its log tells."""
        log = self.log_text()
        for name in ("finalize", "optimize"):
            if f" s] {name} " in log:
                return name
        return "profile"

    def installing(self):
        return (self.work / KERNEL / "install/journal.jsonl").exists()

    def whole(self):
        """One run that nobody kills; the times until optimize begins, until finalize begins, and until the end."""
        self.reset()
        begun, process, first = time.monotonic(), self.start(), {}
        while process.poll() is None:
            first.setdefault(self.stage(), time.monotonic() - begun)
            time.sleep(0.01)
        end = time.monotonic() - begun
        if process.returncode not in (0, 4) or "optimize" not in first or "finalize" not in first:
            sys.exit(f"kill_liger: an undisturbed run failed with {process.returncode}:\n{self.log_text()[-3000:]}")
        if self.state("an undisturbed run") != "winner":
            sys.exit("kill_liger: an undisturbed run applied nothing")
        return first["optimize"], first["finalize"], end

    def one(self, aim, optimize, finalize, end):
        """A fresh run, killed once in what is aimed at, looked at, and started again to its end."""
        self.reset()
        process = self.start()
        reached = self.installing if aim == "the installation" else lambda: self.stage() == aim
        while process.poll() is None and not reached():
            time.sleep(0.0005)
        longest = {"optimize": finalize - optimize, "finalize": end - finalize, "the installation": 0.02}[aim]
        instant = self.random.uniform(0, longest)
        time.sleep(instant)
        if process.poll() is not None:
            return False
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        where = f"kill in {aim}, {instant:.3f} s into it"
        actual = "the installation" if aim == "the installation" else self.stage()
        row = self.rows.setdefault(actual, {"kills": 0, "original": 0, "winner": 0, "other": 0, "taken back": 0})
        row["kills"] += 1
        row[self.state(where)] += 1
        self.resume(where, row)
        return True

    def resume(self, where, row):
        for _ in range(2):  # what takes an unfinished installation back asks for the command once more
            process = self.start()
            try:
                process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                return self.complain(f"{where}: the run started again did not end")
            self.state(f"{where}, started again")
            row["taken back"] += "production is as it was before" in self.log_text()
            if process.returncode in (0, 4):
                break
        self.ends[process.returncode] = self.ends.get(process.returncode, 0) + 1
        if process.returncode not in (0, 4):
            return self.complain(f"{where}: started again it ends with {process.returncode}: {self.log_text()[-600:]}")
        report = json.loads((self.work / KERNEL / "report.json").read_text())
        now = self.state(f"{where}, at the end")
        self.applied += report["applied"]
        if report["applied"] != (now == "winner"):
            self.complain(f"{where}: the report says applied={report['applied']}, the checkout holds the {now}")

    def table(self, optimize, finalize, end):
        text = f"- a whole run takes {end:.1f} s; optimize begins after {optimize:.1f} s, finalize after {finalize:.1f} s; every killed run was started again to its end\n"
        text += f"- of the runs started again {self.applied} applied a winner; exit statuses: {dict(sorted(self.ends.items()))}\n"
        text += f"- wrong: {len(self.wrong)}\n\n"
        text += "| killed in | kills | git status empty | the whole winner | anything else | installations taken back at the next start |\n"
        text += "|---|---|---|---|---|---|\n"
        for stage, row in sorted(self.rows.items()):
            text += f"| {stage} | {row['kills']} | {row['original']} | {row['winner']} | {row['other']} | {row['taken back']} |\n"
        return text + "".join(f"\n- {what}" for what in self.wrong)


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("kills", nargs="?", type=int, default=50)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--folder", default=str(ROOT / "build/kill_liger"))
    parser.add_argument("--hone", default=str(ROOT / "build/hone"))
    parser.add_argument("--write", action="store_true")
    options = parser.parse_args()
    campaign = Campaign(options)
    times = campaign.whole()
    print(f"a whole run takes {times[2]:.1f} s, finalize begins after {times[1]:.1f} s", file=sys.stderr)
    done, tries, aims = 0, 0, ("optimize", "finalize", "optimize", "finalize", "the installation")
    while done < options.kills and tries < 3 * options.kills:
        done += campaign.one(aims[tries % len(aims)], *times)
        tries += 1
    text = campaign.table(*times)
    print(text)
    if options.write:
        version = subprocess.run([options.hone, "--version"], capture_output=True, text=True).stdout.strip()
        head = "# SIGKILL at random instants of a run on a Liger checkout\n\n"
        head += f"- {version}, {time.strftime('%Y-%m-%d')}, command `./dev bench kill_liger {options.kills} --seed {options.seed}`\n"
        head += "- the worker, the tests and the GPU are played (tools/bench/played/python.py); hone and the checkout are real\n"
        (ROOT / "results/cpu/kill_liger.md").write_text(head + text)
    sys.exit(4 if campaign.wrong or done < options.kills else 0)


if __name__ == "__main__":
    main()
