#!/usr/bin/env bash
# fuzz.sh [NAME] [SECONDS]: builds the harnesses of tests/fuzz with clang, ASan and UBSan and runs one or all of them.
# The corpus grows in build-fuzz/corpus/NAME; a finding is kept in build-fuzz/findings/NAME and fails the run.
set -euo pipefail
source tools/dev/common.sh
source tools/dev/build.sh

name=all
seconds=60
if [[ ${1:-} =~ ^[0-9]+$ ]]; then
  seconds=$1
elif [[ $# -gt 0 ]]; then
  name=$1
  seconds=${2:-60}
fi
[[ $seconds =~ ^[0-9]+$ ]] || die 2 "a number of seconds instead of '$seconds'"

mapfile -t known < <(find tests/fuzz -name '*_fuzz.cpp' -printf '%f\n' | sed 's/_fuzz\.cpp$//' | sort)
[[ ${#known[@]} -gt 0 ]] || die 1 "harnesses tests/fuzz/*_fuzz.cpp; there is none"
if [[ $name == all ]]; then
  names=("${known[@]}")
else
  [[ -f tests/fuzz/${name}_fuzz.cpp ]] || die 2 "a harness, one of: ${known[*]}; found '$name'"
  names=("$name")
fi

configure_and_build fuzz build-fuzz fuzzers
status=0
for name in "${names[@]}"; do
  corpus=build-fuzz/corpus/$name
  findings=build-fuzz/findings/$name
  mkdir -p "$corpus" "$findings"
  arguments=(-max_total_time="$seconds" -timeout=10 -rss_limit_mb=1024 -print_final_stats=1
    -artifact_prefix="$findings/" -jobs=0)
  [[ -f tests/fuzz/$name.dict ]] && arguments+=(-dict="tests/fuzz/$name.dict")
  folders=("$corpus")
  [[ -d tests/fuzz/seeds/$name ]] && folders+=("tests/fuzz/seeds/$name")
  say "fuzzing $name for $seconds s"
  if ! build-fuzz/tests/fuzz/"${name}_fuzz" "${arguments[@]}" "${folders[@]}" 2>"build-fuzz/$name.log"; then
    tail -40 "build-fuzz/$name.log" >&2
    say "$name: a finding; the input is in $findings, the log in build-fuzz/$name.log. Add it to tests/fuzz/seeds/$name"
    status=1
    continue
  fi
  grep -E 'stat::number_of_executed_units|stat::average_exec_per_sec|stat::peak_rss_mb' "build-fuzz/$name.log" | sed "s/^/$name /"
done
exit $status
