"""Compare the program of a machine, after it got registers and addresses, with the one that its schedule has."""

from __future__ import annotations

from collections.abc import Sequence

from tir_mlir.accel.configuration import is_same
from tir_mlir.accel.program import Allocate, For, HostCode, Issue, MachineBuffer, MachineProgram, Node, Value, When
from tir_mlir.dialect.symbolic import IntExpr, as_expr, equal


def program_difference(program: MachineProgram, scheduled: MachineProgram) -> str | None:
    """The first difference, but for instructions that compute nothing: they set registers, or wait."""
    comparison = _ProgramComparison()
    for mine, theirs in zip(program.params, scheduled.params, strict=True):
        comparison.buffers[mine] = theirs
    return comparison.body(program.body, scheduled.body)


class _ProgramComparison:
    def __init__(self) -> None:
        self.buffers: dict[MachineBuffer, MachineBuffer] = {}
        """Those of the schedule, by those of the program."""

    def body(self, mine: Sequence[Node], theirs: Sequence[Node]) -> str | None:
        kept, wanted = ([n for n in body if not _computes_nothing(n)] for body in (mine, theirs))
        for node, other in zip(kept, wanted, strict=False):
            if (difference := self.node(node, other)) is not None:
                return difference
        if len(kept) > len(wanted):
            return f"{_name(kept[len(wanted)])} is not in the schedule"
        return f"{_name(wanted[len(kept)])} of the schedule is missing" if len(kept) < len(wanted) else None

    def node(self, mine: Node, theirs: Node) -> str | None:
        """The first difference of two nodes."""
        if isinstance(mine, Issue) and isinstance(theirs, Issue):
            return self.issue(mine, theirs)
        if isinstance(mine, For) and isinstance(theirs, For):
            same = len(mine.highs) == len(theirs.highs) and mine.is_over_cores == theirs.is_over_cores
            ends = [(mine.low, theirs.low), *zip(mine.highs, theirs.highs, strict=False)]
            if not same or mine.var != theirs.var or not all(equal(a, b) for a, b in ends):
                return f"{_name(mine)} is {_name(theirs)} in the schedule"
            return self.body(mine.body, theirs.body)
        if isinstance(mine, When) and isinstance(theirs, When):
            tests = zip(mine.conditions, theirs.conditions, strict=False)
            same = len(mine.conditions) == len(theirs.conditions)
            if not same or not all(a[1] == b[1] and equal(a[0], b[0]) for a, b in tests):
                return f"{_name(mine)} is {_name(theirs)} in the schedule"
            return self.body(mine.body, theirs.body)
        if isinstance(mine, Allocate) and isinstance(theirs, Allocate):
            self.buffers[mine.buffer] = theirs.buffer
            return None
        if isinstance(mine, HostCode) and isinstance(theirs, HostCode):
            return self.statements(mine, theirs)
        return f"{_name(mine)} is {_name(theirs)} in the schedule"

    def statements(self, mine: HostCode, theirs: HostCode) -> str | None:
        """The difference of statements of the CPU."""
        same = len(mine.buffers) == len(theirs.buffers) and str(mine.code.module) == str(theirs.code.module)
        if not same or any(self.buffers.get(a, a) is not b for a, b in zip(mine.buffers, theirs.buffers, strict=True)):
            return f"{_name(mine)} differ from those of the schedule"
        return None

    def issue(self, mine: Issue, theirs: Issue) -> str | None:
        name = mine.instruction.name
        if mine.instruction is not theirs.instruction:
            return f"{name} is {theirs.instruction.name} in the schedule\n  {theirs.line}"
        for operand, address in mine.tiles.items():
            wanted = theirs.tiles[operand]
            buffer = self.buffers.get(address.buffer, address.buffer)
            if buffer is not wanted.buffer:
                where = f"is in {buffer.name}, in the schedule in {wanted.buffer.name}"
                return f"{name}: operand {operand} {where}\n  {theirs.line}"
            pairs = [(address.start, wanted.start), *zip(address.strides, wanted.strides, strict=True)]
            words = ("begins at", *(f"has stride {d} of" for d in range(len(address.strides))))
            for word, (got, meant) in zip(words, pairs, strict=True):
                if not equal(got, meant):
                    return f"{name}: operand {operand} {word} {got}, in the schedule {meant}\n  {theirs.line}"
        for number, value in mine.numbers.items():
            if not is_same(value, theirs.numbers[number]):
                got, meant = map(_value, (value, theirs.numbers[number]))
                return f"{name}: operand {number} is {got}, in the schedule {meant}\n  {theirs.line}"
        return None


def _computes_nothing(node: Node) -> bool:
    if isinstance(node, When):  # around a wait that not every iteration needs
        return bool(node.body) and all(map(_computes_nothing, node.body))
    return isinstance(node, Issue) and node.instruction.intrinsic is None


def _name(node: Node) -> str:
    """A node as errors name it."""
    if isinstance(node, Issue):
        return node.instruction.name
    if isinstance(node, For):
        return f"for {node.var} from {node.low} to {', '.join(map(str, node.highs))}"
    if isinstance(node, When):
        tests = (f"{e} {'==' if is_equality else '>='} 0" for e, is_equality in node.conditions)
        return f"if {' and '.join(tests)}"
    return f"buffer {node.buffer.name}" if isinstance(node, Allocate) else "statements of the CPU"


def _value(value: Value) -> str:
    return str(as_expr(value)) if isinstance(value, IntExpr) else str(value)
