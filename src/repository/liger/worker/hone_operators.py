"""How each operator of the checkout is called: inputs from a shape, the autograd function, what it overwrites, a formula.

`formula` is the operator in plain PyTorch, written for any precision: in the working type it is the baseline provider,
in float64 it is the reference. Shapes are decided by the caller; `rows` and `columns` mean the same for every operator.
"""

import math

from dataclasses import dataclass
from typing import Callable

import torch
import torch.nn.functional as F


def up(x):
    """Half precision to float32, as the models' own implementations compute; other types stay."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


class Maker:
    """Draws inputs of a stated distribution from one seed."""

    def __init__(self, device, dtype, seed):
        self.device, self.dtype = device, dtype
        self.generator = torch.Generator(device=device).manual_seed(seed)

    def normal(self, *shape, scale=1.0, offset=0.0, dtype=None):
        x = torch.randn(*shape, generator=self.generator, device=self.device, dtype=torch.float32)
        return (x * scale + offset).to(dtype or self.dtype)

    def labels(self, count, high):
        shape = (count,) if isinstance(count, int) else count
        return torch.randint(0, high, shape, generator=self.generator, device=self.device)

    def log_probabilities(self, rows, columns):
        return torch.log_softmax(self.normal(rows, columns, dtype=torch.float32), -1).to(self.dtype)

    def probabilities(self, rows, columns):
        return torch.softmax(self.normal(rows, columns, dtype=torch.float32), -1).to(self.dtype)


@dataclass(frozen=True)
class Operator:
    function: str  # the autograd function in the operator's module
    inputs: Callable  # (Maker, shape) -> {name: tensor}
    arguments: Callable  # (tensors, options) -> positional arguments of apply
    differentiable: tuple
    formula: Callable  # (tensors, options) -> output or outputs
    overwrites_forward: tuple = ()  # inputs that forward writes into
    overwrites_backward: tuple = ()  # inputs that backward writes into
    overwrites_gradients: bool = False  # backward writes into the gradients it is given
    outputs: Callable = lambda result: result if isinstance(result, tuple) else (result,)
    loss: bool = False  # the last layer: its gradient is 1


def _norm_rows(x, eps):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps)


def _rms_norm(t, o):
    x, w = t["x"], t["w"]
    if o.get("casting_mode") == "gemma":
        return (_norm_rows(up(x), 1e-6) * (1.0 + up(w))).to(x.dtype)
    return w * _norm_rows(up(x), 1e-6).to(x.dtype)


def _rms_arguments(t, o):
    mode = o.get("casting_mode", "llama")
    return t["x"], t["w"], 1e-6, 1.0 if mode == "gemma" else 0.0, mode, o.get("in_place", "true") == "true"


def _fused_add_rms_norm(t, o):
    s = t["x"] + t["r"]
    return t["w"] * _norm_rows(up(s), 1e-6).to(s.dtype), s


def _matrix(*names):
    return lambda m, s: {n: m.normal(s["rows"], s["columns"]) for n in names}


def _weighted(m, s, vectors, matrices=("x",)):
    t = {n: m.normal(s["rows"], s["columns"]) for n in matrices}
    t.update({n: m.normal(s["columns"], scale=0.2, offset=o) for n, o in vectors})
    return t


def _cross_entropy(t, o):
    return F.cross_entropy(up(t["logits"]), t["target"])


def _fused_linear_cross_entropy(t, o):
    return F.cross_entropy(up(t["x"] @ t["w"].T), t["target"])


def _jsd(student, teacher, beta=0.5):
    q, p = up(student), up(teacher)
    m = torch.log(beta * p.exp() + (1 - beta) * q.exp())
    return (beta * (p.exp() * (p - m)).sum() + (1 - beta) * (q.exp() * (q - m)).sum()) / q.shape[0]


def _fused_linear_jsd(t, o):
    student = torch.log_softmax(up(t["sx"] @ t["sw"].T), -1)
    return _jsd(student, torch.log_softmax(up(t["tx"] @ t["tw"].T), -1))


def _linear_jsd_inputs(m, s):
    h = s["hidden"]
    return {
        "sx": m.normal(s["rows"], h // 2),
        "sw": m.normal(s["columns"], h // 2, scale=0.02),
        "tx": m.normal(s["rows"], h),
        "tw": m.normal(s["columns"], h, scale=0.02),
    }


def _rotary(m, s, head=128):
    t, heads = s["rows"], max(1, s["columns"] // head)
    kv = max(1, heads // 4)
    angle = torch.arange(t, device=m.device, dtype=torch.float32)[:, None] / (
        10000.0 ** (torch.arange(0, head, 2, device=m.device, dtype=torch.float32) / head)
    )
    return t, heads, kv, head, torch.cat((angle, angle), -1)[None]


def _rope_inputs(m, s):
    t, heads, kv, head, angle = _rotary(m, s)
    return {
        "q": m.normal(1, t, heads, head).transpose(1, 2),
        "k": m.normal(1, t, kv, head).transpose(1, 2),
        "cos": angle.cos().to(m.dtype),
        "sin": angle.sin().to(m.dtype),
    }


def _half(x):
    a, b = x.chunk(2, -1)
    return torch.cat((-b, a), -1)


def _rope(t, o):
    cos, sin = t["cos"][:, None], t["sin"][:, None]
    return t["q"] * cos + _half(t["q"]) * sin, t["k"] * cos + _half(t["k"]) * sin


def _group_norm_inputs(m, s):
    channels = s["columns"]
    return {
        "x": m.normal(s["batch"], channels, s["rows"]),
        "w": m.normal(channels, scale=0.2, offset=1.0),
        "b": m.normal(channels, scale=0.2),
    }


def _groups(t):
    channels = t["x"].shape[1]
    return channels // 4 if channels % 4 == 0 else 1


def _grpo_inputs(m, s):
    b, length, n = s["batch"], s["rows"], s["columns"]
    return {
        "logits": m.normal(b, length + 1, n),
        "ref": m.normal(b, length, scale=0.1, offset=-math.log(n), dtype=torch.float32),
        "ids": m.labels((b, length), n),
        "advantages": m.normal(b, dtype=torch.float32),
        "mask": torch.ones(b, length, device=m.device, dtype=torch.int64),
    }


def _grpo(t, o, beta=0.04, low=0.2, high=0.4):
    logp = torch.log_softmax(up(t["logits"][:, :-1]) / 0.9, -1).gather(-1, t["ids"][..., None])[..., 0]
    ratio = torch.exp(logp - logp.detach())
    a = t["advantages"].to(logp.dtype)[:, None]
    loss = -torch.minimum(ratio * a, ratio.clamp(1 - low, 1 + high) * a)
    ref = t["ref"].to(logp.dtype)
    loss = loss + beta * (torch.exp(ref - logp) - (ref - logp) - 1)
    return loss.mean(-1).mean()


def _sparsemax(t, o):
    x = up(t["x"])
    z, _ = torch.sort(x, -1, descending=True)
    k = torch.arange(1, x.shape[-1] + 1, device=x.device, dtype=x.dtype)
    total = z.cumsum(-1)
    support = (1 + k * z > total).sum(-1, keepdim=True)
    tau = (total.gather(-1, support - 1) - 1) / support.to(x.dtype)
    return torch.clamp(x - tau, min=0).to(t["x"].dtype)


def _poly_norm(t, o):
    x, w = up(t["x"]), up(t["w"])
    return (w[0] * _norm_rows(x**3, 1e-6) + w[1] * _norm_rows(x**2, 1e-6) + w[2] * _norm_rows(x, 1e-6) + up(t["b"])).to(t["x"].dtype)


def _modulated(t, o):
    x = t["w"] * _norm_rows(up(t["x"]), 1e-6).to(t["x"].dtype)
    return (1 + t["scale"]) * x + t["shift"]


def _one(result):
    return (result[0],)


OPERATORS = {
    "rms_norm": Operator(
        "LigerRMSNormFunction",
        lambda m, s: _weighted(m, s, [("w", 1.0)]),
        _rms_arguments,
        ("x", "w"),
        _rms_norm,
        overwrites_gradients=True,
    ),
    "layer_norm": Operator(
        "LigerLayerNormFunction",
        lambda m, s: _weighted(m, s, [("w", 1.0), ("b", 0.0)]),
        lambda t, o: (t["x"], t["w"], t["b"], 1e-6),
        ("x", "w", "b"),
        lambda t, o: F.layer_norm(t["x"], (t["x"].shape[-1],), t["w"], t["b"], 1e-6),
    ),
    "fused_add_rms_norm": Operator(
        "LigerFusedAddRMSNormFunction",
        lambda m, s: _weighted(m, s, [("w", 1.0)], ("x", "r")),
        lambda t, o: (t["x"], t["r"], t["w"], 1e-6, 0.0, o.get("casting_mode", "llama"), o.get("in_place", "true") == "true"),
        ("x", "r", "w"),
        _fused_add_rms_norm,
        overwrites_gradients=True,
    ),
    "modulated_rms_norm": Operator(
        "LigerModulatedRMSNormFunction",
        lambda m, s: _weighted(m, s, [("w", 1.0), ("scale", 0.0), ("shift", 0.0)]),
        lambda t, o: (t["x"], t["w"], t["scale"], t["shift"], 1e-6),
        ("x", "w", "scale", "shift"),
        _modulated,
        overwrites_gradients=True,
    ),
    "poly_norm": Operator(
        "LigerPolyNormFunction",
        lambda m, s: {"x": m.normal(s["rows"], s["columns"]), "w": m.normal(3, scale=0.1, offset=0.33), "b": m.normal(1)[0].clone()},
        lambda t, o: (t["x"], t["w"], t["b"], 1e-6),
        ("x", "w", "b"),
        _poly_norm,
        overwrites_gradients=True,
    ),
    "dyt": Operator(
        "LigerDyTFunction",
        lambda m, s: {**_weighted(m, s, [("gamma", 1.0), ("beta", 0.0)]), "alpha": m.normal(1, scale=0.1, offset=0.5)},
        lambda t, o: (t["x"], t["alpha"], t["gamma"], t["beta"]),
        ("x", "alpha", "gamma", "beta"),
        lambda t, o: t["gamma"] * torch.tanh(t["alpha"] * t["x"]) + t["beta"],
    ),
    "swiglu": Operator(
        "LigerSiLUMulFunction",
        _matrix("a", "b"),
        lambda t, o: (t["a"], t["b"]),
        ("a", "b"),
        lambda t, o: F.silu(t["a"]) * t["b"],
        overwrites_backward=("a", "b"),
    ),
    "geglu": Operator(
        "LigerGELUMulFunction",
        _matrix("a", "b"),
        lambda t, o: (t["a"], t["b"]),
        ("a", "b"),
        lambda t, o: F.gelu(t["a"], approximate="tanh") * t["b"],
        overwrites_backward=("a", "b"),
    ),
    "relu_squared": Operator(
        "LigerReLUSquaredFunction", _matrix("x"), lambda t, o: (t["x"],), ("x",), lambda t, o: F.relu(t["x"]).square()
    ),
    "softmax": Operator(
        "LigerSoftmaxFunction", _matrix("x"), lambda t, o: (t["x"],), ("x",), lambda t, o: torch.softmax(t["x"], -1)
    ),
    "sparsemax": Operator("LigerSparsemaxFunction", _matrix("x"), lambda t, o: (t["x"], -1), ("x",), _sparsemax),
    "cross_entropy": Operator(
        "LigerCrossEntropyFunction",
        lambda m, s: {"logits": m.normal(s["rows"], s["columns"]), "target": m.labels(s["rows"], s["columns"])},
        lambda t, o: (t["logits"], t["target"], None),
        ("logits",),
        _cross_entropy,
        overwrites_forward=("logits",),
        outputs=_one,
        loss=True,
    ),
    "fused_linear_cross_entropy": Operator(
        "LigerFusedLinearCrossEntropyFunction",
        lambda m, s: {
            "x": m.normal(s["rows"], s["hidden"]),
            "w": m.normal(s["columns"], s["hidden"], scale=0.02),
            "target": m.labels(s["rows"], s["columns"]),
        },
        lambda t, o: (t["x"], t["w"], t["target"]),
        ("x", "w"),
        _fused_linear_cross_entropy,
        outputs=_one,
        loss=True,
    ),
    "fused_linear_jsd": Operator(
        "LigerFusedLinearJSDFunction",
        _linear_jsd_inputs,
        lambda t, o: (t["sx"], t["sw"], t["tx"], t["tw"]),
        ("sx", "sw"),
        _fused_linear_jsd,
        loss=True,
    ),
    "kl_div": Operator(
        "LigerKLDivLossFunction",
        lambda m, s: {"y": m.log_probabilities(s["rows"], s["columns"]), "p": m.probabilities(s["rows"], s["columns"])},
        lambda t, o: (t["y"], t["p"]),
        ("y",),
        lambda t, o: F.kl_div(up(t["y"]), up(t["p"]), reduction="batchmean"),
        loss=True,
    ),
    "jsd": Operator(
        "LigerJSDFunction",
        lambda m, s: {n: m.log_probabilities(s["rows"], s["columns"]) for n in ("q", "p")},
        lambda t, o: (t["q"], t["p"]),
        ("q",),
        lambda t, o: _jsd(t["q"], t["p"]),
        loss=True,
    ),
    "tvd": Operator(
        "LigerTVDLossFunction",
        lambda m, s: {n: m.probabilities(s["rows"], s["columns"]) for n in ("p", "q")},
        lambda t, o: (t["p"], t["q"]),
        ("p",),
        lambda t, o: 0.5 * (up(t["p"]) - up(t["q"])).abs().sum() / t["p"].shape[0],
        loss=True,
    ),
    "group_norm": Operator(
        "LigerGroupNormFunction",
        _group_norm_inputs,
        lambda t, o: (t["x"], t["w"], t["b"], t["x"].shape[1], _groups(t), 1e-6),
        ("x", "w", "b"),
        lambda t, o: F.group_norm(t["x"], _groups(t), t["w"], t["b"], 1e-6),
    ),
    "rope": Operator(
        "LigerRopeFunction",
        _rope_inputs,
        lambda t, o: (t["q"], t["k"], t["cos"], t["sin"]),
        ("q", "k"),
        _rope,
        overwrites_forward=("q", "k"),
        overwrites_gradients=True,
    ),
    "grpo_loss": Operator(
        "GrpoLossFunction",
        _grpo_inputs,
        lambda t, o: (t["logits"], None, t["ref"], t["ids"], t["advantages"], t["mask"], 0.9, 0.04, 0.2, 0.4, False),
        ("logits",),
        _grpo,
        outputs=_one,
        loss=True,
    ),
    "embedding": Operator(
        "LigerEmbeddingFunction",
        lambda m, s: {"w": m.normal(s["vocabulary"], s["columns"]), "ids": m.labels(s["rows"], s["vocabulary"])},
        lambda t, o: (t["w"], t["ids"]),
        ("w",),
        lambda t, o: F.embedding(t["ids"], t["w"]),
    ),
}
