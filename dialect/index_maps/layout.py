"""An index map over a box, analysed by isl: collisions, image, inverse, padding.

Expressions are MLIR's, over the dimensions of the box followed by the sizes (isl parameters, never negative).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import islpy as isl
from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import cache_by_structure, cost, simplified_expr, used_dims
from tir_mlir.dialect.presburger import (
    Domain,
    dim_factors,
    dim_type,
    flatten,
    intervals,
    local_space,
    nonneg,
    recover,
    smallest_point,
    to_aff,
    zeros,
)

AffineExpr = ir.AffineExpr
Conjunction = list[tuple[ir.AffineExpr, bool]]  # each `expr >= 0`, or `expr == 0` where the flag is set


@dataclass(frozen=True)
class Box:
    """The points [0, extent) of some dimensions; dimension p of an extent is the size `params[p]`.

    `sizes`: constraints on the sizes, besides that none is negative.
    """

    extents: tuple[ir.AffineExpr, ...]
    params: tuple[str, ...] = ()
    sizes: isl.Set | None = None

    @staticmethod
    def from_shape(shape: Sequence[int]) -> Box:
        return Box(tuple(AffineExpr.get_constant(n) for n in shape))

    @cached_property
    def domain(self) -> Domain:
        """The points as an isl set."""
        local = local_space(len(self.extents), self.params)
        zero = isl.Aff.zero_on_domain(local)
        sizes = [isl.Aff.var_on_domain(local, dim_type.param, p) for p in range(len(self.params))]
        points = isl.Set.universe(local.get_space())
        for size in sizes:
            points = points.intersect(nonneg(size))
        if self.sizes is not None:
            points = points.intersect_params(self.sizes)
        for d, extent in enumerate(self.extents):
            var = isl.Aff.var_on_domain(local, dim_type.set, d)
            last = to_aff(extent, sizes, zero).sub(var).add_constant_val(isl.Val(-1))
            points = points.intersect(nonneg(var)).intersect(nonneg(last))
        return Domain([], list(self.params), points, {}, zero)

    def aff(self, expr: ir.AffineExpr) -> isl.Aff:
        """An expression over the dimensions and sizes."""
        local = local_space(len(self.extents), self.params)
        dims = [isl.Aff.var_on_domain(local, dim_type.set, d) for d in range(len(self.extents))]
        dims += [isl.Aff.var_on_domain(local, dim_type.param, p) for p in range(len(self.params))]
        return to_aff(expr, dims, isl.Aff.zero_on_domain(local))

    @property
    def points(self) -> isl.Set:
        return self.domain.set


@dataclass(frozen=True)
class Collision:
    """Two points with the same image, for some sizes."""

    sizes: dict[str, int]
    first: tuple[int, ...]
    second: tuple[int, ...]


@dataclass(frozen=True)
class Padding:
    """The indices outside the image: the union of `pieces`; if `kept` is set, those at which it fails."""

    pieces: list[Conjunction]
    kept: Conjunction | None
    never: bool


@dataclass(frozen=True)
class Layout:
    """{ point of `box` -> `exprs` }. Query within a `sets.question`; results are cached (see `layout_of`)."""

    exprs: tuple[ir.AffineExpr, ...]
    box: Box

    @cached_property
    def relation(self) -> isl.Map:
        return self.box.domain.relation([self.box.aff(e) for e in self.exprs])

    @cached_property
    def image(self) -> isl.Set:
        return self.relation.range().coalesce()

    @cached_property
    def collision(self) -> Collision | None:
        """Two points with the same image; None if the map is injective."""
        if self.relation.is_injective():
            return None
        same = self.relation.apply_range(self.relation.reverse())
        apart = same.intersect(isl.Map.lex_lt(self.box.points.get_space()))
        point = smallest_point(flatten(apart)) or []
        rank, count = len(self.box.extents), len(self.box.params)
        sizes = dict(zip(self.box.params, point[:count], strict=True))
        return Collision(sizes, tuple(point[count : count + rank]), tuple(point[count + rank :]))

    @cached_property
    def below_zero(self) -> tuple[int, ...] | None:
        """A point with a negative index in its image, or None."""
        bad = isl.Set.empty(self.box.points.get_space())
        for expr in self.exprs:
            bad = bad.union(self.box.points.subtract(nonneg(self.box.aff(expr))))
        point = smallest_point(bad)
        return None if point is None else tuple(point[len(self.box.params) :])

    @cached_property
    def shape(self) -> tuple[ir.AffineExpr, ...]:
        """The extents of the smallest box at the origin that contains the image."""
        return tuple(self._extent(number) for number in range(len(self.exprs)))

    def _extent(self, number: int) -> ir.AffineExpr:
        last = self.image.dim_max(number).coalesce().gist(self.image.params())
        pieces = last.get_pieces()
        if len(pieces) == 1:
            return _plus_one(recover(_with_floors(pieces[0][1]), _dims(len(self.box.params)), 0), len(self.box.params))
        sizes: list[tuple[intervals.Bound, intervals.Bound]] = [(0, None)] * len(self.box.params)
        dims: list[tuple[intervals.Bound, intervals.Bound]] = []
        for extent in self.box.extents:
            high = intervals.expr_interval(extent, sizes)[1]
            dims.append((0, None if high is None else high - 1))
        high = intervals.expr_interval(self.exprs[number], [*dims, *sizes])[1]
        if high is None:
            raise NotProvable(f"the extent of dimension {number} has no single expression in the sizes")
        if high >= 2**63 - 1:
            raise NotProvable(f"the extent of dimension {number} does not fit an index (64 bits)")
        return AffineExpr.get_constant(high + 1)

    @cached_property
    def target(self) -> Box:
        """The box that contains the image."""
        return Box(self.shape, self.box.params, self.box.sizes)

    @cached_property
    def inverse(self) -> tuple[ir.AffineExpr, ...]:
        """The preimage of a point of the image, over the dimensions of the image and the sizes."""
        back = self.relation.reverse()
        return tuple(self._inverse_coordinate(back, number) for number in range(len(self.box.extents)))

    def _inverse_coordinate(self, back: isl.Map, number: int) -> ir.AffineExpr:
        """One coordinate: its minimum equals its maximum, so the shorter form is used."""
        rank = len(self.exprs)
        forms = []
        for bound in (back.dim_min(number), back.dim_max(number)):
            pieces = bound.coalesce().gist(back.domain()).get_pieces()
            if len(pieces) == 1:
                expr = recover(_with_floors(pieces[0][1]), _dims(rank + len(self.box.params)), rank)
                forms.append(simplified_expr(expr, rank + len(self.box.params)))
        forms = forms or self._digit(number)
        if not forms:
            raise NotProvable(f"the inverse of the map has no single expression for dimension {number}")
        return min(forms, key=cost)

    def _digit(self, number: int) -> list[ir.AffineExpr]:
        """One coordinate as a digit of an index: isl returns a piece per value for digits in the middle."""
        extent = self.box.extents[number]
        for position, expr in enumerate(self.exprs):
            factors = dim_factors(expr)
            weight = factors[0].get(number, 0) if factors else 0
            if weight <= 0 or not isinstance(extent, ir.AffineConstantExpr):
                continue
            digit, original = (
                AffineExpr.get_mod(AffineExpr.get_floor_div(e, weight), extent.value)
                for e in (AffineExpr.get_dim(position), expr)
            )
            same = zeros(self.box.aff(original - AffineExpr.get_dim(number)))
            if self.box.points.is_subset(same):
                return [digit]
        return []

    # --- padding: indices outside the image ---------------------------------------------------------------------------

    @cached_property
    def holes(self) -> isl.Set:
        """The points of the target outside the image."""
        return self.target.points.subtract(self.image).coalesce()

    @cached_property
    def padding(self) -> Padding:
        """The points of the target outside the image, as conditions."""
        holes = self.holes
        if holes.is_empty():
            return Padding([], [], never=True)
        image = self.image.gist(self.target.points).coalesce()
        unpadded = self._conjunction(image)
        if unpadded is not None:
            pieces = [self._tighten(p) for condition in unpadded for p in self._negation(condition)]
            return Padding(sorted(pieces, key=_first_dim), unpadded, never=False)
        pieces = []
        for basic in holes.make_disjoint().get_basic_sets():
            piece = self._conjunction(basic.to_set().gist(self.target.points))
            if piece is None:
                raise NotProvable("the padding cannot be written as affine conditions")
            pieces.append(piece)
        return Padding(pieces, None, never=False)

    def _conjunction(self, points: isl.Set) -> Conjunction | None:
        """The constraints of a set that is one polyhedron with known divisions; else None."""
        basics = points.compute_divs().get_basic_sets()
        if len(basics) != 1:
            return None
        conjunction: Conjunction = []
        for constraint in basics[0].get_constraints():
            if constraint.is_div_constraint():
                continue
            aff = constraint.get_aff()
            scale = aff.get_denominator_val()
            conjunction.append((self._expr(aff.scale_val(scale)), constraint.is_equality()))
        exact = self._where(conjunction).intersect(self.target.points).is_equal(points.intersect(self.target.points))
        return conjunction if exact else None

    def _expr(self, aff: isl.Aff) -> ir.AffineExpr:
        count = len(self.exprs) + len(self.box.params)
        return simplified_expr(recover(aff, _dims(count), len(self.exprs)), count)

    def _where(self, conditions: Conjunction) -> isl.Set:
        points = isl.Set.universe(self.target.points.get_space())
        for expr, is_eq in conditions:
            aff = self.target.aff(expr)
            points = points.intersect(zeros(aff) if is_eq else nonneg(aff))
        return points

    def _negation(self, condition: tuple[ir.AffineExpr, bool]) -> list[Conjunction]:
        """The complement of one condition."""
        expr, is_eq = condition
        count = len(self.exprs) + len(self.box.params)
        sides = [simplified_expr(expr * -1 - 1, count)] + ([simplified_expr(expr - 1, count)] if is_eq else [])
        return [[(s, False)] for s in sides if not self._where([(s, False)]).intersect(self.target.points).is_empty()]

    def _tighten(self, piece: Conjunction) -> Conjunction:
        """Rewrite `16 * a + b >= 60` as `a == 3 and b >= 12` where the two are equal in the target."""
        expr, is_eq = piece[0]
        factors = dim_factors(expr)
        if is_eq or factors is None or len(factors[0]) < 2:
            return piece
        top = max(factors[0], key=lambda d: abs(factors[0][d]))
        extent = self.target.extents[top] if top < len(self.exprs) else None
        if extent is None or not isinstance(extent, ir.AffineConstantExpr):
            return piece
        last = extent.value - 1
        count = len(self.exprs) + len(self.box.params)
        swap = _dims(count)
        swap[top] = AffineExpr.get_constant(last)
        remainder = expr.compose(ir.AffineMap.get(count, 0, swap))
        tidy = [(AffineExpr.get_dim(top) - last, True), (simplified_expr(remainder, count), False)]
        ours, box = self._where(piece), self.target.points
        return tidy if self._where(tidy).intersect(box).is_equal(ours.intersect(box)) else piece


@cache_by_structure(lambda exprs, box: (exprs, box.extents, box.params, str(box.sizes)), limit=1 << 7)
def layout_of(exprs: tuple[ir.AffineExpr, ...], box: Box) -> Layout:
    """The layout of a map: one object per content, so that its results are computed once."""
    return Layout(exprs, box)


def _first_dim(piece: Conjunction) -> int:
    """The first dimension that a condition uses: messages list conditions in the order of dimensions."""
    return min((d for expr, _ in piece for d in used_dims(expr)), default=0)


def _with_floors(aff: isl.Aff) -> isl.Aff:
    """An expression that is an integer on its domain, with its fraction rewritten as a floor."""
    return aff if aff.get_denominator_val().is_one() else aff.floor()


def everywhere(exprs: Sequence[ir.AffineExpr], rank: int) -> isl.Map:
    """{ point -> exprs } over all integer points of `rank` dimensions."""
    local = local_space(rank, [])
    zero = isl.Aff.zero_on_domain(local)
    dims = [isl.Aff.var_on_domain(local, dim_type.set, d) for d in range(rank)]
    universe = Domain([], [], isl.Set.universe(local.get_space()), {}, zero)
    return universe.relation([to_aff(e, dims, zero) for e in exprs])


def _dims(count: int) -> list[ir.AffineExpr]:
    return [AffineExpr.get_dim(i) for i in range(count)]


def _plus_one(expr: ir.AffineExpr, count: int) -> ir.AffineExpr:
    """`expr + 1`, with `(n - 1) // 16 + 1` rewritten to `(n + 15) // 16`."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineFloorDivExpr):
        step = ir.AffineConstantExpr(expr.rhs.maybe_downcast()).value
        return AffineExpr.get_floor_div(simplified_expr(expr.lhs + step, count), expr.rhs)
    return simplified_expr(expr + 1, count)
