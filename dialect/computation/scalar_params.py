"""Scalar parameters of a described instruction: sizes and indices in its conditions and extents, and numbers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from mlir import ir

from tir_mlir.dialect.computation.form import Axis, Form, IndexCondition, Operand, SizeParam
from tir_mlir.dialect.computation.scalar_tree import ALL, CHOICE, STORE, Guard, OpNode, Tree, conditions_in, leaves
from tir_mlir.dialect.ir import Func, Index, step
from tir_mlir.dialect.presburger import sets


@dataclass(frozen=True)
class ExtentLimit:
    """So much of a dimension is accessed: `factor * size + rest`, and nothing where the size is 0."""

    size: str
    factor: int
    rest: int


def size_params(func: Func) -> list[SizeParam]:
    """The index parameters of a function, with the bounds that `T.assume` gives."""
    limits = sets.assumptions(func.op)
    params = []
    for number, value in enumerate(func.args):
        if not isinstance(value.type, ir.IndexType):
            continue
        bounds: dict[int, int] = {}
        for limit in limits:
            factor, rest = step(limit.index, value), limit.index.substitute({value: Index.constant(0)}).as_constant()
            if factor in (1, -1) and rest is not None and limit.index.values == (value,):
                bounds |= {f: -rest * f for f in ((1, -1) if limit.is_eq else (factor,))}
        params.append(SizeParam(number, func.arg_name(number), value, bounds.get(1), bounds.get(-1)))
    return params


def is_size(form: Form, param: SizeParam) -> bool:
    """Whether a parameter limits loops or conditions."""
    limits = [a.extent for a in form.axes] + [c.base for c in form.conditions]
    return any(limit.uses(param.value) for limit in limits)


def saturates(form: Form, param: SizeParam) -> tuple[bool, bool]:
    """Whether a function computes the same for all sizes below the least one that it assumes, and for all beyond the
    greatest one: where the size limits an iterator, none is below the first, all are below the last."""
    low, high = param.low is not None, param.high is not None
    low &= not any(a.extent.uses(param.value) for a in form.axes)
    high &= not any(a.extent.uses(param.value) for a in form.axes)
    for condition in [c for c in form.conditions if c.base.uses(param.value)]:
        rest = condition.base.substitute({param.value: Index.constant(0)}).as_constant()
        axis = condition.row.index(-1) if sorted(condition.row) == [-1] + [0] * (len(condition.row) - 1) else None
        extent = form.axes[axis].extent.as_constant() if axis is not None else None
        if rest is None or condition.is_eq or axis is None:
            return False, False
        low &= param.low is not None and param.low + rest < 0
        high &= param.high is not None and extent is not None and param.high + rest >= extent - 1
    return low, high


def extent_limits(form: Form) -> dict[str, dict[int, ExtentLimit]]:
    """The dimensions of operands that are accessed up to a size only, and how far: of all operands where it limits
    what is stored, of those that are read where it limits a choice. Windows of 2 at `2 * i + d` end at 2 * size."""
    found: dict[str, dict[int, list[ExtentLimit | None]]] = {}
    for number, operand in enumerate(form.operands):
        limited = _limited_axes_of(form, number)
        dimensions = found.setdefault(operand.buffer.name, {})
        for d in range(len(operand.rows)):
            dimensions.setdefault(d, []).append(_extent_limit(form, operand, d, limited))
    ends = {name: {d: _farthest(limits) for d, limits in by_dimension.items()} for name, by_dimension in found.items()}
    known = {name: {d: e for d, e in by_dimension.items() if e is not None} for name, by_dimension in ends.items()}
    return {name: by_dimension for name, by_dimension in known.items() if by_dimension}


def _limited_axes_of(form: Form, number: int) -> dict[int, str]:
    """The iterators that a size limits where an operand is accessed, and that size."""
    stores = limits_stores(form)
    limited: dict[int, str] = {}
    for condition_number, condition in enumerate(form.conditions):
        if (pair := _limited_axis(form, condition)) is not None:
            if stores or number in _guarded_leaves(form.payload, condition_number):
                limited.update([pair])
    pairs = [(n, p) for n in range(len(form.axes)) for p in form.sizes if _is_equal(form.axes[n].extent, p)]
    return limited | {n: p.name for n, p in pairs}


def _extent_limit(form: Form, operand: Operand, dimension: int, limited: Mapping[int, str]) -> ExtentLimit | None:
    """How far an operand is accessed in a dimension, if one size says it."""
    row, start = operand.rows[dimension], operand.base[dimension].as_constant()
    used = [n for n, factor in enumerate(row) if factor]
    sized = [n for n in used if n in limited]
    if len(sized) != 1 or start is None or min(row) < 0:
        return None
    rest = start + 1 - row[sized[0]]
    for n in used:
        extent = form.axes[n].extent.as_constant()
        if n != sized[0]:
            if extent is None:
                return None
            rest += row[n] * (extent - 1)
    return ExtentLimit(limited[sized[0]], row[sized[0]], rest)


def _farthest(limits: Sequence[ExtentLimit | None]) -> ExtentLimit | None:
    """The limit of several accesses of one dimension; None if one has none, or another size."""
    known = [limit for limit in limits if limit is not None]
    if len(known) < len(limits) or len({(limit.size, limit.factor) for limit in known}) > 1:
        return None
    return max(known, key=lambda limit: limit.rest)


def limited_iterators(form: Form) -> dict[int, str]:
    """The iterators that a condition limits by a size, and that size."""
    return dict(pair for c in form.conditions if (pair := _limited_axis(form, c)) is not None)


def _limited_axis(form: Form, condition: IndexCondition) -> tuple[int, str] | None:
    """The iterator that a condition limits by a size, and that size."""
    size = next((p.name for p in form.sizes if _is_equal(condition.base + 1, p)), None)
    if size is None or condition.is_eq or sorted(condition.row) != [-1] + [0] * (len(condition.row) - 1):
        return None
    return condition.row.index(-1), size


def limits_stores(form: Form) -> bool:
    """Whether conditions decide what a form stores; else they decide on values."""
    return isinstance(form.payload, OpNode) and form.payload.op == STORE


def _is_equal(index: Index, param: SizeParam) -> bool:
    return (index - Index.from_value(param.value)).as_constant() == 0


def _guarded_leaves(tree: Tree, condition: int) -> set[int]:
    """The operands that are read only where a condition holds."""
    if not isinstance(tree, OpNode):
        return set()
    if tree.op == CHOICE and condition in conditions_in(tree.children[0]):
        return {*leaves(tree.children[1])} - {*leaves(tree.children[2])}
    return set().union(*(_guarded_leaves(c, condition) for c in tree.children))


def specializations(form: Form) -> Iterator[tuple[Form, dict[int, int]]]:
    """The form with each bounded size free, at its greatest value, and at 1; and the sizes that are not free."""
    choices = [(None, *dict.fromkeys((p.high, 1))) if p.high is not None else (None,) for p in form.sizes]
    for numbers in product(*choices):
        fixed = {p: n for p, n in zip(form.sizes, numbers, strict=True) if n is not None}
        if fixed:
            yield _specialize(form, {p.value: n for p, n in fixed.items()}), {p.number: n for p, n in fixed.items()}
        else:
            yield form, {}


def _specialize(form: Form, numbers: Mapping[ir.Value, int]) -> Form:
    """The form at values of sizes, without the conditions that then always hold."""
    values = {v: Index.constant(n) for v, n in numbers.items()}
    axes = tuple(replace(a, extent=a.extent.substitute(values).simplify()) for a in form.axes)
    conditions = [replace(c, base=c.base.substitute(values).simplify()) for c in form.conditions]
    if limits_stores(form):
        axes = _limited_axes(axes, conditions)
    sizes = [a.extent.as_constant() for a in axes]
    kept = [n for n, c in enumerate(conditions) if not _always_holds(c, sizes)]
    payload = _without_guards(form.payload, {old: new for new, old in enumerate(kept)})
    return replace(form, axes=axes, conditions=tuple(conditions[n] for n in kept), payload=payload)


def _limited_axes(axes: tuple[Axis, ...], conditions: Sequence[IndexCondition]) -> tuple[Axis, ...]:
    """The iterators, up to the numbers by which conditions limit what is stored."""
    limited = list(axes)
    for condition in conditions:
        end = condition.base.as_constant()
        if end is not None and not condition.is_eq and sorted(condition.row) == [-1] + [0] * (len(axes) - 1):
            number = condition.row.index(-1)
            size = limited[number].extent.as_constant()
            if size is not None and 0 <= end < size - 1:
                limited[number] = replace(limited[number], extent=Index.constant(end + 1))
    return tuple(limited)


def _always_holds(condition: IndexCondition, sizes: list[int | None]) -> bool:
    least = condition.base.as_constant()
    for factor, size in zip(condition.row, sizes, strict=True):
        if least is None or condition.is_eq or (factor < 0 and size is None):
            return False
        least += min(0, factor * ((size or 1) - 1))
    return least is not None and least >= 0


def _without_guards(tree: Tree, numbers: Mapping[int, int]) -> Tree:
    """A tree with the conditions in `numbers`, renumbered; the others hold."""
    if isinstance(tree, Guard):
        return Guard(numbers[tree.condition])
    if not isinstance(tree, OpNode):
        return tree
    if tree.op == ALL:
        return replace(tree, children=tuple(Guard(numbers[n]) for n in conditions_in(tree) if n in numbers))
    children = tuple(_without_guards(c, numbers) for c in tree.children)
    if tree.op in (CHOICE, STORE) and not conditions_in(children[0]):
        return children[1]
    return replace(tree, children=children)
