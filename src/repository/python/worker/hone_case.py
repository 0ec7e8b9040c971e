"""One size of one operator with its resident inputs, and a pass of one implementation on them.

Every implementation works on the same tensors at the same addresses. Before each run what a pass overwrites is copied
back from the masters and gradients are dropped; a backward pass gets a graph of its own each time.
"""

import importlib
import importlib.util
import sys

import torch

from hone_operator import Maker


def load_module(key, name, path):
    """The operator's module under a name of its own, from a file that need not lie in the package. `name` is its place
    in the package ("package.ops.rms_norm"), so that its relative imports mean what they mean there."""
    if not path:
        return importlib.import_module(name)
    package, dot, leaf = name.rpartition(".")
    if package:
        importlib.import_module(package)
    own_name = f"{package}{dot}_hone_{key}_{leaf}"
    specification = importlib.util.spec_from_file_location(own_name, path)
    module = importlib.util.module_from_spec(specification)
    sys.modules[own_name] = module
    try:
        specification.loader.exec_module(module)
    except BaseException:
        del sys.modules[own_name]
        raise
    return module


class Implementation:
    """What a module has under the operator's name, or the operator's formula."""

    def __init__(self, operator, module=None):
        self._operator = operator
        self._function = operator.callable_of(module) if module is not None else None

    def __call__(self, bound):
        if self._function is None:
            result = self._operator.formula(bound)
            return result if isinstance(result, tuple) else (result,)
        return self._operator.counted(self._function(*self._operator.arguments(bound)))


class Case:
    """`spec`: extents by name as `shape`, `dtype`, `options`, `seed`, and the `inputs` under these extents."""

    def __init__(self, operator, spec):
        self.operator = operator
        self.names = {**spec["shape"], **operator.options(spec["options"])}  # what expressions know beside the tensors
        self.differentiable = tuple(given["name"] for given in spec["inputs"] if given["gradient"])
        maker = Maker(operator, spec["dtype"], spec["seed"])
        self.masters = {given["name"]: maker.input(given, self.names) for given in spec["inputs"]}
        self.tensors = {n: t.clone(memory_format=torch.preserve_format) for n, t in self.masters.items()}
        for name in self.differentiable:
            self.tensors[name].requires_grad_(True)
        self._bound = {**self.names, **self.tensors}
        self._maker = maker
        self.gradient_masters, self.gradients = None, None
        self.known = None  # of hone_numerics
        self.input_bytes = sum(t.numel() * t.element_size() for t in self.masters.values())

    def give_gradients(self, outputs):
        """Gradients of the outputs: random, or 1 for a loss; drawn once for all implementations."""
        if self.gradient_masters is None:
            if self.operator.loss:
                self.gradient_masters = [torch.ones_like(y) for y in outputs]
            else:
                self.gradient_masters = [self._maker.like(y) for y in outputs]
            self.gradients = [g.clone(memory_format=torch.preserve_format) for g in self.gradient_masters]

    def restore(self, names=None):
        if names is None:
            names = set(self.operator.overwrites_forward) | set(self.operator.overwrites_backward)
        with torch.no_grad():
            for name in names:
                self.tensors[name].copy_(self.masters[name])
            if self.operator.overwrites_gradients and self.gradients is not None:
                for working, master in zip(self.gradients, self.gradient_masters):
                    working.copy_(master)

    def leaves(self):
        return [self.tensors[n] for n in self.differentiable]

    def forward(self, implementation):
        return implementation(self._bound)

    def backward(self, outputs):
        pairs = [(y, g) for y, g in zip(outputs, self.gradients) if y.requires_grad]
        return torch.autograd.grad([y for y, _ in pairs], self.leaves(), [g for _, g in pairs], allow_unused=True)

    def prepare(self, implementation, mode):
        """Brings everything into its first state and returns the call that is timed; its result is to be dropped."""
        self.restore()
        if mode == "forward":
            return lambda: self.forward(implementation)
        if mode == "backward":
            outputs = self.forward(implementation)
            self.give_gradients(outputs)
            return lambda: self.backward(outputs)
        if self.gradients is None:
            self.give_gradients(self.forward(implementation))
            self.restore()

        def full():
            return self.backward(self.forward(implementation))

        return full
