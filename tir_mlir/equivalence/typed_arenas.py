"""Give the views of an arena memory by their type, in which elements of the check fit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.calls import ArenaView, callee_of, effects_of
from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.ir import Buffer, Func, Index, dtypes, funcs, walk
from tir_mlir.dialect.ir.op_views import AllocLikeOp, ByteViewOp, DimOp, ElementStoreOp, SameIndicesOp, SubviewOp, isa
from tir_mlir.equivalence.edits import OpBuilder, is_float
from tir_mlir.equivalence.instrument import ARENA

ARENA_NOTE = "what is left in the arena of {} is not compared: it is scratch memory"

_DYNAMIC = ir.ShapedType.get_dynamic_size()


def split_arenas(module: ir.Module, build: OpBuilder) -> None:
    """Rewrite the views of arenas in a module of plain loops, in place.

        %u = memref.view %arena[64][] : ... to memref<16xf32>         %f32 = memref.alloc : memref<8192xi8>
        %v = memref.view %arena[96][] : ... to memref<8xi32>    -->   %u = memref.view %f32[128][]
        call @f(%x, %v)                                               %i32 = memref.alloc : memref<4096xi8>
                                                                      %v = memref.view %i32[96][]
                                                                      call @f(%x, %v)
                                                                      poison %f32[192 : 256]

    A float of the check has 8 bytes; of an arena that is only read, its bytes, so that it is the same one for the same
    bytes. What is written through a view of another type is lost for the views that overlap
    it, so that reading it again is found. Raises NotChecked where that cannot be followed.
    """
    for func in funcs(module):
        views = [ArenaView(op) for op in walk.ops(func.op) if isa(op, ByteViewOp)]
        for arena in dict.fromkeys(v.arena.value for v in views):
            _split(func, arena, [v for v in views if v.arena.value == arena], build)


def uses_arenas(func: Func) -> bool:
    """Whether a function has views of an arena that it is given."""
    return any(isa(op, ByteViewOp) and ArenaView(op).arena.is_param for op in walk.ops(func.op))


@dataclass
class _Typed:
    """The memory of one type, and how many bytes of it stand for a byte of the arena."""

    memory: ir.Value
    factor: int


def _split(func: Func, arena: ir.Value, views: Sequence[ArenaView], build: OpBuilder) -> None:
    _require_scratch(func, arena)
    by_type: dict[ir.Type, _Typed] = {}
    is_read_only = isinstance(arena.owner, ir.Block) and not any(True for v in views for _ in _writers(v.op.results[0]))
    for view in views:
        element = view.buffer.type.element_type
        if element not in by_type:
            by_type[element] = _memory(arena, _factor(element), build)
            if is_read_only:
                copy_bytes(arena, by_type[element].memory, view.width, by_type[element].factor, build)
    clobbers = [
        (v, u)
        for v in views
        for u in views
        if (v.buffer.type.element_type != u.buffer.type.element_type) and not _are_disjoint(v, u)
    ]
    for view, clobbered in clobbers:
        _poison_after_writes(func, view, by_type[clobbered.buffer.type.element_type], build)
    for view in views:
        typed = by_type[view.buffer.type.element_type]
        with ir.InsertionPoint(view.op), view.op.location:
            bytes_ = ByteViewOp(view.op)
            start = build.binary("arith.muli", bytes_.shift, build.index(typed.factor))
        bytes_.source, bytes_.shift = typed.memory, start
    if not isinstance(arena.owner, ir.Block) and not any(True for _ in arena.uses):
        arena.owner.operation.erase()


def _require_scratch(func: Func, arena: ir.Value) -> None:
    """Check that an arena is used by views only."""
    for use in arena.uses:
        if not isa(use.owner.operation, ByteViewOp, DimOp):
            raise NotChecked(
                f"{func.name} uses {Buffer(arena).name} by views and by {use.owner.operation.name}: bytes of floats"
                " have no exact semantics"
            )
    if not isinstance(arena.owner, ir.Block) and not isa(arena.owner, AllocLikeOp):
        raise NotChecked(f"{func.name} has views of {arena.owner.name}, not of a parameter or an allocation")


def _factor(element: ir.Type) -> int:
    return 64 // dtypes.bits(dtypes.to_name(element)) if is_float(element) else 1


def _memory(arena: ir.Value, factor: int, build: OpBuilder) -> _Typed:
    """An allocation of `factor` times the bytes of an arena, where the arena is defined."""
    owner = arena.owner
    insertion_point = (
        ir.InsertionPoint.at_block_begin(owner) if isinstance(owner, ir.Block) else ir.InsertionPoint.after(owner)
    )
    size = Buffer(arena).shape[0]
    with insertion_point, ir.Location.unknown():
        byte = ir.IntegerType.get_signless(8)
        type_ = ir.MemRefType.get([_DYNAMIC if size is None else size * factor], byte)
        sizes = []
        if size is None:
            extent = ir.Operation.create("memref.dim", [ir.IndexType.get()], [arena, build.index(0)]).results[0]
            sizes = [build.binary("arith.muli", extent, build.index(factor))]
        facts = {
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(sizes), 0]),
            "alignment": ir.IntegerAttr.get(build.word(), 64),
            ARENA: ir.UnitAttr.get(),
        }
        return _Typed(ir.Operation.create("memref.alloc", [type_], sizes, facts).results[0], factor)


# --- views of several types -------------------------------------------------------------------------------------------


def _are_disjoint(first: ArenaView, second: ArenaView) -> bool:
    """Whether two views share no byte."""
    return _ends_before(first, second) or _ends_before(second, first)


def _ends_before(first: ArenaView, second: ArenaView) -> bool:
    if first.size is None:
        return False
    room = (second.offset - first.offset - first.size).simplify().as_constant()
    return room is not None and room >= 0


def _poison_after_writes(func: Func, view: ArenaView, typed: _Typed, build: OpBuilder) -> None:
    """After each call that writes a view, poison its bytes in the memory of another type."""
    for writer in dict.fromkeys(_writers(view.op.results[0])):
        if isa(writer, ElementStoreOp):
            raise NotChecked(
                f"{func.name} stores to {view.buffer.name}, which overlaps a view of another type: bytes of floats have"
                " no exact semantics"
            )
        if view.size is None:
            raise NotChecked(f"the bytes of {view.buffer.name} are not known, and it overlaps a view of another type")
        with ir.InsertionPoint.after(writer), writer.location:
            ends = [_value(i * typed.factor, build) for i in (view.offset, view.offset + view.size)]
            _poison(typed.memory, ends, build)


def _writers(value: ir.Value) -> Iterator[ir.Operation]:
    """The ops that write a buffer, or a view of it."""
    for use in value.uses:
        op = use.owner.operation
        if isa(op, SameIndicesOp, SubviewOp):
            yield from _writers(op.results[0])
        elif isa(op, ElementStoreOp) or (
            (callee := callee_of(op)) is not None and effects_of(callee)[use.operand_number].writes
        ):
            yield op


def _value(index: Index, build: OpBuilder) -> ir.Value:
    """An expression as a value."""
    number = index.as_constant()
    if number is not None:
        return build.index(number)
    map_ = ir.AffineMap.get(len(index.values), 0, [index.expr])
    return ir.Operation.create(
        "affine.apply", [ir.IndexType.get()], list(index.values), {"map": ir.AffineMapAttr.get(map_)}
    ).results[0]


def _poison(memory: ir.Value, ends: Sequence[ir.Value], build: OpBuilder) -> None:
    loop = ir.Operation.create("scf.for", [], [*ends, build.index(1)], {ARENA: ir.UnitAttr.get()}, regions=1)
    body = loop.regions[0].blocks.append(ir.IndexType.get())
    with ir.InsertionPoint(body):
        byte = build.narrow(build.call("poison"), ir.IntegerType.get_signless(8))
        ir.Operation.create("memref.store", [], [byte, memory, body.arguments[0]])
        ir.Operation.create("scf.yield")


# --- the contents of an arena that is only read, as elements of the check ---------------------------------------------


_ELEMENT = 8
"""Bytes of a float in the check. The last one remains 0: what the others make is an element of the field."""


def copy_bytes(arena: ir.Value, memory: ir.Value, width: int, factor: int, build: OpBuilder) -> None:
    """Fill memory of `factor` times the bytes of an arena: the `width` bytes of each float, then zeros.

    factor 2, width 4: arena 1 2 3 4, 5 6 7 8 -> memory 1 2 3 4 0 0 0 0, 5 6 7 8 0 0 0 0; factor 1: as they are.
    """
    with ir.InsertionPoint.after(memory.owner), ir.Location.unknown():
        zero, step = build.index(0), build.index(1)
        end = _size(memory, build)
        loop = ir.Operation.create("scf.for", [], [zero, end, step], {ARENA: ir.UnitAttr.get()}, regions=1)
        body = loop.regions[0].blocks.append(ir.IndexType.get())
        with ir.InsertionPoint(body):
            index = body.arguments[0]
            byte = _byte(arena, index, width, build) if factor > 1 or width == _ELEMENT else _load(arena, index)
            ir.Operation.create("memref.store", [], [byte, memory, index])
            ir.Operation.create("scf.yield")


def _byte(arena: ir.Value, index: ir.Value, width: int, build: OpBuilder) -> ir.Value:
    """The byte of the arena for a byte of an element of 8; 0 for those that the element of the arena does not have."""
    step, most = build.index(_ELEMENT), build.index(min(width, _ELEMENT - 1) - 1)
    offset = build.binary("arith.remui", index, step)
    element = build.binary("arith.divui", index, step)
    clamped = build.binary("arith.minui", offset, most)
    start = build.binary("arith.muli", element, build.index(width))
    byte = _load(arena, build.binary("arith.addi", start, clamped))
    zero = build.constant(ir.IntegerAttr.get(ir.IntegerType.get_signless(8), 0))
    return build.select(build.cmpi("ule", offset, most), byte, zero)


def _load(arena: ir.Value, index: ir.Value) -> ir.Value:
    return ir.Operation.create("memref.load", [ir.IntegerType.get_signless(8)], [arena, index]).results[0]


def _size(memory: ir.Value, build: OpBuilder) -> ir.Value:
    extent = Buffer(memory).shape[0]
    if extent is not None:
        return build.index(extent)
    return ir.Operation.create("memref.dim", [ir.IndexType.get()], [memory, build.index(0)]).results[0]
