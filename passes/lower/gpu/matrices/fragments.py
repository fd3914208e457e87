"""Fragments as registers of each lane, and matrix functions as the instructions of tensor cores."""

from __future__ import annotations

from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Func, Loop, edit, is_fragment, is_loop, matrix_function, owner_op, walk
from tir_mlir.dialect.ir.op_traits import is_pure
from tir_mlir.dialect.ir.op_views import (
    AffineIfOp,
    AlignedPointerOp,
    AllocLikeOp,
    IntToPtrOp,
    StridedMetadataOp,
    ViewLikeOp,
    isa,
)
from tir_mlir.passes.lower.gpu.matrices.calls import MatrixCall, location_prefix
from tir_mlir.passes.lower.gpu.matrices.elements import lower_element_nests
from tir_mlir.passes.lower.gpu.matrices.mma import lower_mma
from tir_mlir.passes.lower.gpu.matrices.registers import FragmentRegisters
from tir_mlir.passes.lower.gpu.matrices.warp_syncs import needed_syncs, sync_warp
from tir_mlir.passes.lower.gpu.matrices.wmma import lower_wmma
from tir_mlir.passes.lower.registry import lowering, programs

_SOURCES = (ViewLikeOp, IntToPtrOp, AlignedPointerOp, StridedMetadataOp)


@lowering("tir-lower-gpu-fragments", "Make fragments registers of each lane, and matrix functions tensor core ops")
def run(module: ir.Module, warp: int | str = 32, features: str = "mma ldmatrix") -> None:
    """Make each buffer of fragments registers, in a `local` buffer, and each matrix function an op on them.

        %F = memref.alloc : memref<32x16xf32, "wmma.accumulator">      %F = memref.alloc : memref<2x8xf32, "local">
        if %t == 0 {                                               --> %m = gpu.subgroup_mma_load_matrix ..
          call @tvm_load_matrix_sync(%F, .., %A, 64)                   store the registers of %m in %F[0, ..]
        }

    A fragment of a scope `mma.*` is loaded by `ldmatrix` or by loads of each lane, and multiplied by `mma.sync`. Nests
    that access single elements of fragments become loops over the registers of each lane, see
    `elements.lower_element_nests`. The condition that the first lane stands for its warp is gone: all lanes run the op,
    after and before a `bar.warp.sync` if it accesses memory that lanes access otherwise. warp: the lanes of a warp, 1
    without matrix functions. features: what the chip has besides wmma. Requires the form after
    `tir-lower-gpu-barriers`. Errors: LoweringError for shapes, types and layouts that have no instruction, and for
    elements that another lane holds.
    """
    for func in programs(module):
        calls = [op for op in walk.ops(func.op) if matrix_function(op)]
        if calls and int(warp) != 32:
            where = "for NVIDIA's GPUs from sm_70 on only"
            raise LoweringError(f'{location_prefix(calls[0])} has code {where}; fix: build for CUDA("sm_80")')
        if calls or any(map(_is_allocation, walk.ops(func.op))):
            _lower(func, calls, frozenset(features.split()))


def _lower(func: Func, calls: Sequence[ir.Operation], features: frozenset[str]) -> None:
    guards = [_first_lane(op) for op in calls]
    lanes = [axis for _, axis in guards]
    for guard in dict.fromkeys(guard for guard, _ in guards):
        for inner in [o.operation for o in guard.regions[0].blocks[0].operations][:-1]:
            edit.move_before(inner, guard)
        edit.drop(guard)
    syncs = needed_syncs(func, calls)
    allocs = [op for op in walk.ops(func.op) if _is_allocation(op)]
    fragments: dict[ir.Value, FragmentRegisters] = {op.results[0]: FragmentRegisters.allocate(op) for op in allocs}
    lower_element_nests(func, fragments)
    matrix_calls = [MatrixCall(op, fragments, loop) for op, loop in zip(calls, lanes, strict=True)]
    for call in matrix_calls:
        if call.name == "tvm_load_matrix_sync":
            _note_layout(call)
    for call, sync in zip(matrix_calls, syncs, strict=True):
        with ir.InsertionPoint(call.op), call.op.location:
            _lower_call(call, features, sync)
        _drop_with_sources(call.op)
    for fragment in fragments.values():
        _drop_views(fragment.alloc)


