"""Parallel loops and thread bindings on a CPU."""

from __future__ import annotations

import numpy as np
from mlir import ir

from tir_mlir.dialect.analysis import alias_text, aliased_pair
from tir_mlir.dialect.constants.dense import dense_attr
from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import Buffer, Func, Loop, attrs, funcs, is_loop, walk
from tir_mlir.dialect.ir.op_views import AllocLikeOp, ParallelLoopOp, isa
from tir_mlir.dialect.presburger import sets
from tir_mlir.passes.lower.memory import lifetimes
from tir_mlir.passes.lower.outcomes import Key, Outcomes
from tir_mlir.passes.lower.registry import THREAD, Content, location_text, lowering, programs, warn

_NO_THREADS = "a CPU has no such threads; use parallel for its cores and vectorize for its vectors"


@lowering("tir-lower-parallel-threads", "Lower thread-bound loops to serial loops", works_on=Content(kinds={THREAD}))
def run_threads(module: ir.Module) -> None:
    """Lower `blockIdx`, `threadIdx` and `vthread` loops to serial ones.

        affine.for %t = 0 to 32 {...} {tir.kind = "threadIdx.x"}   -->   affine.for %t = 0 to 32 {...}

    A CPU has no such threads, which a LoweringWarning says. `bind` has proved the iterations independent, or one
    reduction, so any order is correct.
    """
    for func in programs(module):
        bound = [Loop(op) for op in walk.ops(func.op) if is_loop(op) and Loop(op).is_thread]
        if bound:
            names = ", ".join(dict.fromkeys(f'"{loop.name}" ({loop.kind})' for loop in bound))
            warn(f"{location_text(bound[0].op)}: thread-bound loops {names} run serially: {_NO_THREADS}")
        for loop in bound:
            attrs.put(loop.op, attrs.KIND, None)


def serialize(module: ir.Module) -> None:
    """Make the parallel loops of a module serial, for a machine without threads."""
    for func in programs(module):
        for op in walk.ops(func.op):
            if _is_parallel(op):
                attrs.put(op, attrs.KIND, None)


@lowering(
    "tir-lower-parallel-races",
    "Serialize parallel loops that are nested or whose iterations share a buffer",
    works_on=Content(kinds={"parallel", "vectorized"}),
)
def run_races(module: ir.Module) -> None:
    """Serialize parallel loops that cannot run in parallel.

        affine.for %i {... %sum[0] ...} {tir.kind = "parallel"}   -->   affine.for %i {...}

    A parallel loop inside another runs in its thread. If iterations access a common element of a buffer allocated
    outside the loop (`%sum`), the loop becomes serial. So does a parallel or vectorized loop that uses parameters that
    may alias (`tir.noalias = False`). All give a LoweringWarning. Requires blocks to be removed, buffers to be
    compacted (which makes them private to an iteration), and loops not to be vectorized yet.
    """
    outcomes = Outcomes()
    for func in programs(module):
        for op in walk.ops(func.op):
            if is_loop(op) and Loop(op).kind in ("parallel", "vectorized") and (pair := aliased_pair(op)) is not None:
                outcomes.add(_key(op, Loop(op).kind), alias_text(op, pair))
                attrs.put(op, attrs.KIND, None)
            if not _is_parallel(op):
                continue
            if (outer := _parallel_around(op)) is not None:
                attrs.put(op, attrs.KIND, None)
                outcomes.add(_key(op), f"it is in {outer}; fuse them, or parallelize one")
            elif (meeting := _conflicting_buffer(func, op)) is not None:
                attrs.put(op, attrs.KIND, None)
                outcomes.add(_key(op), _SHARES.format(meeting.name))
            else:
                outcomes.add(_key(op), "")
    outcomes.warn()


@lowering("tir-lower-parallel", "Lower parallel loops to affine.parallel")
def run_parallel(module: ir.Module) -> bool:
    """Lower parallel loops to `affine.parallel`; returns whether the module has any.

        affine.for %i = 0 to 64 {...} {tir.kind = "parallel"}   -->   affine.parallel (%i) = (0) to (64) {...}

    Requires blocks (also `affine.parallel`) to be removed, and `tir-lower-parallel-races`.
    """
    ours, parallel = {func.op for func in programs(module)}, False
    for func in funcs(module):
        for op in walk.ops(func.op):
            if func.op in ours and _is_parallel(op):
                _to_parallel(Loop(op))
                parallel = True
            parallel = parallel or isa(op, ParallelLoopOp)
    return parallel


def _is_parallel(op: ir.Operation) -> bool:
    return is_loop(op) and Loop(op).kind == "parallel"


def _parallel_around(op: ir.Operation) -> str | None:
    """The parallel loop around an op, for messages; None if there is none."""
    for parent in walk.parents(op):
        if _is_parallel(parent):
            return f'parallel loop "{Loop(parent).name}", whose iterations already run on all cores'
        if isa(parent, ParallelLoopOp):
            return f"an {parent.name}"
    return None


def _conflicting_buffer(func: Func, loop: ir.Operation) -> Buffer | None:
    """A buffer allocated outside the loop in which two iterations may access one element, one of them writing."""
    domains: lifetimes.Domains = {}
    for op in walk.ops(func.op):
        if isa(op, AllocLikeOp) and not walk.is_inside(op, loop) and _may_conflict(op.results[0], loop, domains):
            return Buffer(op.results[0])
    return None


def _may_conflict(value: ir.Value, loop: ir.Operation, domains: lifetimes.Domains) -> bool:
    depth = len([p for p in walk.parents(loop) if is_loop(p)])
    try:
        with sets.question("whether iterations access a common element"):
            touches = [t for t in lifetimes.timed_accesses(value, domains) if walk.is_inside(t.op, loop)]
            return lifetimes.conflicts(touches, depth)
    except NotProvable:
        return any(walk.is_inside(use.owner.operation, loop) for use in value.uses)


def _to_parallel(loop: Loop) -> None:
    """The loop as an `affine.parallel` over the same range (several bounds become one group)."""
    op = loop.op
    low, high = op.attributes["lowerBoundMap"], op.attributes["upperBoundMap"]
    unit = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)
    with ir.InsertionPoint(op):
        new = ir.Operation.create(
            "affine.parallel",
            operands=list(op.operands),
            attributes={
                "reductions": ir.ArrayAttr.get([]),
                "lowerBoundsMap": low,
                "lowerBoundsGroups": _group_attr(len(attrs.map_of(op.attributes["lowerBoundMap"]).results)),
                "upperBoundsMap": high,
                "upperBoundsGroups": _group_attr(len(attrs.map_of(op.attributes["upperBoundMap"]).results)),
                "steps": ir.ArrayAttr.get([unit]),
            },
            regions=1,
            loc=op.location,
        )
    loop.body.append_to(new.regions[0])
    op.erase()


def _group_attr(count: int) -> ir.Attribute:
    return dense_attr(np.array([count], dtype=np.int32))


def _key(op: ir.Operation, kind: str = "parallel") -> Key:
    loop = Loop(op)
    return Outcomes.key(loop, f'{kind} loop "{loop.name}" runs serially')


_SHARES = (
    'its iterations share buffer "{}", which could not be proved private to an iteration or partitioned among them; '
    "allocate it inside the loop (compute_at, reverse_compute_at), or parallelize another loop"
)
