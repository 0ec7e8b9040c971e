"""Stand-ins for what Triton's interpreter does not do as the compiler does; the kernels stay as they are.

Installed before any kernel module is imported, only where TRITON_INTERPRET=1: plain Python floats get the scalar type
the compiler gives them, libdevice functions are computed on the interpreter's arrays, and one-element tensors serve as loop bounds.
"""

import math

import numpy as np
import triton.language as tl
import triton.runtime.interpreter as interpreter

_FUNCTIONS = {
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sqrt": np.sqrt,
    "tanh": np.tanh,
    "exp": np.exp,
    "exp2": np.exp2,
    "log": np.log,
    "log2": np.log2,
    "log1p": np.log1p,
    "expm1": np.expm1,
    "sin": np.sin,
    "cos": np.cos,
    "abs": np.abs,
    "erf": np.vectorize(math.erf, otypes=[np.float64]),
    "floor": np.floor,
    "ceil": np.ceil,
}


def _elementwise(name, function):
    def apply(argument, *more):
        if more or not isinstance(argument, tl.tensor):
            raise NotImplementedError(f"libdevice.{name} of {type(argument).__name__} in the interpreter")
        data = argument.handle.data
        with np.errstate(all="ignore"):
            result = function(data.astype(np.float32) if data.dtype.kind == "f" and data.dtype.itemsize < 4 else data)
        return tl.tensor(interpreter.TensorHandle(result.astype(data.dtype), argument.type.scalar), argument.type)

    apply.__name__ = name
    return apply


def _install_libdevice():
    import triton.language.extra.libdevice as generic

    modules = [generic]
    try:
        import triton.language.extra.cuda.libdevice as cuda

        modules.append(cuda)
    except ImportError:
        pass
    for module in modules:
        for name, function in _FUNCTIONS.items():
            if hasattr(module, name):
                setattr(module, name, _elementwise(name, function))


def _install_scalars():
    convert = interpreter._implicit_cvt

    def convert_floats(argument):
        if isinstance(argument, float):  # bool and int are converted already
            return tl.tensor(interpreter.TensorHandle(np.array([argument], dtype=np.float32), tl.float32), tl.float32)
        return convert(argument)

    interpreter._implicit_cvt = convert_floats


def _install_numbers():
    """Loop bounds and indices: one-element tensors become Python numbers, which numpy no longer does by itself."""

    def as_integer(value):
        return int(np.asarray(value.handle.data).reshape(-1)[0])

    patch_tensor = interpreter._patch_lang_tensor

    def patch(tensor, scope):
        patch_tensor(tensor, scope)
        scope.set_attr(tensor, "__index__", as_integer)
        scope.set_attr(tensor, "__int__", as_integer)

    interpreter._patch_lang_tensor = patch


def install():
    _install_scalars()
    _install_libdevice()
    _install_numbers()
