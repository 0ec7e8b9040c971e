import triton
import triton.language as tl

@triton.jit
def k(x, w, n, B: tl.constexpr, T: tl.constexpr):
    row = tl.program_id(0)
    if T:
        v = tl.load(x + row * n + tl.arange(0, B))
    else:
        v = tl.load(w + tl.arange(0, B))
    tl.store(x + row * n + tl.arange(0, B), v)

def f(a, w, rows, n):
    k[(rows,)](a, w, n, B=64, T=True)
