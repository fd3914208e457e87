"""Nests on the accumulators of a warpgroup: its 128 threads together run each of them once."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Constraint, Func, Index, Loop, create, edit, is_loop, parent_op, walk
from tir_mlir.dialect.ir.op_traits import accessed_memref, is_pure
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AllocLikeOp, isa
from tir_mlir.passes.lower.registry import location_text, lowering, programs

ACCUMULATOR = "wgmma.accumulator"
"""The scope of sums in the registers of a warpgroup."""
WARPGROUP = 128
_KINDS = ("serial", "unrolled", "vectorized")


@lowering("tir-lower-gpu-warpgroups", "Let the first thread of a warpgroup stand for all in nests on accumulators")
def run(module: ir.Module, wgmma: bool = False, chip: str = "this GPU") -> None:
    """Put each nest on a buffer of scope `wgmma.accumulator` under the condition of the first of 128 threads.

                                                      for %t = 0 to 128 {   (threadIdx.x)
        for %i = 0 to 64 { for %j = 0 to 256 {   -->    if %t == 0 { for %i = 0 to 64 { for %j = 0 to 256 {
          %acc[%i, %j] = ...                              %acc[%i, %j] = ...
        }}                                              }}}}

    So the nest is done once, for the proofs of the passes after it; `tir-lower-gpu-accumulators` divides it among the
    threads. wgmma: whether the GPU has products of warpgroups. Requires blocks to be removed. Errors: LoweringError on
    another GPU, and for a nest in a loop over `threadIdx.x`.
    """
    for func in programs(module):
        buffers: list[ir.Value] = [
            op.results[0]
            for op in walk.ops(func.op)
            if isa(op, AllocLikeOp) and Buffer(op.results[0]).scope == ACCUMULATOR
        ]
        if buffers and not wgmma:
            raise LoweringError(
                f"{location_text(buffers[0].owner)}: {Buffer(buffers[0]).name} is of scope {ACCUMULATOR}, which "  # type: ignore[arg-type]
                f'{chip} does not have; fix: build for "sm_90a", or use the fragments of mma or wmma'
            )
        for root in _roots(func, buffers):
            _guard(root)


def _roots(func: Func, buffers: list[ir.Value]) -> list[ir.Operation]:
    """The outermost ops of the nests on some buffers, in order."""
    roots: dict[ir.Operation, None] = {}
    for op in walk.ops(func.op):
        if isa(op, AffineElementAccessOp) and accessed_memref(op) in buffers:
            roots[_root(op)] = None
    return [root for root in roots if not any(p in roots for p in walk.parents(root))]


def _root(access: ir.Operation) -> ir.Operation:
    """The outermost of the loops over a tile around an access: those over its rows and columns, and what is nested with
    them alone."""
    loops = [Loop(p) for p in walk.parents(access) if is_loop(p)]
    inner = []
    for index in walk.access_indices(access)[-2:]:
        loop = next(
            (lp for lp in loops if index.uses(lp.var) and lp.kind in ("serial", "unrolled", "vectorized")), None
        )
        if loop is not None:
            inner.append(loop)
    if len(inner) < 2 or inner[0] == inner[1]:
        buffer = Buffer(accessed_memref(access))
        raise LoweringError(
            f"{location_text(access)}: {buffer.name} of scope {ACCUMULATOR} is accessed outside of a loop over rows "
            "and one over columns of a tile; fix: keep loops of 64 rows and of the columns around what is computed"
        )
    root = max((lp.op for lp in inner), key=lambda op: -len(list(walk.parents(op))))
    while is_loop(parent := parent_op(root)) and _is_around(Loop(parent), root):
        root = parent
    return root


def _is_around(loop: Loop, nest: ir.Operation) -> bool:
    """Whether a loop has nothing else to do than a nest, one of a sum."""
    alone = all(is_pure(op) for op in loop.body_ops() if op != nest)
    is_tile = not any(
        index.uses(loop.var)
        for op in walk.ops(nest)
        if isa(op, AffineElementAccessOp) and Buffer(accessed_memref(op)).scope == ACCUMULATOR
        for index in walk.access_indices(op)
    )
    return alone and is_tile and loop.kind in ("serial", "unrolled")


def _guard(root: ir.Operation) -> None:
    around = next((Loop(p) for p in walk.parents(root) if is_loop(p) and Loop(p).kind == "threadIdx.x"), None)
    if around is not None:
        raise LoweringError(
            f'{location_text(root)}: a nest on {ACCUMULATOR} is in loop "{around.name}" over threadIdx.x, and 128 '
            "threads along threadIdx.x run it together; fix: bind loops over warpgroups to threadIdx.y"
        )
    with ir.InsertionPoint(root), root.location:
        lanes = create.loop("lane", 0, WARPGROUP, "threadIdx.x")
        with create.at_end(lanes.body):
            guard = create.guard([Constraint(Index.from_value(lanes.var), is_eq=True)])
    edit.move_before(root, list(guard.regions[0].blocks[0].operations)[-1])
