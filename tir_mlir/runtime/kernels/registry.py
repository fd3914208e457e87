"""The registry of kernels by symbol name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from mlir import ir

from tir_mlir.dialect.computation.intrinsics import register_built_in
from tir_mlir.dialect.diagnostics import TirError, check_type
from tir_mlir.target.instruction_sets import llvm_word

Builder = Callable[[], None]


_kernels: dict[str, Builder] = {}


_needs: dict[str, tuple[str, ...]] = {}
_stand_ins: set[str] = set()


def register_kernel(
    symbol: str, builder: Builder, override: bool = False, needs: Sequence[str] = (), stands_in: bool = False
) -> None:
    """Register `builder` as the kernel of `symbol`: called without arguments, it emits `llvm.func @symbol` (and what
    that needs) at the insertion point. needs: the CPU features of its code, by LLVM's names or those of Linux; a CPU
    that lacks one gets a BuildError, from `build` and where its code is loaded. stands_in: the kernel is for programs
    whose author has none yet; `build` warns when it runs. Raises ValueError if the symbol is registered and `override`
    is not set."""
    check_type(symbol, str, "register_kernel", "symbol", "the name of a C function")
    check_type(builder, Callable, "register_kernel", "builder", "a function that emits the kernel")  # type: ignore[arg-type]
    if symbol in _kernels and not override:
        raise ValueError(f"register_kernel: {symbol!r} is registered already; pass override=True to replace it")
    _kernels[symbol] = builder
    _needs[symbol] = tuple(map(llvm_word, needs))
    (_stand_ins.add if stands_in else _stand_ins.discard)(symbol)


def stands_in(symbol: str) -> bool:
    """Whether the kernel of `symbol` runs instead of one that the program's author is to bring."""
    return symbol in _stand_ins


@contextmanager
def built_in_kernel(symbol: str) -> Iterator[None]:
    """Context in which programs that call `symbol` are meant to run its registered kernel: `build` gives no warning."""
    was = symbol in _stand_ins
    _stand_ins.discard(symbol)
    try:
        yield
    finally:
        if was:
            _stand_ins.add(symbol)


@contextmanager
def replaced_kernels(
    builders: Mapping[str, Builder], facts: Mapping[str, tuple[Sequence[str], bool]] | None = None
) -> Iterator[None]:
    """Context in which other kernels are registered for some symbols. facts: `needs` and `stands_in` of
    `register_kernel`, by symbol."""
    tables = _kernels, _needs
    backups, stand_ins = [dict(table) for table in tables], set(_stand_ins)
    for symbol, builder in builders.items():
        needs, stands_in = (facts or {}).get(symbol, ((), False))
        register_kernel(symbol, builder, True, needs, stands_in)
    try:
        yield
    finally:
        for table, old in zip(tables, backups, strict=True):
            table.clear()
            table.update(old)  # type: ignore[arg-type]
        _stand_ins.clear()
        _stand_ins.update(stand_ins)


def needed_by(symbol: str) -> tuple[str, ...]:
    """The CPU features that the kernel of `symbol` needs."""
    return _needs.get(symbol, ())


def find_kernel(symbol: str) -> Builder | None:
    """The registered builder of `symbol`, or None. Kernels of built-in intrinsics are registered by name when they are
    asked for: another process may have scheduled the program."""
    check_type(symbol, str, "find_kernel", "symbol", "the name of a C function")
    if symbol not in _kernels:
        register_built_in(symbol)
    return _kernels.get(symbol)


def known_kernels() -> list[str]:
    """All registered symbols."""
    return sorted(_kernels)


def emit(text: str) -> None:
    """Parse a module and clone its ops at the insertion point."""
    check_type(text, str, "emit", "text", "a module of MLIR")
    try:
        point = ir.InsertionPoint.current
    except ValueError:
        raise TirError("emit: no insertion point; fix: call it in the builder of a kernel (register_kernel)") from None
    module = ir.Module.parse(text)
    for op in list(module.body.operations):
        op.operation.detach_from_parent()
        point.insert(op)
