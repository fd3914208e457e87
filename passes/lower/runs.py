"""Copies whose lanes read the rows of an image, or every other element, by vectors all the same."""

from __future__ import annotations

from collections.abc import Iterator

from mlir import ir
from mlir.dialects import arith, vector

from tir_mlir.dialect import dtypes, walk
from tir_mlir.dialect.create import apply
from tir_mlir.dialect.index import Index, emit_map
from tir_mlir.dialect.views import Buffer, Loop, is_loop
from tir_mlir.passes.lower.facts import zeros
from tir_mlir.passes.lower.registry import lowering, programs
from tir_mlir.passes.lower.run_copies import Copy, match_copy

WIDTHS = (16, 8, 4, 2)
"""Lanes in a piece, the best first."""
BITS = 512
"""Of a piece at most; LLVM splits it on other machines."""


@lowering("tir-lower-runs", "copy by vectors where lanes read the rows of an image or every other element")
def run(module: ir.Module) -> None:
    """Load the runs of elements that lie behind each other.

        vectorized for %l = 0 to 8 {                           %a = masked load of %A[...] for lanes before the end
          %a = affine.load %A[%p + %l +                            of the row that lane 0 is in
                   ((%p + %l) floordiv 14) * 2]        -->     %b = masked load of the next row for the other lanes
          affine.store %a, %B[%l]                              vector_store %b, %B[0]
        }

    For loops that hold nothing but such a copy, and lanes that are contiguous where they are stored. A row is left at
    most once in a piece of 16, 8, 4 or 2 lanes; not at all, and no mask is needed, where pieces divide rows. Lanes 2, 3
    or 4 elements apart are picked from whole vectors. Requires `tir-lower-tails`; loops not to be vectorized yet.
    """
    for func in programs(module):
        for op in [o for o in walk.ops(func.op) if is_loop(o) and Loop(o).kind == "vectorized"]:
            copy(Loop(op))


def copy(loop: Loop) -> bool:
    """Do one copy by vectors; whether it was one."""
    found = match_copy(loop)
    if found is None:
        return False
    pieces = list(_pieces(found))
    if any(width is None for _, width, _ in pieces):
        return False
    with ir.InsertionPoint(loop.op), loop.op.location:
        for start, width, crosses in pieces:
            _piece(found, start, width or 1, crosses)
    loop.op.erase()
    return True


# --- pieces -----------------------------------------------------------------------------------------------------------


def _pieces(copy_: Copy) -> Iterator[tuple[int, int | None, bool]]:
    """First lane, number of lanes, and whether a row may end among them; None lanes where no width will do."""
    start, extent = 0, copy_.loop.const_extent or 0
    most = BITS // dtypes.bits(Buffer(copy_.load.operands[0]).dtype)
    while start < extent:
        widths = [w for w in WIDTHS if w <= min(most, extent - start)]
        whole = next((w for w in widths if w >= 4 and not _crosses(copy_, start, w)), None)
        some = next((w for w in widths if w - 1 <= copy_.lane.width), None) if copy_.lane.count is not None else None
        width = whole or some or (1 if start + 1 == extent or not widths else None)
        yield start, width, width != whole and width != 1
        if width is None:
            return
        start += width


def _crosses(copy_: Copy, start: int, width: int) -> bool:
    """Whether a row may end among lanes: it does not where they divide the row and begin at a multiple of theirs."""
    lane = copy_.lane
    if lane.count is None:
        return False
    first = lane.count.substitute({copy_.loop.var: copy_.loop.lower + start}).simplified()
    return lane.width % width != 0 or (first % width).simplified().as_constant() != 0


def _piece(copy_: Copy, start: int, width: int, crosses: bool) -> None:
    element = copy_.load.results[0].type
    if width == 1:
        value = _load(copy_, copy_.at(copy_.load, start), element)
        _store(copy_, value, start)
        return
    reach = (width - 1) * copy_.lane.apart + 1  # elements from the first lane to the last
    starts = [min(n * width, reach - width) for n in range(copy_.lane.apart)]
    type_ = ir.VectorType.get([width], element)
    parts = [_part(copy_, start, s, type_, crosses) for s in starts]
    _store(copy_, _picked(parts, starts, copy_.lane.apart), start)


def _part(copy_: Copy, lane: int, start: int, type_: ir.VectorType, crosses: bool) -> ir.Value:
    """A whole vector of elements, `start` after the one of a lane; from the end of the row on, of the next row."""
    where = copy_.at(copy_.load, lane, start)
    if not crosses:
        return _load(copy_, where, type_)
    row = copy_.lane
    assert row.count is not None
    count = row.count.substitute({copy_.loop.var: copy_.loop.lower + lane}).simplified()
    left = (count % row.width) * -1 + row.width  # lanes in the row of the first
    here, there = _masks(copy_.loop, type_, left * row.apart - (row.apart - 1) - start)
    source, next_row = copy_.load.operands[0], [*where[:-1], where[-1] + row.jump]
    first = vector.maskedload(type_, source, [apply(i) for i in where], here, zeros(type_))
    return vector.maskedload(type_, source, [apply(i) for i in next_row], there, first)


def _masks(loop: Loop, type_: ir.VectorType, count: Index) -> tuple[ir.Value, ir.Value]:
    """The first elements and the others, made as far out as their number is known."""
    place = loop.op
    for parent in walk.parents(loop.op):
        if not is_loop(parent) or any(walk.is_inside(walk.home(v), parent) for v in count.values):
            break
        place = parent
    bit = ir.IntegerType.get_signless(1)
    bits = ir.VectorType.get(type_.shape, bit)
    with ir.InsertionPoint(place):
        first = vector.create_mask(bits, [apply(count)])
        all_ = arith.constant(bits, ir.DenseElementsAttr.get_splat(bits, ir.IntegerAttr.get(bit, 1)))
        return first, arith.xori(first, all_)


def _picked(parts: list[ir.Value], starts: list[int], apart: int) -> ir.Value:
    """The lanes out of the vectors that hold them: lane n is element n * apart."""
    width = ir.VectorType(parts[0].type).shape[0]
    value, done = parts[0], [n * apart for n in range(width)]
    if apart == 1:
        return value
    held = [e if e < width else None for e in done]  # where `value` has each lane
    for part, start in zip(parts[1:], starts[1:], strict=True):
        lanes = []
        for n, element in enumerate(done):
            place = held[n]
            if place is not None:
                lanes.append(place)
            elif start <= element < start + width:
                lanes.append(width + element - start)
                place = n
            else:
                lanes.append(0)
            held[n] = None if place is None else n
        value = vector.shuffle(value, part, lanes)
    return value


def _load(copy_: Copy, where: list[Index], type_: ir.Type) -> ir.Value:
    map_, used = emit_map(where)
    name = "affine.vector_load" if isinstance(type_, ir.VectorType) else "affine.load"
    attributes = {"map": ir.AffineMapAttr.get(map_)}
    return ir.Operation.create(name, [type_], [copy_.load.operands[0], *used], attributes).results[0]


def _store(copy_: Copy, value: ir.Value, lane: int) -> None:
    map_, used = emit_map(copy_.at(copy_.store, lane))
    name = "affine.vector_store" if isinstance(value.type, ir.VectorType) else "affine.store"
    attributes = {"map": ir.AffineMapAttr.get(map_)}
    ir.Operation.create(name, [], [value, copy_.store.operands[1], *used], attributes)
