"""Views of buffers (`memref.subview` etc.): their extents, and the buffer elements that they refer to."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from mlir import ir

from tir_mlir.dialect.diagnostics import LinalgError
from tir_mlir.dialect.ir import Buffer, Index, attrs, read_map
from tir_mlir.dialect.ir.op_views import AllocLikeOp, ViewLikeOp, isa

if TYPE_CHECKING:
    from tir_mlir.passes.linalg.extents import ExtentSolver

Indices = Sequence[Index]
_DYNAMIC = ir.ShapedType.get_dynamic_size()


def is_view(value: ir.Value) -> bool:
    return not isinstance(value.owner, ir.Block) and is_view_op(value.owner)


def is_view_op(op: Any) -> bool:
    return op.operation.name in _VIEWS


def extents(value: ir.Value, sizes: ExtentSolver) -> list[Index]:
    """The extents of an allocation or view, as far as known."""
    op = value.owner.operation
    if isa(op, AllocLikeOp):
        return _fill_dynamic_dims(Buffer(value).shape, _sizes_of(op, sizes))
    if op.name in _VIEWS:
        return _VIEWS[op.name][0](op, sizes)
    raise LinalgError(f"a buffer made by {op.name} is not supported: {_FIX}", op.location)


def element(value: ir.Value, indices: Indices, sizes: ExtentSolver) -> tuple[ir.Value, list[Index]]:
    """The parameter or allocation of a view, and the indices of the view's element in it."""
    coordinates = list(indices)
    while is_view(value):
        op = value.owner.operation
        coordinates = _VIEWS[op.name][1](op, coordinates, sizes)
        value = ViewLikeOp(op).source
    return value, [i.simplify() for i in coordinates]


def apply_map(map_: ir.AffineMap, indices: Indices) -> list[Index]:
    """The results of an indexing map at given indices."""
    values = list(dict.fromkeys(v for i in indices for v in i.values))
    swap = []
    for index in indices:
        dims = [ir.AffineExpr.get_dim(values.index(v)) for v in index.values]
        swap.append(index.expr.compose(ir.AffineMap.get(len(values), 0, dims)) if dims else index.expr)
    inner = ir.AffineMap.get(len(values), 0, swap)
    exprs = [e.compose(inner) if swap else e for e in map_.results]
    return read_map(ir.AffineMap.get(len(values), 0, exprs), values)


_FIX = "linalg programs use parameters, memref.alloc, and views of these (subview, cast, expand_shape, collapse_shape)"


def _fill_dynamic_dims(shape: Sequence[int | None], dynamic: Sequence[Index]) -> list[Index]:
    sizes = iter(dynamic)
    return [Index.constant(n) if n is not None else next(sizes) for n in shape]


def _sizes_of(op: ir.Operation, sizes: ExtentSolver) -> list[Index]:
    count = attrs.integers(op, "operandSegmentSizes")[0]
    return [sizes.term(v) for v in list(op.operands)[:count]]


# --- casts ------------------------------------------------------------------------------------------------------------


def _cast_extents(op: ir.Operation, sizes: ExtentSolver) -> list[Index]:
    """The extents of a cast, which equates those of its source with the static ones."""
    source_extents = sizes.extents_of(ViewLikeOp(op).source)
    for extent, size in zip(source_extents, Buffer(op.results[0]).shape, strict=True):
        if size is not None:
            sizes.equal(extent, Index.constant(size), op, "the source of a cast")
    return source_extents


def _cast_element(op: ir.Operation, indices: Indices, sizes: ExtentSolver) -> list[Index]:
    return list(indices)


# --- subview ----------------------------------------------------------------------------------------------------------


def _subview_params(op: ir.Operation, sizes: ExtentSolver) -> list[list[Index]]:
    """Offsets, sizes and strides of a subview, for each dimension of its source."""
    counts = attrs.integers(op, "operandSegmentSizes")
    operands = list(op.operands)[1:]
    params = []
    for key, count in zip(("static_offsets", "static_sizes", "static_strides"), counts[1:], strict=True):
        values, operands = operands[:count], operands[count:]
        static = [None if n == _DYNAMIC else n for n in attrs.integers(op, key)]
        params.append(_fill_dynamic_dims(static, [sizes.term(v) for v in values]))
    return params


def _kept_dims(op: ir.Operation) -> list[bool]:
    """Which dimensions of the source the result has; rank reduction drops dimensions of size 1."""
    shape = Buffer(op.results[0]).shape
    static = [None if n == _DYNAMIC else n for n in attrs.integers(op, "static_sizes")]
    flags, dim = [], 0
    for position, size in enumerate(static):
        tail = static[position:]
        keep = dim < len(shape) and shape[dim] == size and not (size == 1 and _is_rank_reduction(tail[1:], shape[dim:]))
        flags.append(keep)
        dim += keep
    return flags


