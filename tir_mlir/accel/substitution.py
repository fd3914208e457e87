"""Values for variables, and places in other buffers for buffers, in the statements of a program."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from tir_mlir.accel.program import (
    Allocate,
    Clipped,
    Conditions,
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
from tir_mlir.dialect.symbolic import Constant, IntExpr, Variable, as_expr, fold, names_in, operation


@dataclass(frozen=True)
class Substitution:
    """What stands for variables and buffers: m = 33, P = W from row c * 16 on.

    for i in range(m): load(P[i])    ->    for i in range(33): load(W[c * 16 + i])
    """

    values: Mapping[str, IntExpr] = field(default_factory=dict)
    """Of the variables, by name."""
    places: Mapping[MachineBuffer, tuple[MachineBuffer, IntExpr]] = field(default_factory=dict)
    """Of the buffers: another one, and where in it each begins, as `TileAddress.start`."""

    def index(self, expr: IntExpr) -> IntExpr:
        if not names_in(expr) & self.values.keys():
            return expr

        def leaf(inner: IntExpr) -> IntExpr:
            return self.values.get(inner.name, inner) if isinstance(inner, Variable) else inner

        return fold(expr, leaf, operation)

    def indices(self, exprs: Sequence[IntExpr]) -> tuple[IntExpr, ...]:
        return tuple(map(self.index, exprs))

    def value(self, value: Value) -> Value:
        """An operand that is a number; what is clipped is a constant where its number is one."""
        if not isinstance(value, Clipped):
            return self.index(value) if isinstance(value, IntExpr) else value
        number = self.index(value.number)
        if not isinstance(number, Constant):
            return replace(value, number=number)
        clipped = int(number.value) if value.high is None else min(int(number.value), value.high)
        return Constant(clipped if value.low is None else max(clipped, value.low))

    def tile(self, tile: TileAddress) -> TileAddress:
        buffer, first = self.places.get(tile.buffer, (tile.buffer, Constant(0)))
        start = self.index(tile.start)
        return TileAddress(buffer, start if first == Constant(0) else start + first, self.indices(tile.strides))

    def conditions(self, conditions: Conditions) -> Conditions:
        return tuple((self.index(number), is_equality) for number, is_equality in conditions)

    def header(self, loop: For) -> For:
        """A loop with other bounds, and its body as it was."""
        return replace(loop, low=self.index(loop.low), highs=self.indices(loop.highs))

    def node(self, node: Node) -> Node:
        if isinstance(node, For):
            return replace(self.header(node), body=self.body(node.body))
        if isinstance(node, When):
            return When(self.conditions(node.conditions), self.body(node.body))
        if isinstance(node, Issue):
            tiles = {name: self.tile(tile) for name, tile in node.tiles.items()}
            numbers = {name: self.value(value) for name, value in node.numbers.items()}
            flags = [replace(flag, conditions=self.conditions(flag.conditions)) for flag in node.flags]
            return replace(node, tiles=tiles, numbers=numbers, flags=flags)
        if isinstance(node, HostCode):
            return replace(node, variables=self.indices(node.variables))
        return node

    def body(self, body: Sequence[Node]) -> list[Node]:
        """Statements without the beginning of the life of buffers that are in others."""
        return [self.node(n) for n in body if not (isinstance(n, Allocate) and n.buffer in self.places)]


def at_sizes(program: MachineProgram, sizes: Mapping[str, int]) -> MachineProgram:
    """A program with numbers for all its sizes: `i < m` -> `i < 33`. Buffers in the memories of the machine, which have
    numbers already, stay the same."""
    values = {program.sizes[name]: Constant(number) for name, number in sizes.items()}
    sized = {p: _sized_buffer(p, Substitution(values)) for p in program.params if p.is_symbolic}
    numbers = Substitution(values, {p: (buffer, Constant(0)) for p, buffer in sized.items()})
    params = [sized.get(p, p) for p in program.params]
    return replace(program, params=params, body=numbers.body(program.body), sizes={})


def _sized_buffer(buffer: MachineBuffer, numbers: Substitution) -> MachineBuffer:
    return replace(buffer, extents=tuple(_number(numbers.index(as_expr(n))) for n in buffer.extents))


def _number(extent: IntExpr) -> int:
    assert isinstance(extent, Constant)
    return int(extent.value)
