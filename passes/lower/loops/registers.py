"""Elements that a loop reads and writes over and over stay in registers while it runs."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil

from mlir import ir
from mlir.dialects import vector

from tir_mlir.dialect.ir import Buffer, Index, Loop, apply, attrs, emit_map, is_loop, owner_op, walk
from tir_mlir.passes.lower.op_attrs import always, index_of, zeros
from tir_mlir.passes.lower.registry import LoweringWarning, lowering, place, programs

LOADS = ("affine.load", "affine.vector_load", "vector.maskedload")
STORES = ("affine.store", "affine.vector_store", "vector.maskedstore")
MOST = 64
"""Values that one loop may carry: more than any register file holds."""


@lowering("tir-lower-registers", "keep what a loop updates in place in registers across its iterations")
def run(module: ir.Module) -> None:
    """Load once before a loop, store once after it.

        affine.for %k = 0 to 256 {                             %s = affine.load %sum[0]
          %s = affine.load %sum[0]                             %r = affine.for %k = 0 to 256 iter_args(%c = %s) {
          %t = arith.addf %s, (...)                     -->      %t = arith.addf %c, (...)
          affine.store %t, %sum[0]                               affine.yield %t
        }                                                      } ; affine.store %r, %sum[0]

    For elements and vectors of allocated buffers at places that do not change in the loop, of which nothing else
    beneath the loop touches a part. From the inside out, so that a sum over several loops stays in registers in all.
    Requires loops to be vectorized and unrolled. `pressure.py` warns where the CPU's registers do not suffice.
    """
    for func in programs(module):
        for op in reversed([o for o in walk.ops(func.op) if is_loop(o)]):
            promote(op)


@dataclass
class Slot:
    """One place in a buffer that a loop works on, and the accesses to it in order; the lanes that count where a mask
    chooses them."""

    buffer: ir.Value
    indices: list[Index]
    type: ir.Type
    mask: ir.Value | None
    ops: list[ir.Operation] = field(default_factory=list)

    @property
    def written(self) -> bool:
        return any(op.name in STORES for op in self.ops)

    @staticmethod
    def of(op: ir.Operation) -> Slot:
        """The place that a load or store accesses."""
        operands = list(op.operands)
        if op.name.startswith("vector."):
            indices = [index_of(v) for v in operands[1:-2]]
            return Slot(operands[0], indices, (op.results or operands[-1:])[0].type, operands[-2])
        type_ = op.operands[0].type if op.name in STORES else op.results[0].type
        return Slot(walk.accessed(op), walk.access_indices(op), type_, None)

    def value(self, store: ir.Operation) -> ir.Value:
        """What a store puts there."""
        return store.operands[len(store.operands) - 1 if self.mask is not None else 0]


def promote(op: ir.Operation) -> None:
    """Carry what one loop updates."""
    loop = Loop(op)
    if loop.kind != "serial" or len(op.results):
        return
    found = [s for slots in _slots(loop).values() if slots for s in slots if s.written]
    if not found or not _runs(loop):
        return
    check(loop, [s.type for s in found])
    if len(found) <= MOST:
        _carry(loop, found)


def _runs(loop: Loop) -> bool:
    """Whether the loop runs at least once: what it touches exists then."""
    return all(always(loop.op, u - low - 1) for u in loop.uppers for low in loop.lowers)


# --- what can be carried ----------------------------------------------------------------------------------------------


def _slots(loop: Loop) -> dict[ir.Value, list[Slot] | None]:
    """By allocated buffer, the places used in the loop; None where they cannot be carried."""
    found: dict[ir.Value, list[Slot] | None] = {}
    for inner in walk.ops(loop.op)[1:]:
        for value in inner.operands:
            if not isinstance(value.type, ir.MemRefType):
                continue
            root = Buffer(value).root
            plain = inner.name in (*LOADS, *STORES) and value == root.value and inner.block == loop.body
            slots = found.setdefault(root.value, [] if root.is_alloc else None)
            if slots is None:
                continue
            slot = _place(inner, loop, slots) if plain and not walk.is_inside(owner_op(root.value), loop.op) else None
            if slot is None:
                found[root.value] = None
            else:
                slot.ops.append(inner)
    return found


def _place(op: ir.Operation, loop: Loop, slots: list[Slot]) -> Slot | None:
    """The slot of an access, a new one where it meets none; None where it is not fixed or overlaps another."""
    new = Slot.of(op)
    used = [v for i in new.indices for v in i.values] + ([] if new.mask is None else [new.mask])
    if any(walk.is_inside(owner_op(v), loop.op) for v in used):
        return None
    for slot in slots:
        gaps = [(a - b).simplified().as_constant() for a, b in zip(new.indices, slot.indices, strict=True)]
        if slot.type == new.type and _same_lanes(slot, new) and all(g == 0 for g in gaps):
            return slot
        if not _apart(gaps, _lanes(slot.type), _lanes(new.type)):
            return None
    slots.append(new)
    return new


def _same_lanes(a: Slot, b: Slot) -> bool:
    if a.mask is None or b.mask is None:
        return a.mask is b.mask
    return a.mask == b.mask


def _apart(gaps: list[int | None], first: int, second: int) -> bool:
    """Whether two places with these distances, `first` and `second` lanes long in the last dimension, do not meet."""
    if any(g not in (0, None) for g in gaps[:-1]):
        return True
    last = gaps[-1] if gaps else 0
    return last is not None and (last >= first or -last >= second)


def _lanes(type_: ir.Type) -> int:
    return ir.VectorType(type_).shape[0] if isinstance(type_, ir.VectorType) else 1


# --- the loop that carries --------------------------------------------------------------------------------------------


def _carry(loop: Loop, slots: list[Slot]) -> None:
    """Rebuild the loop with the slots' values as its iteration arguments."""
    op = loop.op
    with ir.InsertionPoint(op), op.location:
        before = [_load(slot) for slot in slots]
        operands = list(op.operands)
        count = attrs.affine_map(op, "lowerBoundMap").n_inputs
        attributes = {n: op.attributes[n] for n in op.attributes} | {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([count, len(operands) - count, len(before)])
        }
        new = ir.Operation.create(
            "affine.for", [v.type for v in before], [*operands, *before], attributes, regions=1, loc=op.location
        )
    body = loop.body
    body.append_to(new.regions[0])
    with op.location:
        values = [body.add_argument(v.type, op.location) for v in before]
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
        return vector.maskedload(slot.type, slot.buffer, [apply(i) for i in slot.indices], slot.mask, zeros(slot.type))
    map_, used = emit_map(slot.indices)
    name = "affine.vector_load" if isinstance(slot.type, ir.VectorType) else "affine.load"
    operands, attributes = [slot.buffer, *used], {"map": ir.AffineMapAttr.get(map_)}
    return ir.Operation.create(name, [slot.type], operands, attributes).results[0]


