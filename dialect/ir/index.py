"""Affine index expressions over SSA values, as used in bindings, bounds and accesses."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from mlir import ir

from tir_mlir.dialect.diagnostics import NotAffine, short_repr
from tir_mlir.dialect.ir.memo import ENTRIES
from tir_mlir.dialect.ir.op_views import ApplyOp, ConstantOp, FuncOp, defining_op, isa
from tir_mlir.dialect.symbolic import Dim, equal, from_affine

AffineExpr = ir.AffineExpr


@dataclass(unsafe_hash=True, slots=True)  # not frozen: that makes creation four times slower
class Index:
    """An affine expression whose dimension `i` is `values[i]`: a loop variable, an iter or a size. Immutable."""

    expr: ir.AffineExpr
    values: tuple[ir.Value, ...] = ()

    @staticmethod
    def constant(value: int) -> Index:
        return _constant(value)

    @staticmethod
    def from_value(value: ir.Value) -> Index:
        return Index(_dim(0), (value,))

    @staticmethod
    def wrap(value: Index | int | ir.Value) -> Index:
        if isinstance(value, Index):
            return value
        return Index.constant(value) if isinstance(value, int) else Index.from_value(value)

    def as_constant(self) -> int | None:
        expr = self.expr
        return expr.value if isinstance(expr, ir.AffineConstantExpr) else None

    def is_value(self) -> ir.Value | None:
        """The value if the expression is a single value, else None."""
        expr = self.expr
        return self.values[expr.position] if isinstance(expr, ir.AffineDimExpr) else None

    def _with(self, operand: Index | int, build: Build) -> Index:
        operand = Index.wrap(operand)
        values, others = self.values, operand.values
        positions = None
        if others and others != values:
            values = tuple(dict.fromkeys((*values, *others)))
            positions = tuple([values.index(v) for v in others])
        return _index_from_trimmed(values, *_combine_exprs(build, self.expr, operand.expr, positions, len(values)))

    def __add__(self, rhs: Index | int) -> Index:
        return self._with(rhs, operator.add)

    __radd__ = __add__

    def __neg__(self) -> Index:
        return self * -1

    def __sub__(self, rhs: Index | int) -> Index:
        return self._with(rhs, _difference)

    def __rsub__(self, lhs: Index | int) -> Index:
        return Index.wrap(lhs) - self

    def __mul__(self, rhs: Index | int) -> Index:
        rhs = Index.wrap(rhs)
        if (factor := rhs.as_constant()) is not None:
            return self._with(factor, operator.mul)
        if (factor := self.as_constant()) is not None:
            return rhs._with(factor, operator.mul)
        raise NotAffine("a product of two variables is not affine")

    __rmul__ = __mul__

    def _divide(self, rhs: Index | int, get, what: str) -> Index:
        divisor = Index.wrap(rhs).as_constant()
        if divisor is None:
            raise NotAffine(f"{what} by a variable is not affine")
        if divisor <= 0:
            raise NotAffine(f"{what} by {divisor}: the divisor must be positive")
        return self._with(divisor, get)

    def __floordiv__(self, rhs: Index | int) -> Index:
        return self._divide(rhs, AffineExpr.get_floor_div, "a division")

    def __mod__(self, rhs: Index | int) -> Index:
        return self._divide(rhs, AffineExpr.get_mod, "a remainder")

    def ceildiv(self, rhs: Index | int) -> Index:
        """The quotient rounded up."""
        divisor = Index.wrap(rhs).as_constant()
        if divisor is None:
            raise NotAffine("a division by a variable is not affine")
        return (self + (divisor - 1)) // divisor

    def substitute(self, mapping: Mapping[ir.Value, Index]) -> Index:
        """Replace values by expressions simultaneously."""
        if not any(v in mapping for v in self.values):
            return self
        return compose(self.expr, [mapping.get(v) or Index.from_value(v) for v in self.values])

    def simplify(self) -> Index:
        """MLIR's simplification, which uses no ranges (see `presburger.simplify_index` for those that do)."""
        shorter = simplified_expr(self.expr, len(self.values))
        return self if shorter is self.expr else trim(shorter, self.values)

    def drop_unused_values(self) -> Index:
        """The expression without unused values."""
        return trim(self.expr, self.values)

    def uses(self, value: ir.Value) -> bool:
        return value in self.values

    def is_equal_to(self, index: Index | int) -> bool:
        """Whether both are equal for all values of their variables. True is definitive; False: not provable."""
        index = Index.wrap(index)
        if self.expr == index.expr and self.values == index.values:
            return True
        if not self.values and not index.values:
            return self.as_constant() == index.as_constant()
        return _is_zero((self - index).expr, len({*self.values, *index.values}))


