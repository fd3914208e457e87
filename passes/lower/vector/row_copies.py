"""Vectorize copies that read several rows, or every nth element."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from mlir import ir
from mlir.dialects import arith, vector

from tir_mlir.dialect.ir import Buffer, Index, Loop, apply, dtypes, emit_map, is_loop, owner_op, step, walk
from tir_mlir.dialect.ir.op_traits import AFFINE_LOAD, AFFINE_STORE
from tir_mlir.dialect.ir.op_views import LoadOp, StoreOp
from tir_mlir.dialect.presburger import linear_terms
from tir_mlir.passes.lower.memory.strides import is_padded
from tir_mlir.passes.lower.op_attrs import zero_vector
from tir_mlir.passes.lower.outcomes import set_honored
from tir_mlir.passes.lower.registry import Content, lowering, programs
from tir_mlir.passes.lower.vector.legality import VectorizableLoop, is_contiguous

WIDTHS = (16, 8, 4, 2)
"""Numbers of lanes of a piece, best first."""
PIECE_BITS = 512
"""Maximal bits of a piece; LLVM splits it on other machines."""


@lowering(
    "tir-lower-row-copies",
    "Lower copies across rows, or of every nth element, to masked vector loads and shuffles",
    works_on=Content(kinds={"vectorized"}),
)
def run(module: ir.Module) -> None:
    """Load contiguous runs of elements.

        vectorized for %l = 0 to 8 {                           %a = masked load of %A[...] for lanes before the end
          %a = affine.load %A[%p + %l +                            of the row that lane 0 is in
                   ((%p + %l) floordiv 14) * 2]        -->     %b = masked load of the next row for the other lanes
          affine.store %a, %B[%l]                              vector_store %b, %B[0]
        }

    Applies to loops around just such a copy, with contiguous stores. A piece of 16, 8, 4 or 2 lanes spans at most two
    rows; if pieces divide rows, no mask is needed. Lanes at distance 2, 3 or 4 are shuffled out of whole vectors.
    Requires `tir-lower-peel-tails`; loops not vectorized yet.
    """
    for func in programs(module):
        for op in [o for o in walk.ops(func.op) if is_loop(o) and Loop(o).kind == "vectorized"]:
            vectorize_copy(Loop(op))


MOST_PIECES = 256
"""Pieces of one loop: each is code of its own."""


def vectorize_copy(loop: Loop) -> bool:
    """Vectorize one copy; returns whether the loop was one."""
    matched = match_copy(loop)
    if matched is None:
        return False
    pieces = list(islice(_pieces(matched), MOST_PIECES + 1))
    if len(pieces) > MOST_PIECES or any(width is None for _, width, _ in pieces):
        return False
    with ir.InsertionPoint(loop.op), loop.op.location:
        for start, width, crosses in pieces:
            _piece(matched, start, width or 1, crosses)
    set_honored(loop)
    loop.op.erase()
    return True


# --- pieces -----------------------------------------------------------------------------------------------------------


def _pieces(copy_: Copy) -> Iterator[tuple[int, int | None, bool]]:
    """First lane, number of lanes (None if no width works), and whether a row may end among them."""
    start, extent = 0, copy_.loop.const_extent or 0
    most = PIECE_BITS // dtypes.bits(Buffer(LoadOp(copy_.load).memref).dtype)
    while start < extent:
        widths = [w for w in WIDTHS if w <= min(most, extent - start)]
        in_row = next((w for w in widths if w >= 4 and not _may_cross_row_end(copy_, start, w)), None)
        some = next((w for w in widths if w - 1 <= copy_.lane.width), None) if copy_.lane.count is not None else None
        width = in_row or some or (1 if start + 1 == extent or not widths else None)
        yield start, width, width != in_row and width != 1
        if width is None:
            return
        start += width


def _may_cross_row_end(copy_: Copy, start: int, width: int) -> bool:
    """Whether a row may end inside a piece: not if its width divides the row and it starts at a multiple of its
    width.
    """
    lane = copy_.lane
    if lane.count is None:
        return False
    first = lane.count.substitute({copy_.loop.var: copy_.loop.lower + start}).simplify()
    return lane.width % width != 0 or (first % width).simplify().as_constant() != 0


def _piece(copy_: Copy, start: int, width: int, crosses: bool) -> None:
    element = copy_.load.results[0].type
    if width == 1:
        value = _load(copy_, copy_.lane_indices(copy_.load, start), element)
        _store(copy_, value, start)
        return
    reach = (width - 1) * copy_.lane.apart + 1  # distance from the first element to the last
    starts = [min(n * width, reach - width) for n in range(copy_.lane.apart)]
    type_ = ir.VectorType.get([width], element)
    parts = [_part(copy_, start, s, type_, crosses) for s in starts]
    _store(copy_, _select_lanes(parts, starts, copy_.lane.apart), start)


def _part(copy_: Copy, lane: int, start: int, type_: ir.VectorType, crosses: bool) -> ir.Value:
    """A whole vector of elements, `start` elements after that of a lane; beyond the end of the row, of the next row."""
    where = copy_.lane_indices(copy_.load, lane, start)
    if not crosses:
        return _load(copy_, where, type_)
    row = copy_.lane
    assert row.count is not None
    count = row.count.substitute({copy_.loop.var: copy_.loop.lower + lane}).simplify()
    lanes_in_row = (count % row.width) * -1 + row.width  # lanes in the row of the first one
    row_mask, next_mask = _masks(copy_.loop, type_, lanes_in_row * row.apart - (row.apart - 1) - start)
    source, next_row = LoadOp(copy_.load).memref, [*where[:-1], where[-1] + row.jump]
    first = vector.maskedload(type_, source, [apply(i) for i in where], row_mask, zero_vector(type_))
    return vector.maskedload(type_, source, [apply(i) for i in next_row], next_mask, first)


def _masks(loop: Loop, type_: ir.VectorType, count: Index) -> tuple[ir.Value, ir.Value]:
    """Masks of the first elements and of the others, hoisted as far as their number allows."""
    anchor = loop.op
    for parent in walk.parents(loop.op):
        if not is_loop(parent) or any(walk.is_inside(owner_op(v), parent) for v in count.values):
            break
        anchor = parent
    bit = ir.IntegerType.get_signless(1)
    bits = ir.VectorType.get(type_.shape, bit)
    with ir.InsertionPoint(anchor):
        first = vector.create_mask(bits, [apply(count)])
        all_ = arith.constant(bits, ir.DenseElementsAttr.get_splat(bits, ir.IntegerAttr.get(bit, 1)))
        return first, arith.xori(first, all_)


def _select_lanes(parts: list[ir.Value], starts: list[int], apart: int) -> ir.Value:
    """Select the lanes from the vectors that contain them: lane n is element n * apart."""
    width = ir.VectorType(parts[0].type).shape[0]
    value, done = parts[0], [n * apart for n in range(width)]
    if apart == 1:
        return value
    positions = [e if e < width else None for e in done]  # position of each lane in `value`
    for part, start in zip(parts[1:], starts[1:], strict=True):
        lanes = []
        for n, element in enumerate(done):
            position = positions[n]
            if position is not None:
                lanes.append(position)
            elif start <= element < start + width:
                lanes.append(width + element - start)
                position = n
            else:
                lanes.append(0)
            positions[n] = None if position is None else n
        value = vector.shuffle(value, part, lanes)
    return value


def _load(copy_: Copy, where: list[Index], type_: ir.Type) -> ir.Value:
    map_, operands = emit_map(where)
    name = "affine.vector_load" if isinstance(type_, ir.VectorType) else AFFINE_LOAD
    attributes = {"map": ir.AffineMapAttr.get(map_)}
    return ir.Operation.create(name, [type_], [LoadOp(copy_.load).memref, *operands], attributes).results[0]


def _store(copy_: Copy, value: ir.Value, lane: int) -> None:
    map_, operands = emit_map(copy_.lane_indices(copy_.store, lane))
    name = "affine.vector_store" if isinstance(value.type, ir.VectorType) else AFFINE_STORE
    attributes = {"map": ir.AffineMapAttr.get(map_)}
    ir.Operation.create(name, [], [value, StoreOp(copy_.store).memref, *operands], attributes)


STRIDES = (1, 2, 3, 4)
"""Distances between adjacent lanes that are loaded as whole vectors and shuffled."""
MASKED_BITS = (32, 64)
"""Element widths for which most CPUs have masked loads."""


@dataclass(frozen=True)
class LaneIndex:
    """The element that a lane reads: `apart` after that of the previous lane, `jump` more where `count floordiv width`
    grows.
    """

    apart: int
    jump: int = 0
    count: Index | None = None
    width: int = 0


@dataclass(frozen=True)
class Copy:
    """A copy of `extent` lanes from `lower` on."""

    loop: Loop
    load: ir.Operation
    store: ir.Operation
    lane: LaneIndex

    def lane_indices(self, op: ir.Operation, lane: int, offset: int = 0) -> list[Index]:
        """The element of a lane, plus `offset`."""
        *outer, last = (i.substitute({self.loop.var: self.loop.lower + lane}) for i in walk.access_indices(op))
        return [*(i.simplify() for i in outer), (last + offset).simplify()]


def match_copy(loop: Loop) -> Copy | None:
    """The loop as a copy across rows or with a stride; None if it is not one."""
    body = loop.body_ops()
    if loop.const_extent is None or [op.name for op in body] != [AFFINE_LOAD, AFFINE_STORE]:
        return None
    load, store = body
    source, target, lanes = LoadOp(load).memref, StoreOp(store).memref, VectorizableLoop(loop)
    indices = walk.access_indices(load)
    if StoreOp(store).value != load.results[0] or not indices or Buffer(source).dtype == "bool":
        return None
    if Buffer(source).root == Buffer(target).root or not is_contiguous(lanes, target, walk.access_indices(store)):
        return None
    strides, _ = ir.MemRefType(source.type).get_strides_and_offset()
    if strides[-1] != 1 or is_padded(source) or any(i.uses(loop.var) for i in indices[:-1]):
        return None
    lane = _lane_index(indices[-1], loop.var)
    if lane is None or lane.apart not in STRIDES or lane.jump < 0 or (lane.apart == 1 and lane.count is None):
        return None
    if lane.count is not None and dtypes.bits(Buffer(source).dtype) not in MASKED_BITS:
        return None
    return Copy(loop, load, store, lane)


def _lane_index(index: Index, var: ir.Value) -> LaneIndex | None:
    """An index as a function of the lane."""
    apart = step(index, var)
    if apart is not None:
        return LaneIndex(apart)
    terms, constant = linear_terms(index.expr)
    linear, jump, division = Index.constant(constant), 0, None
    for term, factor in terms.items():
        value = Index(term, index.values)
        if not value.drop_unused_values().uses(var) or isinstance(term, ir.AffineDimExpr):
            linear += value * factor
            continue
        if not isinstance(term, ir.AffineFloorDivExpr | ir.AffineModExpr):
            return None
        count, width = Index(term.lhs, index.values).simplify(), ir.AffineConstantExpr(term.rhs).value
        if division is not None and not (division[1] == width and division[0].is_equal_to(count)):
            return None
        division = count, width
        if isinstance(term, ir.AffineModExpr):
            linear, factor = linear + count * factor, -factor * width
        jump += factor
    apart = step(linear, var)
    if division is None or apart is None or step(division[0], var) != 1:
        return None
    return LaneIndex(apart, jump, *division)
