"""Rows that are immediates of instructions: loops over them are unrolled, so that a program names each by a number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from tir_mlir.accel.program import (
    Clipped,
    For,
    HostCode,
    Issue,
    MachineProgram,
    Node,
    TileAddress,
    Value,
    When,
    walk,
)
from tir_mlir.dialect.diagnostics import MachineError
from tir_mlir.dialect.symbolic import Constant, IntExpr, Variable, as_expr, fold, names_in, operation

MOST = 64
"""Copies of an instruction that unrolled loops make at most."""

_Numbers = Mapping[str, int]
"""The values of the variables of unrolled loops."""


def unroll_immediate_rows(program: MachineProgram) -> MachineProgram:
    """The program in which each tile of a memory with immediate rows begins at a number, other loops as they are:

        for i in range(2): zero(C[i])    ->    zero(C[0]); zero(C[1])

    Loops of one iteration are unrolled with them. Errors: MachineError for a loop that has no number of iterations, or
    more than fit the code.
    """
    if not any(memory.immediate for memory in program.machine.spaces.values()):
        return program
    needed = {name for node in program.nodes() if isinstance(node, Issue) for name in _row_names(node)}
    return replace(program, body=_Unrolling(needed).body(program.body, {}, 1))


def _row_names(issue: Issue) -> set[str]:
    """The variables on which the immediate rows of an instruction depend."""
    starts = [t.start for t in issue.tiles.values() if t.buffer.memory is not None and t.buffer.memory.immediate]
    return {name for start in starts for name in names_in(start)}


class _Unrolling:
    def __init__(self, needed: set[str]):
        self.needed = needed

    def body(self, body: Sequence[Node], numbers: _Numbers, copies: int) -> list[Node]:
        """A body for these values of the variables; `copies`: how many there are of it."""
        made: list[Node] = []
        for node in body:
            if isinstance(node, For):
                made += self._loop(node, numbers, copies)
            elif isinstance(node, When):
                made += self._condition(node, numbers, copies)
            elif isinstance(node, Issue):
                tiles = {name: _tile(tile, numbers) for name, tile in node.tiles.items()}
                made.append(Issue(node.instruction, tiles, _values(node.numbers, numbers), node.line))
            elif isinstance(node, HostCode):
                made.append(replace(node, variables=tuple(_with(v, numbers) for v in node.variables)))
            else:
                made.append(node)
        return made

    def _loop(self, loop: For, numbers: _Numbers, copies: int) -> list[Node]:
        low, highs = _with(loop.low, numbers), tuple(_with(end, numbers) for end in loop.highs)
        ends = [int(end.value) for end in highs if isinstance(end, Constant)]
        count = min(ends) - int(low.value) if isinstance(low, Constant) and ends else None
        if loop.is_over_cores or (loop.var not in self.needed and (count != 1 or len(ends) < len(highs))):
            return [replace(loop, low=low, highs=highs, body=self.body(loop.body, numbers, copies))]
        if count is None or count * copies > MOST:
            raise MachineError(_refusal(loop, count, copies))
        made: list[Node] = []
        for value in range(count):
            number = int(low.value) + value if isinstance(low, Constant) else value
            tests = tuple((end - (number + 1), False) for end in highs if not isinstance(end, Constant))
            inner = self.body(loop.body, {**numbers, loop.var: number}, copies * count)
            made += [When(tests, inner)] if tests else inner
        return made

    def _condition(self, node: When, numbers: _Numbers, copies: int) -> list[Node]:
        """A condition; its body alone where it always holds, and nothing where it never does."""
        tests = [(_with(test, numbers), is_equality) for test, is_equality in node.conditions]
        known = [test.value == 0 if is_eq else test.value >= 0 for test, is_eq in tests if isinstance(test, Constant)]
        if not all(known):
            return []
        left = tuple(test for test in tests if not isinstance(test[0], Constant))
        inner = self.body(node.body, numbers, copies)
        return [When(left, inner)] if left else inner


def _tile(tile: TileAddress, numbers: _Numbers) -> TileAddress:
    return replace(tile, start=_with(tile.start, numbers), strides=tuple(_with(s, numbers) for s in tile.strides))


def _values(values: Mapping[str, Value], numbers: _Numbers) -> dict[str, Value]:
    return {name: _value(value, numbers) for name, value in values.items()}


def _value(value: Value, numbers: _Numbers) -> Value:
    if isinstance(value, Clipped):
        inner = _with(as_expr(value.number), numbers)
        if not isinstance(inner, Constant):
            return replace(value, number=inner)
        clipped = int(inner.value) if value.high is None else min(int(inner.value), value.high)
        return Constant(clipped if value.low is None else max(clipped, value.low))
    return _with(value, numbers) if isinstance(value, IntExpr) else value


def _with(expr: IntExpr, numbers: _Numbers) -> IntExpr:
    """An index with numbers for some of its variables."""
    if not names_in(expr) & numbers.keys():
        return expr

    def leaf(inner: IntExpr) -> IntExpr:
        return Constant(numbers[inner.name]) if isinstance(inner, Variable) and inner.name in numbers else inner

    return fold(expr, leaf, operation)


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