@lru_cache(maxsize=ENTRIES)
def _is_zero(expr: ir.AffineExpr, count: int) -> bool:
    return equal(from_affine(expr, [Dim(f"d{n}") for n in range(count)]), 0)


@lru_cache(maxsize=ENTRIES)
def _constant(value: int) -> Index:
    if not -(2**63) <= value < 2**63:
        raise NotAffine(f"{short_repr(value)} does not fit an index (64 bits)")
    return Index(AffineExpr.get_constant(value))


@lru_cache(maxsize=1 << 8)
def _dim(number: int) -> ir.AffineExpr:
    return AffineExpr.get_dim(number)


@lru_cache(maxsize=ENTRIES)
def simplified_expr(expr: ir.AffineExpr, count: int) -> ir.AffineExpr:
    """MLIR's simplification of an expression over `count` dimensions; `expr` itself if the result is longer."""
    simple = AffineExpr.simplify_affine_expr(expr, count, 0).maybe_downcast()
    return simple if cost(simple) <= cost(expr) else expr


def _compose(expr: ir.AffineExpr, dims: Sequence[ir.AffineExpr], count: int) -> ir.AffineExpr:
    if not dims:
        return expr
    return expr.compose(ir.AffineMap.get(count, 0, list(dims))).maybe_downcast()


@lru_cache(maxsize=ENTRIES)
def cost(expr: ir.AffineExpr) -> int:
    """Size of an expression; divisions and remainders count more."""
    expr = expr.maybe_downcast()
    if not isinstance(expr, ir.AffineBinaryExpr):
        return 1
    op_cost = 1 if isinstance(expr, ir.AffineAddExpr | ir.AffineMulExpr) else 3
    return op_cost + cost(expr.lhs) + cost(expr.rhs)


