import torch


class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, in_place=True):
        y = x.view(-1) if in_place else torch.empty_like(x)
        ctx.a, ctx.b = x.shape, 3
        ctx.save_for_backward(y, *[x])
        return y

    @staticmethod
    def backward(ctx, *args):
        (y,) = ctx.saved_tensors
        kw = {"B": 2}
        kw["W"] = ctx.b
        kw.update(num_warps=getattr(ctx, "b", None))
        return y
