"""`build`: a program -> a library of callables.

lower -> link kernels -> machine code, in process ("jit") or by the tools ("tools")
"""

from __future__ import annotations

import sys
import time
import types
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mlir import ir
from mlir.dialects.llvm import translate_module_to_llvmir  # pyright: ignore[reportAttributeAccessIssue]

from tir_mlir.dialect.context import entered
from tir_mlir.dialect.errors import BuildError
from tir_mlir.runtime import link
from tir_mlir.runtime.aot import Aot
from tir_mlir.runtime.caller import Function
from tir_mlir.runtime.jit import Jit
from tir_mlir.runtime.modules import clone
from tir_mlir.runtime.signature import Signature, signatures

TARGETS = ("llvm",)
DRIVERS = ("jit", "tools")


class Library:
    """The compiled functions of a module: `lib["main"](a, b, c)`, `lib.main(...)`, `lib(...)` when there is one.

    mlir, lowered, llvm_ir and assembly are the text after each stage; timing is seconds a stage.
    """

    def __init__(self, source: str, lowered: ir.Module, driver: Jit | Aot, found: Sequence[Signature]):
        self.mlir = source
        self.timing: dict[str, float] = {}
        self._lowered = lowered
        self._driver = driver
        self._signatures = list(found)
        self._functions = driver.functions(found)

    @property
    def functions(self) -> list[str]:
        """Names of the functions."""
        return list(self._functions)

    def __getitem__(self, name: str) -> Function:
        if name not in self._functions:
            raise KeyError(f"no function {name!r} in this library; it has: {', '.join(self._functions)}")
        return self._functions[name]

    def __getattr__(self, name: str) -> Function:
        functions = self.__dict__.get("_functions", {})
        if name in functions:
            return functions[name]
        raise AttributeError(f"Library has no attribute {name!r}; its functions are: {', '.join(functions)}")

    def __call__(self, *args: Any) -> None:
        if len(self._functions) != 1:
            raise BuildError(
                f"this library has {len(self._functions)} functions: call one, lib[{self.functions[0]!r}](...)"
            )
        next(iter(self._functions.values()))(*args)

    @property
    def lowered(self) -> str:
        """The module in the llvm dialect, kernels linked."""
        with entered():
            return str(self._lowered)

    @property
    def llvm_ir(self) -> str:
        """LLVM IR, before LLVM's own optimisations."""
        with entered():
            return translate_module_to_llvmir(self._lowered.operation)

    @property
    def assembly(self) -> str:
        """The machine code that runs, disassembled."""
        return self._driver.assembly()

    def export(self, path: str | Path) -> list[Path]:
        """Write a shared object to `path` (.so), with an object file and a C header beside it.

        The library loads without this package; with parallel loops it needs the OpenMP runtime it was linked to.
        """
        if not isinstance(self._driver, Aot):
            raise BuildError('export needs the tool driver: build(..., driver="tools").export(path)')
        return self._driver.export(path)


def build(mod: Any, target: str = "llvm", *, driver: str = "jit", libs: Sequence[str | Path] = ()) -> Library:
    """Compile a program: an IRModule, a PrimFunc, a Schedule or an ir.Module, left as it is.

    `libs` are shared objects for external functions. Raises BuildError (unknown target, missing or unfit kernel) and
    LoweringError.
    """
    if target not in TARGETS:
        raise BuildError(f"unknown target {target!r}; known: {', '.join(map(repr, TARGETS))}")
    if driver not in DRIVERS:
        raise BuildError(f"unknown driver {driver!r}; known: {', '.join(map(repr, DRIVERS))}")
    paths = [str(Path(lib).resolve()) if "/" in str(lib) or Path(lib).exists() else str(lib) for lib in libs]
    timing: dict[str, float] = {}
    with entered():
        original = _module(mod)
        with _timed(timing, "link"):
            source = str(original)
            found = list(signatures(original).values())
            if not found:
                raise BuildError("the module has no public function with a body")
            module = clone(original)
            kernels = link.resolve(module, paths)
        with _timed(timing, "lower"):
            _lower(module, target)
        with _timed(timing, "link"):
            link.define(module, kernels)
        with _timed(timing, "compile"):
            library = _compile(source, module, driver, found, paths)
    library.timing = timing
    return library


def _compile(source: str, lowered: ir.Module, driver: str, found: list[Signature], libs: list[str]) -> Library:
    low_precision = "f16" in source
    code = (
        Jit(lowered, [s.name for s in found], libs, low_precision)
        if driver == "jit"
        else Aot(lowered, found, libs, low_precision)
    )
    return Library(source, lowered, code, found)


def _lower(module: ir.Module, target: str) -> None:
    from tir_mlir.passes.lower import lower_to_llvm

    lower_to_llvm(module, target=target)


def _module(mod: Any) -> ir.Module:
    """The ir.Module of anything that holds a program."""
    seen = mod
    for _ in range(3):
        if isinstance(seen, ir.Module):
            return seen
        for attribute in ("mlir", "alone", "mod", "module"):  # alone: a PrimFunc without its neighbours
            if hasattr(seen, attribute):
                seen = getattr(seen, attribute)
                break
        else:
            break
    raise BuildError(f"build takes an IRModule, a PrimFunc, a Schedule or an MLIR module, not {type(mod).__name__}")


@contextmanager
def _timed(timing: dict[str, float], stage: str) -> Iterator[None]:
    start = time.perf_counter()
    yield
    timing[stage] = timing.get(stage, 0.0) + time.perf_counter() - start


class _Callable(types.ModuleType):
    """`from tir_mlir import build` gives this module once something imported it (Python binds a submodule to its
    package); it then stands for the function of its name."""

    def __call__(self, *args: Any, **options: Any) -> Library:
        return build(*args, **options)


sys.modules[__name__].__class__ = _Callable