def _is_allocation(op: ir.Operation) -> bool:
    """Whether an op allocates a buffer of fragments."""
    return isa(op, AllocLikeOp) and is_fragment(Buffer(op.results[0]))


def _lower_call(call: MatrixCall, features: frozenset[str], syncs: tuple[bool, bool]) -> None:
    """Emit the ops of a call, with the warp in step before and after it."""
    if syncs[0]:
        sync_warp()
    if call.fragment(0).of.layout is None:
        lower_wmma(call)
    else:
        lower_mma(call, features)
    if syncs[1]:
        sync_warp()


def _note_layout(call: MatrixCall) -> None:
    """All loads of a buffer have one layout, which the product takes."""
    fragment = call.fragment(0).of
    if call.layout not in ("row_major", "col_major") or fragment.loaded not in ("", call.layout):
        others = f"the others of its buffer have {fragment.loaded}"
        choices = others if fragment.loaded else "there are row_major and col_major"
        raise call.refusal(f"has the layout {call.layout}; {choices}")
    fragment.loaded = call.layout


def _first_lane(op: ir.Operation) -> tuple[ir.Operation, Loop]:
    """The condition of the first lane around a call, and the loop over lanes."""
    guard = next((p for p in walk.parents(op) if isa(p, AffineIfOp)), None)
    axis = _first_of(guard)
    if guard is None or axis is None or axis.kind != "threadIdx.x":
        raise LoweringError(
            f"{location_prefix(op)} is not under the condition of a first lane; run tir-lower-gpu-warps"
        )
    if (axis.const_extent or 1) % 32:
        raise LoweringError(
            f"{location_prefix(op)} is run by whole warps, and a block has {axis.const_extent} threads along "
            "threadIdx.x; fix: "
            "make the loops over threadIdx.x run multiples of 32 iterations"
        )
    for outer in walk.parents(guard):
        alone = _first_of(outer)
        if alone is not None and matrix_function(op) != "tvm_store_matrix_sync":
            raise LoweringError(
                f"{location_prefix(op)} is outside of the loop over {alone.kind}: other warps have no value in "
                "their fragments; "
                f"fix: compute_at it inside of loop {alone.name}"
            )
    return guard, axis


def _first_of(op: ir.Operation | None) -> Loop | None:
    """The axis whose first index an `affine.if` asks for."""
    if op is None or not isa(op, AffineIfOp):
        return None
    for constraint in walk.constraints(op):
        value = constraint.index.simplify().is_value()
        if constraint.is_eq and value is not None and is_loop(owner_op(value)):
            return Loop(owner_op(value))
    return None


def _drop_with_sources(op: ir.Operation) -> None:
    """Drop an op, and views, pointers and numbers that only it used."""
    pending = [op]
    sources: dict[ir.Operation, None] = {}
    while pending:
        for value in pending.pop().operands:
            source = None if isinstance(value.owner, ir.Block) else value.owner.operation
            if source is not None and source not in sources and (isa(source, *_SOURCES) or is_pure(source)):
                sources[source] = None
                pending.append(source)
    edit.drop(op)
    left = list(sources)
    while unused := [one for one in left if not any(True for result in one.results for _ in result.uses)]:
        left = [one for one in left if one not in unused]
        for one in unused:
            edit.drop(one)


def _drop_views(alloc: ir.Operation) -> None:
    """Drop a buffer and what is computed from it, which no op uses."""

    def drop(op: ir.Operation) -> None:
        for user in [use.owner.operation for result in op.results for use in result.uses]:
            drop(user)
        edit.drop(op)

    drop(alloc)
