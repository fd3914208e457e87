"""The name under which compiled code is kept: everything that the code depends on, told without lowering anything."""

from __future__ import annotations

import functools
import importlib.util
import os
import re
import sys
from collections.abc import Callable, Iterator, Sequence
from types import FunctionType
from typing import Any

from mlir import ir

from tir_mlir.intrin.kernels import find_kernel
from tir_mlir.runtime import cache, link, llvm_c, machine

_FORMAT = "1"
# what takes part between a program and its code, relative to the package
SOURCES = ("build.py", "dialect", "intrin", "passes/lower", "runtime", "target.py")
_PATH = re.compile(rf'{link.PRAGMA} = "((?:[^"\\]|\\.)*)"')


def program_key(source: str, module: ir.Module, libs: Sequence[str]) -> str:
    """The name for a program: its text, and what else decides how it is compiled."""
    host = machine.target()
    parts = [_FORMAT, _made_by(), host.triple, host.cpu, host.features, os.environ.get("TIR_OPENMP", "")]
    parts += [f"{lib} {_stamp(lib)}" for lib in libs]
    parts += _kernels(module)
    parts += [f"{path} {_stamp(path)}" for path in _imported_files(source)]
    return cache.digest(*parts, source)


def entry_key() -> str:
    """The name for the machine code of entry.ll."""
    host = machine.target()
    return cache.digest(_FORMAT, _made_by(), host.triple, host.cpu, host.features)


def sources_changed() -> bool:
    """Whether somebody edited this package since this process took it in: what it makes now is of neither state."""
    return _sources() != _AT_START


@functools.cache
def _made_by() -> str:
    """This package, LLVM and what else lowering asks, as they are installed here."""
    found = [sys.version, sys.prefix, sys.base_prefix, llvm_c.identity(), _AT_START]
    spec = importlib.util.find_spec("islpy")
    if spec is not None and spec.origin:
        found.append(_stamp(spec.origin) + _stamp(os.path.dirname(spec.origin)))
    return "\n".join(found)


def _sources() -> str:
    root = os.path.dirname(os.path.dirname(__file__))
    return "\n".join(sorted(stamp for source in SOURCES for stamp in _stamps(os.path.join(root, source))))


def _stamps(path: str) -> Iterator[str]:
    """Path, size and time of all source files under a path: cheaper than their content, and changes with it."""
    if not os.path.isdir(path):
        yield path + _stamp(path)
        return
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _stamps(entry.path)
            else:
                stat = entry.stat()
                yield f"{entry.path} {stat.st_size} {stat.st_mtime_ns}"


def _stamp(path: str) -> str:
    try:
        stat = os.stat(path)
    except OSError:
        return ""  # a library that the loader looks for itself
    return f"{stat.st_size} {stat.st_mtime_ns}"


def _imported_files(source: str) -> list[str]:
    """The files of LLVM IR that a program names; most programs have the text in them."""
    if link.PRAGMA not in source:
        return []
    return [text for text in _PATH.findall(source) if "\\0A" not in text]


def _kernels(module: ir.Module) -> list[str]:
    """The registered kernels of the functions that a program declares."""
    found = []
    for op in module.body.operations:
        if op.operation.name == "func.func" and not len(op.operation.regions[0].blocks):
            symbol = ir.StringAttr(op.attributes["sym_name"]).value
            builder = find_kernel(symbol)
            if builder is not None:
                found.append(f"{symbol} {_own(builder) or link.kernel_text(builder, symbol)}")
    return found


def _own(builder: Callable[[], None]) -> str | None:
    """A builder of this package, whose files are in the key already: its name, what it was given. None for others."""
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


def _is_ours(value: Any) -> bool:
    return isinstance(value, FunctionType) and value.__module__.startswith("tir_mlir.")


_AT_START = _sources()
