"""`tvm.build`, and the compiled module, whose functions take NDArrays and can be timed."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, TypeAlias, TypeVar

import numpy as np

from tir_mlir import __version__ as VERSION  # noqa: F401  tvm.__version__
from tir_mlir.build import Library
from tir_mlir.build import build as _build
from tir_mlir.compat.gpu_targets import gpu_of, runnable_target
from tir_mlir.compat.ndarray import Device, NDArray, memory_of
from tir_mlir.dialect.diagnostics import BuildError, short_repr
from tir_mlir.runtime.call.fast_entry import python_function
from tir_mlir.runtime.gpu.function import DeviceFunction
from tir_mlir.target import GPU

if TYPE_CHECKING:
    from tir_mlir.graph.model import Model
    from tir_mlir.runtime.call.signature import ProgramFunction
    from tir_mlir.schedule import Schedule
    from tir_mlir.script.module import IRModule, PrimFunc


T = TypeVar("T")
Numbers: TypeAlias = "np.ndarray | float | Sequence[float]"
Program: TypeAlias = "IRModule | PrimFunc | Schedule"
TargetLike: TypeAlias = "str | Mapping[str, object] | Target"


class Target:
    """A target: `Target("llvm")`, `Target("cuda -arch=sm_80")`, `Target("nvidia/tesla-p100")`, `Target("opencl")`.

    Other options are ignored: code for a CPU is for this one. Without a GPU, its kernels run on the CPU.
    """

    _stack: ClassVar[list[Target]] = []

    def __init__(self, target: TargetLike = "llvm", host: object = None):
        if isinstance(target, dict):
            arch = f" -arch={target['arch']}" if "arch" in target else ""
            target = f"{target.get('kind', 'llvm')}{arch}"
        self._text = str(target)
        self.host = host

    @property
    def kind(self) -> str:
        """The name alone: "llvm"."""
        return self._text.split()[0] if self._text.split() else ""

    @staticmethod
    def current(allow_none: bool = True) -> Target | None:
        """The target of the innermost `with Target(...)`."""
        if not Target._stack and not allow_none:
            raise BuildError('no target is set: with tvm.target.Target("llvm"): ...')
        return Target._stack[-1] if Target._stack else None

    def __enter__(self) -> Target:
        Target._stack.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        Target._stack.pop()

    def __str__(self) -> str:
        return self._text


def build(
    mod: Program, target: TargetLike | None = None, target_host: object = None, name: str = "", **_: object
) -> Module:
    """Compile a module, a function or a schedule for the CPU, or its bound nests for a GPU. Without a GPU these run on
    the CPU, which is said once."""
    resolved = Target(target) if target is not None else Target.current() or Target("llvm")
    gpu = gpu_of(str(resolved))
    if gpu is None:
        return Module(_build(mod, target=resolved.kind))
    library = _build(mod, target=runnable_target(gpu))
    return Module(library, KernelModule(library, mod, gpu))


class KernelModule:
    """The kernels of a compiled module, as TVM's `imported_modules[0]`."""

    def __init__(self, library: Library, program: Program, gpu: GPU):
        self._library, self._program, self._gpu = library, program, gpu

    @property
    def type_key(self) -> str:
        """ "cuda" or "opencl"."""
        return self._gpu.kind.removesuffix("-emulated")

    kind = format = type_key

    def get_source(self, fmt: str = "") -> str:
        """The kernels: "cu" or "cl" in C, the default; "ptx" the code that an NVIDIA GPU's driver gets."""
        if fmt in ("", "c", "cu", "cl"):
            library = self._library
            if self.type_key == "opencl" and not self._gpu.runs_here:
                library = _build(self._program, target=self._gpu)
            return library.source
        if fmt == "ptx" and (gpu := self._gpu.nvidia) is not None:
            return _build(self._program, target=replace(gpu, emulated=False)).assembly
        raise BuildError(f"get_source({short_repr(fmt)}): the formats of kernels are 'cu', 'cl' and 'ptx'")

    inspect_source = get_source


