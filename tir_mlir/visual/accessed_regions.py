"""The elements of a buffer that a block accesses in an iteration of a loop and in others, exactly, as boxes to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import READ, WRITE, Access, access_domain
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import Block, Buffer, Func, Loop, func_of, is_loop, only_reads, parents
from tir_mlir.dialect.ir.op_views import AllocOp, isa
from tir_mlir.dialect.presburger import Domain, dim_type, question, region_map
from tir_mlir.visual import sizes
from tir_mlir.visual.nest import buffer_names


@dataclass(frozen=True)
class AccessedRegion:
    """The elements of a buffer that a block reads or writes in one iteration of a loop.

    tile: boxes that cover exactly these elements.
    hull: their bounding box.
    count: their number.
    sweep: the bounding box of the elements of all iterations of the loop.
    motion: where the tile is in them, None for the whole run.
    exact: false if an access is not affine, so that the tile is an over-approximation.
    at: the iteration shown, by loop.
    sizes: the values of the shape variables.
    """

    buffer: str
    shape: tuple[int, ...]
    kind: str
    block: str
    loop: str
    tile: tuple[Box, ...]
    hull: Box
    count: int
    sweep: Box
    exact: bool
    at: tuple[tuple[str, int], ...]
    sizes: tuple[tuple[str, int], ...] = ()
    motion: Motion | None = None

    @property
    def region(self) -> str:
        """`A[0:16, 3]`, the hull of the tile."""
        return region_text(self.buffer, self.hull)

    @property
    def is_box(self) -> bool:
        """Whether the iteration accesses every element of the hull."""
        return self.count == volume(self.hull)


def region_text(buffer: str, hull: Box) -> str:
    """`A[0:16, 3]`."""
    parts = [str(low) if low == high else f"{low}:{high + 1}" for low, high in hull]
    return f"{buffer}[{', '.join(parts) or '()'}]"


def enclosing_loops(block: Block) -> list[Loop]:
    """All loops around a block, outer to inner, including those around its enclosing blocks."""
    return [Loop(p) for p in parents(block.op)[::-1] if is_loop(p)]


@only_reads
def accessed_regions(
    block: Block, loop: Loop | None = None, given: Mapping[str, int] | None = None
) -> list[AccessedRegion]:
    """The elements that a block accesses in the first iteration of a loop around it (None: in the whole run).

    One result per buffer and kind of access, reads first, without buffers that the block allocates. Shape variables
    without a given value get one that the function allows. Errors: NotProvable if isl gives up.
    """
    func = func_of(block.op)
    values = sizes.choose_sizes(func, given)
    names = buffer_names(func)
    allocated = {o.result for o in block.body_ops() if isa(o, AllocOp)}
    groups: dict[tuple[str, ir.Value], list[Access]] = {}
    for access in accesses(block.op):
        if access.buffer not in allocated and access.buffer in names:
            groups.setdefault((access.kind, access.buffer), []).append(access)
    order = sorted(groups, key=lambda key: (READ, WRITE).index(key[0]))
    regions = [_accessed_region(block, loop, groups[key], values, names[key[1]], func) for key in order]
    return [region for region in regions if region is not None]


def _accessed_region(
    block: Block, loop: Loop | None, group: Sequence[Access], values: Mapping[str, int], name: str, func: Func
) -> AccessedRegion | None:
    buffer = Buffer(group[0].buffer)
    with question(f"the elements of {name} that {block.name} accesses"):
        outer = [] if loop is None else _loop_and_ancestors(loop)
        access_sets = [_sets(access, outer, values) for access in group]
        iteration = min((point for _, _, point in access_sets if point is not None), default=None)
        if iteration is None:
            return None
        tile, sweep, by_iteration = _tile_and_sweep([relation for _, relation, _ in access_sets], iteration)
        shape = tile_of(tile)
        moves = None if by_iteration is None else motion(by_iteration, tile, iteration[-1])
    facts = (name if name else buffer.name, sizes.extents(buffer.dims, func, values), group[0].kind, block.name)
    exact = all(a.exact for a in group) and all(dom.exact for dom, _, _ in access_sets)
    where = tuple(zip([o.name for o in outer], iteration, strict=True))
    named = tuple(values.items())
    loop_name = loop.name if loop is not None else ""
    counts = shape.boxes, shape.hull, shape.count
    return AccessedRegion(*facts, loop_name, *counts, hull_of(sweep), exact, where, named, moves)


def _loop_and_ancestors(loop: Loop) -> list[Loop]:
    """A loop and its enclosing loops, outer to inner."""
    return [Loop(p) for p in [loop.op, *parents(loop.op)][::-1] if is_loop(p)]


def _sets(
    access: Access, outer: Sequence[Loop], values: Mapping[str, int]
) -> tuple[Domain, isl.Map, tuple[int, ...] | None]:
    """The domain of an access, its elements by outer iteration, and the first outer iteration that executes it."""
    dom = access_domain(access)
    relation = sizes.substitute_params(region_map(dom, access.mins, access.extents), values)
    dims = [dom.index_of(loop.var) for loop in outer]
    reached = _project_onto(relation, dims, len(dom.dims))
    runs = reached.domain()
    if runs.is_empty():
        return dom, reached, None
    if not outer:
        return dom, reached, ()
    first = runs.lexmin().sample_point()
    point = tuple(first.get_coordinate_val(dim_type.set, n).to_python() for n in range(len(outer)))
    return dom, reached, point


def _project_onto(relation: isl.Map, dims: Sequence[int], count: int) -> isl.Map:
    """Project a relation onto some of its input dimensions."""
    for axis in reversed(range(count)):
        if axis not in dims:
            relation = relation.project_out(dim_type.in_, axis, 1)
    return relation


def _tile_and_sweep(relations: Sequence[isl.Map], iteration: Sequence[int]) -> tuple[isl.Set, isl.Set, isl.Map | None]:
    """The elements of one iteration of the innermost outer loop, those of all its iterations, and by iteration."""
    tile: isl.Set | None = None
    sweep: isl.Set | None = None
    moves: isl.Map | None = None
    for relation in relations:
        for axis, value in enumerate(iteration[:-1]):
            relation = relation.fix_val(dim_type.in_, axis, isl.Val(value))
        wide = relation.range()
        narrow = (
            relation.fix_val(dim_type.in_, len(iteration) - 1, isl.Val(iteration[-1])).range() if iteration else wide
        )
        tile = narrow if tile is None else tile.union(narrow)
        sweep = wide if sweep is None else sweep.union(wide)
        if iteration:
            last = relation.project_out(dim_type.in_, 0, len(iteration) - 1)
            moves = last if moves is None else moves.union(last)
    assert tile is not None and sweep is not None
    return tile.coalesce(), sweep.coalesce(), moves


MOST_SHAPES = 12
"""Tiles that change their shape are known for this many iterations."""


@dataclass(frozen=True)
class Motion:
    """Tiles by iteration: those from `first` to `last` are each `step` away from the one before, in elements. Without a
    step, the shape changes, and `shapes` has the tiles of some iterations.
    """

    first: int
    last: int
    step: tuple[int, ...] | None
    shapes: tuple[tuple[int, AccessTile], ...] = ()


def motion(elements: isl.Map, tile: isl.Set, first: int) -> Motion:
    """The motion of a tile. elements: by iteration. tile: those of the first iteration."""
    last = elements.domain().dim_max_val(0).to_python()
    if last == first:
        return Motion(first, last, (0,) * tile.dim(dim_type.set))
    step = _step(elements, tile, first, last)
    if step is not None:
        return Motion(first, last, step)
    count = last - first + 1
    chosen = sorted({first + n * (count - 1) // (MOST_SHAPES - 1) for n in range(MOST_SHAPES)})
    sets = ((n, elements.fix_val(dim_type.in_, 0, isl.Val(n)).range()) for n in chosen)
    return Motion(first, last, None, tuple((n, tile_of(s.coalesce())) for n, s in sets if not s.is_empty()))


def _step(elements: isl.Map, tile: isl.Set, first: int, last: int) -> tuple[int, ...] | None:
    """How far the tile moves from one iteration to the next, if it does nothing else: proved for all of them."""
    second = elements.fix_val(dim_type.in_, 0, isl.Val(first + 1)).range()
    if second.is_empty():
        return None
    step = tuple(b[0] - a[0] for a, b in zip(hull_of(tile), hull_of(second), strict=True))
    names = [f"e{n}" for n in range(len(step))]
    moved = ", ".join(["i", *(f"{name} + {by} * (i - {first})" for name, by in zip(names, step, strict=True))])
    everywhere = isl.Map(f"{{ [{', '.join(['i', *names])}] -> [{moved}] }}")
    iterations = isl.Set(f"{{ [i] : {first} <= i <= {last} }}")
    return step if _points(elements).is_equal(iterations.flat_product(_plain(tile)).apply(everywhere)) else None


def _points(elements: isl.Map) -> isl.Set:
    return _plain(elements.wrap().flatten())


def _plain(points: isl.Set) -> isl.Set:
    """Without the name of the space."""
    return points.reset_tuple_id()


Box = tuple[tuple[int, int], ...]  # (first, last) of each dimension
MOST_POINTS = 4096  # sets with more points that are not boxes are drawn as their hull


@dataclass(frozen=True)
class AccessTile:
    """Boxes that cover a set exactly, its bounding box, and its number of elements."""

    boxes: tuple[Box, ...]
    hull: Box
    count: int


def tile_of(points: isl.Set) -> AccessTile:
    """The boxes of a set that is not empty."""
    count, hull = points.count_val().to_python(), hull_of(points)
    return AccessTile(_boxes(points, hull, count), hull, count)


def hull_of(points: isl.Set) -> Box:
    ends = []
    for d in range(points.dim(dim_type.set)):
        low, high = points.dim_min_val(d), points.dim_max_val(d)
        ends.append((low.to_python(), high.to_python()))
    return tuple(ends)


def volume(box: Box) -> int:
    result = 1
    for low, high in box:
        result *= high - low + 1
    return result


def _boxes(points: isl.Set, hull: Box, count: int) -> tuple[Box, ...]:
    """Cover a set exactly by boxes: by its hull if that is full, else by merged runs of points."""
    if count == volume(hull) or count > MOST_POINTS:
        return (hull,)
    coordinates: list[tuple[int, ...]] = []

    def note(point: isl.Point) -> None:
        coordinates.append(tuple(point.get_coordinate_val(dim_type.set, d).to_python() for d in range(len(hull))))

    points.foreach_point(note)
    return _merge_rows(_runs(sorted(coordinates)))


def _runs(points: Sequence[tuple[int, ...]]) -> list[Box]:
    """Merge adjacent points along the last dimension."""
    runs: list[list[tuple[int, int]]] = []
    for point in points:
        last = runs[-1] if runs else None
        if (
            last
            and all(p == low for p, (low, _) in zip(point[:-1], last, strict=False))
            and last[-1][1] == point[-1] - 1
        ):
            last[-1] = (last[-1][0], point[-1])
        else:
            runs.append([(p, p) for p in point])
    return [tuple(run) for run in runs]


def _merge_rows(runs: Sequence[Box]) -> tuple[Box, ...]:
    """Merge equal runs of adjacent rows."""
    if not runs or len(runs[0]) < 2:
        return tuple(runs)
    done: list[list[tuple[int, int]]] = []
    for run in runs:
        for box in reversed(done):
            grows = box[-2][1] == run[-2][0] - 1 and box[-1] == run[-1]
            if grows and all(a == b for a, b in zip(box[:-2], run[:-2], strict=True)):
                box[-2] = (box[-2][0], run[-2][1])
                break
        else:
            done.append(list(run))
    return tuple(tuple(box) for box in done)
