"""Kernels by symbol name: what a call to an external function runs when the program brings no code of its own."""

from __future__ import annotations

from collections.abc import Callable

from mlir import ir

Builder = Callable[[], None]

_kernels: dict[str, Builder] = {}


def register_kernel(symbol: str, builder: Builder, override: bool = False) -> None:
    """Make `builder` the kernel of `symbol`: called with nothing, it emits one `llvm.func @symbol` (and what that
    needs) at the insertion point. ValueError when the symbol is taken and `override` is not set."""
    if symbol in _kernels and not override:
        raise ValueError(f"register_kernel: {symbol!r} is registered already; pass override=True to replace it")
    _kernels[symbol] = builder


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


from tir_mlir.intrin.kernels import tmm16 as _tmm16  # noqa: E402, F401 - registers itself
