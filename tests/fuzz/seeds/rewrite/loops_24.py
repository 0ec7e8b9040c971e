import triton
import triton.language as tl

@triton.jit
def k(y, n):
    while n > 0:
        n -= 1
    tl.store(y, 0)
