#!/usr/bin/env bash
# Makes .deps/python: the pinned packages of tools/python_packages.txt in a folder of their own, and a python3 that sees them,
# on which the tests of Liger kernels run. Only the test suite needs it. Does nothing, quickly, when it is in place.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
target=$root/.deps/python
list=$root/tools/python_packages.txt
key=$(cksum <"$list")
if [ "$(cat "$target/.hone_key" 2>/dev/null || true)" = "$key" ]; then
  exit 0
fi
mkdir -p "$root/.deps"
rm -rf "$target"
log=$root/.deps/python.log
mkdir -p "$target"
: >"$log"
echo "installing the Python packages of the tests (torch, triton)"
while read -r line; do
  case $line in '' | '#'*) continue ;; esac
  for attempt in 1 2 3; do
    # shellcheck disable=SC2086
    if python3 -m pip install --quiet --disable-pip-version-check --only-binary :all: --target "$target/site" --upgrade $line >>"$log" 2>&1; then
      break
    fi
    if [ "$attempt" = 3 ]; then
      echo "error: $line could not be installed; pip said:" >&2
      tail -n 15 "$log" >&2
      rm -rf "$target"
      exit 1
    fi
    sleep $((attempt * 2))
  done
done <"$list"
cat >"$target/python3" <<EOF
#!/bin/sh
# python3 with the packages beside it.
PYTHONPATH="$target/site\${PYTHONPATH:+:\$PYTHONPATH}" exec python3 "\$@"
EOF
chmod +x "$target/python3"
"$target/python3" -c 'import torch, triton, numpy, pytest'
echo "$key" >"$target/.hone_key"
