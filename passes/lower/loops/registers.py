"""Promote elements that a loop repeatedly reads and writes to loop-carried SSA values."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from math import ceil
from typing import Any

from mlir import ir
from mlir.dialects import vector

from tir_mlir.dialect.ir import (
    ENTRIES,
    Buffer,
    Index,
    Loop,
    apply,
    attrs,
    direct_ops,
    emit_map,
    is_loop,
    only_reads,
    owner_op,
    read_value,
    simplified_expr,
    walk,
)
from tir_mlir.dialect.ir.op_traits import (
    AFFINE_LOAD,
    AFFINE_STORE,
    accessed_memref,
    takes_no_memref,
)
from tir_mlir.dialect.ir.op_views import AffineAccessOp, StoreOp, isa
from tir_mlir.passes.lower.op_attrs import is_nonnegative, zero_vector
from tir_mlir.passes.lower.registry import LoweringWarning, location_text, lowering, programs

PROMOTED_ACCESSES = AffineAccessOp.names | {"vector.maskedload", "vector.maskedstore"}
_PROMOTED_STORES = PROMOTED_ACCESSES & StoreOp.names
MAX_CARRIED = 64
"""Maximal number of values carried by one loop: more than any register file holds."""


@lowering("tir-lower-registers", "Promote buffer elements updated in a loop to iter_args")
def run(module: ir.Module) -> None:
    """Load once before a loop, and store once after it.

        affine.for %k = 0 to 256 {                             %s = affine.load %sum[0]
          %s = affine.load %sum[0]                             %r = affine.for %k = 0 to 256 iter_args(%c = %s) {
          %t = arith.addf %s, (...)                     -->      %t = arith.addf %c, (...)
          affine.store %t, %sum[0]                               affine.yield %t
        }                                                      } ; affine.store %r, %sum[0]

    Applies to elements and vectors of allocated buffers at loop-invariant indices that no other access in the loop
    overlaps. Innermost loops first, so that a sum over several loops remains in registers throughout. Requires loops to
    be vectorized and unrolled. Warns if the CPU has too few registers.
    """
    for func in programs(module):
        for op in reversed([o for o in walk.ops(func.op) if is_loop(o)]):
            promote(op)


@dataclass
class Slot:
    """A loop-invariant element or vector of a buffer, its accesses in order, and the mask of its lanes, if any."""

    buffer: ir.Value
    indices: list[Index]
    type: ir.Type
    mask: ir.Value | None
    ops: list[ir.Operation] = field(default_factory=list)

    @property
    def is_stored(self) -> bool:
        return any(isa(op, StoreOp) for op in self.ops)

    @staticmethod
    def from_access(op: ir.Operation) -> Slot:
        """The slot that a load or store accesses."""
        operands = list(op.operands)
        if op.name.startswith("vector."):
            indices = [read_value(v) for v in operands[1:-2]]
            return Slot(operands[0], indices, (op.results or operands[-1:])[0].type, operands[-2])
        type_ = StoreOp(op).value.type if isa(op, StoreOp) else op.results[0].type
        return Slot(accessed_memref(op), walk.access_indices(op), type_, None)

    def value(self, store: ir.Operation) -> ir.Value:
        """The value that a store writes to the slot."""
        return store.operands[len(store.operands) - 1 if self.mask is not None else 0]


def promote(op: ir.Operation) -> None:
    """Promote the slots of one loop."""
    loop = Loop(op)
    if loop.kind != "serial" or len(op.results) or not any(o.name in _PROMOTED_STORES for o in direct_ops(op)):
        return
    inner = walk.ops(op)[1:]
    written = [s for slots in _slots(loop, inner).values() if slots for s in slots if s.is_stored]
    if not written or not _runs(loop):
        return
    if not any(map(is_loop, inner)):
        check_register_pressure(loop, [s.type for s in written])
    if len(written) <= MAX_CARRIED:
        _carry(loop, written)


def _runs(loop: Loop) -> bool:
    """Whether the loop runs at least once, so that its accesses are in bounds."""
    return all(is_nonnegative(loop.op, u - low - 1) for u in loop.uppers for low in loop.lowers)


# --- slots that can be carried ----------------------------------------------------------------------------------------


@only_reads
def _slots(loop: Loop, ops: Sequence[ir.Operation]) -> dict[ir.Value, list[Slot] | None]:
    """The slots of each allocated buffer used in the loop, by all `ops` in it; None if they cannot be carried."""
    by_root: dict[ir.Value, list[Slot] | None] = {}
    roots: dict[ir.Value, ir.Value] = {}
    slot_of_key: dict[tuple[Any, ...], Slot] = {}
    body = loop.body
    for inner in ops:
        name = inner.name
        for value in () if takes_no_memref(name) else inner.operands:
            root = roots.get(value)
            if root is None:
                if not isinstance(value.type, ir.MemRefType):
                    continue
                buffer = Buffer(value).root
                root = roots[value] = buffer.value
                if root not in by_root:
                    outside = buffer.is_alloc and not walk.is_inside(owner_op(root), loop.op)
                    by_root[root] = [] if outside else None
            slots = by_root[root]
            if slots is None:
                continue
            plain = name in PROMOTED_ACCESSES and value == root and inner.block == body
            slot = _slot_of(inner, loop, slots, slot_of_key) if plain else None
            if slot is None:
                by_root[root] = None
            else:
                slot.ops.append(inner)
    return by_root


def _slot_of(op: ir.Operation, loop: Loop, slots: list[Slot], known: dict[tuple[Any, ...], Slot]) -> Slot | None:
    """The slot of an access, a new one if it overlaps none; None if it is not invariant or partly overlaps another.
    known: slots by what their indices are."""
    new = Slot.from_access(op)
    key = (new.buffer, new.type, new.mask, *[(i.expr, i.values) for i in new.indices])
    if (same := known.get(key)) is not None:
        return same
    values = [v for i in new.indices for v in i.values] + ([] if new.mask is None else [new.mask])
    if any(walk.is_inside(owner_op(v), loop.op) for v in values):
        return None
    for slot in slots:
        if any(_gap(a, b) not in (0, None) for a, b in zip(new.indices[:-1], slot.indices[:-1], strict=True)):
            continue  # apart in a dimension that has no lanes: the others need not be looked at
        gaps = [_gap(a, b) for a, b in zip(new.indices, slot.indices, strict=True)]
        if slot.type == new.type and _same_lanes(slot, new) and all(g == 0 for g in gaps):
            return slot
        if not _are_disjoint(gaps, _lanes(slot.type), _lanes(new.type)):
            return None
    slots.append(new)
    known[key] = new
    return new


def _gap(a: Index, b: Index) -> int | None:
    """The distance of two indices, if it is constant."""
    first, second = a.as_constant(), b.as_constant()
    if first is not None and second is not None:
        return first - second
    if a.values == b.values:
        return 0 if a.expr == b.expr else _gap_of(a.expr, b.expr, len(a.values))
    return (a - b).simplify().as_constant()


@lru_cache(maxsize=ENTRIES)
def _gap_of(first: ir.AffineExpr, second: ir.AffineExpr, count: int) -> int | None:
    """The same of two expressions of the same values: they occur in every loop of a tile."""
    expr = simplified_expr(first + second * -1, count)
    return expr.value if isinstance(expr, ir.AffineConstantExpr) else None


def _same_lanes(a: Slot, b: Slot) -> bool:
    if a.mask is None or b.mask is None:
        return a.mask is b.mask
    return a.mask == b.mask


def _are_disjoint(gaps: list[int | None], first: int, second: int) -> bool:
    """Whether two vectors at these distances, with `first` and `second` lanes in the last dimension, are disjoint."""
    if any(g not in (0, None) for g in gaps[:-1]):
        return True
    last = gaps[-1] if gaps else 0
    return last is not None and (last >= first or -last >= second)


def _lanes(type_: ir.Type) -> int:
    return ir.VectorType(type_).shape[0] if isinstance(type_, ir.VectorType) else 1


# --- rewrite ----------------------------------------------------------------------------------------------------------


def _carry(loop: Loop, slots: list[Slot]) -> None:
    """Rebuild the loop with the slots' values as iter_args."""
    op = loop.op
    with ir.InsertionPoint(op), op.location:
        initial = [_load(slot) for slot in slots]
        operands = list(op.operands)
        count = attrs.map_of(op.attributes["lowerBoundMap"]).n_inputs
        attributes = {n: op.attributes[n] for n in op.attributes} | {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([count, len(operands) - count, len(initial)])
        }
        new = ir.Operation.create(
            "affine.for", [v.type for v in initial], [*operands, *initial], attributes, regions=1, loc=op.location
        )
    body = loop.body
    body.append_to(new.regions[0])
    with op.location:
        values = [body.add_argument(v.type, op.location) for v in initial]
    last = [_forward(slot, value) for slot, value in zip(slots, values, strict=True)]
    end = list(body.operations)[-1]
    with ir.InsertionPoint(end), end.location:
        ir.Operation.create("affine.yield", [], last)
    end.operation.erase()
    with ir.InsertionPoint(op), op.location:
        for slot, value in zip(slots, new.results, strict=True):
            _store(slot, value)
    op.erase()


