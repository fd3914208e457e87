"""Collapse dimensions of a parameter that are always traversed together."""

from __future__ import annotations

from math import prod

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Func, Index, Loop, attrs, edit, emit_map, is_loop, walk
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineStoreOp, DimOp, isa
from tir_mlir.dialect.presburger import has_division
from tir_mlir.dialect.symbolic import DIVISIONS, fold_affine
from tir_mlir.passes.lower.blocks.blocks import Simplifier
from tir_mlir.passes.lower.op_attrs import is_row_major
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-collapse-dims", "Collapse adjacent dimensions of parameters that one linear expression indexes")
def run(module: ir.Module) -> None:
    """Collapse dimensions of a parameter if that simplifies its indices.

        affine.load %A[%p floordiv 56, %p mod 56]              %a = memref.collapse_shape %A [[0, 1]]
            : memref<56x56xf32>                        -->     affine.load %a[%p] : memref<3136xf32>

    Applies to two dimensions at a time, for all accesses to the parameter, if some index loses a division, or if lanes
    are in a dimension before ones of extent 1. Lanes and copies that are contiguous are then recognized as such.
    Requires blocks to be removed; skips parameters with views or pointers.
    """
    for func in programs(module):
        for argument in func.args:
            if isinstance(argument.type, ir.MemRefType):
                collapse(func, argument)


def collapse(func: Func, parameter: ir.Value) -> None:
    """The same for one parameter, or for an allocation, which gets the type of the view."""
    if (joined := joined_indices(parameter)) is not None:
        _redirect(func, parameter, *joined)


Joined = tuple[list[list[int]], dict[ir.Operation, list[Index]]]
"""Groups of dimensions, and the indices of each access in these."""


def joined_indices(buffer: ir.Value) -> Joined | None:
    """The dimensions of a buffer to collapse, and its indices then; None if that simplifies nothing."""
    users = [op for op in dict.fromkeys(use.owner.operation for use in buffer.uses) if not isa(op, DimOp)]
    shape = Buffer(buffer).shape
    if (
        not users
        or any(not isa(op, AffineElementAccessOp) for op in users)
        or not is_row_major(ir.MemRefType(buffer.type))
    ):
        return None
    indices = {op: walk.access_indices(op) for op in users}
    is_interleaved = _has_lanes_before_units(indices, shape)
    if not is_interleaved and not any(has_division(i.expr) for op_indices in indices.values() for i in op_indices):
        return None
    shorten = {op: Simplifier(op, {}) for op in users}
    groups = [[d] for d in range(len(shape))]
    for dim in range(len(shape) - 2, -1, -1):  # innermost dimensions first
        size = _size(shape, groups[dim + 1])
        joined = (
            None
            if size is None
            else {op: shorten[op](op_indices[dim] * size + op_indices[dim + 1]) for op, op_indices in indices.items()}
        )
        if joined and (
            (is_interleaved and size == 1 and len(groups) == dim + 2)
            or any(_loses_division(indices[op][dim : dim + 2], j) for op, j in joined.items())
        ):
            indices = {op: [*f[:dim], joined[op], *f[dim + 2 :]] for op, f in indices.items()}
            groups[dim : dim + 2] = [[*groups[dim], *groups[dim + 1]]]
    return (groups, indices) if len(groups) < len(shape) else None


def _has_lanes_before_units(indices: dict[ir.Operation, list[Index]], shape: list[int | None]) -> bool:
    """Whether the lanes of an access are in a dimension behind which all have one element, and so adjacent."""
    last = next((dim for dim in range(len(shape) - 1, -1, -1) if shape[dim] != 1), 0)
    return last < len(shape) - 1 and any(_is_over_lanes(op, op_indices[last]) for op, op_indices in indices.items())


def _is_over_lanes(op: ir.Operation, index: Index) -> bool:
    lanes = {loop.var for loop in map(Loop, filter(is_loop, walk.parents(op))) if loop.kind == "vectorized"}
    return any(value in lanes for value in index.values)


