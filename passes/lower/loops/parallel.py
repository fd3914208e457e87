"""Parallel loops and thread bindings on a CPU."""

from __future__ import annotations

import warnings

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable
from tir_mlir.dialect.ir import SHARED, Buffer, Func, Loop, attrs, is_loop, walk
from tir_mlir.dialect.presburger import sets
from tir_mlir.passes.lower.memory import lifetimes
from tir_mlir.passes.lower.op_attrs import dense
from tir_mlir.passes.lower.registry import LoweringWarning, lowering, place, programs

"""Ops whose iterations run on several threads, once blocks are gone."""


@lowering("tir-lower-threads", "run thread-bound loops one iteration after the other")
def run_threads(module: ir.Module) -> None:
    """Serialise `blockIdx`, `threadIdx` and `vthread` loops.

        affine.for %t = 0 to 32 {...} {tir.kind = "threadIdx.x"}   -->   affine.for %t = 0 to 32 {...}

    A CPU has no such threads. `bind` has shown the iterations to be independent, or one sum, so any order is right.
    """
    for func in programs(module):
        for op in walk.ops(func.op):
            if is_loop(op) and Loop(op).is_thread:
                attrs.put(op, attrs.KIND, None)


@lowering("tir-lower-races", "run parallel loops serially where nested or where iterations share a buffer")
def run_races(module: ir.Module) -> None:
    """Keep the parallel loops that may run so; the others become serial.

        affine.for %i {... %sum[0] ...} {tir.kind = "parallel"}   -->   affine.for %i {...}

    A parallel loop inside a parallel loop runs in its thread. A buffer (`%sum`) that is allocated outside and in which
    iterations would meet makes the loop serial, with a LoweringWarning. Requires blocks to be removed, and buffers to
    be compacted (which makes them private to the iteration); loops not to be vectorised yet.
    """
    for func in programs(module):
        for op in walk.ops(func.op):
            if not _is_parallel(op):
                continue
            if any(_is_parallel(p) or p.name in SHARED for p in walk.parents(op)):
                attrs.put(op, attrs.KIND, None)
            elif (meeting := _meeting_buffer(func, op)) is not None:
                _warn(op, meeting)
                attrs.put(op, attrs.KIND, None)


@lowering("tir-lower-parallel", "turn parallel loops into affine.parallel")
def run_parallel(module: ir.Module) -> bool:
    """Share out the iterations of parallel loops; whether the module has any.

        affine.for %i = 0 to 64 {...} {tir.kind = "parallel"}   -->   affine.parallel (%i) = (0) to (64) {...}

    Requires blocks to be removed (they are `affine.parallel` too), and `tir-lower-races`.
    """
    for func in programs(module):
        for op in walk.ops(func.op):
            if _is_parallel(op):
                _share(Loop(op))
    return any(op.name in SHARED for op in walk.ops(module.operation))


def _is_parallel(op: ir.Operation) -> bool:
    return is_loop(op) and Loop(op).kind == "parallel"


def _meeting_buffer(func: Func, loop: ir.Operation) -> Buffer | None:
    """An allocated buffer from outside in which two iterations of the loop may touch one element, one writing."""
    domains: lifetimes.Domains = {}
    for op in walk.ops(func.op):
        if op.name in ("memref.alloc", "memref.alloca") and not walk.is_inside(op, loop):
            if _may_conflict(op.results[0], loop, domains):
                return Buffer(op.results[0])
    return None


def _may_conflict(value: ir.Value, loop: ir.Operation, domains: lifetimes.Domains) -> bool:
    depth = len([p for p in walk.parents(loop) if is_loop(p)])
    try:
        with sets.question("whether iterations meet"):
            touches = [t for t in lifetimes.touches(value, domains) if walk.is_inside(t.op, loop)]
            return lifetimes.conflicts(touches, depth)
    except NotProvable:
        return any(walk.is_inside(use.owner.operation, loop) for use in value.uses)


def _share(loop: Loop) -> None:
    """The loop as an `affine.parallel` over the same range (several bounds become groups of one)."""
    op = loop.op
    low, high = op.attributes["lowerBoundMap"], op.attributes["upperBoundMap"]
    one = ir.IntegerAttr.get(ir.IntegerType.get_signless(64), 1)
    with ir.InsertionPoint(op):
        new = ir.Operation.create(
            "affine.parallel",
            operands=list(op.operands),
            attributes={
                "reductions": ir.ArrayAttr.get([]),
                "lowerBoundsMap": low,
                "lowerBoundsGroups": _group(len(attrs.affine_map(op, "lowerBoundMap").results)),
                "upperBoundsMap": high,
                "upperBoundsGroups": _group(len(attrs.affine_map(op, "upperBoundMap").results)),
                "steps": ir.ArrayAttr.get([one]),
            },
            regions=1,
            loc=op.location,
        )
    loop.body.append_to(new.regions[0])
    op.erase()


def _group(count: int) -> ir.Attribute:
    return dense(np.array([count], dtype=np.int32))


def _warn(op: ir.Operation, buffer: Buffer) -> None:
    warnings.warn(
        f'{place(op)}: parallel loop "{Loop(op).name}" runs serially: its iterations share buffer "{buffer.name}", '
        "which is neither private to an iteration nor split among them as far as can be shown. "
        "Allocate it inside the loop (compute_at, reverse_compute_at), or parallelise another loop.",
        LoweringWarning,
        stacklevel=2,
    )
