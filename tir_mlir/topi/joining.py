"""Tensors put together, taken apart and repeated."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tir_mlir import te
from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.topi.operands import axis_of, described, extent, integer, one_type, refuse, tensor
from tir_mlir.topi.sizes import exact_quotient, same, simple

__all__ = ["concatenate", "repeat", "split", "stack", "tile"]


def concatenate(a_tuple: Any, axis: int = 0) -> te.Tensor:
    """Tensors one after the other along an axis; their other sizes are equal."""
    given = _tensors("concat", a_tuple)
    at = axis_of("concat", axis, given[0].ndim)
    for n, x in enumerate(given[1:], 1):
        others = [a for a in range(given[0].ndim) if a != at]
        if x.ndim != given[0].ndim or not all(same(x.shape[a], given[0].shape[a]) for a in others):
            told = f"{described('operand 0', given[0])} and {described(f'operand {n}', x)} along axis {at}"
            raise refuse("concat", told, f"only axis {at} may differ: reshape one of them")
    ends = [simple(sum_of([x.shape[at] for x in given[: n + 1]])) for n in range(len(given))]

    def element(*i: Any) -> Any:
        def read(n: int) -> Any:
            return given[n](*i[:at], i[at] - ends[n - 1] if n else i[at], *i[at + 1 :])

        value = read(len(given) - 1)
        for n in reversed(range(len(given) - 1)):
            value = te.if_then_else(i[at] < ends[n], read(n), value)
        return value

    return te.compute((*given[0].shape[:at], ends[-1], *given[0].shape[at + 1 :]), element, name="T_concat")


def sum_of(sizes: Sequence[Any]) -> Any:
    """The sum of sizes."""
    result: Any = 0
    for size in sizes:
        result = result + size
    return result


def _tensors(name: str, given: Any) -> list[te.Tensor]:
    if not isinstance(given, (tuple, list)) or not given:
        raise refuse(name, f"{short_repr(given)} instead of tensors", f"pass a list of tensors: {name}([a, b])")
    found = [tensor(name, f"operand {n}", x) for n, x in enumerate(given)]
    one_type(name, **{f"operand_{n}": x for n, x in enumerate(found)})
    return found


def stack(a: Any, axis: int = 0) -> te.Tensor:
    """Tensors of one shape along a new axis."""
    given = _tensors("stack", a)
    first = given[0]
    for n, x in enumerate(given[1:], 1):
        if x.ndim != first.ndim or not all(map(same, x.shape, first.shape)):
            told = f"{described('operand 0', first)} and {described(f'operand {n}', x)}"
            raise refuse("stack", told, "pass tensors of one shape")
    at = axis_of("stack", axis, first.ndim + 1)

    def element(*i: Any) -> Any:
        rest = (*i[:at], *i[at + 1 :])
        value = given[-1](*rest)
        for n in reversed(range(len(given) - 1)):
            value = te.if_then_else(i[at] <= n, given[n](*rest), value)
        return value

    return te.compute((*first.shape[:at], len(given), *first.shape[at:]), element, name="T_stack")


def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> list[te.Tensor]:
    """The parts of a tensor along an axis: that many equal ones, or those between the given indices."""
    x = tensor("split", "ary", ary)
    at = axis_of("split", axis, x.ndim)
    bounds = _bounds(x, indices_or_sections, at)
    return [_part(x, at, first, last) for first, last in zip(bounds, bounds[1:], strict=False)]


def _bounds(x: te.Tensor, sections: Any, at: int) -> list[Any]:
    size = x.shape[at]
    if not isinstance(sections, (tuple, list)):
        count = integer("split", "indices_or_sections", sections, 1)
        each = exact_quotient([size], [count])
        if each is None:
            problem = f"axis {at} of {described('ary', x)} is not {count} equal parts for all sizes"
            raise refuse("split", problem, "pass the indices where parts begin")
        return [simple(each * n) for n in range(count + 1)]
    inner = [extent("split", v) for v in sections]
    if isinstance(size, int):
        inner = [min(size, v + size if v < 0 else v) if isinstance(v, int) else v for v in inner]
    bounds = [0, *inner, size]
    for first, last in zip(bounds, bounds[1:], strict=False):
        if isinstance(gap := simple(last - first), int) and gap < 0:
            problem = f"indices {short_repr(sections)} of axis {at} of {described('ary', x)} go back"
            raise refuse("split", problem, "pass indices in increasing order, within the axis")
    return bounds


def _part(x: te.Tensor, at: int, first: Any, last: Any) -> te.Tensor:
    shape = (*x.shape[:at], simple(last - first), *x.shape[at + 1 :])
    return te.compute(shape, lambda *i: x(*i[:at], i[at] + first, *i[at + 1 :]), name="T_split")


def tile(a: Any, reps: Any) -> te.Tensor:
    """The whole tensor repeated reps[i] times along axis i: [1, 2] -> [1, 2, 1, 2]."""
    x = tensor("tile", "a", a)
    counts = [integer("tile", "reps", r, 1) for r in (reps if isinstance(reps, (tuple, list)) else (reps,))]
    rank = max(x.ndim, len(counts))
    counts, shape = [1] * (rank - len(counts)) + counts, (*[1] * (rank - x.ndim), *x.shape)

    def element(*i: Any) -> Any:
        index = [v if r == 1 else v % n for v, r, n in zip(i, counts, shape, strict=True)]
        return x(*index[rank - x.ndim :])

    sizes = tuple(n if r == 1 else simple(n * r) for n, r in zip(shape, counts, strict=True))
    return te.compute(sizes, element, name="T_tile")


def repeat(a: Any, repeats: int, axis: int | None = 0) -> te.Tensor:
    """Each element repeated along an axis: [1, 2] -> [1, 1, 2, 2]."""
    x, count = tensor("repeat", "a", a), integer("repeat", "repeats", repeats, 1)
    at = axis_of("repeat", axis, x.ndim)
    shape = (*x.shape[:at], simple(x.shape[at] * count), *x.shape[at + 1 :])
    return te.compute(shape, lambda *i: x(*i[:at], i[at] // count, *i[at + 1 :]), name="T_repeat")
