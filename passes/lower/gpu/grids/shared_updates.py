"""Updates of one array by all blocks, by way of a copy that each block has in shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import NoReturn

from mlir import ir

from tir_mlir.dialect.analysis.accesses import touches
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Constraint, Index, Loop, annotation_keys, attrs, create, edit, is_loop, walk
from tir_mlir.dialect.ir.op_traits import MEMREF_OPERAND, accessed_memref
from tir_mlir.dialect.ir.op_views import ElementStoreOp, isa
from tir_mlir.passes.lower.gpu.combinations import OperatorCombination, Update, update_of
from tir_mlir.passes.lower.gpu.nests import DEVICE, owner_of
from tir_mlir.passes.lower.gpu.thread_tags import is_axis, is_block_kind
from tir_mlir.passes.lower.registry import Content, location_text, lowering, programs

_THREADS = "threadIdx.x"


@lowering(
    "tir-lower-gpu-shared-updates",
    "Let blocks update a copy in shared memory, where the annotation says so",
    works_on=Content(annotations={annotation_keys.SHARED_UPDATES}),
)
def run(module: ir.Module) -> None:
    """Give each block a copy of an array that all blocks update, and add it to the array in the end.

        for %b in blockIdx.x {                                    for %b in blockIdx.x {
          for %t in threadIdx.x: %H[..] = %H[..] + %x               for %t in threadIdx.x: %S[%t] = 0
        } {tir.annotations = {shared_updates = "H"}}      -->       for %t in threadIdx.x: %S[..] = %S[..] + %x
                                                                    for %t in threadIdx.x: %H[%t] = %H[%t] + %S[%t]
                                                                  }

    Right as the operator is associative and commutes; the updates become atomic, and barriers come between, by
    the passes after this one. Requires blocks to be removed. Errors: LoweringError if the loop is not over blocks, or
    uses the array in another way.
    """
    for func in programs(module):
        for op in [op for op in walk.ops(func.op) if is_loop(op)]:
            notes = Loop(op).annotations
            if (name := notes.pop(annotation_keys.SHARED_UPDATES, None)) is not None:
                attrs.put(op, attrs.ANNOTATIONS, notes)
                _rewrite(Loop(op), str(name))


def _rewrite(loop: Loop, name: str) -> None:
    found = [u for op in walk.ops(loop.op) if isa(op, ElementStoreOp) and (u := update_of(op)) is not None]
    updates = [u for u in found if Buffer(accessed_memref(u.stores[0])).name == name]
    threads = [Loop(op).const_extent for op in walk.ops(loop.op) if is_axis(op) and Loop(op).kind == _THREADS]
    inner = [op for op in walk.ops(loop.op) if op != loop.op and is_axis(op) and is_block_kind(Loop(op).kind)]
    outer = [op for op in walk.parents(loop.op) if is_axis(op) and not is_block_kind(Loop(op).kind)]
    if not is_block_kind(loop.kind) or inner or outer or not threads or None in threads:
        _refuse(loop, f"it is not the innermost loop over blocks around loops over {_THREADS}")
    if not updates:
        _refuse(loop, f"it updates no array {name}")
    combination, buffer = updates[0].combination, Buffer(accessed_memref(updates[0].stores[0]))
    ops = {op for u in updates for op in (*u.stores, *u.loads)}
    if any(t.buffer == buffer.value and t.op not in ops for t in touches(loop.op)):
        _refuse(loop, f"it uses {name} in another way, too")
    if not isinstance(combination, OperatorCombination) or None in buffer.shape or owner_of(buffer) != DEVICE:
        _refuse(loop, f"{name} is not an array of constant size in global memory that an operator updates")
    if len({u.combination.op.name for u in updates if isinstance(u.combination, OperatorCombination)}) != 1:
        _refuse(loop, f"it updates {name} by several operators")
    _share(loop, buffer, updates, combination, max(n or 0 for n in threads))


def _refuse(loop: Loop, why: str) -> NoReturn:
    raise LoweringError(
        f'{location_text(loop.op)}: loop "{loop.name}" cannot update a copy in shared memory: {why}; fix: leave the '
        f'annotation "{annotation_keys.SHARED_UPDATES}" out'
    )


def _share(loop: Loop, buffer: Buffer, updates: list[Update], combination: OperatorCombination, threads: int) -> None:
    shape = [size or 0 for size in buffer.shape]
    with create.at_start(loop.body), loop.op.location:
        copy = create.alloc(f"{buffer.name}_shared", shape, buffer.dtype, "shared")
    for update in updates:
        for op in (*update.loads, *update.stores):
            edit.set_operand(op, MEMREF_OPERAND[op.name], copy)

    def clear(indices: list[Index]) -> None:
        starts = combination.starts() or []
        create.store(starts[0], copy, indices)

    def add(indices: list[Index]) -> None:
        (total,) = combination.combine([create.load(buffer.value, indices)], [create.load(copy, indices)])
        create.store(total, buffer.value, indices)

    first = next(o for o in loop.body_ops() if o != copy.owner)
    with loop.op.location:
        _for_each(shape, threads, ir.InsertionPoint(first), clear)
        _for_each(shape, threads, create.at_end(loop.body), add)


def _for_each(shape: list[int], threads: int, ip: ir.InsertionPoint, work: Callable[[list[Index]], None]) -> None:
    """Do something for each element of an array, by the threads along its last dimension."""
    indices: list[Index] = []
    *outer, last = shape or [1]
    for number, size in enumerate(outer):
        with ip:
            row = create.loop(f"ax{number}", 0, size)
        indices.append(Index.from_value(row.var))
        ip = create.at_end(row.body)
    with ip:
        turn = create.loop(f"ax{len(outer)}_0", 0, -(-last // threads))
    with create.at_end(turn.body):
        thread = create.loop(f"ax{len(outer)}_1", 0, threads, _THREADS)
    ip, index = create.at_end(thread.body), Index.from_value(turn.var) * threads + Index.from_value(thread.var)
    if last % threads:
        with ip:
            ip = create.at_end(create.guard([Constraint(last - 1 - index)]).regions[0].blocks[0])
    with ip:
        work([*indices, index] if shape else [])
