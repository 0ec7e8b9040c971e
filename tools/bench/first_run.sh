#!/usr/bin/env bash
# What a newcomer waits for: `hone run KERNEL` from the built program to its report, again and again, each time with an empty cache
# and an empty workspace, on an idle machine, beside four busy processes, or beside four processes that stream through memory (what
# is left of the memory's speed is then what a slow machine has; each run's profile says how much).
# usage: ./dev bench first_run [idle|busy|streaming] [RUNS] [KERNEL] [FLAGS...]
set -euo pipefail
condition=${1:-idle}
runs=${2:-3}
kernel=${3:-rms_norm}
shift $(($# < 3 ? $# : 3))
root=$(git rev-parse --show-toplevel)
folder=$(mktemp -d)
load=()
stop() {
  [[ ${#load[@]} -eq 0 ]] || kill "${load[@]}" 2>/dev/null || true
  rm -rf "$folder"
}
trap stop EXIT
case $condition in
  idle) ;;
  busy) for _ in 1 2 3 4; do (while :; do :; done) & load+=($!); done ;;
  streaming)
    cat >"$folder/stream.c" <<'C'
#include <stdlib.h>
#include <string.h>
int main(void) {
  size_t bytes = (size_t)256 << 20;
  char *from = malloc(bytes), *to = malloc(bytes);
  if (!from || !to) return 1;
  memset(from, 1, bytes);
  for (;;) { memcpy(to, from, bytes); from[0] += to[bytes - 1]; }
}
C
    cc -O2 -o "$folder/stream" "$folder/stream.c"
    for _ in 1 2 3 4; do "$folder/stream" & load+=($!); done
    ;;
  *) echo "first_run: expected idle, busy or streaming instead of '$condition'" >&2; exit 2 ;;
esac
echo "| run | condition | status | to the report, s | to the first table, s | copy, GB/s | outcome |"
echo "|---|---|---|---|---|---|---|"
for ((run = 1; run <= runs; ++run)); do
  workspace=$folder/workspace-$run
  started=$(date +%s.%N)
  status=0
  rm -f "$folder/first"
  HONE_CACHE_DIR=$folder/cache-$run "$root/build/hone" run "$kernel" --autonomous --workspace "$workspace" "$@" \
    2>"$folder/err" </dev/null | while IFS= read -r line; do
    echo "$line"
    [[ $line != *', as measured first'* ]] || date +%s.%N >"$folder/first" # the head of the first table
  done >"$folder/out" || status=$?
  ended=$(date +%s.%N)
  python3 - "$run" "$condition" "$status" "$started" "$ended" "$workspace/$kernel" "$folder/first" <<'P'
import json, os, sys
run, condition, status, started, ended, folder, table = sys.argv[1:]
started, ended = float(started), float(ended)
profile, report = f"{folder}/profile.json", f"{folder}/report.json"
first = float(open(table).read()) - started if os.path.exists(table) else float("nan")
copy = json.load(open(profile))["device"]["ceilings"]["copy_bytes_per_s"] / 1e9 if os.path.exists(profile) else float("nan")
outcome = json.load(open(report))["outcome"] if os.path.exists(report) else "no report"
print(f"| {run} | {condition} | {status} | {ended - started:.0f} | {first:.0f} | {copy:.1f} | {outcome} |", flush=True)
P
  [[ $status -eq 0 || $status -eq 4 ]] || tail -n 5 "$folder/err" >&2
done