def _store(slot: Slot, value: ir.Value) -> None:
    if slot.mask is not None:
        vector.maskedstore(slot.buffer, [apply(i) for i in slot.indices], slot.mask, value)
        return
    map_, used = emit_map(slot.indices)
    name = "affine.vector_store" if isinstance(slot.type, ir.VectorType) else "affine.store"
    ir.Operation.create(name, [], [value, slot.buffer, *used], {"map": ir.AffineMapAttr.get(map_)})


def _forward(slot: Slot, value: ir.Value) -> ir.Value:
    """Let the loads of a slot see its value, from `value` on; the value at the end."""
    for op in slot.ops:
        if op.name in STORES:
            value = slot.value(op)
        else:
            op.results[0].replace_all_uses_with(value)
        op.erase()
    return value


REGISTERS = "tir.registers"
"""On the module while it is lowered: bits of a vector register, how many there are."""
OPERANDS = 2
"""Registers that an update needs beside its sums: what it adds."""


def check(loop: Loop, carried: Sequence[ir.Type]) -> None:
    """Warn where an innermost loop carries more than there are registers: LLVM then keeps some in memory."""
    module = walk.parents(loop.op)[-1].parent
    known = None if module is None else attrs.get(module, REGISTERS)
    if known is None or any(is_loop(o) for o in walk.ops(loop.op)[1:]):
        return
    bits, count = known
    needed = sum(_registers(type_, bits) for type_ in carried)
    if needed + OPERANDS > count:
        warnings.warn(
            f"{place(loop.op)}: loop {loop.name} keeps {needed} registers of sums and needs {OPERANDS} more for what it"
            f" adds, this CPU has {count} of {bits} bits: some sums will be in memory; make the tile smaller (unroll or"
            " vectorize less of it)",
            LoweringWarning,
            stacklevel=2,
        )


def _registers(type_: ir.Type, bits: int) -> int:
    """Vector registers that a value takes; an integer alone takes another kind."""
    if isinstance(type_, ir.VectorType):
        width = ir.IntegerType(type_.element_type).width if isinstance(type_.element_type, ir.IntegerType) else 0
        width = width or ir.FloatType(type_.element_type).width
        return ceil(type_.shape[0] * width / bits)
    return 1 if isinstance(type_, ir.FloatType) else 0
