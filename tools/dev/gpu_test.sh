#!/usr/bin/env bash
# gpu_test.sh [FLAGS OF hone verify]: the verification matrix of every built-in kernel on the first GPU, plain and under
# compute-sanitizer's memcheck, racecheck and initcheck. Fails where a tool finds something or a case fails.
set -euo pipefail
source tools/dev/common.sh

command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null || die 3 "an NVIDIA GPU with its driver; nvidia-smi finds none"
command -v compute-sanitizer >/dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer >/dev/null || die 3 "compute-sanitizer; it comes with the CUDA toolkit"

mapfile -t kernels < <(find kernels -mindepth 2 -maxdepth 2 -name '*_reference.cpp' -printf '%h\n' | xargs -r -n1 basename | sort -u)
[[ ${#kernels[@]} -gt 0 ]] || die 1 "kernels with a reference; found none below kernels/"

say "verifying ${kernels[*]}"
build/hone verify "${kernels[@]}" --device cuda:0 "$@"
for tool in memcheck racecheck initcheck; do
  say "verifying under $tool"
  compute-sanitizer --tool "$tool" --error-exitcode 9 --target-processes all --print-limit 20 \
    build/hone verify "${kernels[@]}" --device cuda:0 "$@"
done
say "every kernel verified: plain, memcheck, racecheck, initcheck"
