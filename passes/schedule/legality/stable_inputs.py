"""Check that the inputs of a block are not overwritten between its old and its new position."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import dataflow
from tir_mlir.dialect.analysis.accesses import accesses, accesses_to
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Loop,
    common_parent,
    data_loop_name,
    is_data_loop,
    is_inside,
    is_loop,
    parents,
)
from tir_mlir.dialect.presburger import question
from tir_mlir.passes.schedule.legality.scope import (
    Scope,
    check_complete_or_reduction,
    is_ahead,
    scope_of,
    writers,
    writes_of,
)
from tir_mlir.passes.schedule.registry import JOIN_WRITERS, WRAP_IN_BLOCK, check, refuse


def check_inputs_stable(block: Block, seen: frozenset[int] = frozenset()) -> None:
    """Refuse unless every element that a block reads keeps its value from then on.

    An input is final if the nests of its writers end before the block starts. Otherwise its single writer, which must
    run before the block, must be complete or a finished reduction (so that an element has one value however often it is
    computed), with inputs for which the same holds. Buffers written outside the scope do not change within it.
    """
    if block.id in seen:
        return
    scope, outputs = scope_of(block), set(writes_of(block))
    inputs = dict.fromkeys(a.buffer for a in accesses(block.op) if not a.is_write and a.buffer not in outputs)
    for buffer in inputs:
        writing = writers(scope, buffer)
        _check_no_stray(block, scope, buffer, writing)
        if all(_is_over(writer, block, scope) for writer in writing):
            continue
        if len(writing) > 1:
            refuse(
                block,
                f"{Buffer(buffer).name}, which the block reads, is written by {len(writing)} blocks; it must not change"
                " between the two positions",
                fix=JOIN_WRITERS,
            )
        _check_writer(writing[0], block, buffer, scope)
        check_inputs_stable(writing[0], seen | {block.id})


def check_results_stable(block: Block) -> None:
    """Refuse unless each element that a block writes has one value, however often and whenever it is computed."""
    check_complete_or_reduction(block)
    check_inputs_stable(block)


def _check_no_stray(block: Block, scope: Scope, buffer: ir.Value, writing: list[Block]) -> None:
    for access in accesses_to(buffer, scope.op):
        in_writer = any(is_inside(access.op, b.op) for b in writing)
        if access.is_write and not in_writer and not _in_init(access.op, scope):
            refuse(
                block,
                f"{Buffer(buffer).name}, which the block reads, is also written outside any block of its "
                "scope; it is not known to hold the same values there",
                provable=False,
                fix=WRAP_IN_BLOCK,
            )


def _in_init(op: ir.Operation, scope: Scope) -> bool:
    """Whether an op is in the init of the scope, which ends before its body runs."""
    return isinstance(scope, Block) and scope.init is not None and is_inside(op, scope.init)


def shared_loops(first: ir.Operation, second: ir.Operation, scope: Scope) -> list[Loop]:
    """The loops of a scope around both ops."""
    level = common_parent([first, second])
    return [Loop(p) for p in [level, *parents(level)] if is_loop(p) and is_inside(p, scope.op)]


def _is_over(writer: Block, block: Block, scope: Scope) -> bool:
    """Whether all iterations of a writer end before the first iteration of the block."""
    shared = shared_loops(writer.op, block.op, scope)
    return is_ahead(writer, block) and all(lp.const_extent == 1 for lp in shared)


def _check_writer(writer: Block, block: Block, buffer: ir.Value, scope: Scope) -> None:
    name = Buffer(buffer).name
    check(
        is_ahead(writer, block),
        writer,
        f'block "{writer.name}" writes {name} after block "{block.name}" has read it; the moved '
        "block could see the new values",
        fix=f'reverse_compute_at moves the consumers of block "{block.name}" to it; or read a copy '
        "made by a block before",
    )
    over = next((p for p in parents(writer.op) if is_data_loop(p) and not is_inside(block.op, p)), None)
    if over is not None:
        text = (
            f'block "{writer.name}", which writes {name}, is in {data_loop_name(over)}, and may run differently later'
        )
        refuse(writer, text, provable=False)
    check_complete_or_reduction(writer)
    shared = {lp.var: lp for lp in shared_loops(writer.op, block.op, scope) if lp.const_extent != 1}
    for it in writer.iters:
        for value in it.binding.values:
            if it.kind == "R" and value in shared:
                refuse(
                    writer,
                    f'block "{block.name}" reads {name} during the reduction of block "{writer.name}" over '
                    f"loop {shared[value].name}; elsewhere it would see another value",
                    fix=f'reverse_compute_at moves the consumers of block "{block.name}" to it',
                )
    if Buffer(buffer).is_param:
        _check_reads_written(writer, block, buffer, scope)


def _check_reads_written(writer: Block, block: Block, buffer: ir.Value, scope: Scope) -> None:
    """Refuse a block that reads what a parameter contained before its writer ran."""
    name = Buffer(buffer).name
    with question(f"whether {name} is written before block {block.name} reads it"):
        early = dataflow.unwritten_reads(buffer, scope.op, block.op)
    if early is not None:
        touch, point = early
        text = (
            f'at {touch.iteration_at(point)} the block reads the contents of {name} from before block "{writer.name}"'
        )
        fix = f"in the program, read the earlier contents of {name} from a copy made by a block before"
        refuse(block, text, True, dataflow.unwritten_example(early, scope.op), fix)
