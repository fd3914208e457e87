"""Find roundings that change no value: of numbers that were widened before, also through memory.

In the field a rounding is a mixing function, which a fold of `round(widen(x))` to `x` drops from one program only.
"""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import defining_op, dtypes, walk
from tir_mlir.dialect.ir.op_traits import (
    accessed_memref,
)
from tir_mlir.dialect.ir.op_views import (
    AllocLikeOp,
    ElementAccessOp,
    ElementLoadOp,
    ElementStoreOp,
    ExtFOp,
    NeutralOp,
    StoreOp,
    TruncFOp,
    isa,
)

EXACT = "tir.exact"
"""The attribute of a rounding that changes no value."""


def mark(root: ir.Operation) -> None:
    """Mark each `arith.truncf` whose operand has only values of a type that its result represents.

    Y: memref<f32>; Y[i] = extf x : f16; truncf Y[i] to f16     ->    truncf Y[i] to f16 {tir.exact}
    """
    everything = walk.ops(root)
    roundings = [op for op in everything if isa(op, TruncFOp) and not _is_vector(op.results[0])]
    if roundings:
        narrow = _stored_types(everything)
        for op in roundings:
            source = _type_of(TruncFOp(op).source, narrow)
            if source is not None and dtypes.represents(dtypes.to_name(op.results[0].type), source):
                op.attributes[EXACT] = ir.UnitAttr.get()


def _stored_types(everything: list[ir.Operation]) -> dict[ir.Value, str]:
    """For allocated buffers of floats that are only loaded and stored, a type that has all values stored in them."""
    stores: dict[ir.Value, list[ir.Value]] = {}
    for op in everything:
        if isa(op, AllocLikeOp) and all(isa(u.owner, ElementAccessOp, NeutralOp) for u in op.results[0].uses):
            if isinstance(ir.MemRefType(op.results[0].type).element_type, ir.FloatType):
                stores[op.results[0]] = []
    for op in everything:
        if isa(op, ElementStoreOp) and accessed_memref(op) in stores:
            stores[accessed_memref(op)].append(StoreOp(op).value)
    types: dict[ir.Value, str] = {}
    while True:  # from buffers that hold widened values to those that hold copies of these
        added = {b: t for b, values in stores.items() if b not in types and (t := _common(values, types)) is not None}
        if not added:
            return types
        types |= added


def _common(values: list[ir.Value], narrow: dict[ir.Value, str]) -> str | None:
    """The widest of the types of values, if it represents all of them; None if one is not known to be narrower."""
    types = [_type_of(v, narrow) for v in values]
    narrower = [t for t in types if t is not None]
    if not narrower or len(narrower) < len(types):
        return None
    return next((wide for wide in narrower if all(dtypes.represents(wide, t) for t in narrower)), None)


def _type_of(value: ir.Value, narrow: dict[ir.Value, str]) -> str | None:
    """A narrower type that has all values of a float, if it is a widened one, or is loaded from a buffer of such."""
    op = defining_op(value)
    if op is not None and isa(op, ExtFOp) and not _is_vector(source := ExtFOp(op).source):
        return _type_of(source, narrow) or dtypes.to_name(source.type)
    if op is not None and EXACT in op.attributes:
        return _type_of(TruncFOp(op).source, narrow)
    return narrow.get(accessed_memref(op)) if op is not None and isa(op, ElementLoadOp) else None


def _is_vector(value: ir.Value) -> bool:
    return isinstance(value.type, ir.VectorType)
