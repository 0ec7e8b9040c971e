import pytest
import torch

from test.utils import assert_close

from liger_kernel.ops.rms_norm import LigerRMSNormFunction


def formula(x, w):
    return w * (x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-6))


@pytest.mark.parametrize("rows, columns", [(7, 600), (3, 33)])
@pytest.mark.parametrize("dtype, atol, rtol", [(torch.float64, 1e-6, 1e-5), (torch.float32, 1e-5, 1e-5)])
def test_correctness(rows, columns, dtype, atol, rtol):
    if dtype == torch.float64:
        pytest.skip("the kernel knows no float64")
    x = torch.randn(rows, columns, dtype=dtype, requires_grad=True)
    w = torch.randn(columns, dtype=dtype, requires_grad=True)
    dy = torch.randn(rows, columns, dtype=dtype)
    expected = formula(x, w)
    gradients = torch.autograd.grad(expected, [x, w], dy)
    result = LigerRMSNormFunction.apply(x, w, 1e-6)
    assert_close(result, expected, atol, rtol)
    for found, wanted in zip(torch.autograd.grad(result, [x, w], dy.clone()), gradients):
        assert_close(found, wanted, atol, rtol)


def test_that_needs_two_devices():
    assert torch.cuda.device_count() > 1


def test_that_takes_too_long():
    import time

    time.sleep(600)
