"""Loops whose annotations ask for a pipeline."""

from __future__ import annotations

from typing import Any, NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError, NotProvable, ScheduleError
from tir_mlir.dialect.ir import Loop, annotation_keys, attrs, is_loop, walk
from tir_mlir.passes.lower.registry import Content, location_text, lowering, programs
from tir_mlir.passes.schedule.pipelining.plans import make_plan, unwrap_body

STAGE, ORDER, ASYNC = annotation_keys.PIPELINE


@lowering(
    "tir-lower-software-pipelines",
    "Let iterations of loops overlap whose annotations say so",
    works_on=Content(annotations={*annotation_keys.PIPELINE}),
)
def run(module: ir.Module) -> None:
    """Rewrite loops with TVM's annotations of pipelines, as the step `pipeline` does.

        for %k {copy; compute} {tir.annotations =            copy
          {software_pipeline_stage = [0, 1],         -->     for %k {copy; compute}
           software_pipeline_order = [0, 1]}}

    Inner loops first. The stages in `software_pipeline_async_stages` have to be there; which copies are asynchronous is
    derived from the accesses, on GPUs that have such. Requires blocks. Errors: LoweringError for lists that are wrong,
    and for stages in which an access would come too early.
    """
    for func in programs(module):
        while annotated := [op for op in walk.ops(func.op) if is_loop(op) and _is_annotated(op)]:
            _rewrite(Loop(annotated[-1]))


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
    except ScheduleError as error:
        _refuse(loop, error.reason + (f"; fix: {error.fix}" if error.fix else ""), error)
    except NotProvable as error:
        _refuse(loop, str(error), error)


def _is_numbers(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(isinstance(n, int) and not isinstance(n, bool) for n in value)


def _refuse(loop: Loop, why: str, cause: Exception | None = None) -> NoReturn:
    raise LoweringError(
        f'{location_text(loop.op)}: loop "{loop.name}" cannot be the pipeline it is annotated as: {why}'
    ) from cause
