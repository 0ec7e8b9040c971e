#!/usr/bin/env bash
# CPU time of a cold build, by file: clones a commit, configures it without a compiler cache and compiles a target.
# usage: ./dev bench build [COMMIT [TARGET]]    (HEAD, hone)
set -euo pipefail
commit=${1:-HEAD}
target=${2:-hone}
root=$(git rev-parse --show-toplevel)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
git clone -q "$root" "$folder/tree"
git -C "$folder/tree" checkout -q "$(git rev-parse "$commit")"
ln -s "$root/.deps" "$folder/tree/.deps"
cat >"$folder/timed" <<'TIMED'
#!/usr/bin/env python3
"""Runs a compiler and appends "user+system seconds, object" to the file that TIMES names."""
import os, resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
name = next((sys.argv[i + 1] for i, word in enumerate(sys.argv[:-1]) if word == "-o"), "?")
with open(os.environ["TIMES"], "a") as times:
    times.write(f"{used.ru_utime + used.ru_stime:.2f} {name}\n")
sys.exit(status)
TIMED
chmod +x "$folder/timed"
export TIMES=$folder/times
cmake -S "$folder/tree" -B "$folder/build" -G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo -DCCACHE_PROGRAM= \
  "-DCMAKE_CXX_COMPILER_LAUNCHER=$folder/timed" "-DCMAKE_C_COMPILER_LAUNCHER=$folder/timed" >"$folder/cmake.log" ||
  { cat "$folder/cmake.log" >&2; exit 1; }
start=$(date +%s)
ninja -C "$folder/build" "$target" >"$folder/ninja.log" || { cat "$folder/ninja.log" >&2; exit 1; }
end=$(date +%s)
echo "cold build of $target at $(git rev-parse --short "$commit"), $(date -u +%F): $(nproc) cores, $(c++ --version | head -1)"
awk -v wall=$((end - start)) '{ sum += $1 } END { printf "%.0f CPU-s in %d files, %d s of wall time\n", sum, NR, wall }' "$TIMES"
echo "by library, CPU-s:"
awk '{ n = split($2, part, "/"); for (i = 1; i <= n; ++i) if (part[i] ~ /\.dir$/) name = part[i]; sub(/\.dir$/, "", name); sum[name] += $1; files[name]++ }
     END { for (name in sum) printf "%7.1f %4d files  %s\n", sum[name], files[name], name }' "$TIMES" | sort -rn
echo "the most costly files, CPU-s:"
sort -rn "$TIMES" | head -"${ROWS:-40}" | sed -E 's|[^ ]*CMakeFiles/[^/]*\.dir/||'
