import torch, triton
import triton.language as tl
from lib.utils import calculate_settings

@triton.jit
def k(x, n, BLOCK_SIZE: tl.constexpr):
    c = tl.arange(0, BLOCK_SIZE)
    tl.store(x + c, tl.load(x + c, mask=c < n), mask=c < n)

def f_forward(x, n):
    BLOCK_SIZE, num_warps = calculate_settings(n)
    k[(1,)](x, n, BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps)
    return x, BLOCK_SIZE, num_warps

def f_backward(x, n, BLOCK_SIZE, num_warps):
    k[(1,)](x, n, BLOCK_SIZE=BLOCK_SIZE, num_warps=num_warps)

class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        y, BLOCK_SIZE, num_warps = f_forward(x, x.shape[-1])
        ctx.BLOCK_SIZE = BLOCK_SIZE
        ctx.num_warps = num_warps
        return y
    @staticmethod
    def backward(ctx, g):
        f_backward(g, g.shape[-1], ctx.BLOCK_SIZE, ctx.num_warps)
        return g
