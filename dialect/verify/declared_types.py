"""The types that `tir.dtype` and `tir.dtypes` declare must fit the MLIR types, which determine what is computed."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import attrs, dtypes, is_block

_INDICES = ("int32", "int64")


def misfit(op: ir.Operation) -> str:
    """Why a declared type of an op does not fit its values; "" if all do."""
    if is_block(op):
        return _iters(op)
    if attrs.DTYPE not in op.attributes:
        return ""
    dtype = attrs.get(op, attrs.DTYPE)
    if op.name == "affine.for":
        return _unfit(dtype, ir.IndexType.get(), f"loop {attrs.get(op, attrs.LOOP, '')}".rstrip())
    if len(op.results) != 1:
        return f"{attrs.DTYPE} declares the type of a loop or of a result; {op.name} has {len(op.results)} results"
    return _unfit(dtype, op.results[0].type, op.name)


def misfit_argument(number: int, type_: ir.Type, dtype: str) -> str:
    """Why the declared type of a parameter does not fit it; "" if it does."""
    return _unfit(dtype, type_, f"parameter {number}")


def _iters(op: ir.Operation) -> str:
    """Check `tir.dtypes`: iters of the block, each of the type of an index."""
    declared, names = attrs.get(op, attrs.DTYPES, {}), attrs.get(op, attrs.NAMES, [])
    block = f'block "{attrs.get(op, attrs.BLOCK)}"'
    for name, dtype in declared.items():
        if name not in names:
            return f"{attrs.DTYPES} of {block}: it has no iter {name} (its iters: {', '.join(names) or 'none'})"
        if found := _unfit(str(dtype), ir.IndexType.get(), f"iter {name} of {block}", attrs.DTYPES):
            return found
    return ""


def _unfit(dtype: str, type_: ir.Type, owner: str, key: str = attrs.DTYPE) -> str:
    element = ir.MemRefType(type_).element_type if isinstance(type_, ir.MemRefType) else type_
    fitting = _fitting(element)
    if dtype in fitting:
        return ""
    needed = f"{element} holds {' or '.join(fitting)}" if fitting else f"{element} has only one reading"
    return f'{key} = "{dtype}" does not fit {owner}: {needed}'


def _fitting(type_: ir.Type) -> tuple[str, ...]:
    """The types that a value of an MLIR type may be declared as: of an integer, both signs of its width."""
    if isinstance(type_, ir.IndexType):
        return _INDICES
    try:
        name = dtypes.to_name(type_)
    except TirError:
        return ()
    return (name, f"u{name}") if f"u{name}" in dtypes.NAMES else (name,)
