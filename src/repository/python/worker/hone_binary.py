"""What Triton made of a pass: each launch with its machine code's hash, registers, spills and shared memory."""

import hashlib
import inspect
import struct

import torch
import triton

from torch.utils._python_dispatch import TorchDispatchMode


def text_sections(image):
    """The instruction sections of a 64-bit ELF image (a cubin), in order of name: [(name, bytes)]."""
    if image[:4] != b"\x7fELF" or image[4] != 2:
        raise ValueError("not a 64-bit ELF image")
    (offset,) = struct.unpack_from("<Q", image, 0x28)
    size, count, names_index = struct.unpack_from("<HHH", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, offset + i * size) for i in range(count)]
    _, _, _, _, names_offset, names_size, *_ = headers[names_index]
    names = image[names_offset : names_offset + names_size]
    found = []
    for name_offset, kind, _, _, begin, length, *_ in headers:
        name = names[name_offset : names.index(b"\0", name_offset)].decode()
        if name.startswith(".text") and kind == 1:
            found.append((name, image[begin : begin + length]))
    return sorted(found)


class _Operations(TorchDispatchMode):
    """PyTorch's own operations in a pass, as text: a changed allocation or reduction is another pass."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        shapes = [tuple(a.shape) for a in args if isinstance(a, torch.Tensor)]
        self.seen.append(f"{function}{shapes}")
        return result


class Recorder:
    """Collects the kernels launched while it is entered; the last compiled form of each is what runs."""

    def __init__(self):
        self.launches = []

    def __enter__(self):
        self._operations = _Operations()
        self._operations.__enter__()
        from triton.compiler import CompiledKernel

        self._class, self._run = CompiledKernel, CompiledKernel.run
        launches, original = self.launches, CompiledKernel.run

        def recording(kernel):
            run = original.fget(kernel)

            def launch(grid_0, grid_1, grid_2, *rest):
                launches.append((kernel, (int(grid_0), int(grid_1), int(grid_2))))
                return run(grid_0, grid_1, grid_2, *rest)

            return launch

        CompiledKernel.run = property(recording)
        return self

    def __exit__(self, *error):
        self._class.run = self._run
        self._operations.__exit__(*error)

    def described(self):
        described = []
        for kernel, grid in self.launches:
            image = kernel.asm["cubin"]
            code = text_sections(image)
            digest = hashlib.sha256()
            for _, section in code:  # names hold the kernel's name, which a variant may change
                digest.update(section)
            metadata = kernel.metadata
            described.append(
                {
                    "name": metadata.name,
                    "grid": list(grid),
                    "num_warps": metadata.num_warps,
                    "num_stages": metadata.num_stages,
                    "shared_bytes": metadata.shared,
                    "registers": kernel.n_regs,
                    "spills": kernel.n_spills,
                    "code_bytes": sum(len(s) for _, s in code),
                    "code_hash": digest.hexdigest(),
                }
            )
        return described

    def operations(self):
        return hashlib.sha256("\n".join(self._operations.seen).encode()).hexdigest()


class Marked:
    """While entered, each launch stands between two events: (kernel's name, before, after) in `marks`."""

    def __init__(self, event):
        self._event, self.marks = event, []

    def __enter__(self):
        from triton.compiler import CompiledKernel

        self._class, self._run = CompiledKernel, CompiledKernel.run
        original, event, marks = CompiledKernel.run, self._event, self.marks

        def marking(kernel):
            run = original.fget(kernel)

            def launch(*arguments):
                before, after = event(), event()
                before.record()
                result = run(*arguments)
                after.record()
                marks.append((kernel.metadata.name, before, after))
                return result

            return launch

        CompiledKernel.run = property(marking)
        return self

    def __exit__(self, *error):
        self._class.run = self._run


class InterpretedRecorder:
    """The interpreter makes no machine code: a kernel is its source and the constants it was launched with."""

    def __init__(self):
        self.launches = []

    def __enter__(self):
        import triton.runtime.interpreter as interpreter

        self._operations = _Operations()
        self._operations.__enter__()
        self._class, self._call = interpreter.GridExecutor, interpreter.GridExecutor.__call__
        launches, original = self.launches, interpreter.GridExecutor.__call__

        def recording(executor, *args, **kwargs):
            constants = {k: v for k, v in kwargs.items() if isinstance(v, (int, bool, str))}
            grid = executor.grid if not callable(executor.grid) else executor.grid(kwargs)
            launches.append((executor.fn, tuple(grid), constants))
            return original(executor, *args, **kwargs)

        interpreter.GridExecutor.__call__ = recording
        return self

    def __exit__(self, *error):
        self._class.__call__ = self._call
        self._operations.__exit__(*error)

    def described(self):
        described = []
        for function, grid, constants in self.launches:
            source = inspect.getsource(function)
            text = source + repr(sorted(constants.items()))
            described.append(
                {
                    "name": function.__name__,
                    "grid": [int(g) for g in grid] + [1] * (3 - len(grid)),
                    "num_warps": constants.get("num_warps", 0),
                    "num_stages": constants.get("num_stages", 0),
                    "shared_bytes": -1,
                    "registers": -1,
                    "spills": -1,
                    "code_bytes": len(source),
                    "code_hash": hashlib.sha256(text.encode()).hexdigest(),
                }
            )
        return described

    def operations(self):
        return hashlib.sha256("\n".join(self._operations.seen).encode()).hexdigest()


def recorder():
    return InterpretedRecorder() if triton.knobs.runtime.interpret else Recorder()


def build(case, implementation, mode):
    """Runs the pass once to compile (and let autotuners choose), then once under the recorder."""
    with torch.enable_grad():
        kept = case.prepare(implementation, mode)()
        del kept
        call = case.prepare(implementation, mode)
        with recorder() as seen:
            kept = call()
        del kept
    return {"kernels": seen.described(), "operations": seen.operations()}
