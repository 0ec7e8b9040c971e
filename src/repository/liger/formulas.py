"""The formulas of Liger's operators in plain PyTorch, for any precision: in the working type they are the baseline provider, in
float64 they are the reference. operators.toml names them; torch, its functional module as F, math, `up` (half precision to
float32, as the models' own implementations compute) and `device` are there.
"""


def norm_rows(x, eps=1e-6):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + eps)


def rms_norm(x, w, casting_mode):
    if casting_mode == "gemma":
        return (norm_rows(up(x)) * (1.0 + up(w))).to(x.dtype)
    return w * norm_rows(up(x)).to(x.dtype)


def fused_add_rms_norm(x, r, w):
    s = x + r
    return w * norm_rows(up(s)).to(s.dtype), s


def modulated_rms_norm(x, w, scale, shift):
    return (1 + scale) * (w * norm_rows(up(x)).to(x.dtype)) + shift


def poly_norm(x, w, b):
    wide, w = up(x), up(w)
    return (w[0] * norm_rows(wide**3) + w[1] * norm_rows(wide**2) + w[2] * norm_rows(wide) + up(b)).to(x.dtype)


def sparsemax(x):
    wide = up(x)
    z, _ = torch.sort(wide, -1, descending=True)
    k = torch.arange(1, wide.shape[-1] + 1, device=x.device, dtype=wide.dtype)
    total = z.cumsum(-1)
    support = (1 + k * z > total).sum(-1, keepdim=True)
    tau = (total.gather(-1, support - 1) - 1) / support.to(wide.dtype)
    return torch.clamp(wide - tau, min=0).to(x.dtype)


def jsd(student, teacher, beta=0.5):
    """Of log-probabilities."""
    q, p = up(student), up(teacher)
    m = torch.log(beta * p.exp() + (1 - beta) * q.exp())
    return (beta * (p.exp() * (p - m)).sum() + (1 - beta) * (q.exp() * (q - m)).sum()) / q.shape[0]


def groups(x):
    channels = x.shape[1]
    return channels // 4 if channels % 4 == 0 else 1


def rotary_angles(tokens, head):
    """Angles of each token and element of a head, [1, tokens, head], in float32."""
    wave = 10000.0 ** (torch.arange(0, head, 2, device=device, dtype=torch.float32) / head)
    angle = torch.arange(tokens, device=device, dtype=torch.float32)[:, None] / wave
    return torch.cat((angle, angle), -1)[None]


def rope(q, k, cos, sin):
    def rotated(x):
        a, b = x.chunk(2, -1)
        return x * cos[:, None] + torch.cat((-b, a), -1) * sin[:, None]

    return rotated(q), rotated(k)


def grpo_loss(logits, ref, ids, advantages, beta=0.04, low=0.2, high=0.4):
    logp = torch.log_softmax(up(logits[:, :-1]) / 0.9, -1).gather(-1, ids[..., None])[..., 0]
    ratio = torch.exp(logp - logp.detach())
    a = advantages.to(logp.dtype)[:, None]
    loss = -torch.minimum(ratio * a, ratio.clamp(1 - low, 1 + high) * a)
    ref = ref.to(logp.dtype)
    loss = loss + beta * (torch.exp(ref - logp) - (ref - logp) - 1)
    return loss.mean(-1).mean()
