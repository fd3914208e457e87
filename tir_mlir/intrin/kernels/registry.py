"""Kernels by symbol name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir

Builder = Callable[[], None]


_kernels: dict[str, Builder] = {}


_needs: dict[str, tuple[str, ...]] = {}


def register_kernel(symbol: str, builder: Builder, override: bool = False, needs: Sequence[str] = ()) -> None:
    """Make `builder` the kernel of `symbol`: called with nothing, it emits one `llvm.func @symbol` (and what that
    needs) at the insertion point. `needs`: the instruction sets that its code is made of, by LLVM's names; where one is
    not there, `build` says so. ValueError when the symbol is taken and `override` is not set."""
    if symbol in _kernels and not override:
        raise ValueError(f"register_kernel: {symbol!r} is registered already; pass override=True to replace it")
    _kernels[symbol] = builder
    _needs[symbol] = tuple(needs)


def needed_by(symbol: str) -> tuple[str, ...]:
    """The instruction sets that the kernel of `symbol` is made of."""
    return _needs.get(symbol, ())


def find_kernel(symbol: str) -> Builder | None:
    """The registered builder of `symbol`, or None."""
    return _kernels.get(symbol)


def known_kernels() -> list[str]:
    """All registered symbols."""
    return sorted(_kernels)


def emit(text: str) -> None:
    """Put the operations of a module's text at the insertion point."""
    point = ir.InsertionPoint.current
    module = ir.Module.parse(text)
    for op in list(module.body.operations):
        op.operation.detach_from_parent()
        point.insert(op)
