"""Symbols of compiled functions."""

from __future__ import annotations

C_INTERFACE = "_mlir_ciface_"
"""The prefix of functions that `llvm.emit_c_interface` makes."""

_BODY = "tir."


def body_symbol(name: str) -> str:
    """The symbol of the code of a function: main -> tir.main. No C function has it, as one named exp would, which the
    code may call. A name with a dot is its own symbol."""
    return name if "." in name else _BODY + name


def function_name(symbol: str) -> str:
    """The function of a symbol of compiled code: main of tir.main and of _mlir_ciface_tir.main."""
    return symbol.removeprefix(C_INTERFACE).removeprefix(_BODY)
