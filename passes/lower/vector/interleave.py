"""Lower copies that interleave rows to vector shuffles."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import memref, vector

from tir_mlir.dialect.ir import Buffer, Index, Loop, defining_op, emit_map, is_loop, step, walk
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineStoreOp, CastOp, ConstantOp, LoadOp, StoreOp, isa
from tir_mlir.passes.lower.memory import strides
from tir_mlir.passes.lower.outcomes import set_honored
from tir_mlir.passes.lower.registry import Content, lowering, programs
from tir_mlir.passes.lower.vector.legality import VectorizableLoop, is_contiguous

GROUPS = (2, 4, 8)
MAX_WIDTH = 64
"""Elements of a row loaded at once."""


@lowering(
    "tir-lower-interleave",
    "Lower copies that interleave rows to vector.interleave",
    works_on=Content(kinds={"unrolled"}),
)
def run(module: ir.Module) -> None:
    """Load rows, interleave them, and store them as one.

        unrolled for %k = 0 to 2 {                         %r0 = vector_load %A[0, 0] : vector<16xi8>
          vectorized for %j = 0 to 16 {                    %r1 = vector_load %A[1, 0] : vector<16xi8>
            %a = affine.load %A[%k, %j]           -->      %i = vector.interleave %r0, %r1
            affine.store %a, %B[%j, %k]                    vector_store %i, %B[0..16, 0..2]
          }
        }

    Applies to a perfect nest of two loops around just the copy (possibly with a cast, or with bits flipped: `x ^ 128`),
    if rows are contiguous, and 2, 4 or 8 of them fill the last dimension of the destination. Requires
    `tir-lower-peel-tails`; loops not vectorized yet.
    """
    for func in programs(module):
        for op in [o for o in walk.ops(func.op) if is_loop(o) and Loop(o).kind == "unrolled"]:
            interleave(Loop(op))


def interleave(rows: Loop) -> bool:
    """Vectorize an interleaving nest of two loops; returns whether it was one."""
    inner = rows.body_ops()
    if len(inner) != 1 or not is_loop(inner[0]) or Loop(inner[0]).kind != "vectorized":
        return False
    columns = Loop(inner[0])
    body = [op for op in columns.body_ops() if not isa(op, ConstantOp)]
    if not _is_changed_copy(body) or not _fits(rows, columns, body[0], body[-1]):
        return False
    load, *casts, store = body
    with ir.InsertionPoint(rows.op), rows.op.location:
        start = {columns.var: columns.lower, rows.var: rows.lower}
        values = [
            _row(load, casts, start | {rows.var: rows.lower + k}, columns.const_extent or 0)
            for k in range(rows.const_extent or 0)
        ]
        _store(store, start, _interleave_rows(values))
    set_honored(rows, columns)
    rows.op.erase()
    return True


def _is_changed_copy(body: Sequence[ir.Operation]) -> bool:
    """Whether ops load an element, convert it or flip some of its bits, and store it."""
    if len(body) < 2 or not isa(body[0], AffineLoadOp) or not isa(body[-1], AffineStoreOp):
        return False
    if any(len(op.results) != 1 for op in body[:-1]):  # other stores have none
        return False
    values = [op.results[0] for op in body[:-1]]
    casts = zip(body[1:-1], values[:-1], strict=True)
    return StoreOp(body[-1]).value == values[-1] and all(_is_change(op, value) for op, value in casts)


def _is_change(op: ir.Operation, value: ir.Value) -> bool:
    """Whether an op converts a value, or flips bits of it that a constant tells."""
    if isa(op, CastOp) or op.name == "arith.bitcast":
        return op.operands[0] == value
    return op.name == "arith.xori" and op.operands[0] == value and defining_op(op.operands[1], ConstantOp) is not None


def _fits(rows: Loop, columns: Loop, load: ir.Operation, store: ir.Operation) -> bool:
    """Whether whole rows are read, and their elements fill the last dimension of the destination."""
    source, target = LoadOp(load).memref, StoreOp(store).memref
    extent, width = rows.const_extent, columns.const_extent
    if extent not in GROUPS or not width or width > MAX_WIDTH:
        return False
    if columns.lower.uses(rows.var) or not is_contiguous(VectorizableLoop(columns), source, walk.access_indices(load)):
        return False
    type_, indices = ir.MemRefType(target.type), walk.access_indices(store)
    plain = type_ == ir.MemRefType.get(type_.shape, type_.element_type, memory_space=type_.memory_space)
    if not plain or strides.is_padded(target) or type_.rank < 2 or type_.shape[-1] != extent:
        return False
    if Buffer(source).root == Buffer(target).root or "bool" in (Buffer(source).dtype, Buffer(target).dtype):
        return False
    by_row, by_column = ([step(i, loop.var) for i in indices] for loop in (rows, columns))
    zeros = [0] * (type_.rank - 2)
    return by_row == [*zeros, 0, 1] and by_column == [*zeros, 1, 0]


def _row(load: ir.Operation, casts: Sequence[ir.Operation], point: dict[ir.Value, Index], width: int) -> ir.Value:
    """Part of one row, converted."""
    map_, operands = emit_map([i.substitute(point).simplify() for i in walk.access_indices(load)])
    type_, attributes = ir.VectorType.get([width], load.results[0].type), {"map": ir.AffineMapAttr.get(map_)}
    row = ir.Operation.create("affine.vector_load", [type_], [LoadOp(load).memref, *operands], attributes).results[0]
    for op in casts:
        type_ = ir.VectorType.get([width], op.results[0].type)
        bits = [vector.broadcast(type_, _constant_like(other)) for other in list(op.operands)[1:]]
        attributes = {n: op.attributes[n] for n in op.attributes}
        row = ir.Operation.create(op.name, [type_], [row, *bits], attributes).results[0]
    return row


def _constant_like(value: ir.Value) -> ir.Value:
    """A constant at the insertion point that is equal to another one."""
    constant = defining_op(value, ConstantOp)
    assert constant is not None  # see _is_change
    return constant.op.clone().operation.results[0]


def _interleave_rows(rows: Sequence[ir.Value]) -> ir.Value:
    """Interleave rows: the first elements of all, then the second ones, and so on."""
    if len(rows) == 1:
        return rows[0]
    return vector.interleave(_interleave_rows(rows[::2]), _interleave_rows(rows[1::2]))


def _store(store: ir.Operation, point: dict[ir.Value, Index], value: ir.Value) -> None:
    """Store a vector to a buffer with its last two dimensions collapsed."""
    target = ir.MemRefType(StoreOp(store).memref.type)
    *outer, column, _ = (i.substitute(point).simplify() for i in walk.access_indices(store))
    *shape, last, group = target.shape
    dynamic = ir.ShapedType.get_dynamic_size()
    row_length = dynamic if last == dynamic else last * group
    type_ = ir.MemRefType.get([*shape, row_length], target.element_type, memory_space=target.memory_space)
    groups = [*([d] for d in range(target.rank - 2)), [target.rank - 2, target.rank - 1]]
    flat = memref.collapse_shape(type_, StoreOp(store).memref, groups)
    map_, operands = emit_map([*outer, column * group])
    ir.Operation.create("affine.vector_store", [], [value, flat, *operands], {"map": ir.AffineMapAttr.get(map_)})
