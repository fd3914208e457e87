"""A structural key of all that is in a block, equal for equal blocks in equal nests: what depends on nothing else is
decided once."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from mlir import ir

from tir_mlir.dialect.analysis.regions import visible_buffers
from tir_mlir.dialect.calls import is_program_call
from tir_mlir.dialect.incremental import NestKey, nest_key_in
from tir_mlir.dialect.ir import attrs, is_block, is_view, ops, parents
from tir_mlir.dialect.ir.op_views import AffineAccessOp, ComputedAccessOp

_INDEXED = AffineAccessOp.names | ComputedAccessOp.names


def declared_body_key(op: ir.Operation) -> Hashable | None:
    """The key of a block that declares what it accesses; None where more than the block and the nest around it counts:
    other blocks around it, sizes of buffers, functions that it calls.

    A tile of an instruction has one: it is asked about again in each step on the nest around it.
    """
    if any(map(is_block, parents(op))):
        return None
    nest = nest_key_in(op.regions[0].blocks[0])
    return None if nest is None else _BodyKey(op, nest).key()


class _BodyKey:
    """The values that are known so far, by their numbers."""

    def __init__(self, block: ir.Operation, nest: NestKey):
        self.block, self.nest = block, nest
        self.numbers: dict[ir.Value, int] = {}
        self.in_reach: dict[str, ir.Value] | None = None

    def key(self) -> Hashable | None:
        inner = ops(self.block)[1:]
        parts: list[Hashable] = [self.nest.number, _facts(self.block)]
        for op in inner:
            operands = [self._operand(value) for value in op.operands]
            if None in operands or is_program_call(op) or self._is_split(op):
                return None
            parts.append((op.name, _facts(op), *operands, *self._results(op)))
        return tuple(parts)

    def _results(self, op: ir.Operation) -> list[Hashable]:
        """The types of the results, and how many ops the bodies in an op have."""
        bodies = [body for region in op.regions for body in region.blocks] if len(op.regions) else []
        self._number(op.results)
        for body in bodies:
            self._number(body.arguments)
        return [*(value.type for value in op.results), *(len(body.operations) for body in bodies)]

    def _number(self, values: Sequence[ir.Value]) -> None:
        for value in values:
            self.numbers[value] = len(self.numbers)

    def _operand(self, value: ir.Value) -> Hashable | None:
        """A value of the block by its number, one of the nest by its origin, a buffer from outside by its name."""
        if (number := self.numbers.get(value)) is not None:
            return number
        if not isinstance(value.type, ir.MemRefType):
            return ("nest", self.nest.origin(value)) if self.nest.origin(value) is not None else None
        if not ir.MemRefType(value.type).has_static_shape:
            return None
        return self._buffer_key(value)

    def _buffer_key(self, value: ir.Value) -> Hashable | None:
        """The key of a buffer of constant size; None for a view, and for one whose name another one hides."""
        if self.in_reach is None:
            self.in_reach = {b.name: b.value for b in visible_buffers(self.block)}
        name = next((name for name, known in self.in_reach.items() if known == value), None)
        is_argument = isinstance(value.owner, ir.Block)
        if name is None or (not is_argument and is_view(value.owner.operation)):
            return None
        return name, value.type, is_argument

    def _is_split(self, op: ir.Operation) -> bool:
        """Whether all accesses to a buffer may count: one by its own indices is told apart from the others by them."""
        return op.name in _INDEXED and any(
            isinstance(v.type, ir.MemRefType) and v not in self.numbers for v in op.operands
        )


def _facts(op: ir.Operation) -> Hashable:
    """The attributes of an op, without its id."""
    attributes = op.attributes
    return tuple((name, attributes[name]) for name in attributes if name != attrs.ID)
