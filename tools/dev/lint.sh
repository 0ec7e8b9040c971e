#!/usr/bin/env bash
# clang-tidy over the .cpp files that differ from the main branch (or those named, or --all), two at a time.
set -euo pipefail
source tools/dev/common.sh

[[ -f build/compile_commands.json ]] || cmake --preset default >/dev/null

files=()
if [[ ${1:-} == --all ]]; then
  mapfile -d '' files < <(cpp_sources | grep -z '\.cpp$')
elif [[ $# -gt 0 ]]; then
  files=("$@")
else
  base=$(git merge-base HEAD origin/main 2>/dev/null || git merge-base HEAD main 2>/dev/null || echo HEAD)
  mapfile -t files < <({ git diff --name-only --diff-filter=d "$base"; git ls-files --others --exclude-standard; } |
    grep -E '^(src|kernels|tests)/.*\.cpp$' | sort -u)
fi
if [[ ${#files[@]} -eq 0 ]]; then
  say "no changed .cpp file; --all checks every one"
  exit 0
fi
say "clang-tidy over ${#files[@]} files"
printf '%s\0' "${files[@]}" | xargs -0 -n 1 -P "$(cores)" clang-tidy -p build --quiet 2> >(grep -v 'warnings\? generated\|^Suppressed\|^Use -header-filter' >&2)
