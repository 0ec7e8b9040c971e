import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    cols = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + cols, mask=cols < n, other=0.0).to(tl.float32)
    tl.store(x_ptr + row * n + cols, x / tl.sum(x, axis=0), mask=cols < n)


def run(x, n):
    kernel[(n,)](x, n, BLOCK=triton.next_power_of_2(n), num_warps=4)
