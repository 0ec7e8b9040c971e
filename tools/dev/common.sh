# Helpers of ./dev; sourced, runs nothing by itself.

# die STATUS EXPECTED: one line that says what was expected, and the exit code of hone's own table.
die() {
  echo "dev: expected $2" >&2
  exit "$1"
}

say() { echo "dev: $*" >&2; }

# CPU cores this process may use, at least one.
cores() { nproc 2>/dev/null || echo 1; }

# Parallel compilers: one for each core, but no more than memory allows (a translation unit takes up to 1.2 GB).
build_jobs() {
  local kilobytes jobs
  kilobytes=$(awk '/^MemAvailable:/ { print $2 }' /proc/meminfo 2>/dev/null || echo 0)
  jobs=$((${kilobytes:-0} / 1250000))
  [[ $jobs -lt 1 ]] && jobs=1
  [[ $jobs -gt $(cores) ]] && jobs=$(cores)
  echo "$jobs"
}

# The C++ files that people write, NUL-separated.
cpp_sources() { find src kernels tests tools -type f \( -name '*.cpp' -o -name '*.hpp' \) -not -path '*/corpus/*' -print0; }

list_benchmarks() {
  find tools/bench -maxdepth 1 -type f \( -name '*.sh' -o -name '*.py' -o -name '*.cpp' \) -printf '%f\n' |
    sed 's/\.[a-z]*$//' | sort -u
}

# A script comes before a program of the same name: it knows how to call it.
find_benchmark() {
  local extension
  for extension in sh py cpp; do
    [[ -f tools/bench/$1.$extension ]] && echo "tools/bench/$1.$extension" && return 0
  done
  return 1
}
