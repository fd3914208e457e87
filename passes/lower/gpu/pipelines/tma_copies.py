"""Copies that the TMA is to make: work of one thread, on marked buffers."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.analysis import buffers
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Block, Loop, attrs, create, edit, is_block, is_loop, owner_op, walk
from tir_mlir.dialect.ir.annotation_keys import TMA_COPY, TMA_PIPELINE
from tir_mlir.passes.lower.gpu.thread_tags import THREADS, TILE, nest_of
from tir_mlir.passes.lower.registry import Content, location_text, lowering, programs


@lowering(
    "tir-lower-gpu-tma-copies",
    "Let one thread make the copies of tma_pipeline",
    works_on=Content(annotations={TMA_COPY, TMA_PIPELINE}),
)
def run(module: ir.Module, tma: bool = False, chip: str = "this GPU", emulated: bool = False) -> None:
    """Put the nest of each annotated copy into loops over one thread, and mark its buffer.

        for %k {                                       for %k {
          for %i, %j { S[%i, %j] = A[...] }    -->       for %t = 0 to 1 {for %i, %j { S[%i, %j] = A[...] }}
          ... S[...]                                     ... S[...]            (%t: threadIdx.x)
        }                                              }

    So a tile is written once, for the proofs of the passes after it; `tir-lower-gpu-channels` makes instructions of the
    copy. tma: whether the GPU has a TMA. emulated: on a CPU, one thread copies element by element. Requires blocks.
    Errors: LoweringError on a GPU without a TMA, and for a copy outside of a loop with `tma_pipeline`.
    """
    for func in programs(module):
        for block in [Block(op) for op in walk.ops(func.op) if is_block(op) and TMA_COPY in Block(op).annotations]:
            loop = next((p for p in walk.parents(block.op) if is_loop(p) and TMA_PIPELINE in Loop(p).annotations), None)
            where = f'{location_text(block.op)}: block "{block.name}"'
            if loop is None:
                raise LoweringError(
                    f"{where} is a copy by the TMA in no loop with {TMA_PIPELINE}; fix: sch.tma_pipeline(copies, loop)"
                )
            if not tma and not emulated:
                raise LoweringError(
                    f'{where} is a copy by the TMA, which {chip} does not have; fix: build for "sm_90a", or '
                    "sch.double_buffer instead of sch.tma_pipeline: it takes cp.async from sm_80 on"
                )
            _to_one_thread(block, loop)
            for buffer in buffers(block)[1] if not emulated else ():
                edit.set_attribute(owner_op(buffer.value), TILE, ir.UnitAttr.get())
        for loop in [Loop(op) for op in walk.ops(func.op) if emulated and is_loop(op)]:
            if TMA_PIPELINE in loop.annotations:
                rest = {key: value for key, value in loop.annotations.items() if key != TMA_PIPELINE}
                attrs.put(loop.op, attrs.ANNOTATIONS, rest or None)


def _to_one_thread(block: Block, loop: ir.Operation) -> None:
    top = walk.child_towards(loop, block.op)
    used = {Loop(op).kind for op in walk.ops(nest_of(loop)) if is_loop(op)}
    for kind in THREADS[::-1]:
        if kind in used:
            with ir.InsertionPoint(top), top.location:
                one = create.loop("one", 0, 1, kind)
            edit.move_before(top, list(one.body.operations)[-1])
            top = one.op
