import triton
import triton.language as tl

@triton.jit
def k(x, w, s, y, stride, n, B: tl.constexpr):
    row = tl.program_id(0)
    x += row * stride
    c = tl.arange(0, B)
    scale = tl.load(s + row)
    v = tl.load(x + c, mask=c < n)
    u = tl.load(
        w + c,
        mask=c < n,
        other=0.0,  # padding
    )
    tl.store(y + row * stride + c, v * u * scale, mask=c < n)
