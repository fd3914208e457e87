"""Axes of a program with constant sizes: which extents of loops, blocks and buffers must change together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import VerifyError
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Func,
    Index,
    Loop,
    attrs,
    create,
    edit,
    funcs,
    is_block,
    is_init,
    is_loop,
    walk,
)
from tir_mlir.dialect.ir.op_traits import AFFINE_ELEMENT_ACCESSES, AFFINE_LOOPS, accessed, is_scalar
from tir_mlir.dialect.presburger import dim_factors
from tir_mlir.dialect.verify import verify

Node = tuple[Any, ...]
"""("dim", buffer name, axis), ("iter", block id, number), ("loop", loop id)."""

_PLAIN = AFFINE_ELEMENT_ACCESSES | AFFINE_LOOPS | {
    "memref.alloc", "affine.if", "affine.yield", "affine.apply", "func.func", "func.return",
}  # fmt: skip


@dataclass
class Axes:
    """Union-find of extents. `derived`: extents that are products of others, {axis: {axis: factor}}."""

    _above: dict[Node, Node] = field(default_factory=dict)
    sizes: dict[Node, int] = field(default_factory=dict)
    fixed: set[Node] = field(default_factory=set)
    sums: list[tuple[Node, dict[Node, int]]] = field(default_factory=list)
    extents: dict[Node, int] = field(default_factory=dict)
    derived: dict[Node, dict[Node, int]] = field(default_factory=dict)
    names: dict[Node, str] = field(default_factory=dict)

    def of(self, node: Node) -> Node:
        while self._above.get(node, node) != node:
            node = self._above[node]
        return node

    def add(self, node: Node, size: int | None) -> None:
        if size is None:
            self.fixed.add(node)
        self.sizes[node] = size or 0

    def join(self, a: Node, b: Node) -> None:
        if self.sizes.get(a) != self.sizes.get(b):
            self.fixed |= {a, b}
            return
        a, b = self.of(a), self.of(b)
        if a != b:
            self._above[b] = a

    def settle(self) -> None:
        """Compute the independent axes (`extents`) and the dependent ones (`derived`)."""
        fixed = {self.of(n) for n in self.fixed}
        dependent: dict[Node, dict[Node, int]] = {}
        for node, parts in self.sums:
            target = self.of(node)
            total: dict[Node, int] = {}
            for part, factor in parts.items():
                total[self.of(part)] = total.get(self.of(part), 0) + factor
            if dependent.setdefault(target, total) != total or target in total:
                fixed |= {target, *total, *dependent[target]}
        for _ in dependent:
            for target, total in dependent.items():
                if target in fixed or any(p in dependent for p in total):
                    fixed |= {target, *total}
        for node, size in self.sizes.items():
            axis = self.of(node)
            if axis not in fixed and axis not in dependent:
                self.extents[axis] = size
        self.derived = {t: total for t, total in dependent.items() if t not in fixed}

    def size_at(self, node: Node, new_sizes: Mapping[Node, int]) -> int:
        """The new size of a node."""
        axis = self.of(node)
        if axis in self.derived:
            moved = sum(f * (new_sizes.get(p, self.sizes[p]) - self.sizes[p]) for p, f in self.derived[axis].items())
            return self.sizes[node] + moved
        return new_sizes.get(axis, self.sizes[node])


def axes_of(func: Func) -> Axes | None:
    """The axes of a function; None if it has views, calls, shape variables or loops that do not start at 0."""
    axes = Axes()
    variables: dict[ir.Value, Node] = {}
    everything = walk.ops(func.op)
    for op in everything:
        if op.name not in _PLAIN and not is_scalar(op.name):
            return None
    for buffer in [*func.params, *(Buffer(op.results[0]) for op in everything if op.name == "memref.alloc")]:
        for axis, size in enumerate(buffer.shape):
            if size is None:
                return None
            axes.add(("dim", buffer.name, axis), size)
    for op in everything:
        if is_loop(op):
            _loop(op, axes, variables)
        elif is_block(op):
            _block(Block(op), axes, variables)
    for op in everything:
        _uses(op, axes, variables)
    axes.settle()
    for value, node in variables.items():
        axes.names.setdefault(axes.of(node), walk.enclosing_loop_name(value) or str(node[-1]))
    for axis in axes.extents:
        axes.names.setdefault(axis, " ".join(map(str, axis[1:])))
    return axes


def _loop(op: ir.Operation, axes: Axes, variables: dict[ir.Value, Node]) -> None:
    loop = Loop(op)
    node = ("loop", loop.id)
    variables[loop.var] = node
    axes.add(node, loop.const_extent if loop.lower.as_constant() == 0 else None)


def _block(block: Block, axes: Axes, variables: dict[ir.Value, Node]) -> None:
    for number, it in enumerate(block.iters):
        node = ("iter", block.id, number)
        variables[it.var] = node
        axes.add(node, it.extent.as_constant() if it.min.as_constant() == 0 else None)
        value = it.binding.is_value()
        if value in variables:
            axes.join(variables[value], node)
        else:
            axes.fixed |= {node, *(variables[v] for v in it.binding.values if v in variables)}


def _uses(op: ir.Operation, axes: Axes, variables: Mapping[ir.Value, Node]) -> None:
    """Constrain axes by the uses of loop variables and iters."""
    if op.name in AFFINE_ELEMENT_ACCESSES:
        name = Buffer(accessed(op)).name
        for axis, index in enumerate(walk.access_indices(op)):
            _index(index, ("dim", name, axis), axes, variables)
        return
    if is_loop(op) or is_block(op) or is_init(op):
        return
    axes.fixed |= {variables[v] for v in op.operands if v in variables}  # used in a condition or as a value


def _index(index: Index, dim: Node, axes: Axes, variables: Mapping[ir.Value, Node]) -> None:
    value = index.is_value()
    if value in variables:
        axes.join(variables[value], dim)
        return
    linear = dim_factors(index.expr)
    nodes = [variables.get(v) for v in index.values]
    if linear is None or None in nodes or any(f < 0 for f in linear[0].values()):
        axes.fixed |= {dim, *(n for n in nodes if n is not None)}
    elif linear[0]:
        axes.sums.append((dim, {nodes[d]: f for d, f in linear[0].items()}))  # type: ignore[misc]
    else:
        axes.fixed.add(dim)


def resized(module: ir.Module, axes: Axes, new_sizes: Mapping[Node, int]) -> ir.Module | None:
    """A copy of a module with other sizes; None if it does not verify."""
    copy = create.clone_module(module)
    func = funcs(copy)[0]
    buffers = [*func.params, *(Buffer(op.results[0]) for op in walk.ops(func.op) if op.name == "memref.alloc")]
    for buffer in buffers:
        shape = [axes.size_at(("dim", buffer.name, a), new_sizes) for a in range(buffer.rank)]
        if any(n < 1 for n in shape):
            return None
        old = buffer.type
        buffer.value.set_type(ir.MemRefType.get(shape, old.element_type, old.layout, old.memory_space))
    signature = ir.FunctionType.get([a.type for a in func.args], [])
    func.op.attributes["function_type"] = ir.TypeAttr.get(signature)
    for op in walk.ops(func.op):
        if is_block(op) and Block(op).iters:
            block = Block(op)
            sizes = [axes.size_at(("iter", block.id, n), new_sizes) for n in range(len(block.iters))]
            exprs = [ir.AffineConstantExpr.get(n) for n in sizes]
            op.attributes[attrs.EXTENT] = ir.AffineMapAttr.get(ir.AffineMap.get(0, 0, exprs))
    for op in reversed([o for o in walk.ops(func.op) if is_loop(o)]):
        if Loop(op).const_extent is not None:
            size = axes.size_at(("loop", Loop(op).id), new_sizes)
            edit.set_bounds(op, Loop(op).lowers, [Loop(op).lower + size])
    try:
        verify(copy)
    except VerifyError:
        return None
    return copy
