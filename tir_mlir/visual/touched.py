"""Which elements of a buffer a block touches in one iteration of a loop: exact sets of points, as boxes to draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import islpy as isl
from mlir import ir

from tir_mlir.dialect.analysis import READ, WRITE, Access, access_domain
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import Block, Buffer, Func, Loop, func_of, is_loop, only_reads, parents
from tir_mlir.dialect.presburger import Domain, dim_type, question, region_map
from tir_mlir.visual import sizes
from tir_mlir.visual.nest import buffer_names

Box = tuple[tuple[int, int], ...]  # (first, last) a dimension
MOST_POINTS = 4096  # of a set that is no box, drawn point by point up to here, else as its hull


@dataclass(frozen=True)
class Touched:
    """What one iteration of a loop reads or writes of a buffer, beneath one block.

    `tile`: the boxes that make up the elements of that iteration, `hull` the smallest box around them, `count` how many
    elements there are; `sweep`: the smallest box around what all iterations of the loop touch. `exact` is false where
    an access is not affine: the tile is then larger than what is touched. `at`: the iteration shown, loop by loop.
    `sizes`: the values of the shape variables, where there are any.
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

    @property
    def region(self) -> str:
        """`A[0:16, 3]`, the hull of the tile."""
        parts = [str(low) if low == high else f"{low}:{high + 1}" for low, high in self.hull]
        return f"{self.buffer}[{', '.join(parts) or '()'}]"

    @property
    def is_box(self) -> bool:
        """Whether the iteration touches every element of the hull."""
        return self.count == _volume(self.hull)


def loops_around(block: Block) -> list[Loop]:
    """All loops around a block, outer to inner, also those around the blocks that hold it."""
    return [Loop(p) for p in parents(block.op)[::-1] if is_loop(p)]


@only_reads
def touched(block: Block, loop: Loop | None = None, given: Mapping[str, int] | None = None) -> list[Touched]:
    """What a block touches in the first iteration of a loop around it (None: in the whole run), reads first.

    One answer a buffer and kind of access; buffers that the block allocates itself are left out. Shape variables have
    the values given, or some that the function allows. Errors: NotProvable for what isl does not answer.
    """
    func = func_of(block.op)
    values = sizes.chosen(func, given)
    names = buffer_names(func)
    own = {o.result for o in block.body_ops() if o.name == "memref.alloc"}
    groups: dict[tuple[str, ir.Value], list[Access]] = {}
    for access in accesses(block.op):
        if access.buffer not in own and access.buffer in names:
            groups.setdefault((access.kind, access.buffer), []).append(access)
    order = sorted(groups, key=lambda key: (READ, WRITE).index(key[0]))
    found = [_answer(block, loop, groups[key], values, names[key[1]], func) for key in order]
    return [each for each in found if each is not None]


def _answer(
    block: Block, loop: Loop | None, group: Sequence[Access], values: Mapping[str, int], name: str, func: Func
) -> Touched | None:
    buffer = Buffer(group[0].buffer)
    with question(f"what {block.name} touches of {name}"):
        outer = [] if loop is None else _with_outer(loop)
        found = [_sets(access, outer, values) for access in group]
        at = min((point for _, _, point in found if point is not None), default=None)
        if at is None:
            return None
        tile, sweep = _joined([relation for _, relation, _ in found], at)
        count = tile.count_val().to_python()
        hull = _hull(tile)
        boxes = _boxes(tile, hull, count)
    facts = (buffer.name if not name else name, sizes.extents(buffer.dims, func, values), group[0].kind, block.name)
    exact = all(a.exact for a in group) and all(dom.exact for dom, _, _ in found)
    where = tuple(zip([o.name for o in outer], at, strict=True))
    named = tuple(values.items())
    loop_name = loop.name if loop is not None else ""
    return Touched(*facts, loop_name, boxes, hull, count, _hull(sweep), exact, where, named)


def _with_outer(loop: Loop) -> list[Loop]:
    """A loop and those around it, outer to inner."""
    return [Loop(p) for p in [loop.op, *parents(loop.op)][::-1] if is_loop(p)]


def _sets(
    access: Access, outer: Sequence[Loop], values: Mapping[str, int]
) -> tuple[Domain, isl.Map, tuple[int, ...] | None]:
    """The iterations of an access, its elements, and the first iteration of the outer loops in which it happens."""
    dom = access_domain(access)
    relation = sizes.fixed(region_map(dom, access.mins, access.extents), values)
    places = [dom.index_of(loop.var) for loop in outer]
    reached = _outer(relation, places, len(dom.dims))
    runs = reached.domain()
    if runs.is_empty():
        return dom, reached, None
    if not outer:
        return dom, reached, ()
    first = runs.lexmin().sample_point()
    point = tuple(first.get_coordinate_val(dim_type.set, n).to_python() for n in range(len(outer)))
    return dom, reached, point


def _outer(relation: isl.Map, places: Sequence[int], count: int) -> isl.Map:
    """A relation over some of its input dimensions only."""
    for place in reversed(range(count)):
        if place not in places:
            relation = relation.project_out(dim_type.in_, place, 1)
    return relation


def _joined(relations: Sequence[isl.Map], at: Sequence[int]) -> tuple[isl.Set, isl.Set]:
    """The elements of one iteration of the innermost outer loop, and those of all its iterations."""
    tile: isl.Set | None = None
    sweep: isl.Set | None = None
    for relation in relations:
        for place, value in enumerate(at[:-1]):
            relation = relation.fix_val(dim_type.in_, place, isl.Val(value))
        wide = relation.range()
        one = relation.fix_val(dim_type.in_, len(at) - 1, isl.Val(at[-1])).range() if at else wide
        tile = one if tile is None else tile.union(one)
        sweep = wide if sweep is None else sweep.union(wide)
    assert tile is not None and sweep is not None
    return tile.coalesce(), sweep.coalesce()


def _hull(points: isl.Set) -> Box:
    ends = []
    for d in range(points.dim(dim_type.set)):
        low, high = points.dim_min_val(d), points.dim_max_val(d)
        ends.append((low.to_python(), high.to_python()))
    return tuple(ends)


def _volume(box: Box) -> int:
    result = 1
    for low, high in box:
        result *= high - low + 1
    return result


def _boxes(points: isl.Set, hull: Box, count: int) -> tuple[Box, ...]:
    """Boxes that make up a set: its hull where that is full, else runs of points along the last dimension."""
    if count == _volume(hull) or count > MOST_POINTS:
        return (hull,)
    found: list[tuple[int, ...]] = []

    def note(point: isl.Point) -> None:
        found.append(tuple(point.get_coordinate_val(dim_type.set, d).to_python() for d in range(len(hull))))

    points.foreach_point(note)
    return _stacked(_runs(sorted(found)))


def _runs(points: Sequence[tuple[int, ...]]) -> list[Box]:
    """Neighbours along the last dimension, together."""
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


def _stacked(runs: Sequence[Box]) -> tuple[Box, ...]:
    """Equal runs of neighbouring rows, together."""
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
