"""Tensors put together, taken apart and repeated."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from tir_mlir import te
from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.topi.operands import axis_of, describe_tensor, extent, integer, one_type, refuse, tensor
from tir_mlir.topi.sizes import are_equal, exact_quotient, simple

__all__ = ["concatenate", "repeat", "split", "stack", "tile"]


def concatenate(a_tuple: Sequence[te.Tensor], axis: int = 0) -> te.Tensor:
    """Tensors one after the other along an axis.

    a_tuple: tensors of one type, (n, a) and (n, b) -> (n, a + b) for axis=1; their other sizes are equal. Errors:
    GraphError that names the tensor that does not fit.
    """
    tensors = _tensors("concat", a_tuple)
    dim = axis_of("concat", axis, tensors[0].ndim)
    for n, x in enumerate(tensors[1:], 1):
        others = [a for a in range(tensors[0].ndim) if a != dim]
        if x.ndim != tensors[0].ndim or not all(are_equal(x.shape[a], tensors[0].shape[a]) for a in others):
            problem = (
                f"{describe_tensor('operand 0', tensors[0])} and {describe_tensor(f'operand {n}', x)} along axis {dim}"
            )
            raise refuse("concat", problem, f"only axis {dim} may differ: reshape one of them")
    ends = [simple(sum_of([x.shape[dim] for x in tensors[: n + 1]])) for n in range(len(tensors))]

    def element(*i: te.Expr) -> te.Expr:
        def read(n: int) -> te.Expr:
            return tensors[n](*i[:dim], i[dim] - ends[n - 1] if n else i[dim], *i[dim + 1 :])

        value = read(len(tensors) - 1)
        for n in reversed(range(len(tensors) - 1)):
            value = te.if_then_else(i[dim] < ends[n], read(n), value)
        return value

    return te.compute((*tensors[0].shape[:dim], ends[-1], *tensors[0].shape[dim + 1 :]), element, name="T_concat")


def sum_of(sizes: Sequence[te.Size]) -> te.Size:
    """The sum of sizes."""
    result: te.Size = 0
    for size in sizes:
        result = result + size
    return result


def _tensors(name: str, operands: Sequence[te.Tensor]) -> list[te.Tensor]:
    if not isinstance(operands, (tuple, list)) or not operands:
        raise refuse(name, f"{short_repr(operands)} instead of tensors", f"pass a list of tensors: {name}([a, b])")
    tensors = [tensor(name, f"operand {n}", x) for n, x in enumerate(operands)]
    one_type(name, **{f"operand_{n}": x for n, x in enumerate(tensors)})
    return tensors


def stack(a: Sequence[te.Tensor], axis: int = 0) -> te.Tensor:
    """Tensors of one shape along a new axis.

    a: k tensors of one shape and type, (n, m) -> (k, n, m) for axis=0; axis: the position of the new axis in the
    result.
    """
    tensors = _tensors("stack", a)
    first = tensors[0]
    for n, x in enumerate(tensors[1:], 1):
        if x.ndim != first.ndim or not all(map(are_equal, x.shape, first.shape)):
            problem = f"{describe_tensor('operand 0', first)} and {describe_tensor(f'operand {n}', x)}"
            raise refuse("stack", problem, "pass tensors of one shape")
    new_axis = axis_of("stack", axis, first.ndim + 1)

    def element(*i: te.Expr) -> te.Expr:
        index = (*i[:new_axis], *i[new_axis + 1 :])
        value = tensors[-1](*index)
        for n in reversed(range(len(tensors) - 1)):
            value = te.if_then_else(i[new_axis] <= n, tensors[n](*index), value)
        return value

    return te.compute((*first.shape[:new_axis], len(tensors), *first.shape[new_axis:]), element, name="T_stack")


def split(ary: te.Tensor, indices_or_sections: te.Shape, axis: int = 0) -> list[te.Tensor]:
    """The parts of a tensor along an axis.

    ary: (n, m) -> 3 tensors (n, m / 3) for indices_or_sections=3, axis=1: equal parts, so that it divides the size;
    or a list of indices [a, b]: parts :a, a:b and b:.
    """
    x = tensor("split", "ary", ary)
    dim = axis_of("split", axis, x.ndim)
    bounds = _bounds(x, indices_or_sections, dim)
    return [_part(x, dim, first, last) for first, last in itertools.pairwise(bounds)]


def _bounds(x: te.Tensor, sections: te.Shape, dim: int) -> list[te.Size]:
    size = x.shape[dim]
    if not isinstance(sections, (tuple, list)):
        count = integer("split", "indices_or_sections", sections, 1)
        part_size = exact_quotient([size], [count])
        if part_size is None:
            problem = f"axis {dim} of {describe_tensor('ary', x)} is not {count} equal parts for all sizes"
            raise refuse("split", problem, "pass the indices where parts begin")
        return [simple(part_size * n) for n in range(count + 1)]
    inner = [extent("split", v) for v in sections]
    if isinstance(size, int):
        inner = [min(size, v + size if v < 0 else v) if isinstance(v, int) else v for v in inner]
    bounds = [0, *inner, size]
    for first, last in itertools.pairwise(bounds):
        if isinstance(gap := simple(last - first), int) and gap < 0:
            problem = f"indices {short_repr(sections)} of axis {dim} of {describe_tensor('ary', x)} go back"
            raise refuse("split", problem, "pass indices in increasing order, within the axis")
    return bounds


def _part(x: te.Tensor, dim: int, first: te.Size, last: te.Size) -> te.Tensor:
    shape = (*x.shape[:dim], simple(last - first), *x.shape[dim + 1 :])
    return te.compute(shape, lambda *i: x(*i[:dim], i[dim] + first, *i[dim + 1 :]), name="T_split")


def tile(a: te.Tensor, reps: Sequence[int]) -> te.Tensor:
    """The whole tensor repeated reps[i] times along axis i: [1, 2] -> [1, 2, 1, 2].

    a: (n, m) -> (n * reps[0], m * reps[1]); reps: a number for each axis, or one number for the last.
    """
    x = tensor("tile", "a", a)
    counts = [integer("tile", "reps", r, 1) for r in (reps if isinstance(reps, (tuple, list)) else (reps,))]
    rank = max(x.ndim, len(counts))
    counts, shape = [1] * (rank - len(counts)) + counts, (*[1] * (rank - x.ndim), *x.shape)

    def element(*i: te.Expr) -> te.Expr:
        index = [v if r == 1 else v % n for v, r, n in zip(i, counts, shape, strict=True)]
        return x(*index[rank - x.ndim :])

    sizes = tuple(n if r == 1 else simple(n * r) for n, r in zip(shape, counts, strict=True))
    return te.compute(sizes, element, name="T_tile")


def repeat(a: te.Tensor, repeats: int, axis: int | None = 0) -> te.Tensor:
    """Each element repeated along an axis: [1, 2] -> [1, 1, 2, 2].

    a: (n, m) -> (n * repeats, m) for axis=0; axis None: of all elements in row-major order, as a vector.
    """
    x, count = tensor("repeat", "a", a), integer("repeat", "repeats", repeats, 1)
    dim = axis_of("repeat", axis, x.ndim)
    shape = (*x.shape[:dim], simple(x.shape[dim] * count), *x.shape[dim + 1 :])
    return te.compute(shape, lambda *i: x(*i[:dim], i[dim] // count, *i[dim + 1 :]), name="T_repeat")
