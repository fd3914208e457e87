"""The same elements in another shape or order; elements by strides: diagonals, windows along an axis, any strides."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir import te
from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.topi.operands import (
    Axes,
    Ints,
    axes_of,
    axis_of,
    describe_tensor,
    extent,
    integer,
    integers,
    refuse,
    shape_of,
    tensor,
)
from tir_mlir.topi.sizes import (
    are_equal,
    exact_quotient,
    floor_quotient,
    is_one,
    number,
    shape_text,
    simple,
    total,
    unravel_index,
)

__all__ = ["as_strided", "diagonal", "expand_dims", "reshape", "sliding_windows", "squeeze", "transpose"]


def reshape(a: te.Tensor, newshape: Sequence[te.Expr | int]) -> te.Tensor:
    """The elements in row-major order in another shape: (2, 6) -> (3, 4).

    newshape: sizes; -1, at most once, is what is left; 0 is the size of the input at that axis.
    """
    x = tensor("reshape", "a", a)
    shape = _target_shape(x, newshape)
    return te.compute(shape, lambda *i: x(*_unravel_index(x.shape, shape, i)), name="T_reshape")


def _target_shape(x: te.Tensor, newshape: Sequence[te.Expr | int]) -> tuple[te.Size, ...]:
    new_shape = [extent("reshape", s) for s in (newshape if isinstance(newshape, (tuple, list)) else (newshape,))]
    reshape_text = f"{describe_tensor('a', x)} to {shape_text(new_shape)}"
    for dim, size in enumerate(new_shape):
        if isinstance(size, int) and size == 0 and total(x.shape) != 0:
            if dim >= x.ndim:
                raise refuse("reshape", f"{reshape_text}: 0 at axis {dim}, which the input has not", "write the size")
            new_shape[dim] = x.shape[dim]
    free = [dim for dim, size in enumerate(new_shape) if isinstance(size, int) and size < 0]
    if len(free) > 1 or any(new_shape[dim] != -1 for dim in free):
        raise refuse("reshape", f"{reshape_text}: a size is -1 at most once", "write the other sizes")
    if free:
        inferred = exact_quotient(x.shape, [s for dim, s in enumerate(new_shape) if dim != free[0]])
        if inferred is None:
            raise refuse(
                "reshape", f"{reshape_text}: the size for -1 is not an integer for all sizes", "write the size"
            )
        new_shape[free[0]] = inferred
    if not are_equal(total(x.shape), total(new_shape)):
        problem = f"{reshape_text}: {total(x.shape)} elements are not {total(new_shape)}"
        raise refuse("reshape", problem, "use a shape of as many elements, or -1 for one size")
    return tuple(new_shape)


def _unravel_index(
    source: Sequence[te.Size], shape: Sequence[te.Size], index: Sequence[te.Expr]
) -> tuple[te.Expr | int, ...]:
    """The index in `source` of the element at an index of `shape`, of as many elements: axes are matched in the
    smallest groups of equal products, so that an axis that remains is indexed by its own index. Of no elements: any."""
    if any(isinstance(size, int) and size == 0 for size in source):
        return (0,) * len(source)
    result: list[te.Size] = []
    for source_axes, target_axes in _groups(source, shape):
        flat: te.Size = 0
        for axis in target_axes:
            if not is_one(shape[axis]):
                flat = index[axis] if isinstance(flat, int) else flat * shape[axis] + index[axis]
        inner = [axis for axis in source_axes if not is_one(source[axis])]
        values: dict[int, te.Size] = {}
        for n, axis in enumerate(inner):
            below = total([source[b] for b in inner[n + 1 :]])
            value = flat if is_one(below) else flat // below
            values[axis] = value if n == 0 else value % source[axis]
        result += [values.get(axis, 0) for axis in source_axes]
    return tuple(result)


def _groups(source: Sequence[te.Size], shape: Sequence[te.Size]) -> list[tuple[list[int], list[int]]]:
    """Runs of axes of both with equal products, as short as is known."""
    groups: list[tuple[list[int], list[int]]] = []
    source_axes: list[int] = []
    target_axes: list[int] = []
    unmatched = list(range(len(shape)))
    for axis in range(len(source)):
        source_axes.append(axis)
        for count in range(len(unmatched) + 1):
            if are_equal(
                total([source[x] for x in source_axes]), total([shape[x] for x in [*target_axes, *unmatched[:count]]])
            ):
                groups.append((source_axes, [*target_axes, *unmatched[:count]]))
                source_axes, target_axes, unmatched = [], [], unmatched[count:]
                break
    tail = [*target_axes, *unmatched]
    if source_axes or tail:
        groups.append((source_axes, tail))
    return groups


def transpose(a: te.Tensor, axes: Sequence[int] | None = None) -> te.Tensor:
    """The axes in another order: axis i of the result is axis axes[i] of the input.

    a: (n, m, k) -> (k, m, n), or (m, n, k) for axes=(1, 0, 2); axes: default reversed. Type and elements remain.
    """
    x = tensor("transpose", "a", a)
    order = tuple(range(x.ndim))[::-1] if axes is None else axes_of("transpose", axes, x.ndim, "axes")
    if len(order) != x.ndim:
        raise refuse("transpose", f"axes={short_repr(axes)} of {describe_tensor('a', x)}", f"name all {x.ndim} axes")
    shape = tuple(x.shape[o] for o in order)
    return te.compute(shape, lambda *i: x(*(i[order.index(d)] for d in range(x.ndim))), name="T_transpose")


def flatten(data: te.Tensor) -> te.Tensor:
    """All axes but the first as one: (n, c, h, w) -> (n, c * h * w)."""
    x = tensor("nn.flatten", "data", data)
    return reshape(x, (x.shape[0] if x.ndim else 1, -1)) if x.ndim != 1 else reshape(x, (x.shape[0], 1))


def expand_dims(a: te.Tensor, axis: Ints, num_newaxis: int = 1) -> te.Tensor:
    """New axes of size 1.

    a: (n, m) -> (n, 1, m) for axis=1; axis: a position or several, in the result; num_newaxis: that many axes at
    one position.
    """
    x = tensor("expand_dims", "a", a)
    positions = list(axis) if isinstance(axis, (tuple, list)) else [axis]
    rank = x.ndim + len(positions)
    new = set(axes_of("expand_dims", positions, rank))
    if num_newaxis > 1:
        rank, first = x.ndim + num_newaxis, min(new)
        new = set(range(first, first + num_newaxis))
    old_sizes = iter(x.shape)
    shape = tuple(1 if d in new else next(old_sizes) for d in range(rank))
    return te.compute(shape, lambda *i: x(*(v for d, v in enumerate(i) if d not in new)), name="T_expand_dims")


def squeeze(a: te.Tensor, axis: Axes = None) -> te.Tensor:
    """The tensor without axes of size 1.

    a: (n, 1, m, 1) -> (n, m); axis: those to remove, default all of size 1. Errors: GraphError for an axis of
    another size.
    """
    x = tensor("squeeze", "a", a)
    gone = {d for d, n in enumerate(x.shape) if is_one(n)} if axis is None else set(axes_of("squeeze", axis, x.ndim))
    wrong = [d for d in sorted(gone) if not is_one(x.shape[d])]
    if wrong:
        problem = f"axis {wrong[0]} of {describe_tensor('a', x)} has size {x.shape[wrong[0]]}"
        raise refuse("squeeze", problem, "name axes of size 1")

    def element(*i: te.Expr) -> te.Expr:
        indices = iter(i)
        return x(*(0 if d in gone else next(indices) for d in range(x.ndim)))

    return te.compute(tuple(n for d, n in enumerate(x.shape) if d not in gone), element, name="T_squeeze")


def diagonal(data: te.Tensor, offset: int = 0, axis1: int = 0, axis2: int = 1) -> te.Tensor:
    """The elements whose indices along two axes differ by `offset`, as the last axis of the result."""
    op = "diagonal"
    x = tensor(op, "data", data)
    a, b = axis_of(op, axis1, x.ndim, "axis1"), axis_of(op, axis2, x.ndim, "axis2")
    rows, columns = number(x.shape[a]), number(x.shape[b])
    if a == b or rows is None or columns is None:
        raise refuse(op, f"axes {a} and {b} of {describe_tensor('data', x)}", "name two axes whose sizes are numbers")
    down, right = max(-integer(op, "offset", offset), 0), max(offset, 0)
    count = max(min(rows - down, columns - right), 0)
    rest = [d for d in range(x.ndim) if d not in (a, b)]

    def element(*i: te.Expr) -> te.Expr:
        at = dict(zip(rest, i[:-1], strict=True)) | {a: i[-1] + down, b: i[-1] + right}
        return x(*(at[d] for d in range(x.ndim)))

    return te.compute((*(x.shape[d] for d in rest), count), element, name="T_diagonal")


def sliding_windows(data: te.Tensor, size: int, step: int = 1, axis: int = -1) -> te.Tensor:
    """Windows of `size` elements along an axis, one every `step`, as a new last axis: (n,) -> (windows, size)."""
    op = "sliding_windows"
    x = tensor(op, "data", data)
    d = axis_of(op, axis, x.ndim)
    width, apart = integer(op, "size", size, 0), integer(op, "step", step, 1)
    length = number(x.shape[d])
    if length is not None and length < width:
        raise refuse(op, f"windows of {width} along axis {d} of {describe_tensor('data', x)}", "use shorter windows")
    shape = (*x.shape[:d], floor_quotient(x.shape[d] - width + apart, apart), *x.shape[d + 1 :], width)
    return te.compute(shape, lambda *i: x(*i[:d], i[d] * apart + i[-1], *i[d + 1 : -1]), name="T_windows")


def as_strided(data: te.Tensor, shape: te.Shape, strides: Ints, offset: int = 0) -> te.Tensor:
    """result[i, j] = the element number offset + i * strides[0] + j * strides[1] of the data in row-major order."""
    op = "as_strided"
    x = tensor(op, "data", data)
    sizes = shape_of(op, shape)
    steps = integers(op, "strides", strides, len(sizes), 0) if sizes else ()
    start, count = integer(op, "offset", offset, 0), number(total(x.shape))
    last = start + sum((number(n) or 1) * s - s for n, s in zip(sizes, steps, strict=True))
    if count is None or (last >= count and all(number(n) != 0 for n in sizes)):
        raise refuse(op, f"element {last} of {describe_tensor('data', x)}", "remain within the elements of the data")

    def element(*i: te.Expr) -> te.Expr:
        flat: te.Size = start
        for v, s in zip(i, steps, strict=True):
            flat = v * s + flat
        return x(*unravel_index(flat, x.shape))

    return te.compute(tuple(simple(n) for n in sizes), element, name="T_as_strided")
