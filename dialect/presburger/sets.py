"""Affine expressions and iteration domains as isl sets, the basis of all proofs.

The process uses one isl context (islpy's default); isl parameters are the function's shape variables, by name.
Proofs may use the assumptions of a function on its sizes, `T.assume(n % 16 == 0)`: every call checks them.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import product

import islpy as isl
from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.incremental import Origin, nest_key_in, nest_key_of
from tir_mlir.dialect.ir import (
    Block,
    BoundedDict,
    Constraint,
    Index,
    Loop,
    active_cache,
    attrs,
    cache_while_frozen,
    constraints,
    edit,
    emit_map,
    func_of,
    is_block,
    is_loop,
    is_symbol,
    parents,
    parse_set,
    read_map,
    symbol_name,
    symbols_by_name,
)
from tir_mlir.dialect.ir.op_views import AffineIfOp, FuncOp, isa
from tir_mlir.dialect.ir.size_products import factor_names, factors_of, shape_variables, value_of
from tir_mlir.dialect.presburger.questions import counter
from tir_mlir.dialect.presburger.questions import question as question

AffineExpr = ir.AffineExpr
dim_type = isl.dim_type


class LazyPoints:
    """A set that follows from another one by a step, which runs when somebody asks: what digits decide needs no set."""

    __slots__ = ("_before", "_step", "_value")

    def __init__(self, before: isl.Set | LazyPoints, step: Callable[[isl.Set], isl.Set]):
        self._value: isl.Set | None = None
        self._before, self._step = before, step

    @property
    def is_evaluated(self) -> bool:
        return self._value is not None

    def get(self) -> isl.Set:
        if self._value is None:
            before = self._before
            self._value = self._step(before.get() if isinstance(before, LazyPoints) else before)
            del self._before, self._step
        return self._value


@dataclass(eq=False)
class Domain:
    """An iteration domain: a set over `dims`, and the value of every loop variable and iter as an expression of them.

    The first `free` dimensions are values defined outside, unbounded; the first `outer` dimensions are these and the
    iters of the top block. `exact` is false if a condition that isl cannot express was dropped (the set is then an
    over-approximation).
    """

    dims: list[ir.Value]
    params: list[str]
    points: isl.Set | LazyPoints
    env: dict[ir.Value, isl.Aff]
    zero: isl.Aff
    free: int = 0
    outer: int = 0
    exact: bool = True

    @property
    def set(self) -> isl.Set:
        """The points. Steps to them hold isl objects only, so they may run when the module has changed; no question
        counts them."""
        if isinstance(self.points, LazyPoints):
            with nullcontext() if self.points.is_evaluated else counter(0):
                return self.points.get()
        return self.points

    @set.setter
    def set(self, points: isl.Set) -> None:
        self.points = points

    def copy(self) -> Domain:
        return self.with_dims(self.dims, self.env)

    def with_dims(self, dims: list[ir.Value], env: dict[ir.Value, isl.Aff]) -> Domain:
        """This set with its dimensions renamed to other values."""
        return Domain(dims, self.params, self.points, env, self.zero, self.free, self.outer, self.exact)

    def then(self, step: Callable[[isl.Set], isl.Set]) -> None:
        """Replace the set by what a step makes of it, once somebody asks."""
        self.points = LazyPoints(self.points, step)

    def aff(self, index: Index) -> isl.Aff:
        """An index expression as an isl expression over the dimensions."""
        return to_aff(index.expr, [self.env[v] for v in index.values], self.zero)

    def map(self, indices: Sequence[Index]) -> isl.Map:
        """{ iteration -> indices }, restricted to the iterations."""
        affs = [self.aff(i) for i in indices]
        return self.relation(affs)

    def relation(self, affs: Sequence[isl.Aff]) -> isl.Map:
        result: isl.Map | None = None
        for aff in affs:
            column = isl.Map.from_aff(aff)
            result = column if result is None else result.flat_range_product(column)
        if result is None:
            target = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, len(self.params), 0)
            target = _name_params(target, self.params)
            result = isl.Map.from_domain_and_range(self.set, isl.Set.universe(target))
        return result.intersect_domain(self.set)

    def index_of(self, value: ir.Value) -> int:
        return self.dims.index(value)


def _name_params(space: isl.Space, names: Sequence[str]) -> isl.Space:
    for i, name in enumerate(names):
        space = space.set_dim_name(dim_type.param, i, name)
    return space


def local_space(count: int, params: Sequence[str]) -> isl.LocalSpace:
    """A local space with `count` dimensions and the parameters."""
    space = isl.Space.set_alloc(isl.DEFAULT_CONTEXT, len(params), count)
    return isl.LocalSpace.from_space(_name_params(space, params))


def nonneg(aff: isl.Aff) -> isl.Set:
    """{ aff >= 0 }."""
    return aff.to_pw_aff().nonneg_set()  # few calls: islpy never frees a few bytes of each argument that isl takes


def zeros(aff: isl.Aff) -> isl.Set:
    """{ aff == 0 }."""
    return aff.zero_basic_set().to_set()


def to_aff(expr: ir.AffineExpr, dims: Sequence[isl.Aff], zero: isl.Aff) -> isl.Aff:
    """An MLIR expression as an isl expression, its dimensions replaced by `dims`."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineDimExpr):
        return dims[expr.position]
    if isinstance(expr, ir.AffineConstantExpr):
        return zero.add_constant_val(isl.Val(expr.value))
    assert isinstance(expr, ir.AffineBinaryExpr)  # symbols are dimensions here
    lhs = to_aff(expr.lhs, dims, zero)
    if isinstance(expr, ir.AffineAddExpr):
        return lhs.add(to_aff(expr.rhs, dims, zero))
    value = isl.Val(ir.AffineConstantExpr(expr.rhs).value)
    if isinstance(expr, ir.AffineMulExpr):
        return lhs.scale_val(value)
    if isinstance(expr, ir.AffineModExpr):
        return lhs.mod_val(value)
    if isinstance(expr, ir.AffineFloorDivExpr):
        return lhs.scale_down_val(value).floor()
    return lhs.scale_down_val(value).ceil()


