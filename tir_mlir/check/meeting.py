"""Which constants of a scheduled program meet which axis of the original: tile sizes, divisors, windows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations_with_replacement
from math import prod

from mlir import ir

from tir_mlir.check.extents import Axes, Node
from tir_mlir.dialect import walk
from tir_mlir.dialect.index import Index, read_apply
from tir_mlir.dialect.views import Block, Buffer, Loop, funcs, is_block, is_loop


def constants_meeting(scheduled: ir.Module, axes: Axes) -> dict[Node, set[int]]:
    """{axis: constants > 1 and below its extent}, of the indices of buffers that the original has as well."""
    func = funcs(scheduled)[0]
    env: dict[ir.Value, Index] = {}
    everything = walk.ops(func.op)
    for op in everything:
        if is_block(op):
            env |= {it.var: it.binding.substitute(env) for it in Block(op).iters}
    sizes = set(axes.extents.values())
    derived = sizes | {prod(p) for n in (2, 3) for p in combinations_with_replacement(sorted(sizes), n)}
    found: dict[Node, set[int]] = {}
    for op in everything:
        for node, constants in _of_op(op, env):
            for part in _axes_behind(node, op, axes):
                top = axes.extents.get(part, 0)
                found.setdefault(part, set()).update(c for c in constants if 1 < c < top and c not in derived)
    return found


def _axes_behind(node: Node, op: ir.Operation, axes: Axes) -> list[Node]:
    """The axes of a dimension; of a buffer that the schedule made, those that are as long."""
    if node in axes.sizes:
        axis = axes.of(node)
        return list(axes.derived.get(axis, [axis]))
    memref = op.operands[0] if op.name == "memref.subview" else walk.accessed(op)
    shape = Buffer(Buffer(memref).root.value).shape
    size = shape[node[2]] if node[2] < len(shape) else None
    return [a for a, n in axes.extents.items() if n == size]


def _of_op(op: ir.Operation, env: dict[ir.Value, Index]) -> Iterator[tuple[Node, set[int]]]:
    if op.name in ("affine.load", "affine.store"):
        name = Buffer(walk.accessed(op)).name
        for axis, index in enumerate(walk.access_indices(op)):
            yield ("dim", name, axis), _constants(index.substitute(env))
    elif op.name == "memref.subview":
        name = Buffer(op.operands[0]).root.name
        rest = iter(list(op.operands)[1:])
        starts = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"]))
        sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
        for axis, (start, size) in enumerate(zip(starts, sizes, strict=True)):
            found = {size}
            if start == ir.ShapedType.get_dynamic_size():
                value = next(rest)
                if not isinstance(value.owner, ir.Block) and value.owner.name == "affine.apply":
                    found |= _constants(read_apply(value).substitute(env))
            yield ("dim", name, axis), found


def _constants(index: Index) -> set[int]:
    """Factors and divisors of an expression, and the extents of its loops but the outermost one."""
    found: set[int] = set()
    factors: dict[int, int] = {}
    _collect(index.expr, 1, found, factors)
    outer = max(factors, key=lambda d: factors[d], default=-1)
    for dim in factors:
        owner = index.values[dim].owner
        if dim != outer and isinstance(owner, ir.Block) and is_loop(owner.owner):
            found.add(Loop(owner.owner).const_extent or 1)
    return found


def _collect(expr: ir.AffineExpr, factor: int, found: set[int], factors: dict[int, int]) -> None:
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineDimExpr):
        factors[expr.position] = max(factor, factors.get(expr.position, 0))
    if not isinstance(expr, ir.AffineBinaryExpr):
        return
    right = expr.rhs.maybe_downcast()
    if isinstance(right, ir.AffineConstantExpr) and not isinstance(expr, ir.AffineAddExpr):
        found.add(abs(right.value))
        if isinstance(expr, ir.AffineMulExpr):
            factor *= abs(right.value)
    else:
        _collect(right, factor, found, factors)
    _collect(expr.lhs, factor, found, factors)
