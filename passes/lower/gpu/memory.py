"""Allocate and shrink the buffers of kernels by their scope: one copy a block, one copy a thread."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from mlir import ir

from tir_mlir.dialect.ir import Buffer, Index, Loop, edit, is_fragment, is_loop, walk
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AllocOp, isa
from tir_mlir.passes.lower.blocks.collapse_dims import joined_indices
from tir_mlir.passes.lower.gpu.thread_tags import (
    is_axis,
    is_local,
    is_shared,
    is_shared_by_lanes,
    is_thread_axis,
    is_vthread,
    nest_of,
)
from tir_mlir.passes.lower.memory.compact import compact
from tir_mlir.passes.lower.registry import lowering, programs


@lowering("tir-lower-gpu-memory", "Place and shrink buffers: shared ones for a block of threads, local ones for one")
def run(module: ir.Module) -> None:
    """Place and shrink every allocated buffer, as `tir-lower-compact` does, by its scope.

        %s = memref.alloc : memref<1024x1024xf32, "shared">       for %b {                            (blockIdx.x)
        for %b {                               (blockIdx.x)          %s = memref.alloc : memref<64x16xf32, "shared">
          for %t { for %k {                    (threadIdx.x)  -->    for %t { for %k {                (threadIdx.x)
            fill and use %s[%b * 64 + .., %k * 16 + ..]                fill and use %s[.., ..]

    A `shared` buffer has one copy a block of threads: it holds what all threads use, and is allocated outside of the
    loops over threads. A `local` one has a copy a thread, a fragment one a warp. Any other becomes local if it is
    private to an iteration of all axes, and else remains in the memory that all blocks see. Requires blocks to be
    removed.
    """
    for func in programs(module):
        compact(func, _copies, other_indices=_collapsed_indices)
        for op in [op for op in walk.ops(func.op) if isa(op, AllocOp)]:
            buffer = Buffer(op.results[0])
            if (
                not _has_known_space(buffer)
                and _belongs_to_thread(buffer, _loops_around(op))
                and all(isa(use.owner, AffineElementAccessOp) for use in op.results[0].uses)
            ):
                _make_local(op.results[0])


def _copies(buffer: Buffer, loops: Sequence[ir.Operation]) -> Sequence[bool] | None:
    """The loops that a buffer may be private to, see `compact`."""
    if is_shared(buffer):
        return [not is_thread_axis(op) and not is_vthread(op) for op in loops]
    if is_fragment(buffer):
        return [Loop(op).kind != "threadIdx.x" and not is_shared_by_lanes(op) for op in loops]
    if not is_local(buffer) and not _belongs_to_thread(buffer, loops):
        return None
    return [True] * len(loops)


def _has_known_space(buffer: Buffer) -> bool:
    """Whether the scope of a buffer says where it is."""
    return is_shared(buffer) or is_local(buffer) or is_fragment(buffer)


def _loops_around(op: ir.Operation) -> list[ir.Operation]:
    return [p for p in walk.parents(op)[::-1] if is_loop(p)]


def _make_local(value: ir.Value) -> None:
    old = ir.MemRefType(value.type)
    edit.retype(value, ir.MemRefType.get(old.shape, old.element_type, old.layout, ir.StringAttr.get("local")))


def _collapsed_indices(value: ir.Value) -> Mapping[ir.Operation, Sequence[Index]] | None:
    """The indices of a shared buffer whose dimensions threads fill together, collapsed."""
    joined = joined_indices(value) if is_shared(Buffer(value)) else None
    return None if joined is None else joined[1]


def _belongs_to_thread(buffer: Buffer, loops: Sequence[ir.Operation]) -> bool:
    """Whether an iteration of some loops around a buffer, outer to inner, is a part of the work of one thread: loops
    over all axes, or over threads and all axes that its accesses know."""
    kinds = _axes(loops)
    if not kinds:
        return False
    if _axes(op for op in walk.ops(nest_of(loops[-1])) if is_loop(op)) <= kinds:
        return True
    users = [use.owner.operation for use in buffer.value.uses]
    axes = _axes(loop for user in users for loop in _loops_around(user))
    return axes <= kinds and any(is_thread_axis(op) for op in loops)


def _axes(loops: Iterable[ir.Operation]) -> set[str]:
    return {Loop(op).kind for op in loops if is_axis(op)}
