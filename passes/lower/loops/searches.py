"""Loops that only find a value move out of the loops that do not change it."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import Loop, attrs, edit, is_loop, walk
from tir_mlir.passes.lower.memory.checks import SITE
from tir_mlir.passes.lower.registry import Content, lowering


@lowering(
    "tir-lower-searches",
    "Move a search for a value out of loops that do not change it",
    works_on=Content(attributes={attrs.BIND}),
)
def run(module: ir.Module) -> None:
    """Exchange a loop with the search in it.

        affine.for %d {                                  affine.for %b {tir.bind} {
          affine.for %b {tir.bind} {                       %same = arith.cmpi eq, %b, %x
            %same = arith.cmpi eq, %b, %x                  scf.if %same {
            scf.if %same { use(%b, %d) }           -->       affine.for %d { use(%b, %d) }
          }                                                }
        }                                                }

    The value %x is computed outside the loop, or by arithmetic on loop-invariant values before the search. A
    search finds its value once at most, so the order of the iterations is kept. Then `%d` can be a vector. A search
    that is checked (`tir-lower-checks-mark`) leaves only loops that certainly run. Requires blocks to be removed.
    """
    for op in walk.ops(module.operation):
        if walk.bound_value(op) is not None:
            while (loop := _exchangeable_loop(op)) is not None:
                _exchange(loop, op)


def _exchangeable_loop(search: ir.Operation) -> Loop | None:
    """The loop whose body is a search and arithmetic that does not depend on the loop; None if there is none."""
    parent = search.parent.operation  # type: ignore[union-attr]
    if not is_loop(parent) or walk.is_bound_value(parent) or len(parent.results):
        return None
    loop = Loop(parent)
    *ahead, last = loop.body_ops()
    if last != search or not all(_always_safe(o) for o in ahead):
        return None
    if SITE in search.attributes and (loop.const_extent or 0) < 1:  # a check may not run where the loop does not
        return None
    return None if any(v == loop.var for o in [*ahead, _test(search)] for v in o.operands) else loop


def _always_safe(op: ir.Operation) -> bool:
    """Whether an op may run although the loop around it has no iteration: no access, no division by zero."""
    return op.name.startswith("arith.") and "div" not in op.name and "rem" not in op.name


def _test(search: ir.Operation) -> ir.Operation:
    return search.regions[0].blocks[0].operations[0].operation


def _exchange(loop: Loop, search: ir.Operation) -> None:
    for op in loop.body_ops():
        edit.move_before(op, loop.op)
    _, branch = walk.bound_value(search)  # type: ignore[misc]
    body = branch.regions[0].blocks[0]
    end = list(loop.body.operations)[-1].operation
    for op in [o.operation for o in body.operations][:-1]:
        edit.move_before(op, end)
    edit.move_before(loop.op, list(body.operations)[-1].operation)
