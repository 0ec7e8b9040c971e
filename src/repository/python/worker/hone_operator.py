"""How an operator is called, from its description: inputs of stated shapes and values, the call, what it overwrites, its formula.

The description's expressions are Python over the names of its inputs, options and extents. `formula` gives the outputs in plain
PyTorch in any precision: in the working type it is the baseline provider, in float64 it is the reference.
"""

import functools
import math

import torch
import torch.nn.functional as F

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16, "fp64": torch.float64}
INTEGERS = {"int32": torch.int32, "int64": torch.int64}


def up(x):
    """Half precision to float32, as the models' own implementations compute; other types stay."""
    return x.float() if x.dtype in (torch.float16, torch.bfloat16) else x


class Operator:
    def __init__(self, description, code, device):
        self.name, self.callable = description["name"], description["callable"]
        self.loss, self.outputs, self.truths = description["loss"], description["outputs"], description["truths"]
        self.overwrites_forward = tuple(description["overwrites_forward"])
        self.overwrites_backward = tuple(description["overwrites_backward"])
        self.overwrites_gradients = description["overwrites_gradients"]
        self.device = torch.device(device)
        self._arguments = "(" + "".join(f"{argument}, " for argument in description["arguments"]) + ")"
        self._formula = description["formula"]
        self._names = {"torch": torch, "F": F, "math": math, "up": up, "device": self.device}
        exec(compile(code, f"<functions of {self.name}>", "exec"), self._names)

    @functools.cache
    def function(self, expression, names):
        """An expression as a function of what it may name."""
        return eval(f"lambda {', '.join(names)}: {expression}", self._names)

    def value(self, expression, known):
        return self.function(expression, tuple(known))(**known)

    def options(self, options):
        return {name: value == "true" if name in self.truths else value for name, value in options.items()}

    def arguments(self, known):
        return self.value(self._arguments, known)

    def formula(self, known):
        return self.value(self._formula, known)

    def counted(self, result):
        """The outputs that count, of what a call returned."""
        result = result if isinstance(result, tuple) else (result,)
        return tuple(result[i] for i in self.outputs) if self.outputs else result

    def callable_of(self, module):
        found = functools.reduce(getattr, self.callable.split("."), module)
        return found.apply if isinstance(found, type) and issubclass(found, torch.autograd.Function) else found


class Maker:
    """Draws inputs of a stated distribution from one seed, each in its order in memory."""

    def __init__(self, operator, dtype, seed):
        self._operator, self.device, self.dtype = operator, operator.device, DTYPES[dtype]
        self._generator = torch.Generator(device=self.device).manual_seed(seed)

    def normal(self, shape, dtype=None, mean=0.0, deviation=1.0):
        x = torch.randn(tuple(shape), generator=self._generator, device=self.device, dtype=torch.float32)
        return (x * deviation + mean).to(dtype or self.dtype)

    def input(self, given, known):
        shape, order = given["shape"], given.get("order")
        return self._drawn(given, shape, known) if order is None else laid_out(lambda s: self._drawn(given, s, known), shape, order)

    def like(self, y):
        """Normal values in the shape, type and memory order of `y`."""
        order = sorted(range(y.dim()), key=lambda axis: -y.stride(axis))
        return laid_out(lambda shape: self.normal(shape, y.dtype), y.shape, order)

    def _drawn(self, given, shape, known):
        distribution, kind = given["distribution"], given["type"]
        dtype = INTEGERS.get(kind) or DTYPES.get(kind, self.dtype)
        if distribution == "integers":
            return torch.randint(
                int(given.get("low", 0)), int(given["below"]), shape, generator=self._generator, device=self.device
            ).to(dtype)
        if distribution in ("zeros", "ones"):
            return torch.full(shape, 1 if distribution == "ones" else 0, device=self.device, dtype=dtype)
        if distribution == "formula":
            return self._operator.value(given["formula"], known).to(dtype)
        if distribution == "uniform":
            low, high = given.get("low", 0.0), given.get("high", 1.0)
            x = torch.rand(shape, generator=self._generator, device=self.device, dtype=torch.float32)
            return (low + x * (high - low)).to(dtype)
        if distribution in ("softmax", "log_softmax"):
            return getattr(torch, distribution)(self.normal(shape, torch.float32), -1).to(dtype)
        return self.normal(shape, dtype, given.get("mean", 0.0), given.get("deviation", 1.0))


def laid_out(draw, shape, order):
    """What `draw` makes of a shape, with its axes in this order in memory, the outermost first."""
    return draw([shape[axis] for axis in order]).permute([list(order).index(axis) for axis in range(len(shape))])