def domain(
    op: ir.Operation, top: ir.Operation | None = None, extra: Sequence[Index] = (), guards: bool = True
) -> Domain:
    """The iteration domain of `op` over the loops inside `top` (default: the function), outer to inner.

    `top` may be a block: its iters are then free dimensions with their domains, so nothing outside is used. Used values
    defined outside become unbounded free dimensions; `extra`: more expressions whose values need dimensions. Without
    `guards`, conditions around the op are ignored.
    """
    key = ("domain", op.block, top, tuple(dict.fromkeys(v for i in extra for v in i.values)), guards)
    cache = active_cache()
    if cache is not None and key in cache:
        return cache[key].copy()
    result = _like(op, top, key[3], guards) or _domain(op, top, extra, guards)
    if cache is not None:
        cache[key] = result.copy()
    return result


_domains: BoundedDict[Hashable, tuple[Domain, list[Origin], dict[Origin, isl.Aff]]] = BoundedDict(1 << 9)


def _like(op: ir.Operation, top: ir.Operation | None, extra: Sequence[ir.Value], guards: bool) -> Domain | None:
    """The cached domain of a structurally equal nest, over the values of this one; None without a structural key."""
    nest = nest_key_of(op)
    inner = None if top is None else nest_key_in(top.regions[0].blocks[0]) if is_block(top) or is_loop(top) else None
    if nest is None or (inner is None and top is not None and not isa(top, FuncOp)):
        return None
    origins = [nest.origin(v) for v in extra]
    if None in origins:
        return None
    key = (nest.number, inner and inner.number, *origins, guards)
    if key not in _domains:
        result = _domain(op, top, [Index.from_value(v) for v in extra], guards)
        if any(v not in nest.origins for v in (*result.dims, *result.env)):
            return result
        _domains[key] = (
            result.with_dims([], {}),
            [nest.origins[v] for v in result.dims],
            {nest.origins[v]: aff for v, aff in result.env.items()},
        )
        return result
    bare, dims, env = _domains[key]
    values = {origin: value for value, origin in nest.origins.items()}
    return bare.with_dims([values[p] for p in dims], {values[p]: aff for p, aff in env.items()})


