import torch, triton
import triton.language as tl

@triton.jit
def k(x):
    tl.store(x, 1)

def f(x, n):
    sm_count = torch.cuda.get_device_properties(x.device).multi_processor_count
    k[(n,)](x)
