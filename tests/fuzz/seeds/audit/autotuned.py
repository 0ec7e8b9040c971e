import os
import triton
import triton.language as tl

OFF = os.environ.get("OFF") == "1"


def configs():
    if OFF:
        return [triton.Config({"B": 64}, num_warps=4)]
    out = []
    for b in [32, 64]:
        for w in range(1, 3):
            if b * w < 128:
                out.append(triton.Config({"B": b}, num_warps=w, num_stages=2))
    return out + [triton.Config({"B": c}) for c in (1, 2)]


@triton.autotune(configs=configs(), key=["n"], reset_to_zero=["x"])
@triton.heuristics({"EVEN": lambda a: a["n"] % 2 == 0})
@triton.jit
def kernel(x, n, B: tl.constexpr, EVEN: tl.constexpr = True):
    for i in tl.range(0, n, B):
        tl.atomic_add(x + i, 1.0)
