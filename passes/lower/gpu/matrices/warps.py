"""Calls of matrix functions: the lanes of a warp together make one call."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import (
    Buffer,
    Constraint,
    Func,
    Index,
    Loop,
    create,
    edit,
    is_fragment,
    is_loop,
    is_warp_loop,
    matrix_function,
    walk,
)
from tir_mlir.dialect.ir.fragments import WARP
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AccessOp, AffineElementAccessOp, AffineYieldOp, isa
from tir_mlir.passes.lower.registry import location_text, lowering, programs


@lowering("tir-lower-gpu-warps", "Let the first lane of a warp stand for all of them in calls of matrix functions")
def run(module: ir.Module) -> None:
    """Put what the lanes of a warp call together under the condition of the first lane.

        for %t = 0 to 32 {   (threadIdx.x)         for %t = 0 to 32 {   (threadIdx.x)
          call @tvm_mma_sync(..)             -->     if %t == 0 {call @tvm_mma_sync(..)}
        }                                          }

    So a call accesses memory once, for the proofs of the passes after it; `tir-lower-gpu-fragments` removes the
    condition. A call outside of all loops over `threadIdx.x` gets one, as a warp makes it, and so does a nest of loops
    over the elements of fragments, which the lanes will share. Requires blocks to be
    removed. Errors: LoweringError for a call in a loop over other threads than 32 lanes.
    """
    for func in programs(module):
        for op in [op for op in walk.ops(func.op) if matrix_function(op) and not _threads_around(op)]:
            with ir.InsertionPoint(op), op.location:
                lanes = create.loop("lane", 0, WARP, "threadIdx.x")
            for part in [*_only_for(op), op]:
                edit.move_before(part, list(lanes.body.operations)[-1])
        for op in [op for op in walk.ops(func.op) if is_loop(op) and is_warp_loop(Loop(op))]:
            _guard(Loop(op))
        for op in element_nests(func):
            with ir.InsertionPoint(op), op.location:
                lanes = create.loop("lane", 0, WARP, "threadIdx.x")
            for part in [*_only_for(op), op]:
                edit.move_before(part, list(lanes.body.operations)[-1])
            _guard(lanes)
        for op in walk.ops(func.op):
            if (name := matrix_function(op)) and not _is_in_warp(op):
                raise LoweringError(
                    f"{location_text(op)}: {name} is run by the 32 lanes of a warp together, and a loop over other "
                    'threads is around it; fix: for tx in T.thread_binding(0, 32, "threadIdx.x") around the call alone,'
                    " in the implementation of the intrinsic, or no loop over threadIdx.x"
                )


def _guard(loop: Loop) -> None:
    body = loop.body_ops()[:-1] if isa(loop.body_ops()[-1], AffineYieldOp) else loop.body_ops()
    with ir.InsertionPoint(body[0]), loop.op.location:
        guard = create.guard([Constraint(Index.from_value(loop.var), is_eq=True)])
    end = list(guard.regions[0].blocks[0].operations)[-1]
    for op in body:
        edit.move_before(op, end)


def _only_for(call: ir.Operation) -> list[ir.Operation]:
    """What is computed for a call alone, such as its pointers, in order."""
    needed = {call}
    for op in [o.operation for o in call.block.operations][: walk.position(call)][::-1]:
        users = {use.owner.operation for result in op.results for use in result.uses}
        if users and users <= needed and not len(op.regions):
            needed.add(op)
    return [o.operation for o in call.block.operations if o.operation in needed - {call}]


def _threads_around(op: ir.Operation) -> list[Loop]:
    """The loops over `threadIdx.x` around an op, inner to outer."""
    return [Loop(p) for p in walk.parents(op) if is_loop(p) and Loop(p).kind == "threadIdx.x"]


def _is_in_warp(op: ir.Operation) -> bool:
    loops = [Loop(parent) for parent in walk.parents(op) if is_loop(parent)]
    return bool(loops) and loops[0].kind == "threadIdx.x" and loops[0].const_extent == WARP


def element_nests(func: Func) -> list[ir.Operation]:
    """The nests, in no loop over `threadIdx.x`, that access single elements of fragments: the outermost loops whose
    variables index fragments, without a call or threads in them."""
    tops: dict[ir.Operation, None] = {}
    for op in walk.ops(func.op):
        if isa(op, AccessOp) and is_fragment(Buffer(accessed_memref(op)).root) and not _threads_around(op):
            tops[_nest_around(op)] = None
    return [op for op in tops if not any(parent in tops for parent in walk.parents(op))]


def _nest_around(access: ir.Operation) -> ir.Operation:
    top = access
    for parent in walk.parents(access):
        if any(
            matrix_function(op) or (is_loop(op) and Loop(op).kind.startswith("threadIdx")) for op in walk.ops(parent)
        ):
            break
        if is_loop(parent) and any(_selects(op, Loop(parent)) for op in walk.ops(parent)):
            top = parent
    return top


def _selects(op: ir.Operation, loop: Loop) -> bool:
    """Whether an op accesses a fragment at an index that a loop changes."""
    if not isa(op, AffineElementAccessOp) or not is_fragment(Buffer(accessed_memref(op)).root):
        return False
    return any(index.uses(loop.var) for index in walk.access_indices(op))
