"""The registry of kernels by symbol name."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from mlir import ir

from tir_mlir.target.host import llvm_word

Builder = Callable[[], None]


_kernels: dict[str, Builder] = {}


_needs: dict[str, tuple[str, ...]] = {}


def register_kernel(symbol: str, builder: Builder, override: bool = False, needs: Sequence[str] = ()) -> None:
    """Register `builder` as the kernel of `symbol`: called without arguments, it emits `llvm.func @symbol` (and what
    that needs) at the insertion point. needs: the CPU features of its code, by LLVM's names or those of Linux; a CPU
    that lacks one gets a BuildError, from `build` and where its code is loaded. Raises ValueError if the symbol is
    registered and `override` is not set."""
    if symbol in _kernels and not override:
        raise ValueError(f"register_kernel: {symbol!r} is registered already; pass override=True to replace it")
    _kernels[symbol] = builder
    _needs[symbol] = tuple(map(llvm_word, needs))


def needed_by(symbol: str) -> tuple[str, ...]:
    """The CPU features that the kernel of `symbol` needs."""
    return _needs.get(symbol, ())


def find_kernel(symbol: str) -> Builder | None:
    """The registered builder of `symbol`, or None."""
    return _kernels.get(symbol)


def known_kernels() -> list[str]:
    """All registered symbols."""
    return sorted(_kernels)


def emit(text: str) -> None:
    """Parse a module and clone its ops at the insertion point."""
    point = ir.InsertionPoint.current
    module = ir.Module.parse(text)
    for op in list(module.body.operations):
        op.operation.detach_from_parent()
        point.insert(op)
