"""Copies that put elements of several rows beside each other are done in registers."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import memref, vector

from tir_mlir.dialect.ir import Buffer, Index, Loop, emit_map, is_loop, step, walk
from tir_mlir.passes.lower.memory import strides
from tir_mlir.passes.lower.registry import lowering, programs
from tir_mlir.passes.lower.vector.legality import Lanes, contiguous
from tir_mlir.passes.lower.vector.transpose import CASTS

GROUPS = (2, 4, 8)
WIDEST = 64
"""Elements of a row that are taken at once."""


@lowering("tir-lower-interleaved", "interleave rows in registers where a copy puts them beside each other")
def run(module: ir.Module) -> None:
    """Load rows, interleave them, store them as one.

        unrolled for %k = 0 to 2 {                         %r0 = vector_load %A[0, 0] : vector<16xi8>
          vectorized for %j = 0 to 16 {                    %r1 = vector_load %A[1, 0] : vector<16xi8>
            %a = affine.load %A[%k, %j]           -->      %i = vector.interleave %r0, %r1
            affine.store %a, %B[%j, %k]                    vector_store %i, %B[0..16, 0..2]
          }
        }

    Where the one loop holds just the other and that just the copy (to another type, too), rows are contiguous, and the
    2, 4 or 8 of them fill the last dimension of what is written. Requires `tir-lower-tails`; loops not to be vectorized
    yet.
    """
    for func in programs(module):
        for op in [o for o in walk.ops(func.op) if is_loop(o) and Loop(o).kind == "unrolled"]:
            interleave(Loop(op))


def interleave(rows: Loop) -> bool:
    """Do the copy of a nest of two loops by vectors; whether it was one that interleaves."""
    inner = rows.body_ops()
    if len(inner) != 1 or not is_loop(inner[0]) or Loop(inner[0]).kind != "vectorized":
        return False
    columns = Loop(inner[0])
    body = columns.body_ops()
    if len(body) < 2 or not _is_copy(body) or not _fits(rows, columns, body[0], body[-1]):
        return False
    load, *casts, store = body
    with ir.InsertionPoint(rows.op), rows.op.location:
        start = {columns.var: columns.lower, rows.var: rows.lower}
        values = [
            _row(load, casts, start | {rows.var: rows.lower + k}, columns.const_extent or 0)
            for k in range(rows.const_extent or 0)
        ]
        _store(store, start, _merged(values))
    rows.op.erase()
    return True


def _is_copy(body: Sequence[ir.Operation]) -> bool:
    """Whether ops load an element, convert it perhaps, and store it."""
    load, *casts, store = body
    if load.name != "affine.load" or store.name != "affine.store" or any(op.name not in CASTS for op in casts):
        return False
    return all(first.results[0] == then.operands[0] for first, then in zip(body, body[1:], strict=False))


def _fits(rows: Loop, columns: Loop, load: ir.Operation, store: ir.Operation) -> bool:
    """Whether rows are read whole, and their elements written into whole rows of the last dimension."""
    source, target = load.operands[0], store.operands[1]
    extent, width = rows.const_extent, columns.const_extent
    if extent not in GROUPS or not width or width > WIDEST:
        return False
    if columns.lower.uses(rows.var) or not contiguous(Lanes(columns), source, walk.access_indices(load)):
        return False
    type_, at = ir.MemRefType(target.type), walk.access_indices(store)
    plain = type_ == ir.MemRefType.get(type_.shape, type_.element_type, memory_space=type_.memory_space)
    if not plain or strides.padded(target) or type_.rank < 2 or type_.shape[-1] != extent:
        return False
    if Buffer(source).root == Buffer(target).root or "bool" in (Buffer(source).dtype, Buffer(target).dtype):
        return False
    by_row, by_column = ([step(i, loop.var) for i in at] for loop in (rows, columns))
    zeros = [0] * (type_.rank - 2)
    return by_row == [*zeros, 0, 1] and by_column == [*zeros, 1, 0]


def _row(load: ir.Operation, casts: Sequence[ir.Operation], at: dict[ir.Value, Index], width: int) -> ir.Value:
    """A part of one row, converted."""
    map_, used = emit_map([i.substitute(at).simplified() for i in walk.access_indices(load)])
    type_, attributes = ir.VectorType.get([width], load.results[0].type), {"map": ir.AffineMapAttr.get(map_)}
    row = ir.Operation.create("affine.vector_load", [type_], [load.operands[0], *used], attributes).results[0]
    for op in casts:
        made = ir.VectorType.get([width], op.results[0].type)
        row = ir.Operation.create(op.name, [made], [row], {n: op.attributes[n] for n in op.attributes}).results[0]
    return row


def _merged(rows: Sequence[ir.Value]) -> ir.Value:
    """Rows as one vector: the first elements of all, then the second ones, and so on."""
    if len(rows) == 1:
        return rows[0]
    return vector.interleave(_merged(rows[::2]), _merged(rows[1::2]))


def _store(store: ir.Operation, at: dict[ir.Value, Index], value: ir.Value) -> None:
    """Write a vector to a buffer whose last two dimensions are seen as one."""
    target = ir.MemRefType(store.operands[1].type)
    *outer, column, _ = (i.substitute(at).simplified() for i in walk.access_indices(store))
    *shape, last, group = target.shape
    dynamic = ir.ShapedType.get_dynamic_size()
    whole = dynamic if last == dynamic else last * group
    type_ = ir.MemRefType.get([*shape, whole], target.element_type, memory_space=target.memory_space)
    groups = [*([d] for d in range(target.rank - 2)), [target.rank - 2, target.rank - 1]]
    flat = memref.collapse_shape(type_, store.operands[1], groups)
    map_, used = emit_map([*outer, column * group])
    ir.Operation.create("affine.vector_store", [], [value, flat, *used], {"map": ir.AffineMapAttr.get(map_)})
