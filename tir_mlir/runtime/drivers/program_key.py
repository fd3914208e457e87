"""The cache key of a program: everything that its code depends on, computed without lowering."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TypeGuard

from mlir import ir

from tir_mlir.dialect.diagnostics import variables
from tir_mlir.dialect.ir.op_views import FuncOp, isa
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.cache.fingerprint import FORMAT, installation, stamp
from tir_mlir.runtime.drivers import link_kernels
from tir_mlir.runtime.kernels.registry import find_kernel, needed_by, stands_in
from tir_mlir.runtime.llvm import object_code

_PATH = re.compile(rf'{link_kernels.PRAGMA} = "((?:[^"\\]|\\.)*)"')


def program_key(source: str, declared: Sequence[str], libs: Sequence[str], checked: bool = False) -> str:
    """The cache key of a program: its text, the kernels of the functions that it declares, libraries, and the compiler
    options."""
    parts = [_compiler(variables.text("TIR_OPENMP"))]
    parts += [f"{lib} {stamp(lib)}" for lib in libs]
    parts += _kernels(declared)
    parts += ["checked"] * checked
    parts += [f"{path} {stamp(path)}" for path in _imported_files(source)]
    return store.digest(*parts, source)


@functools.cache
def _compiler(openmp: str) -> str:
    """The installation and the machine, which are the same for all programs of a process."""
    host = object_code.target()
    return store.digest(FORMAT, installation(), host.triple, host.cpu, host.features, openmp)


def _imported_files(source: str) -> list[str]:
    """The .ll files named by import annotations; most annotations hold the text itself."""
    if link_kernels.PRAGMA not in source:
        return []
    return [text for text in _PATH.findall(source) if "\\0A" not in text]


def declared_functions(module: ir.Module) -> list[str]:
    """The functions that a program declares, which have no body."""
    functions = [op for op in module.body.operations if isa(op.operation, FuncOp)]
    return [ir.StringAttr(op.attributes["sym_name"]).value for op in functions if not len(op.regions[0].blocks)]


def _kernels(declared: Sequence[str]) -> list[str]:
    """The registered kernels among some functions, with what they need."""
    descriptions = []
    for symbol in declared:
        builder = find_kernel(symbol)
        if builder is not None:
            text = _package_builder_key(builder) or link_kernels.kernel_text(builder, symbol)
            warned = "stands in" if stands_in(symbol) else ""  # the warning is repeated with the code
            descriptions.append(f"{symbol} {warned} {' '.join(needed_by(symbol))} {text}")
    return descriptions


_texts: dict[str, str] = {}
"""Of kernels of this package, by their keys."""


def kernel_code(builder: Callable[[], None], symbol: str) -> str:
    """The code of a registered kernel, as MLIR text."""
    builder_key = _package_builder_key(builder)
    if builder_key is None:
        return link_kernels.kernel_text(builder, symbol)
    if (known := f"{symbol} {builder_key}") not in _texts:
        _texts[known] = link_kernels.kernel_text(builder, symbol)
    return _texts[known]


def _package_builder_key(builder: Callable[[], None]) -> str | None:
    """The key of a builder of this package: its name and arguments. None for others, whose text is the key."""
    if not _is_ours(builder) or builder.__defaults__ or builder.__kwdefaults__:
        return None
    words = [builder.__module__, builder.__qualname__, str(builder.__code__.co_firstlineno)]
    for cell in builder.__closure__ or ():
        value = cell.cell_contents
        if isinstance(value, (bool, int, str)):
            words.append(repr(value))
        elif _is_ours(plain := getattr(value, "__wrapped__", value)) and not plain.__closure__:  # __wrapped__: a cache
            words.append(f"{plain.__module__}.{plain.__qualname__}")
        else:
            return None
    return " ".join(words)


def _is_ours(value: object) -> TypeGuard[FunctionType]:
    return isinstance(value, FunctionType) and value.__module__.startswith("tir_mlir.")
