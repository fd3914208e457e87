"""Programs whose sizes are variables: what they are for some numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tir_mlir.accel.program import (
    Allocate,
    Clipped,
    For,
    HostCode,
    Issue,
    MachineBuffer,
    MachineProgram,
    Node,
    TileAddress,
    Value,
    When,
)
from tir_mlir.dialect.symbolic import Constant, Dim, IntExpr, as_expr, evaluate


def at_sizes(program: MachineProgram, sizes: Mapping[str, int]) -> MachineProgram:
    """A program with numbers for all its sizes: `i < m` -> `i < 33`. Buffers in the memories of the machine, which have
    numbers already, stay the same."""
    numbers = _Numbers(program, sizes)
    params = [numbers.buffer(p) for p in program.params]
    return replace(program, params=params, body=numbers.body(program.body), sizes={})


class _Numbers:
    """Puts numbers for the sizes of a program."""

    def __init__(self, program: MachineProgram, sizes: Mapping[str, int]):
        self.sizes = {program.sizes[name]: n for name, n in sizes.items()}
        self.made: dict[MachineBuffer, MachineBuffer] = {
            p: replace(p, extents=tuple(self.number(n) for n in p.extents)) for p in program.params if p.is_symbolic
        }

    def number(self, extent: int | IntExpr) -> int:
        found = self.index(as_expr(extent))
        assert isinstance(found, Constant)
        return int(found.value)

    def buffer(self, buffer: MachineBuffer) -> MachineBuffer:
        return self.made.get(buffer, buffer)

    def index(self, expr: IntExpr) -> IntExpr:
        return as_expr(evaluate(expr, lambda name: Constant(self.sizes[name]) if name in self.sizes else Dim(name)))

    def value(self, value: Value) -> Value:
        if isinstance(value, Clipped):
            return replace(value, number=self.index(value.number))
        return self.index(value) if isinstance(value, IntExpr) else value

    def body(self, body: Sequence[Node]) -> list[Node]:
        return [self.node(node) for node in body]

    def node(self, node: Node) -> Node:
        if isinstance(node, For):
            highs = tuple(map(self.index, node.highs))
            return replace(node, low=self.index(node.low), highs=highs, body=self.body(node.body))
        if isinstance(node, When):
            conditions = tuple((self.index(e), is_equality) for e, is_equality in node.conditions)
            return When(conditions, self.body(node.body))
        if isinstance(node, Issue):
            tiles = {name: self.tile(tile) for name, tile in node.tiles.items()}
            return replace(node, tiles=tiles, numbers={n: self.value(v) for n, v in node.numbers.items()})
        if isinstance(node, HostCode):
            return replace(node, variables=tuple(map(self.index, node.variables)))
        return Allocate(node.buffer)

    def tile(self, tile: TileAddress) -> TileAddress:
        return TileAddress(self.buffer(tile.buffer), self.index(tile.start), tuple(map(self.index, tile.strides)))
