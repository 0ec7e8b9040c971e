import triton
import triton.language as tl
from lib.utils import calculate_settings as settings

@triton.jit
def k(x, n, BLOCK_SIZE: tl.constexpr):
    c = tl.arange(0, BLOCK_SIZE)
    tl.store(x + c, tl.load(x + c, mask=c < n), mask=c < n)

def f_forward(x, n):
    B, w = settings(n)
    k[(1,)](x, n, BLOCK_SIZE=B, num_warps=w)
