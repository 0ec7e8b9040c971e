#!/usr/bin/env bash
# gpu_test.sh [FLAGS OF hone verify]: the verification matrix of every built-in kernel on the first GPU, plain and under
# compute-sanitizer's memcheck, racecheck and initcheck. Fails where a tool finds something or a case fails.
# HONE names the program where it was built elsewhere (build/hone otherwise): it needs no build tools, so that a machine with a GPU
# can be given the binary alone. KERNELS names the kernels, all without it.
# The tools look at hone's own kernels: those of cuBLASLt, which a matrix product runs, are left out by name. racecheck can not run
# them at all on Hopper (an internal error of the tool), so kernels with matrix products are left out there; the row programs of
# fused_linear_cross_entropy are those of cross_entropy.
set -euo pipefail
source tools/dev/common.sh

hone=${HONE:-build/hone}
[[ -x $hone ]] || die 3 "a built hone as $hone; HONE names another one"
command -v nvidia-smi >/dev/null && nvidia-smi -L >/dev/null || die 3 "an NVIDIA GPU with its driver; nvidia-smi finds none"
command -v compute-sanitizer >/dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v compute-sanitizer >/dev/null || die 3 "compute-sanitizer; it comes with the CUDA toolkit"

if [[ -n ${KERNELS:-} ]]; then
  read -ra kernels <<<"$KERNELS"
else
  mapfile -t kernels < <(find kernels -mindepth 2 -maxdepth 2 -name '*_reference.hpp' -printf '%h\n' | xargs -r -n1 basename | sort -u)
fi
[[ ${#kernels[@]} -gt 0 ]] || die 1 "kernels with a reference; found none below kernels/"

say "verifying ${kernels[*]}"
"$hone" verify "${kernels[@]}" --device cuda:0 "$@"
for tool in memcheck racecheck initcheck; do
  checked=("${kernels[@]}")
  [[ $tool != racecheck ]] || mapfile -t checked < <(printf '%s\n' "${kernels[@]}" | grep -v '^fused_linear_')
  [[ ${#checked[@]} -gt 0 ]] || continue
  say "verifying ${checked[*]} under $tool"
  compute-sanitizer --tool "$tool" --error-exitcode 9 --target-processes all --print-limit 20 \
    --kernel-name-exclude kernel_substring=cutlass --kernel-name-exclude kernel_substring=nvjet \
    --kernel-name-exclude kernel_substring=cublas --kernel-name-exclude kernel_substring=gemm \
    "$hone" verify "${checked[@]}" --device cuda:0 "$@"
done
say "every kernel verified: plain, memcheck, racecheck, initcheck"
