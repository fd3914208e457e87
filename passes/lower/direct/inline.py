"""Elementwise blocks put into the block that reads them."""

from __future__ import annotations

from collections import Counter

from tir_mlir.passes.lower.direct.affine import Affine
from tir_mlir.passes.lower.direct.program import (
    BranchExpr,
    DirectProgram,
    ElementNest,
    Expression,
    LoadExpr,
    OperationExpr,
    ProgramBuffer,
    loads_of,
)


def inline_elementwise(program: DirectProgram) -> DirectProgram:
    """The program without its own buffers of elementwise blocks that one other elementwise block reads.

    for i: T[i] = A[i] + B[i];  for i: Y[i] = max(T[i], 0)   ->   for i: Y[i] = max(A[i] + B[i], 0)
    """
    readers = Counter(memory for nest in program.nests for memory in set(loads_of(nest.value)))
    into_sums = {memory for nest in program.nests if nest.sums for memory in loads_of(nest.value)}
    own_memory, nest_of = set(program.own), dict[ProgramBuffer, ElementNest]()
    result = DirectProgram(program.params, [])
    for nest in program.nests:
        new = ElementNest(nest.memory, nest.extents, nest.sums, _inline_loads(nest.value, nest_of, {}), nest.start)
        if new.memory in own_memory and not new.sums and readers[new.memory] == 1 and new.memory not in into_sums:
            nest_of[new.memory] = new
        else:
            result.nests.append(new)
    result.own = [memory for memory in program.own if memory not in nest_of]
    return result


def _inline_loads(
    value: Expression, known: dict[ProgramBuffer, ElementNest], done: dict[int, Expression]
) -> Expression:
    """An expression with what is known for its loads."""
    if id(value) not in done:
        done[id(value)] = _rewrite_loads(value, known, done)
    return done[id(value)]


def _rewrite_loads(
    value: Expression, known: dict[ProgramBuffer, ElementNest], done: dict[int, Expression]
) -> Expression:
    if isinstance(value, LoadExpr) and (nest := known.get(value.memory)) is not None:
        return _substitute_iters(nest.value, value.indices, {})
    if isinstance(value, OperationExpr):
        return OperationExpr(
            value.name, tuple(_inline_loads(part, known, done) for part in value.operands), value.predicate
        )
    if isinstance(value, BranchExpr):
        return BranchExpr(
            value.conditions, _inline_loads(value.then, known, done), _inline_loads(value.otherwise, known, done)
        )
    return value


def _substitute_iters(value: Expression, iters: tuple[Affine, ...], done: dict[int, Expression]) -> Expression:
    """An expression with other expressions for its iters."""
    if id(value) in done:
        return done[id(value)]
    result: Expression = value
    if isinstance(value, LoadExpr):
        result = LoadExpr(value.memory, tuple(index.substitute(iters) for index in value.indices))
    elif isinstance(value, OperationExpr):
        result = OperationExpr(
            value.name, tuple(_substitute_iters(part, iters, done) for part in value.operands), value.predicate
        )
    elif isinstance(value, BranchExpr):
        conditions = tuple((index.substitute(iters), is_zero) for index, is_zero in value.conditions)
        result = BranchExpr(
            conditions, _substitute_iters(value.then, iters, done), _substitute_iters(value.otherwise, iters, done)
        )
    done[id(value)] = result
    return result
