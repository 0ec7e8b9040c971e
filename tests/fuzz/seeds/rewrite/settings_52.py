import triton
import triton.language as tl

@triton.jit
def k(x):
    tl.store(x, 1)

def f(x):
    k[(1,)](x, num_warps=8)  # calculate_settings(n) is only spoken of
