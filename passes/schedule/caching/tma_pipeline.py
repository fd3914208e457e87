"""tma_pipeline: let the tensor memory accelerator (TMA) of a GPU fill tiles ahead of what reads them."""

from __future__ import annotations

from dataclasses import dataclass

from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import (
    Block,
    Buffer,
    Loop,
    attrs,
    blocks_below,
    child_towards,
    defining_op,
    freeze_modules,
    is_inside,
    is_loop,
    walk,
)
from tir_mlir.dialect.ir.annotation_keys import TMA_COPY, TMA_PIPELINE
from tir_mlir.dialect.ir.op_traits import accessed_memref, is_pure
from tir_mlir.dialect.ir.op_views import AffineElementAccessOp, AffineLoadOp, AffineStoreOp, isa
from tir_mlir.passes.schedule.registry import check, check_plain, primitive, refuse


@dataclass(frozen=True)
class _BoxCopy:
    """A copy: its block, the op in the body of the loop that contains it, what it reads and what it writes."""

    block: Block
    top: object
    source: Buffer
    target: Buffer


@primitive("tma_pipeline", moves="nothing")
def tma_pipeline(copies: Block | list[Block], loop: Loop, stages: int = 2, specialize: bool = False) -> None:
    """Request that the TMA of a GPU makes copies, into `stages` tiles, ahead of the iterations that read them.

        for k in range(4):                           for k in T.serial(4, annotations={"tma_pipeline": [3, 0]}):
            for i, j in T.grid(64, 16):                  for i, j in T.grid(64, 16):
                with T.block("A_shared"):    ->              with T.block("A_shared"):
                    A_shared[i, ...] = A[...]                    T.block_attr({"tma_copy": 1})
            with T.block("C"):                                   A_shared[i, ...] = A[...]
                ... A_shared[...]                        with T.block("C"): ...

    The program does not change. `build` for sm_90 and later gives the buffers one tile more for each stage; one thread
    starts the copy of a whole tile (`cp.async.bulk.tensor`), whose bytes an mbarrier counts; readers wait for its
    phase. Elements outside of the source are zeros, so that a condition at a ragged end costs nothing. `swizzle` of
    the copy takes the pattern of the hardware. With `specialize` a warpgroup of its own makes the copies in a loop of
    its own, and what reads a tile says so by a second mbarrier: nobody else waits at barriers of the block.

    Requires: the copies are first in the body of a serial loop, each of one element of a parameter to a shared buffer
    of the program, which only this loop uses, by loops that are not bound; nothing in the loop writes the source.
    `build` refuses what the TMA cannot copy: it takes boxes of at most 256 elements a side, of arrays with rows of
    multiples of 16 bytes.
    """
    blocks = copies if isinstance(copies, list) else [copies]
    with freeze_modules():
        check_plain(loop, "tma_pipeline")
        check(type(stages) is int and stages >= 2, loop, f"stages is at least 2, not {stages}")
        check(
            bool(blocks) and len({b.id for b in blocks}) == len(blocks),
            loop,
            "copies are one or more blocks, each once",
        )
        check([i.as_constant() for i in loop.lowers] == [0], loop, f"loop {loop.name} does not begin at 0")
        found = [_copy(block, loop) for block in blocks]
        _check_positions(found, loop)
        for copy in found:
            emit_remark(
                f"`{copy.target.name}` is used in `{loop.name}` only, and each iteration fills it from "
                f"`{copy.source.name}`, which nothing there writes"
            )
    attrs.put(loop.op, attrs.ANNOTATIONS, {**loop.annotations, TMA_PIPELINE: [stages, int(specialize)]})
    for copy in found:
        attrs.put(copy.block.op, attrs.ANNOTATIONS, {**copy.block.annotations, TMA_COPY: 1})


def _copy(block: Block, loop: Loop) -> _BoxCopy:
    check(is_inside(block.op, loop.op), block, f"block {block.name} is not in loop {loop.name}")
    stores = [op for op in walk.ops(block.op) if isa(op, AffineStoreOp)]
    check(len(stores) == 1, block, f"block {block.name} stores {len(stores)} values; a copy stores one")
    load = defining_op(AffineStoreOp(stores[0]).value, AffineLoadOp)
    check(load is not None, block, f"block {block.name} stores a value that it computes; the TMA copies elements")
    assert load is not None
    source, target = Buffer(accessed_memref(load.op)), Buffer(accessed_memref(stores[0]))
    check(
        target.is_alloc and target.scope in ("shared", "shared.dyn"),
        block,
        f'{target.name} is of scope "{target.scope}"; the TMA fills shared memory',
        'cache_read(block, buffer, "shared")',
    )
    check(
        source.root.is_param,
        block,
        f"{source.name} is allocated in the program; the TMA reads arrays that the caller passes",
    )
    for use in target.value.uses:
        user = use.owner.operation
        if not isa(user, AffineElementAccessOp):
            refuse(user, f"an index of {target.name} is not affine")
        if not is_inside(user, loop.op):
            refuse(user, f"{target.name} is used outside of loop {loop.name}")
        if isa(user, AffineStoreOp) and user != stores[0]:
            refuse(user, f"{target.name} is also written here; the TMA alone fills a tile")
    written = {a.buffer for a in accesses(loop.op) if a.is_write}
    check(source.value not in written, block, f"{source.name}, which the copy reads, is written in loop {loop.name}")
    top = child_towards(loop.op, block.op)
    check(len(blocks_below(top)) == 1, block, f"the nest of block {block.name} in loop {loop.name} has other blocks")
    for op in [op for op in walk.ops(top) if is_loop(op)]:
        kind = Loop(op).kind
        check(
            kind in ("serial", "unrolled"),
            block,
            f"loop {Loop(op).name} around the copy is {kind}; one thread starts the copy of a whole tile",
            "leave the loops of the copy serial",
        )
    return _BoxCopy(block, top, source, target)


def _check_positions(found: list[_BoxCopy], loop: Loop) -> None:
    """Refuse copies that are not the first nests of the body."""
    body = [op for op in loop.body_ops() if not is_pure(op)]
    tops = [copy.top for copy in found]
    for op in body[: len(tops)]:
        if op not in tops:
            refuse(op, f"this is before the last copy in loop {loop.name}; copies are first")
    if len(body) == len(tops):
        refuse(loop, f"nothing in loop {loop.name} follows the copies")
