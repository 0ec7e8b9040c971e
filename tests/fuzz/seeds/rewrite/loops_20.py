import triton
import triton.language as tl

@triton.jit
def k(y, n):
    for i in range(0, n):
        tl.store(y + i, i)