def _is_rank_reduction(source: Sequence[int | None], shape: Sequence[int | None]) -> bool:
    """Whether `shape` is `source` without some dimensions of size 1."""
    if not source:
        return not shape
    if shape and source[0] == shape[0] and _is_rank_reduction(source[1:], shape[1:]):
        return True
    return source[0] == 1 and _is_rank_reduction(source[1:], shape)


def _subview_extents(op: ir.Operation, sizes: ExtentSolver) -> list[Index]:
    return [s for s, keep in zip(_subview_params(op, sizes)[1], _kept_dims(op), strict=True) if keep]


def _subview_element(op: ir.Operation, indices: Indices, sizes: ExtentSolver) -> list[Index]:
    coordinates = iter(indices)
    offsets, _, strides = _subview_params(op, sizes)
    return [
        o + next(coordinates) * s if keep else o for o, s, keep in zip(offsets, strides, _kept_dims(op), strict=True)
    ]


# --- other shapes -----------------------------------------------------------------------------------------------------


def _groups(op: ir.Operation) -> list[list[int]]:
    groups = ir.ArrayAttr(op.attributes["reassociation"])
    return [[ir.IntegerAttr(n).value for n in ir.ArrayAttr(g)] for g in groups]


def _inner(shape: Sequence[Index], group: Sequence[int], op: ir.Operation) -> list[int]:
    """The constant sizes of all but the first dimension of a group."""
    inner = [shape[d].as_constant() for d in group[1:]]
    if None in inner:
        raise LinalgError(f"{op.name}: only the first dimension of a group may have a symbolic size", op.location)
    return [n for n in inner if n is not None]


def _expand_extents(op: ir.Operation, sizes: ExtentSolver) -> list[Index]:
    shape = _fill_dynamic_dims(Buffer(op.results[0]).shape, [sizes.term(v) for v in list(op.operands)[1:]])
    for extent, group in zip(sizes.extents_of(ViewLikeOp(op).source), _groups(op), strict=True):
        inner = math.prod(_inner(shape, group, op))
        if group:
            sizes.equal(extent, shape[group[0]] * inner, op, "the source of expand_shape")
    return [sizes.substitute_solved(s) for s in shape]


def _expand_element(op: ir.Operation, indices: Indices, sizes: ExtentSolver) -> list[Index]:
    shape, merged = sizes.extents_of(op.results[0]), []
    for group in _groups(op):
        index = indices[group[0]]
        for d, size in zip(group[1:], _inner(shape, group, op), strict=True):
            index = index * size + indices[d]
        merged.append(index)
    return merged


def _collapse_extents(op: ir.Operation, sizes: ExtentSolver) -> list[Index]:
    shape = sizes.extents_of(ViewLikeOp(op).source)
    return [shape[g[0]] * math.prod(_inner(shape, g, op)) for g in _groups(op)]


def _collapse_element(op: ir.Operation, indices: Indices, sizes: ExtentSolver) -> list[Index]:
    shape = sizes.extents_of(ViewLikeOp(op).source)
    if not _groups(op):  # all dimensions have size 1
        return [Index.constant(0) for _ in shape]
    split = []
    for index, group in zip(indices, _groups(op), strict=True):
        parts = []
        for size in reversed(_inner(shape, group, op)):
            parts.append(index % size)
            index = index // size
        split += [index, *reversed(parts)]
    return split


def _order(op: ir.Operation) -> list[int]:
    """The dimension of the source for each dimension of a `memref.transpose`."""
    return [ir.AffineDimExpr(e).position for e in attrs.map_of(op.attributes["permutation"]).results]


def _transpose_extents(op: ir.Operation, sizes: ExtentSolver) -> list[Index]:
    shape = sizes.extents_of(ViewLikeOp(op).source)
    return [shape[d] for d in _order(op)]


def _transpose_element(op: ir.Operation, indices: Indices, sizes: ExtentSolver) -> list[Index]:
    by_source = dict(zip(_order(op), indices, strict=True))
    return [by_source[d] for d in range(len(indices))]


_VIEWS: dict[str, tuple[Callable[..., list[Index]], Callable[..., list[Index]]]] = {
    "memref.cast": (_cast_extents, _cast_element),
    "memref.subview": (_subview_extents, _subview_element),
    "memref.expand_shape": (_expand_extents, _expand_element),
    "memref.collapse_shape": (_collapse_extents, _collapse_element),
    "memref.transpose": (_transpose_extents, _transpose_element),
}