def _size(shape: list[int | None], group: list[int]) -> int | None:
    """The stride, in elements, of the dimension before a group."""
    size = 1
    for d in group:
        extent = shape[d]
        if extent is None:
            return None
        size *= extent
    return size


def _loses_division(parts: list[Index], joined: Index) -> bool:
    """Whether the index of two dimensions together has fewer divisions that run in each iteration of a parallel loop;
    or none at all; or fewer, where nothing else is in it."""
    if _divisions(joined, inner=True) < sum(_divisions(i, inner=True) for i in parts):
        return True
    left, before = _divisions(joined), sum(map(_divisions, parts))
    return left < before and (left == 0 or all(map(_is_of_parallel_loop, joined.values)))


def _divisions(index: Index, inner: bool = False) -> int:
    """The number of divisions and remainders in an expression. inner: without those of parallel loops alone."""

    def leaf(part: ir.AffineExpr) -> tuple[int, bool]:
        varies = isinstance(part, ir.AffineDimExpr)
        return 0, varies and not (inner and _is_of_parallel_loop(index.values[part.position]))

    def apply(symbol: str, a: tuple[int, bool], b: tuple[int, bool]) -> tuple[int, bool]:
        varies = a[1] or b[1]
        return a[0] + b[0] + (symbol in DIVISIONS and varies), varies

    return fold_affine(index.expr, leaf, apply)[0]


def _is_of_parallel_loop(value: ir.Value) -> bool:
    owner = value.owner
    return isinstance(owner, ir.Block) and is_loop(owner.owner.operation) and Loop(owner.owner).kind == "parallel"


def _redirect(
    func: Func, parameter: ir.Value, groups: list[list[int]], indices: dict[ir.Operation, list[Index]]
) -> None:
    """Redirect all accesses to a view of the parameter with fewer dimensions, then the only one."""
    old = ir.MemRefType(parameter.type)
    shape = [_extent(old, group) for group in groups]
    type_ = ir.MemRefType.get(shape, old.element_type, memory_space=old.memory_space)
    view = _collapse_buffer(func, parameter, groups, type_)
    for op, op_indices in indices.items():
        map_, operands = emit_map(op_indices)
        value = list(op.operands)[:1] if isa(op, AffineStoreOp) else []
        edit.rebuild(op, [*value, view, *operands], {"map": ir.AffineMapAttr.get(map_)})
    if Buffer(parameter).is_alloc:
        edit.drop(parameter.owner.operation)


def _collapse_buffer(func: Func, parameter: ir.Value, groups: list[list[int]], type_: ir.MemRefType) -> ir.Value:
    """The buffer with fewer dimensions: a view of a parameter, a new allocation."""
    if Buffer(parameter).is_alloc:
        alloc = parameter.owner.operation
        with ir.InsertionPoint(alloc), alloc.location:
            facts = {name: alloc.attributes[name] for name in alloc.attributes}
            return ir.Operation.create("memref.alloc", [type_], [], facts).results[0]
    i64 = ir.IntegerType.get_signless(64)
    reassociation = ir.ArrayAttr.get([ir.ArrayAttr.get([ir.IntegerAttr.get(i64, d) for d in g]) for g in groups])
    name = attrs.to_attr(Buffer(parameter).name)
    attributes = {"reassociation": reassociation, attrs.NAME: name, attrs.SOLE: ir.UnitAttr.get()}
    with ir.InsertionPoint.at_block_begin(func.body), func.op.location:
        return ir.Operation.create("memref.collapse_shape", [type_], [parameter], attributes).results[0]


def _extent(type_: ir.MemRefType, group: list[int]) -> int:
    if any(type_.is_dynamic_dim(d) for d in group):
        return ir.ShapedType.get_dynamic_size()
    return prod(type_.shape[d] for d in group)
