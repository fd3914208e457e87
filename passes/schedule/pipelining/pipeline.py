"""pipeline: let parts of later iterations run beside the rest of an iteration."""

from __future__ import annotations

from tir_mlir.dialect.ir import Loop
from tir_mlir.passes.schedule.pipelining.plans import make_plan, unwrap_body
from tir_mlir.passes.schedule.registry import check, check_plain, primitive


@primitive("pipeline")
def pipeline(loop: Loop, stages: int | list[int], order: list[int] | None = None) -> None:
    """Let iterations of a loop overlap: each child of its body is in a stage, and stage s of iteration k runs with
    stage 0 of iteration k + s.

        S = T.alloc_buffer((16,))            S = T.alloc_buffer((2, 16))
        for k in range(8):                   copy(0), into S[0]
            copy(k), into S           ->     for k in range(8):
            compute(k), from S                   copy(k + 1), into S[(k + 1) % 2]    # where k + 1 < 8
                                                 compute(k), from S[k % 2]

    `stages[n]` and `order[n]` are of child n, an op of the body of the loop, in order of appearance (TVM's
    `software_pipeline_stage` and `software_pipeline_order`): in which stage it is, and its position in the new body;
    without `order`, the one that it has. A number as `stages`: the children at the beginning that only copy are `stages
    - 1` iterations ahead of all others; those that copy from registers (scope local) come after these in the new body,
    so that loads are early and stores are late.

    A buffer that each iteration writes before it reads, and that lives from one stage to a later one, gets as many
    planes as iterations keep values in it. The first iterations, in which the last stage does nothing, become a
    prologue before the loop. Every block runs in the same iterations as before.

    Requires: the loop is serial, from 0, without annotations; every child is in a block; no two iterations of two
    children that touch one element, one of them writing, change places, but for buffers with planes; as many iterations
    as stages.
    """
    check_plain(loop, "pipeline")
    unwrap_body(loop)
    plan = make_plan(loop, stages, order)
    check(
        not plan.is_idle,
        loop,
        f"all children of loop {loop.name} are in one stage, in their order; nothing would change",
    )
    plan.apply(loop)
