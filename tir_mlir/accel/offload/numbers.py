"""A program of a machine with other numbers in it: programs that differ in a scale are mapped once."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tir_mlir.accel.instruction import MachineInstruction
from tir_mlir.accel.operands import Number
from tir_mlir.accel.program import For, Issue, MachineProgram, Node, Value, When


def with_numbers(
    program: MachineProgram, instruction: MachineInstruction, numbers: Mapping[str, int | float]
) -> MachineProgram:
    """A program whose instructions of one kind have other numbers, and so the registers that these need."""
    fields = {
        field: numbers[source.name]
        for field, source in instruction.needs.items()
        if isinstance(source, Number) and source.name in numbers
    }

    def replace_body(body: Sequence[Node]) -> list[Node]:
        return [_replace_node(node) for node in body]

    def _replace_node(node: Node) -> Node:
        if isinstance(node, For | When):
            return replace(node, body=replace_body(node.body))
        if not isinstance(node, Issue):
            return node
        own: dict[str, Value] = {f.name: float(fields[f]) for f in node.instruction.sets if f in fields}
        if node.instruction is instruction:
            own |= {name: float(number) for name, number in numbers.items()}
        return replace(node, numbers={**node.numbers, **own}) if own else node

    return replace(program, body=replace_body(program.body))
