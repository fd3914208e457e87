"""Transpose tiles in vector registers."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir
from mlir.dialects import vector

from tir_mlir.dialect.ir import Buffer, Index, Loop, emit_map, is_loop, walk
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineStoreOp, CastOp, LoadOp, StoreOp, isa
from tir_mlir.passes.lower.outcomes import set_honored
from tir_mlir.passes.lower.registry import Content, lowering, programs
from tir_mlir.passes.lower.vector.legality import VectorizableLoop, is_contiguous

SQUARE_SIZES = (8, 4, 2)
"""Sizes of the squares transposed in registers, best first."""


@lowering(
    "tir-lower-transpose",
    "Lower copies that transpose a tile to vector loads, shuffles and stores",
    works_on=Content(kinds={"unrolled"}),
)
def run(module: ir.Module) -> None:
    """Load rows, transpose them by shuffles, and store columns.

        unrolled for %k = 0 to 8 {                                %r0 = vector_load %A[%i + 0, 0] : vector<8xf32>
          vectorized for %j = 0 to 8 {                            ...
            %a = affine.load %A[%i + %j, %k]           -->        %c0 = shuffles of %r0, %r1, ...
            affine.store %a, %B[%k, %j]                           vector_store %c0, %B[0, 0]
          }                                                       ...
        }

    Applies to a perfect nest of two loops around just the copy (possibly with a cast), with extents that are multiples
    of 2, 4 or 8, and contiguous rows and columns. Eight rows take three rounds of two-operand shuffles (a butterfly)
    instead of 64 loads. Requires `tir-lower-peel-tails`; loops not vectorized yet.
    """
    for func in programs(module):
        for op in [o for o in walk.ops(func.op) if is_loop(o) and Loop(o).kind == "unrolled"]:
            transpose_tile(Loop(op))


def is_copy(body: Sequence[ir.Operation]) -> bool:
    """Whether ops load an element, optionally convert it, and store it."""
    if len(body) < 2:
        return False
    load, *casts, store = body
    if not isa(load, AffineLoadOp) or not isa(store, AffineStoreOp) or any(not isa(op, CastOp) for op in casts):
        return False
    taken = [*(CastOp(op).source for op in casts), StoreOp(store).value]
    return all(op.results[0] == value for op, value in zip(body[:-1], taken, strict=True))


def transpose_tile(rows: Loop) -> bool:
    """Transpose the tile that a nest of two loops copies; returns whether it was one."""
    inner = rows.body_ops()
    if len(inner) != 1 or not is_loop(inner[0]) or Loop(inner[0]).kind != "vectorized":
        return False
    columns = Loop(inner[0])
    body = columns.body_ops()
    if not is_copy(body):
        return False
    load, *casts, store = body
    side = _side(rows, columns)
    source, target = (walk.access_indices(op) for op in (load, store))
    reads, writes = VectorizableLoop(rows), VectorizableLoop(columns)
    read, written = LoadOp(load).memref, StoreOp(store).memref
    if side is None or not is_contiguous(reads, read, source):
        return False
    if not is_contiguous(writes, written, target) or "bool" in (Buffer(read).dtype, Buffer(written).dtype):
        return False
    if Buffer(read).root == Buffer(written).root:
        return False
    with ir.InsertionPoint(rows.op), rows.op.location:
        for i in range(0, rows.const_extent or 0, side):
            for j in range(0, columns.const_extent or 0, side):
                _square(
                    load,
                    casts,
                    store,
                    {rows.var: rows.lower + i, columns.var: columns.lower + j},
                    (rows, columns),
                    side,
                )
    set_honored(rows, columns)
    rows.op.erase()
    return True


def _side(rows: Loop, columns: Loop) -> int | None:
    """The size of the squares that tile the nest; None if the bounds are not constant multiples of one."""
    extents = rows.const_extent, columns.const_extent
    if None in extents or columns.lower.uses(rows.var) or columns.upper.uses(rows.var):
        return None
    return next((s for s in SQUARE_SIZES if all(e and e % s == 0 for e in extents)), None)


def _square(
    load: ir.Operation,
    casts: Sequence[ir.Operation],
    store: ir.Operation,
    corner: dict[ir.Value, Index],
    loops: tuple[Loop, Loop],
    side: int,
) -> None:
    """Copy one square whose corner is `corner`."""
    rows, columns = loops
    type_ = ir.VectorType.get([side], load.results[0].type)
    values = []
    for k in range(side):
        map_, operands = emit_map(_shift_indices(walk.access_indices(load), corner, columns.var, k))
        attributes = {"map": ir.AffineMapAttr.get(map_)}
        row = ir.Operation.create("affine.vector_load", [type_], [LoadOp(load).memref, *operands], attributes).results[
            0
        ]
        for op in casts:
            cast_type = ir.VectorType.get([side], op.results[0].type)
            row = ir.Operation.create(
                op.name, [cast_type], [row], {n: op.attributes[n] for n in op.attributes}
            ).results[0]
        values.append(row)
    for k, value in enumerate(transpose_vectors(values)):
        map_, operands = emit_map(_shift_indices(walk.access_indices(store), corner, rows.var, k))
        attributes = {"map": ir.AffineMapAttr.get(map_)}
        ir.Operation.create("affine.vector_store", [], [value, StoreOp(store).memref, *operands], attributes)


def _shift_indices(indices: Sequence[Index], corner: dict[ir.Value, Index], var: ir.Value, by: int) -> list[Index]:
    mapping = corner | {var: corner[var] + by}
    return [i.substitute(mapping).simplify() for i in indices]


def transpose_vectors(rows: Sequence[ir.Value]) -> list[ir.Value]:
    """Transpose a square of vectors: in each round, one bit of the lane number is swapped with a bit of the row
    number.
    """
    values, side = list(rows), len(rows)
    distance = side // 2
    while distance:
        for first in (n for n in range(side) if not n & distance):
            a, b = values[first], values[first + distance]
            low = [n if not n & distance else side + n - distance for n in range(side)]
            high = [n + distance if not n & distance else side + n for n in range(side)]
            values[first], values[first + distance] = vector.shuffle(a, b, low), vector.shuffle(a, b, high)
        distance //= 2
    return values
