"""Divide bindings into an outer and an inner part: binding = outer * size + inner."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tir_mlir.dialect.diagnostics import Counterexample, Iteration
from tir_mlir.dialect.ir import Block, Constraint, Index, Iter, Loop, parent_op
from tir_mlir.dialect.ir.op_traits import AFFINE_LOAD, AFFINE_STORE
from tir_mlir.dialect.presburger import dim_factors, full_box, intervals, only_where, sets, simplify_index, summands
from tir_mlir.dialect.verify import names_of
from tir_mlir.passes.schedule.registry import refuse


@dataclass(frozen=True)
class Division:
    """One divided iter: binding = outer * size + inner, inner in [0, size). A symbolic size is that of the whole
    domain.
    """

    iter: Iter
    outer: Index
    inner: Index
    size: int | Index
    outer_extent: Index

    @property
    def is_whole(self) -> bool:
        """Whether there is only one tile."""
        return self.outer_extent.as_constant() == 1

    @property
    def moves(self) -> bool:
        """Whether outer loops move the tile."""
        return self.outer.as_constant() != 0

    def start(self, outer: Index) -> Index:
        """The first iter value of a tile."""
        return (outer * self.size if isinstance(self.size, int) else Index.constant(0)) + self.iter.min


def divide_bindings(inner: Sequence[Loop], block: Block) -> list[Division]:
    """Divide every binding of a block at its inner loops. The inner parts must jointly fill a box, unless no outer loop
    moves any of them: then there is only one tile, which is what its loops run.
    """
    parts = [divide_binding(it, inner, block) for it in block.iters]
    _check_box(parts, inner, block)
    return parts


def divide_binding(it: Iter, inner: Sequence[Loop], block: Block) -> Division:
    """Divide a binding into an outer and an inner part."""
    inner_part, outside = _parts(it, inner, block)
    low, high = intervals.interval(inner_part, intervals.enclosing_ranges(block.op))
    alone = (outside - it.min).simplify().as_constant() is not None and (block.init is None or it.kind != "R")
    if low is None or high is None:
        return _one_tile(it) if alone else _symbolic_division(it, inner_part, outside, inner, block)
    inner_part, outside, size = inner_part - low, outside + low, high - low + 1
    if size < 1:
        refuse(block, f"a loop around block {block.name} never runs: iter {it.name} has no values to tile")
    if not _check_reached(it, inner_part, outside, size, inner, block, alone):
        return _one_tile(it)
    outer = _quotient((outside - it.min).simplify(), size, block)
    if outer is None:
        refuse(
            block,
            f"the outer part of iter {it.name} is not a multiple of the tile size {size}",
            fix="split the inner loop by a factor that divides the steps outside, and blockize that"
            + (_OVERLAPPING if _is_copy(block) else ""),
        )
    if outer.as_constant() != 0:
        return Division(it, outer, inner_part, size, it.extent.ceildiv(size).simplify())
    # one tile, restricted to the domain by its guard; a longer domain does not add a second one
    extent = it.extent.as_constant()
    return Division(it, outer, inner_part, size if extent is None else min(size, extent), Index.constant(1))


_OVERLAPPING = "; or copy by read_at"
"""Its block copies a whole tile, which may overlap with others."""


def _is_copy(block: Block) -> bool:
    return [op.name for op in block.body_ops()] == [AFFINE_LOAD, AFFINE_STORE]


def _one_tile(it: Iter) -> Division:
    """The division of an iter that only inner loops move: the tile is its domain, of which they may run any part."""
    size = it.extent.as_constant()
    return Division(it, Index.constant(0), (it.binding - it.min).simplify(), size or it.extent, Index.constant(1))


def _symbolic_division(it: Iter, inner_part: Index, outside: Index, inner: Sequence[Loop], block: Block) -> Division:
    """The division of an iter of symbolic extent that one inner loop covers entirely."""
    value = inner_part.is_value()
    loop = next((lp for lp in inner if value is not None and lp.var == value), None)
    plain = loop is not None and len(loop.lowers) == len(loop.uppers) == 1 and loop.lower.as_constant() == 0
    if loop is None or not plain or not outside.is_equal_to(it.min) or not loop.upper.is_equal_to(it.extent):
        refuse(block, f"the inner part of iter {it.name} has no constant size; split the symbolic loop by a tile size")
    return Division(it, Index.constant(0), inner_part, it.extent, Index.constant(1))


# --- the two parts of a binding ---------------------------------------------------------------------------------------


def _parts(it: Iter, inner: Sequence[Loop], block: Block) -> tuple[Index, Index]:
    """Inner and outer part of a binding: they sum to the binding, and each uses only its own loops."""
    binding, inner_vars = it.binding.simplify(), {lp.var for lp in inner}
    inner_part, outside = Index.constant(0), Index.constant(0)
    for term in summands(binding):
        uses = [v in inner_vars for v in term.values]
        if uses and all(uses):
            inner_part = inner_part + term
        elif not any(uses):
            outside = outside + term
        else:
            return _exact_parts(it, inner, block)
    return inner_part, outside


def _exact_parts(it: Iter, inner: Sequence[Loop], block: Block) -> tuple[Index, Index]:
    """The parts of a binding whose divisions mix outer and inner loops. The contribution of the inner loops must not
    depend on the outer ones.
    """
    dom = sets.domain(block.op, extra=[it.binding], guards=False)
    starts = {lp.var: lp.lower for lp in inner}
    outside = simplify_index(it.binding.substitute(starts), dom)
    first = {v: Index.constant(0) for v in it.binding.values if v in dom.dims and v not in starts}
    added = simplify_index(it.binding - outside, dom)
    inner_part = simplify_index(added.substitute(first), dom)
    with sets.question(f"whether the binding of iter {it.name} splits"):
        same = Constraint((it.binding - outside - inner_part).simplify(), is_eq=True)
        mixed = dom.set.subtract(sets.constraint_set(dom, same))
        point = sets.smallest_point(mixed)
    if point is not None:
        iteration = ", ".join(
            f"{n} = {v}" for n, v in zip([*dom.params, *names_of(dom, block.op)], point, strict=False)
        )
        refuse(
            block,
            f"the binding of iter {it.name} mixes outer and inner loops in one division or remainder; "
            f"it does not split into outer * size + inner: at {iteration} the contribution of the inner "
            f"loops differs from that at the start{only_where(mixed, block.op)}",
            counterexample=Counterexample(
                (Iteration.from_point(block.name, [*dom.params, *names_of(dom, block.op)], point),)
            ),
            fix="pass a loop around all loops that it uses, or split the fused loop by the old extents",
        )
    return inner_part, outside


def _quotient(index: Index, size: int, block: Block) -> Index | None:
    """index / size if that is an integer in every iteration."""
    if size == 1:
        return index
    factors = dim_factors(index.expr)
    if factors is not None and not factors[1] % size and not any(f % size for f in factors[0].values()):
        return (index // size).simplify()
    dom = sets.domain(block.op, extra=[index], guards=False)
    outer = simplify_index(index // size, dom)
    return outer if sets.holds(dom, (index - outer * size).simplify(), is_eq=True) else None


# --- the tile ---------------------------------------------------------------------------------------------------------


def _fills(inner_part: Index, inner: Sequence[Loop], size: int) -> bool:
    """Whether an inner part takes exactly the values [0, size), each once, as intervals show."""
    span = full_box.index_span(inner_part, {lp.var: lp for lp in inner})
    return span is not None and span.fills(0, size)


def _check_reached(
    it: Iter, inner_part: Index, outside: Index, size: int, inner: Sequence[Loop], block: Block, alone: bool
) -> bool:
    """Whether an inner part covers [0, size). Refuses one that does not, unless it is `alone`."""
    if inner_part.as_constant() is not None or _fills(inner_part, inner, size):
        return True
    point = _hole([inner_part], [size], inner, block)
    if point is not None and not alone:
        refuse(
            block,
            f"the inner loops do not cover [0, {size}) of iter {it.name}: the tile has a hole at {point[0]}",
            fix=_fix_hole(inner_part, outside),
        )
    return point is None


def _fix_hole(inner_part: Index, outside: Index) -> str:
    """Fix for an inner part with holes: outer loops may fill them, else the program has a stride."""
    steps = [
        [abs(f) for f in factors[0].values() if f] if (factors := dim_factors(e.expr)) else []
        for e in (inner_part, outside)
    ]
    if steps[0] and steps[1] and min(steps[1]) < min(steps[0]):
        return "reorder the loops so that those with the smallest strides are innermost"
    return "in the program, let the iter count the points, and scale it in the indices"


def _check_box(parts: Sequence[Division], inner: Sequence[Loop], block: Block) -> None:
    """Refuse a tile with holes: the inner parts must jointly cover their box."""
    moving = [p for p in parts if p.inner.as_constant() is None]
    inner_values = [v for p in moving for v in p.inner.values]
    sums = block.init is not None and any(p.iter.kind == "R" for p in moving)
    if len(set(inner_values)) == len(inner_values) or (not any(p.moves for p in moving) and not sums):
        return
    sizes = [p.size for p in moving if isinstance(p.size, int)]
    names = ", ".join(p.iter.name for p in moving)
    if len(sizes) < len(moving):
        refuse(
            block, f"one inner loop is bound to several of the iters {names}; split the symbolic loops by tile sizes"
        )
    point = _hole([p.inner for p in moving], sizes, inner, block)
    if point is not None:
        hole, box = ", ".join(map(str, point)), " x ".join(map(str, sizes))
        refuse(block, f"the inner loops do not cover {box} of iters ({names}): the tile has a hole at ({hole})")


def _hole(inner_parts: Sequence[Index], sizes: Sequence[int], inner: Sequence[Loop], block: Block) -> list[int] | None:
    """A point of the box that the inner loops do not reach."""
    dom = sets.domain(block.op, parent_op(inner[0].op), inner_parts, guards=False)
    with sets.question("whether the inner loops fill a tile"):
        reached = dom.map(inner_parts).range()
        full = reached.universe(reached.get_space()).intersect_params(dom.set.params())
        for number, size in enumerate(sizes):
            full = full.lower_bound_val(sets.dim_type.set, number, 0)
            full = full.upper_bound_val(sets.dim_type.set, number, size - 1)
        point = sets.smallest_point(full.subtract(reached))
    return None if point is None else point[len(point) - len(inner_parts) :]
