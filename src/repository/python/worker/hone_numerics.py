"""Outputs and gradients of the original and of a variant against the formula in double precision: figures, no verdict."""

import torch

from hone_case import Implementation


class _Poison:
    """Memory that torch.empty hands out is filled with NaN (integers: the largest), so what is not written shows."""

    def __enter__(self):
        self._was = (torch.are_deterministic_algorithms_enabled(), torch.utils.deterministic.fill_uninitialized_memory)
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.utils.deterministic.fill_uninitialized_memory = True

    def __exit__(self, *error):
        torch.use_deterministic_algorithms(self._was[0])
        torch.utils.deterministic.fill_uninitialized_memory = self._was[1]


def _results(case, implementation):
    """Outputs and gradients in one list of (name, tensor); copies, because a pass may reuse its buffers."""
    case.restore()
    with _Poison(), torch.enable_grad():
        outputs = case.forward(implementation)
        case.give_gradients(outputs)
        named = [(f"output {i}", y.detach().clone()) for i, y in enumerate(outputs)]
        gradients = case.backward(outputs)
    named += [(f"gradient of {n}", g.detach().clone()) for n, g in zip(case.differentiable, gradients) if g is not None]
    return named


def _reference(case):
    wide = {n: (t.double() if t.is_floating_point() else t) for n, t in case.masters.items()}
    for name in case.differentiable:
        wide[name] = wide[name].detach().clone().requires_grad_(True)
    outputs = Implementation(case.operator)({**case.names, **wide})
    gradients = [g.double() for g in case.gradient_masters]
    found = torch.autograd.grad(outputs, [wide[n] for n in case.differentiable], gradients, allow_unused=True)
    named = [(f"output {i}", y.detach()) for i, y in enumerate(outputs)]
    return named + [(f"gradient of {n}", g) for n, g in zip(case.differentiable, found) if g is not None]


def _deviation(result, reference):
    value = result.double()
    finite = torch.isfinite(reference)
    wrong = (finite & ~torch.isfinite(value)) | (~finite & ~((value == reference) | (value.isnan() & reference.isnan())))
    bad = int(wrong.sum())
    good = finite & torch.isfinite(value)
    error = torch.where(good, (value - reference).abs(), torch.zeros((), dtype=torch.float64, device=value.device))
    worst = int(error.argmax()) if error.numel() else 0
    norm = float(torch.where(good, reference, torch.zeros_like(reference)).norm())
    return {
        "elements": value.numel(),
        "non_finite": bad,
        "first_non_finite": int(wrong.flatten().int().argmax()) if bad else -1,
        "worst_error": float(error.flatten()[worst]) if error.numel() else 0.0,
        "worst_index": worst,
        "worst_value": float(value.flatten()[worst]) if value.numel() else 0.0,
        "worst_reference": float(reference.flatten()[worst]) if value.numel() else 0.0,
        "norm_error": float(error.norm()) / norm if norm > 0 else float(error.norm()),
        "largest_reference": float(torch.where(finite, reference, torch.zeros_like(reference)).abs().max()) if value.numel() else 0.0,
    }


def _changed_inputs(case):
    """Inputs that are not what they were and are not known to be overwritten."""
    allowed = set(case.operator.overwrites_forward) | set(case.operator.overwrites_backward)
    return [
        n
        for n, master in case.masters.items()
        if n not in allowed and not torch.equal(case.tensors[n].detach(), master)
    ]


def _attempt(case, implementation):
    try:
        return _results(case, implementation), ""
    except Exception as error:  # an operator may refuse a shape; whether both refuse is for the caller to judge
        return None, f"{type(error).__name__}: {error}"


def _equal(a, b):
    return a.shape == b.shape and bool(torch.equal(a.nan_to_num(), b.nan_to_num()))


class _Known:
    """What a candidate is judged by, made before any candidate ran on this case: it shares memory with them. Kept with the
    case, so that the original runs once more for each candidate and not three times."""

    def __init__(self, case, original):
        self.original = original
        self.results, self.refused = _attempt(case, original)
        if self.results is not None:
            self.repeated = _results(case, original)
            self.reference = dict(_reference(case))
            self.inputs = {name: master.clone() for name, master in case.masters.items()}
            self.gradients = [gradient.clone() for gradient in case.gradient_masters]

    def disturbed(self, case):
        """What was changed that is not a candidate's own: copies of inputs, or results of the original that repeat by
        themselves and differ now."""
        found = [f"the kept copy of {name}" for name, before in self.inputs.items() if not torch.equal(before, case.masters[name])]
        if not all(torch.equal(before, now) for before, now in zip(self.gradients, case.gradient_masters)):
            found.append("the kept copy of a gradient")
        later, why = _attempt(case, self.original)
        if later is None:
            return found + [f"the original, which now stops with {why}"]
        now = dict(later)
        for (name, first), (_, second) in zip(self.results, self.repeated):
            if _equal(first, second) and not _equal(first, now[name]):
                found.append(f"the original's {name}")
        return found


def check(case, original, candidate):
    if case.known is None or case.known.original is not original:
        case.known = _Known(case, original)
    known = case.known
    first, reference = known.results, getattr(known, "reference", None)
    if first is None:
        _, why = _attempt(case, candidate)
        return {"original_refused": known.refused, "candidate_refused": why, "tensors": []}
    second, why = _attempt(case, candidate)
    if second is None:
        return {"original_refused": "", "candidate_refused": why, "tensors": []}
    changed = _changed_inputs(case)
    again = _results(case, candidate)
    disturbed = known.disturbed(case)
    if disturbed:
        case.known = None  # what was overwritten judges nobody else
    theirs = dict(first)
    tensors = []
    for (name, value), (_, later) in zip(second, again):
        same_shape = name in theirs and theirs[name].shape == value.shape and theirs[name].dtype == value.dtype
        entry = {"name": name, "dtype": str(value.dtype).removeprefix("torch."), "same_form": same_shape}
        if same_shape and name in reference:
            entry["original"] = _deviation(theirs[name], reference[name])
            entry["candidate"] = _deviation(value, reference[name])
            entry["repeats"] = _equal(value, later)
            entry["identical"] = _equal(value, theirs[name])
        tensors.append(entry)
    missing = sorted(set(theirs) - {n for n, _ in second})
    return {
        "original_refused": "",
        "candidate_refused": "",
        "changed_inputs": changed,
        "disturbed": disturbed,
        "missing": missing,
        "tensors": tensors,
    }
