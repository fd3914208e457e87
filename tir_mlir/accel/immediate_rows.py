"""Rows that are immediates of instructions: loops over them are unrolled, so that a program names each by a number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tir_mlir.accel.program import For, Issue, MachineProgram, Node, When, walk
from tir_mlir.accel.substitution import Substitution
from tir_mlir.dialect.diagnostics import MachineError
from tir_mlir.dialect.symbolic import Constant, names_in

MOST = 64
"""Copies of an instruction that unrolled loops make at most."""


def unroll_immediate_rows(program: MachineProgram) -> MachineProgram:
    """The program in which each tile of a memory with immediate rows begins at a number, other loops as they are:

        for i in range(2): zero(C[i])    ->    zero(C[0]); zero(C[1])

    Loops of one iteration are unrolled with them. Errors: MachineError for a loop that has no number of iterations, or
    more than fit the code.
    """
    if not any(memory.immediate for memory in program.machine.spaces.values()):
        return program
    needed = {name for node in program.nodes() if isinstance(node, Issue) for name in _row_names(node)}
    return replace(program, body=_Unrolling(needed).body(program.body, Substitution(), 1))


def _row_names(issue: Issue) -> set[str]:
    """The variables on which the immediate rows of an instruction depend."""
    starts = [t.start for t in issue.tiles.values() if t.buffer.memory is not None and t.buffer.memory.immediate]
    return {name for start in starts for name in names_in(start)}


class _Unrolling:
    def __init__(self, needed: set[str]):
        self.needed = needed

    def body(self, body: Sequence[Node], numbers: Substitution, copies: int) -> list[Node]:
        """A body for these values of the variables; `copies`: how many there are of it."""
        nodes: list[Node] = []
        for node in body:
            if isinstance(node, For):
                nodes += self._loop(numbers.header(node), numbers, copies)
            elif isinstance(node, When):
                nodes += self._condition(node, numbers, copies)
            else:
                nodes.append(numbers.node(node))
        return nodes

    def _loop(self, loop: For, numbers: Substitution, copies: int) -> list[Node]:
        low, highs = loop.low, loop.highs
        ends = [int(end.value) for end in highs if isinstance(end, Constant)]
        count = min(ends) - int(low.value) if isinstance(low, Constant) and ends else None
        if loop.is_over_cores or (loop.var not in self.needed and (count != 1 or len(ends) < len(highs))):
            return [replace(loop, body=self.body(loop.body, numbers, copies))]
        if count is None or count * copies > MOST:
            raise MachineError(_refusal(loop, count, copies))
        nodes: list[Node] = []
        for value in range(count):
            number = int(low.value) + value if isinstance(low, Constant) else value
            tests = tuple((end - (number + 1), False) for end in highs if not isinstance(end, Constant))
            known = Substitution({**numbers.values, loop.var: Constant(number)})
            inner = self.body(loop.body, known, copies * count)
            nodes += [When(tests, inner)] if tests else inner
        return nodes

    def _condition(self, node: When, numbers: Substitution, copies: int) -> list[Node]:
        """A condition; its body alone where it always holds, and nothing where it never does."""
        tests = numbers.conditions(node.conditions)
        known = [test.value == 0 if is_eq else test.value >= 0 for test, is_eq in tests if isinstance(test, Constant)]
        if not all(known):
            return []
        left = tuple(test for test in tests if not isinstance(test[0], Constant))
        inner = self.body(node.body, numbers, copies)
        return [When(left, inner)] if left else inner


def _refusal(loop: For, count: int | None, copies: int) -> str:
    issue = next(n for n in walk(loop.body) if isinstance(n, Issue) and loop.var in _row_names(n))
    operand, memory = next(
        (name, t.buffer.memory)
        for name, t in issue.tiles.items()
        if t.buffer.memory is not None and t.buffer.memory.immediate and loop.var in names_in(t.start)
    )
    rows = f"{issue.instruction}: operand {operand} is in {memory.name}, whose rows are immediates"
    if count is None:
        why = f"loop {loop.var}, by which they are numbered, ends at {', '.join(map(str, loop.highs))}"
        fix = "a loop over tiles with a number of iterations"
    else:
        why = f"loop {loop.var}, by which they are numbered, would make {count * copies} copies of it, more than {MOST}"
        fix = f"split {loop.var} so that an inner loop numbers the tiles; no double_buffer of what is in {memory.name}"
    return f"{rows}: {why}; fix: {fix}\n  {issue.line}"
