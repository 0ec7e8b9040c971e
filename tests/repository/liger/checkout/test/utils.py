import torch


def assert_close(result, expected, atol, rtol):
    assert torch.isfinite(result).all()
    assert torch.allclose(result, expected, atol=atol, rtol=rtol)
