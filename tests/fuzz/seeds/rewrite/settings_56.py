import triton
import triton.language as tl
from lib.utils import calculate_settings

@triton.jit
def k(x, n, BLOCK_SIZE: tl.constexpr):
    c = tl.arange(0, BLOCK_SIZE)
    for i in range(n):
        tl.store(x + i + c, tl.load(x + i + c))

def f_backward(x, n):
    BLOCK_SIZE, num_warps = calculate_settings(n)
    kwargs = {"num_warps": num_warps}
    if x.device.type == "xpu":
        kwargs.update({"num_warps": 32, "num_stages": 4})
    k[(1,)](
        x,
        n,
        BLOCK_SIZE=BLOCK_SIZE,
        **kwargs,
    )