def _load(slot: Slot) -> ir.Value:
    if slot.mask is not None:
        return vector.maskedload(
            slot.type, slot.buffer, [apply(i) for i in slot.indices], slot.mask, zero_vector(slot.type)
        )
    map_, map_operands = emit_map(slot.indices)
    name = "affine.vector_load" if isinstance(slot.type, ir.VectorType) else AFFINE_LOAD
    operands, attributes = [slot.buffer, *map_operands], {"map": ir.AffineMapAttr.get(map_)}
    return ir.Operation.create(name, [slot.type], operands, attributes).results[0]


def _store(slot: Slot, value: ir.Value) -> None:
    if slot.mask is not None:
        vector.maskedstore(slot.buffer, [apply(i) for i in slot.indices], slot.mask, value)
        return
    map_, map_operands = emit_map(slot.indices)
    name = "affine.vector_store" if isinstance(slot.type, ir.VectorType) else AFFINE_STORE
    ir.Operation.create(name, [], [value, slot.buffer, *map_operands], {"map": ir.AffineMapAttr.get(map_)})


def _forward(slot: Slot, value: ir.Value) -> ir.Value:
    """Forward the slot's value, initially `value`, to its loads; returns the value at the end."""
    for op in slot.ops:
        if isa(op, StoreOp):
            value = slot.value(op)
        else:
            op.results[0].replace_all_uses_with(value)
        op.erase()
    return value


