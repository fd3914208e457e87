"""storage_align: align the stride of a buffer dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tir_mlir.dialect.analysis import buffers, has_fixed_pointer
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Block, Buffer, attrs, is_block, parents
from tir_mlir.dialect.ir.annotation_keys import ALIGN, SWIZZLE
from tir_mlir.dialect.ir.op_views import StoreOp, isa
from tir_mlir.passes.schedule.edits import find_buffer
from tir_mlir.passes.schedule.registry import check, primitive, refuse, warn


@primitive("storage_align", moves="nothing")
def storage_align(block: Block, buffer_index: int | str, axis: int, factor: int, offset: int) -> None:
    """Request the stride of an axis to be a multiple of `factor` plus `offset`.

        with T.block("b"):                      with T.block("b"):
            Y[vi, vj] = ...             ->          T.block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})
                                                    Y[vi, vj] = ...

    The annotation is [position in `T.writes`, axis, factor, offset]; a second call for the same axis replaces the
    first. Lowering picks the smallest stride s with s % factor == offset % factor that leaves room for the inner
    dimensions. Values do not change.

    Requires: the program allocates the buffer, and no call gets a pointer into it, or into a view of several of its
    rows, without the strides; it has no swizzle; -rank <= axis < rank; factor > 0. `buffer_index` is a position in
    `T.writes`, or a name.
    """
    buffer = find_buffer(block, buffer_index, attrs.WRITES)
    number, rank = buffers(block)[1].index(buffer), buffer.rank
    check(factor > 0, block, f"the factor {factor} is not positive; strides are multiples of it, plus {offset}")
    check(-rank <= axis < rank, block, f"axis {axis} of {buffer.name} is not in [-{rank}, {rank})")
    by_caller = f"{buffer.name} is a parameter of the function, whose strides the caller chooses"
    check(buffer.is_alloc, block, f"{by_caller}; cache_write it and align the copy")
    check(
        not has_fixed_pointer(buffer, axis % rank),
        block,
        f"{buffer.name} is not only loaded and stored: a pointer into it depends on its strides",
        "in the program, pass the strides along, as C.strides of a T.match_buffer with strides",
    )
    check(
        number not in read_positions(block, SWIZZLE),
        block,
        f"the addresses of {buffer.name} are permuted by swizzle, which serves the same end",
        f'unannotate(block, "{SWIZZLE}")',
    )
    emit_remark(f"the program allocates `{buffer.name}`, and nothing relies on its strides")
    old_entries = block.annotations.get(ALIGN, [])
    check_entries(block, old_entries)

    axis %= rank
    new_entry = [number, axis, factor, offset]
    entries = [new_entry if entry[:2] == [number, axis] else entry for entry in old_entries]
    entries += [] if new_entry in entries else [new_entry]
    attrs.put(block.op, attrs.ANNOTATIONS, {**block.annotations, ALIGN: entries})


def check_entries(block: Block, entries: Any) -> None:
    """Refuse an annotation that is not a list of [buffer, axis, factor, offset]."""
    good = isinstance(entries, list) and all(
        isinstance(e, list) and len(e) == 4 and all(isinstance(n, int) for n in e) for e in entries
    )
    if not good:
        text = f'block "{block.name}" has {ALIGN} = {entries!r}, which is not a list of [buffer, axis, factor, offset]'
        refuse(block, text, fix=f'unannotate(block, "{ALIGN}") removes it')


def follow_axes(buffer: Buffer, axes: Sequence[int | None]) -> None:
    """Let alignments that blocks request for a buffer name the axes that its old ones have become.

    axes: for each old axis the new one along which its neighbours lie; None: there is none, and a warning says that the
    alignment is gone.
    """
    for block in _writers(buffer):
        entries, kept = block.annotations[ALIGN], []
        check_entries(block, entries)
        number = [written.value for written in buffers(block)[1]].index(buffer.value)
        for position, axis, *rest in entries:
            new = axes[axis] if position == number and 0 <= axis < len(axes) else axis
            if new is None:
                warn(f"the alignment of axis {axis} of {buffer.name} is gone: no axis of the new layout has its rows")
            else:
                kept.append([position, new, *rest])
        others = {key: value for key, value in block.annotations.items() if key != ALIGN}
        attrs.put(block.op, attrs.ANNOTATIONS, {**others, ALIGN: kept} if kept else others)


def _writers(buffer: Buffer) -> list[Block]:
    """The blocks that store to a buffer and request alignments."""
    stores = [use.owner.operation for use in buffer.value.uses if isa(use.owner.operation, StoreOp)]
    around = dict.fromkeys(op for store in stores for op in parents(store) if is_block(op))
    return [block for block in map(Block, around) if ALIGN in block.annotations]


def read_positions(block: Block, key: str) -> list[int]:
    """The positions of buffers in an annotation. Refuses one that is not a list of them."""
    found = block.annotations.get(key, [])
    if not isinstance(found, list) or any(type(number) is not int for number in found):
        text = f'block "{block.name}" has {key} = {found!r}, which is not a list of positions in `T.writes`'
        refuse(block, text, fix=f'unannotate(block, "{key}") removes it')
    return found