def _domain(op: ir.Operation, top: ir.Operation | None, extra: Sequence[Index], guards: bool) -> Domain:
    chain = enclosing(op.block, top)
    iters: list[ir.Value] = []
    if top is not None and is_block(top):
        iters = [i.var for i in Block(top).iters]
    defined = set(iters)
    loops: list[ir.Value] = []
    needed: list[Index] = list(extra)
    for parent in chain:
        if is_loop(parent):
            loop = Loop(parent)
            needed += loop.lowers + loop.uppers
            loops.append(loop.var)
            defined.add(loop.var)
        elif is_block(parent):
            needed += Block(parent).bindings
            defined.update(parent.regions[0].blocks[0].arguments)
        elif isa(parent, AffineIfOp) and guards:
            needed += [c.index for c in constraints(parent)]
    free = list(dict.fromkeys(v for i in needed for v in i.values if v not in defined and not is_symbol(v)))
    result = start(op, [*free, *iters, *loops])
    result.free, result.outer = len(free), len(free) + len(iters)
    if top is not None and is_block(top):
        for it in Block(top).iters:
            _add_bounds(result, it.var, [it.min], [it.min + it.extent])
    for number, parent in enumerate(chain):
        if guards or not isa(parent, AffineIfOp):
            _enter(result, parent, chain[number + 1] if number + 1 < len(chain) else op)
    return result


def enclosing(body: ir.Block, top: ir.Operation | None) -> list[ir.Operation]:
    """The ops around the ops of a body, inside `top`, outer to inner."""
    ops_around: list[ir.Operation] = []
    owner = body.owner.operation
    for parent in [owner, *parents(owner)]:
        if top is not None and parent == top.operation:
            break
        ops_around.append(parent)
    return ops_around[::-1]


def start(op: ir.Operation, dims: list[ir.Value], assuming: bool = True) -> Domain:
    """The universe over some dimensions, with sizes >= 0 and the function's assumptions."""
    symbols = symbols_by_name(op)
    params = sorted(symbols)
    local = local_space(len(dims), params)
    env = {v: isl.Aff.var_on_domain(local, dim_type.set, i) for i, v in enumerate(dims)}
    env |= {symbols[n]: isl.Aff.var_on_domain(local, dim_type.param, i) for i, n in enumerate(params)}
    points = isl.Set.universe(local.get_space())
    for name in params:
        points = points.intersect(nonneg(env[symbols[name]]))
    for name in params:
        if len(names := factor_names(name)) > 1:
            plain = all(f in symbols for f in names)
            factors = [env[symbols[f]] for f in names] if plain else _quotients(symbols[name], env)
            points = points.intersect(_product_facts(env[symbols[name]], factors))
    result = Domain(dims, params, points, env, isl.Aff.zero_on_domain(local))
    for promise in assumptions(op) if assuming else ():
        result.set = result.set.intersect(constraint_set(result, promise))
    return result


def _quotients(product_: ir.Value, env: Mapping[ir.Value, isl.Aff]) -> list[isl.Aff]:
    """The factors of a product of sizes, of which some are quotients."""
    zero = isl.Aff.zero_on_domain(env[product_].get_domain_local_space())
    return [to_aff(factor.expr, [env[v] for v in factor.values], zero) for factor in factors_of(product_)]


def _product_facts(product_: isl.Aff, factors: Sequence[isl.Aff]) -> isl.Set:
    """What is linear in a product of sizes >= 0: it is 0 where a factor is, and else at least their sum - count + 1."""
    total = factors[0]
    for factor in factors[1:]:
        total = total.add(factor)
    facts = nonneg(product_.sub(total).add_constant_val(isl.Val(len(factors) - 1)))
    for factor in factors:
        facts = facts.intersect(nonneg(factor.add_constant_val(isl.Val(-1))))
    for factor in factors:
        facts = facts.union(zeros(factor).intersect(zeros(product_)))
    return facts