REGISTERS = "tir.registers"
"""Module attribute during lowering: bits of a vector register, number of registers."""
OPERANDS = 2
"""Registers that an update needs in addition to the accumulators."""


def check_register_pressure(loop: Loop, carried: Sequence[ir.Type]) -> None:
    """Warn if a loop, an innermost one, carries more values than there are registers, which makes LLVM spill."""
    module = walk.parents(loop.op)[-1].parent
    registers = None if module is None else attrs.get(module, REGISTERS)
    if registers is None:
        return
    bits, count = registers
    needed = sum(_registers(type_, bits) for type_ in carried)
    if needed + OPERANDS > count:
        warnings.warn(
            f"{location_text(loop.op)}: loop {loop.name} keeps {needed} registers of accumulators and needs "
            f"{OPERANDS} more for operands, but this CPU has {count} of {bits} bits: some "
            "accumulators will be spilled; make the tile smaller (unroll or vectorize less of it)",
            LoweringWarning,
            stacklevel=2,
        )


def _registers(type_: ir.Type, bits: int) -> int:
    """The number of vector registers of a value; 0 for a scalar integer."""
    if isinstance(type_, ir.VectorType):
        width = ir.IntegerType(type_.element_type).width if isinstance(type_.element_type, ir.IntegerType) else 0
        width = width or ir.FloatType(type_.element_type).width
        return ceil(type_.shape[0] * width / bits)
    return 1 if isinstance(type_, ir.FloatType) else 0
