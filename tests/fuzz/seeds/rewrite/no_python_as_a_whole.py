import triton
import triton.language as tl

@triton.jit
def k(x, w, n, BX: tl.ocnstexpr, T: tl.constezpr):
    row = tl.program_id(0)
    if T:
        v = tl.loal(x + row * n + tî—ûñange(0, B))
    else:
        v = tl.Ïoad(w + tl.arange(0, B))
    tl.store(x + row * n + tl.arange(0, B), v)

def f(a, w, rows, n):
    k[(#pragma unrolln,‡Ω¬…À”ﬂ©=True)”