def sizes(op: ir.Operation, assuming: bool = True) -> Domain:
    """The sizes that the function of an op may be called with: >= 0, satisfying its assumptions."""
    return start(op, [], assuming)


def constraint_set(domain_: Domain, c: Constraint) -> isl.Set:
    """The points, over the dimensions of the domain, that satisfy a constraint."""
    aff = domain_.aff(c.index)
    return zeros(aff) if c.is_eq else nonneg(aff)


def _add_bounds(domain_: Domain, value: ir.Value, lows: Sequence[Index], highs: Sequence[Index]) -> None:
    """Add the bounds of a dimension: at least all of `lows`, less than all of `highs`."""
    position, var = domain_.index_of(value), domain_.env[value]
    for low in lows:
        if (number := low.as_constant()) is not None:
            domain_.then(lambda points, n=number: points.lower_bound_val(dim_type.set, position, isl.Val(n)))
        else:
            _keep_nonneg(domain_, var.sub(domain_.aff(low)))
    for high in highs:
        if (number := high.as_constant()) is not None:
            domain_.then(lambda points, n=number: points.upper_bound_val(dim_type.set, position, isl.Val(n - 1)))
        else:
            _keep_nonneg(domain_, domain_.aff(high).sub(var).add_constant_val(isl.Val(-1)))


def _keep_nonneg(domain_: Domain, aff: isl.Aff) -> None:
    domain_.then(lambda points: points.intersect(nonneg(aff)))


def _enter(domain_: Domain, parent: ir.Operation, child: ir.Operation) -> None:
    """Add the bounds, bindings or conditions of one enclosing op."""
    if is_loop(parent):
        loop = Loop(parent)
        _add_bounds(domain_, loop.var, loop.lowers, loop.uppers)
    elif is_block(parent):
        block = Block(parent)
        arguments = list(block.body.arguments)
        for argument, binding in zip(arguments, block.bindings or [Index.constant(0)], strict=True):
            domain_.env[argument] = domain_.aff(binding)
    elif isa(parent, AffineIfOp):
        conditions = [(domain_.aff(c.index), c.is_eq) for c in constraints(parent)]
        in_else = len(parent.regions[1].blocks) and child.block == parent.regions[1].blocks[0]
        if in_else:
            domain_.then(lambda points: points.subtract(_holding(points, conditions)))
        else:
            domain_.then(lambda points: points.intersect(_holding(points, conditions)))
    elif not isa(parent, FuncOp):
        domain_.exact = False


def guard_set(domain_: Domain, if_op: ir.Operation) -> isl.Set:
    """The points that satisfy the condition of an `affine.if`."""
    return _holding(domain_.set, [(domain_.aff(c.index), c.is_eq) for c in constraints(if_op)])


def _holding(points: isl.Set, conditions: Sequence[tuple[isl.Aff, bool]]) -> isl.Set:
    """All points of a space where expressions are not negative, or zero."""
    holds = isl.Set.universe(points.get_space())
    for aff, is_eq in conditions:
        holds = holds.intersect(zeros(aff) if is_eq else nonneg(aff))
    return holds


def region_map(dom: Domain, mins: Sequence[Index], extents: Sequence[Index]) -> isl.Map:
    """{ iteration -> element } of the boxes [mins, mins + extents)."""
    if all(e.as_constant() == 1 for e in extents):
        return dom.map(mins)
    count, rank = dom.set.dim(dim_type.set), len(mins)
    wide = local_space(count + rank, dom.params)
    points = isl.Set.universe(wide.get_space())
    for d, (low, extent) in enumerate(zip(mins, extents, strict=True)):
        element = isl.Aff.var_on_domain(wide, dim_type.set, count + d)
        first = dom.aff(low).insert_dims(dim_type.in_, count, rank)
        size = dom.aff(extent).insert_dims(dim_type.in_, count, rank)
        points = points.intersect(nonneg(element.sub(first)))
        points = points.intersect(nonneg(first.add(size).sub(element).add_constant_val(isl.Val(-1))))
    return _as_map(points, count).intersect_domain(dom.set)


