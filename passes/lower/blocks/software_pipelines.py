"""Loops whose annotations ask for a pipeline."""

from __future__ import annotations

from typing import Any, NoReturn

from mlir import ir

from tir_mlir.dialect.analysis.accesses import touches
from tir_mlir.dialect.diagnostics import LoweringError, NotProvable, ScheduleError
from tir_mlir.dialect.ir import Block, Buffer, Loop, annotation_keys, attrs, is_block, is_loop, walk
from tir_mlir.passes.lower.registry import Content, location_text, lowering, programs
from tir_mlir.passes.schedule.pipelining.plans import make_plan, unwrap_body
from tir_mlir.passes.schedule.pipelining.stages import outermost_blocks, tops_of

STAGE, ORDER, ASYNC = annotation_keys.PIPELINE
KEY = annotation_keys.DOUBLE_BUFFER


@lowering(
    "tir-lower-software-pipelines",
    "Let iterations of loops overlap whose annotations say so",
    works_on=Content(annotations={*annotation_keys.PIPELINE, annotation_keys.DOUBLE_BUFFER}),
)
def run(module: ir.Module) -> None:
    """Rewrite loops with TVM's annotations of pipelines, as the step `pipeline` does.

        for %k {copy; compute} {tir.annotations =            copy
          {software_pipeline_stage = [0, 1],         -->     for %k {copy; compute}
           software_pipeline_order = [0, 1]}}

    Blocks with "double_buffer_scope" are in stage 0 of the loop around in which they are not alone, its other nests in
    stage 1: they fill their buffers, which get planes, an iteration ahead.

    Inner loops first. The stages in `software_pipeline_async_stages` have to be there; which copies are asynchronous is
    derived from the accesses, on GPUs that have such. Requires blocks. Errors: LoweringError for lists that are wrong,
    and for stages in which an access would come too early.
    """
    for func in programs(module):
        while annotated := [op for op in walk.ops(func.op) if is_loop(op) and _is_annotated(op)]:
            _rewrite(Loop(annotated[-1]))
        while copies := [op for op in walk.ops(func.op) if KEY in attrs.get(op, attrs.ANNOTATIONS, {})]:
            _fill_ahead(copies[-1])


def _is_annotated(op: ir.Operation) -> bool:
    return not {*annotation_keys.PIPELINE}.isdisjoint(attrs.get(op, attrs.ANNOTATIONS, {}))


def _rewrite(loop: Loop) -> None:
    notes = loop.annotations
    stages, order, asynchronous = (notes.pop(key, None) for key in (STAGE, ORDER, ASYNC))
    attrs.put(loop.op, attrs.ANNOTATIONS, notes)
    if stages is None:
        _refuse(loop, f'"{STAGE}" is missing, which gives each child its stage')
    for key, value in ((STAGE, stages), (ORDER, order), (ASYNC, asynchronous)):
        if value is not None and not _is_numbers(value):
            _refuse(loop, f'"{key}" is {value!r}, not a list of integers')
    if unknown := sorted({*(asynchronous or ())} - {*stages}):
        _refuse(loop, f'"{ASYNC}" has {unknown}, which no child has as its stage')
    try:
        unwrap_body(loop)
        make_plan(loop, stages, order).apply(loop)
    except (ScheduleError, NotProvable) as error:
        _refuse(loop, _reason(error), error)


def _reason(error: ScheduleError | NotProvable) -> str:
    if isinstance(error, NotProvable):
        return str(error)
    return error.reason + (f"; fix: {error.fix}" if error.fix else "")


def _fill_ahead(copy: ir.Operation) -> None:
    """Let a block with the annotation, and all others with it in the same loop, run an iteration ahead."""
    where = f'{location_text(copy)}: annotation "{KEY}"'
    if not is_block(copy):
        raise LoweringError(f"{where} is of the block that fills the buffer; fix: annotate that block")
    loop = next((Loop(p) for p in walk.parents(copy) if is_loop(p) and _has_others(Loop(p))), None)
    if loop is None:
        raise LoweringError(
            f'{where}: block "{Block(copy).name}" is alone in its loops, so that nothing runs beside it; fix: '
            "compute_at it inside of a loop of the block that reads the buffer"
        )
    names: set[str] = set()
    for op in [op for op in walk.ops(loop.op) if is_block(op) and KEY in Block(op).annotations]:
        notes, written = Block(op).annotations, _written_buffers(op)
        position = notes.pop(KEY)
        if position not in range(len(written)):
            raise LoweringError(
                f'{location_text(op)}: annotation "{KEY}" is {position!r}, the position of a buffer that the block '
                f"writes; it writes {', '.join(written)}; fix: use a number below {len(written)}"
            )
        attrs.put(op, attrs.ANNOTATIONS, notes)
        names.add(Block(op).name)
    try:
        unwrap_body(loop)
        early = [any(is_block(op) and Block(op).name in names for op in walk.ops(top)) for top in tops_of(loop)]
        make_plan(loop, [0 if is_early else 1 for is_early in early], None).apply(loop)
    except (ScheduleError, NotProvable) as error:
        raise LoweringError(f'{where}: loop "{loop.name}" cannot run it ahead: {_reason(error)}') from error


def _has_others(loop: Loop) -> bool:
    """Whether the body of a loop, or the block that is its body, has several nests."""
    tops = tops_of(loop)
    if len(tops) == 1 and is_block(tops[0]):
        tops = [op for op in Block(tops[0]).body_ops() if outermost_blocks(op)]
    return len(tops) > 1


def _written_buffers(block: ir.Operation) -> list[str]:
    return list(dict.fromkeys(Buffer(t.buffer).name for t in touches(block) if t.is_write))


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(n, int) and not isinstance(n, bool) for n in value)


def _refuse(loop: Loop, why: str, cause: Exception | None = None) -> NoReturn:
    raise LoweringError(
        f'{location_text(loop.op)}: loop "{loop.name}" cannot be the pipeline it is annotated as: {why}'
    ) from cause
