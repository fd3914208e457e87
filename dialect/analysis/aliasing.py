"""Parameters that may be the same memory: those of a function with `tir.noalias = False`.

Parameters of any other function are distinct buffers, which calls check. Allocated buffers are always distinct.
"""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Buffer, Func, attrs, func_of

NOALIAS = "tir.noalias"


def has_distinct_buffers(func: ir.Operation) -> bool:
    """Whether the parameters of a function are distinct buffers: unless it says `tir.noalias = False`."""
    return bool(attrs.get(func, attrs.ATTRS, {}).get(NOALIAS, True))


def aliased_pair(root: ir.Operation) -> tuple[str, str] | None:
    """Names of two parameters accessed under `root` that may be the same memory, one of them written there."""
    if has_distinct_buffers(func_of(root).op):
        return None
    param_accesses = [a for a in accesses(root) if Buffer(a.buffer).is_param]
    for written in (a for a in param_accesses if a.is_write):
        for access in param_accesses:
            if access.buffer != written.buffer:
                first, second = sorted((access.buffer, written.buffer), key=lambda v: v.arg_number)
                return Buffer(first).name, Buffer(second).name
    return None


def require_apart(root: ir.Operation) -> None:
    """Raise NotProvable if the order of accesses under `root` may matter because two parameters alias."""
    pair = aliased_pair(root)
    if pair is not None:
        raise NotProvable(alias_text(root, pair))


def alias_text(root: ir.Operation, pair: tuple[str, str]) -> str:
    """Why two parameters may be the same memory."""
    func: Func = func_of(root)
    return f"{pair[0]} and {pair[1]} may be the same memory, as function {func.name} has tir.noalias = False"