@lru_cache(maxsize=ENTRIES)
def used_dims(expr: ir.AffineExpr) -> frozenset[int]:
    """Positions of the dimensions that occur in an expression."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineDimExpr):
        return frozenset((expr.position,))
    if isinstance(expr, ir.AffineBinaryExpr):
        return used_dims(expr.lhs) | used_dims(expr.rhs)
    return frozenset()


Build = Callable[[ir.AffineExpr, ir.AffineExpr], ir.AffineExpr]
Trimmed = tuple[ir.AffineExpr, tuple[int, ...] | None]
"""An expression over some of the values that it was over, and their positions (None: all)."""


def _difference(left: ir.AffineExpr, right: ir.AffineExpr) -> ir.AffineExpr:
    return left + right * -1


@lru_cache(maxsize=ENTRIES)
def _combine_exprs(
    build: Build, left: ir.AffineExpr, right: ir.AffineExpr, positions: tuple[int, ...] | None, count: int
) -> Trimmed:
    """An expression made of two over `count` values. positions: of the values of the right one (None: the first)."""
    if positions is not None:
        right = _compose(right, [_dim(n) for n in positions], count)
    return _trim_expr(build(left, right), count)


def trim(expr: ir.AffineExpr, values: Sequence[ir.Value]) -> Index:
    """Drop unused values, so that equal expressions have equal operands."""
    return _index_from_trimmed(values, *_trim_expr(expr, len(values)))


def _index_from_trimmed(values: Sequence[ir.Value], expr: ir.AffineExpr, positions: tuple[int, ...] | None) -> Index:
    return Index(expr, tuple(values) if positions is None else tuple([values[i] for i in positions]))


@lru_cache(maxsize=ENTRIES)
def _trim_expr(expr: ir.AffineExpr, count: int) -> Trimmed:
    """An expression renumbered to its used dimensions, and their old positions (None: all are used)."""
    expr = expr.maybe_downcast()
    positions = tuple(sorted(used_dims(expr)))
    if len(positions) == count:
        return expr, None
    renumber: list[AffineExpr] = [AffineExpr.get_constant(0)] * count
    for new, old in enumerate(positions):
        renumber[old] = AffineExpr.get_dim(new)
    return (_compose(expr, renumber, len(positions)) if positions else expr), positions


def compose(expr: ir.AffineExpr, parts: Sequence[Index]) -> Index:
    """An expression with its dimensions replaced by expressions."""
    values = list(dict.fromkeys(v for part in parts for v in part.values))
    key = tuple([(part.expr, tuple([values.index(v) for v in part.values])) for part in parts])
    return _index_from_trimmed(values, *_compose_parts(expr, key, len(values)))


@lru_cache(maxsize=ENTRIES)
def _compose_parts(
    expr: ir.AffineExpr, parts: tuple[tuple[ir.AffineExpr, tuple[int, ...]], ...], count: int
) -> Trimmed:
    """An expression of others, each with the numbers of its values among `count`."""
    swaps = [_compose(part, [_dim(n) for n in numbers], count) for part, numbers in parts]
    return _trim_expr(_compose(expr, swaps, count), count)


def is_symbol(value: ir.Value) -> bool:
    """Whether a value is an affine symbol (a size or function argument) and not a dimension (loop variable, iter)."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return isa(owner.owner.operation, FuncOp)  # FuncOp.name would be the symbol
    parent = owner.parent
    return parent is not None and isa(parent, FuncOp) and not isa(owner, ApplyOp)


def constant_integer(value: ir.Value) -> int | None:
    """The integer that a value is as `arith.constant`; None for any other."""
    owner = value.owner
    if isinstance(owner, ir.Block) or not isa(owner, ConstantOp):
        return None
    number = owner.attributes["value"]
    return ir.IntegerAttr(number).value if isinstance(number, ir.IntegerAttr | ir.BoolAttr) else None


def same_indices(first: Sequence[Index], second: Sequence[Index]) -> bool:
    """Whether two lists of as many indices are equal for all values of their variables, see `Index.same`."""
    return all(a.is_equal_to(b) for a, b in zip(first, second, strict=True))


def emit_map(indices: Sequence[Index | int]) -> tuple[ir.AffineMap, list[ir.Value]]:
    """Expressions -> one affine map and its operands (dimensions first, then symbols)."""
    parts = [Index.wrap(i) for i in indices]
    dims: list[ir.Value] = []
    syms: list[ir.Value] = []
    for part in parts:
        for value in part.values:
            group = syms if is_symbol(value) else dims
            if value not in group:
                group.append(value)
    operands = dims + syms
    numbers = tuple([(part.expr, tuple([operands.index(v) for v in part.values])) for part in parts])
    return _map_of_exprs(numbers, len(dims), len(syms)), operands


@lru_cache(maxsize=ENTRIES)
def _map_of_exprs(parts: tuple[tuple[ir.AffineExpr, tuple[int, ...]], ...], dims: int, syms: int) -> ir.AffineMap:
    """The map of expressions, each with the numbers of its operands among all: dimensions first, then symbols."""
    numbered = [AffineExpr.get_dim(i) for i in range(dims)] + [AffineExpr.get_symbol(i) for i in range(syms)]
    exprs = [
        expr.compose(ir.AffineMap.get(dims, syms, [numbered[i] for i in numbers])) if numbers else expr
        for expr, numbers in parts
    ]
    return ir.AffineMap.get(dims, syms, exprs)