def _as_map(points: isl.Set, count: int) -> isl.Map:
    """{ [a, b] } as { a -> b }; a has `count` dimensions."""
    return isl.Map.from_range(points).move_dims(dim_type.in_, 0, dim_type.out, 0, count)


# --- queries ---------------------------------------------------------------------------------------------------------


def smallest_point(points: isl.Set) -> list[int] | None:
    """The lexicographically smallest point, parameters minimized first; None if empty.

    Errors: NotProvable if the set has points, but none found with a product of sizes equal to their product.
    """
    if points.is_empty():
        return None
    count = points.dim(dim_type.param)
    names = [points.get_dim_name(dim_type.param, i) or "" for i in range(count)]
    products = [name for name in names if len(factor_names(name)) > 1]
    if not products:
        return _smallest(points, count)
    for values in _small_sizes(sorted({v for name in products for v in shape_variables(name)})):
        fixed = points
        for name in {*values, *products} & {*names}:
            fixed = fixed.fix_val(dim_type.param, names.index(name), isl.Val(value_of(name, values) or 0))
        if (point := _smallest(fixed, count)) is not None:
            return point
    raise NotProvable(f"no example at small sizes, and nothing is known of {products[0]} in general")


_TRIED = (0, 1, 2, 3, 4, 5, 7, 16, 17)


def _small_sizes(names: Sequence[str]) -> Iterator[dict[str, int]]:
    """Values for sizes, small ones first."""
    for most in _TRIED:
        for values in product([n for n in _TRIED if n <= most], repeat=len(names)):
            if max(values) == most:
                yield dict(zip(names, values, strict=True))


def _smallest(points: isl.Set, count: int) -> list[int] | None:
    if points.is_empty():
        return None
    flat = points.move_dims(dim_type.set, 0, dim_type.param, 0, count) if count else points
    try:
        point = flat.lexmin().sample_point()
    except isl.Error:
        point = flat.sample_point()
    if point.is_void():
        return None
    return [point.get_coordinate_val(dim_type.set, i).to_python() for i in range(flat.dim(dim_type.set))]


def flatten(relation: isl.Map) -> isl.Set:
    """{ a -> b } as the set of [a, b]."""
    return relation.wrap().flatten()


def constant_extent(points: isl.Set, dim: int) -> tuple[int, int] | None:
    """[low, high] of one dimension if both are constant; else None."""
    low, high = points.dim_min_val(dim), points.dim_max_val(dim)
    if not (low.is_int() and high.is_int()):
        return None
    return low.to_python(), high.to_python()


def holds(domain_: Domain, index: Index, is_eq: bool = False) -> bool:
    """Whether `index >= 0` (or `== 0`) in every iteration of the domain."""
    return domain_.set.is_subset(constraint_set(domain_, Constraint(index, is_eq)))


@cache_while_frozen
def assumptions(op: ir.Operation) -> list[Constraint]:
    """The assumptions of the function around an op, as constraints on its shape variables."""
    func = func_of(op).op
    if attrs.ASSUME not in func.attributes:
        return []
    symbols = symbols_by_name(func)
    map_, kinds = parse_set(str(func.attributes[attrs.ASSUME]))
    indices = read_map(map_, [symbols[name] for name in attrs.get(func, attrs.SYMS, [])])
    return [Constraint(i, k) for i, k in zip(indices, kinds, strict=True)]


def assume(func: ir.Operation, constraints: Sequence[Constraint]) -> None:
    """Add assumptions to a function. Requires constraints on its shape variables only."""
    every = [*assumptions(func), *constraints]
    map_, values = emit_map([c.index for c in every])
    set_ = ir.IntegerSet.get(map_.n_dims, map_.n_symbols, list(map_.results), [c.is_eq for c in every])
    edit.set_attribute(func, attrs.ASSUME, ir.IntegerSetAttr.get(set_))
    attrs.put(func, attrs.SYMS, [symbol_name(v) for v in values])


def speaks_of_sizes(constraint: Constraint) -> bool:
    """Whether a constraint uses shape variables only."""
    return all(is_symbol(v) for v in constraint.index.values)
