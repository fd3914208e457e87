"""Elementwise blocks put into the block that reads them."""

from __future__ import annotations

from collections import Counter

from tir_mlir.passes.lower.direct.affine import Affine
from tir_mlir.passes.lower.direct.program import (
    Choice,
    Expression,
    Load,
    Memory,
    Nest,
    Operation,
    Program,
    loads_of,
)


def inlined(program: Program) -> Program:
    """The program without its own buffers of elementwise blocks that one other elementwise block reads.

    for i: T[i] = A[i] + B[i];  for i: Y[i] = max(T[i], 0)   ->   for i: Y[i] = max(A[i] + B[i], 0)
    """
    readers = Counter(memory for nest in program.nests for memory in set(loads_of(nest.value)))
    into_sums = {memory for nest in program.nests if nest.sums for memory in loads_of(nest.value)}
    own_memory, nest_of = set(program.own), dict[Memory, Nest]()
    result = Program(program.params, [])
    for nest in program.nests:
        new = Nest(nest.memory, nest.extents, nest.sums, _with(nest.value, nest_of, {}), nest.start)
        if new.memory in own_memory and not new.sums and readers[new.memory] == 1 and new.memory not in into_sums:
            nest_of[new.memory] = new
        else:
            result.nests.append(new)
    result.own = [memory for memory in program.own if memory not in nest_of]
    return result


def _with(value: Expression, known: dict[Memory, Nest], done: dict[int, Expression]) -> Expression:
    """An expression with what is known for its loads."""
    if id(value) not in done:
        done[id(value)] = _new(value, known, done)
    return done[id(value)]


def _new(value: Expression, known: dict[Memory, Nest], done: dict[int, Expression]) -> Expression:
    if isinstance(value, Load) and (nest := known.get(value.memory)) is not None:
        return _moved(nest.value, value.indices, {})
    if isinstance(value, Operation):
        return Operation(value.name, tuple(_with(part, known, done) for part in value.operands), value.predicate)
    if isinstance(value, Choice):
        return Choice(value.conditions, _with(value.then, known, done), _with(value.otherwise, known, done))
    return value


def _moved(value: Expression, iters: tuple[Affine, ...], done: dict[int, Expression]) -> Expression:
    """An expression with other expressions for its iters."""
    if id(value) in done:
        return done[id(value)]
    result: Expression = value
    if isinstance(value, Load):
        result = Load(value.memory, tuple(index.of(iters) for index in value.indices))
    elif isinstance(value, Operation):
        result = Operation(value.name, tuple(_moved(part, iters, done) for part in value.operands), value.predicate)
    elif isinstance(value, Choice):
        conditions = tuple((index.of(iters), is_zero) for index, is_zero in value.conditions)
        result = Choice(conditions, _moved(value.then, iters, done), _moved(value.otherwise, iters, done))
    done[id(value)] = result
    return result