@lru_cache(maxsize=ENTRIES)
def over_dims(map_: ir.AffineMap) -> tuple[ir.AffineExpr, ...]:
    """The results of a map with its symbols numbered after its dimensions."""
    for number in range(map_.n_symbols):
        dim = AffineExpr.get_dim(map_.n_dims)
        map_ = map_.replace(AffineExpr.get_symbol(number), dim, map_.n_dims + 1, map_.n_symbols)
    return tuple([expr.maybe_downcast() for expr in map_.results])


def read_map(map_: ir.AffineMap, operands: Sequence[ir.Value]) -> list[Index]:
    """The expressions of a map over its operands; operands from `affine.apply` or constants are folded in."""
    if not operands:
        return list(_constants(map_))
    values = tuple(operands)
    folded = {v: producer for v in values if (producer := _producer_index(v)) is not None}
    results = []
    for expr, positions in _results(map_, len(values)):
        index = _index_from_trimmed(values, expr, positions)
        if len(index.values) > 1 and len(set(index.values)) != len(index.values):
            index = _merge(index)
        results.append(index.substitute(folded) if folded else index)
    return results


@lru_cache(maxsize=ENTRIES)
def _constants(map_: ir.AffineMap) -> tuple[Index, ...]:
    """The results of a map without operands."""
    return tuple([trim(expr, ()) for expr in over_dims(map_)])


@lru_cache(maxsize=ENTRIES)
def _results(map_: ir.AffineMap, count: int) -> tuple[Trimmed, ...]:
    """The results of a map over `count` operands, each over those that it uses (None: all)."""
    return tuple([_trim_expr(expr, count) for expr in over_dims(map_)])


def _merge(index: Index) -> Index:
    """Merge dimensions that are the same value."""
    unique = list(dict.fromkeys(index.values))
    swap = [AffineExpr.get_dim(unique.index(v)) for v in index.values]
    return trim(_compose(index.expr, swap, len(unique)), unique)


def read_value(value: ir.Value) -> Index:
    """The expression of a value, through `affine.apply` and constants."""
    index = _producer_index(value)
    return Index.from_value(value) if index is None else index


def _producer_index(value: ir.Value) -> Index | None:
    """The expression of an `affine.apply` or constant; None for any other value."""
    owner = value.owner
    if isinstance(owner, ir.Block):
        return None
    name = owner.name
    if name in ConstantOp.names:
        return Index.constant(ir.IntegerAttr(owner.attributes["value"]).value)
    return read_apply(value) if name in ApplyOp.names else None


def is_apply(value: ir.Value) -> bool:
    return defining_op(value, ApplyOp) is not None


def read_apply(value: ir.Value) -> Index:
    """The expression behind the result of an `affine.apply`."""
    op = value.owner
    return read_map(ir.AffineMapAttr(op.attributes["map"]).value, list(op.operands))[0]


def step(index: Index, var: ir.Value) -> int | None:
    """The increment of an expression when `var` increases by one, if constant; else None."""
    values = index.values
    return _step(index.expr, values.index(var), len(values)) if var in values else 0


@lru_cache(maxsize=ENTRIES)
def _step(expr: ir.AffineExpr, position: int, count: int) -> int | None:
    """The increment of an expression over `count` values when one of them increases by one."""
    dims = [_dim(n) for n in range(count)]
    dims[position] = dims[position] + 1
    gap = simplified_expr(_difference(_compose(expr, dims, count), expr), count)
    return gap.value if isinstance(gap, ir.AffineConstantExpr) else None


@dataclass(unsafe_hash=True, slots=True)
class Constraint:
    """`index >= 0`, or `index == 0` when `is_eq`. Immutable."""

    index: Index
    is_eq: bool = False