class Module:
    """A compiled module: `lib["main"](a, b, c)`. `lib.library` is tir_mlir's own Library.

    It is also what TVM calls an executable: `lib.mod` and `lib.jit()` are the module itself.
    """

    def __init__(self, library: Library, kernels: KernelModule | None = None):
        self.library = library
        self.imported_modules = [kernels] if kernels is not None else []
        """The kernels of a GPU."""

    @property
    def imports(self) -> list[KernelModule]:
        """The newer name of `imported_modules`."""
        return self.imported_modules

    imports_ = imports

    def __getitem__(self, name: str) -> Callable[..., None]:
        function = self.library[name]
        return lambda *args, **named: function(
            *map(_unwrap_array, args), **{n: _unwrap_array(a) for n, a in named.items()}
        )

    get_function = __getitem__

    @property
    def mod(self) -> Module:
        """The module itself."""
        return self

    def jit(self, **_: object) -> Module:
        """The module itself: it is compiled."""
        return self

    @property
    def entry_name(self) -> str:
        """The name of the function that a call of the module runs: `main`, or the only one."""
        names = self.library.functions
        return "main" if "main" in names or len(names) != 1 else names[0]

    @property
    def entry_func(self) -> Callable[..., None]:
        """The function of this name."""
        return self[self.entry_name]

    def __call__(self, /, *args: NDArray | np.ndarray, **named: NDArray | np.ndarray) -> None:
        self.entry_func(*args, **named)

    def get_source(self, fmt: str = "ll") -> str:
        """The code as text: "ll" is LLVM IR, "asm" or "s" is assembly, "mlir" the module before lowering."""
        texts = {"": "llvm_ir", "ll": "llvm_ir", "asm": "assembly", "s": "assembly", "mlir": "mlir"}
        if fmt not in texts:
            raise BuildError(f"get_source({short_repr(fmt)}): the formats are {', '.join(repr(f) for f in texts if f)}")
        return getattr(self.library, texts[fmt])

    inspect_source = get_source

    def export_library(self, file_name: str | Path, **_: object) -> None:
        """Write a shared object that loads without this package."""
        self.library.export(file_name)

    def time_evaluator(
        self, func_name: str, dev: Device | None = None, number: int = 10, repeat: int = 1, **_: object
    ) -> Callable[..., BenchmarkResult]:
        """A callable that runs a function `number` times after one run to warm up, `repeat` times over."""
        function = self.library[func_name]

        def evaluate(*args: NDArray | np.ndarray, **named: NDArray | np.ndarray) -> BenchmarkResult:
            by_name = {n: _unwrap_array(a) for n, a in named.items()}
            return time_function(function, tuple(map(_unwrap_array, args)), by_name, number, repeat)

        return evaluate


def time_function(
    function: ProgramFunction | Model,
    args: tuple[np.ndarray, ...],
    named: Mapping[str, np.ndarray],
    number: int,
    repeat: int,
) -> BenchmarkResult:
    """Run a function `number` times after one run to warm up, `repeat` times over; kernels of a GPU by its events."""
    plain = python_function(function)
    if isinstance(plain, DeviceFunction):
        return BenchmarkResult(tuple(plain.seconds(plain.order_arguments(args, named), number, repeat)))
    function(*args, **named)
    results = []
    for _ in range(repeat):
        start = time.perf_counter()
        for _ in range(number):
            function(*args, **named)
        results.append((time.perf_counter() - start) / number)
    return BenchmarkResult(tuple(results))


@dataclass(frozen=True)
class BenchmarkResult:
    """Seconds per call, one value per repeat."""

    results: tuple[float, ...]

    @property
    def mean(self) -> float:
        return float(np.mean(self.results))

    @property
    def median(self) -> float:
        return float(np.median(self.results))

    @property
    def min(self) -> float:
        return min(self.results)

    @property
    def max(self) -> float:
        return max(self.results)

    @property
    def std(self) -> float:
        return float(np.std(self.results))


def _unwrap_array(value: NDArray | T) -> np.ndarray | T:
    return memory_of(value) if isinstance(value, NDArray) else value


def assert_allclose(
    actual: NDArray | Numbers, desired: NDArray | Numbers, rtol: float = 1e-7, atol: float = 1e-7
) -> None:
    """NumPy's comparison, which also takes NDArrays."""
    np.testing.assert_allclose(_unwrap_array(actual), _unwrap_array(desired), rtol=rtol, atol=atol)
