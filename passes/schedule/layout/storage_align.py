"""storage_align: align the stride of a buffer dimension."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.analysis import buffers
from tir_mlir.dialect.ir import Block, attrs
from tir_mlir.passes.schedule.edits import find_buffer
from tir_mlir.passes.schedule.registry import check, primitive, refuse

ALIGN_KEY = "buffer_dim_align"


@primitive("storage_align")
def storage_align(block: Block, buffer_index: int | str, axis: int, factor: int, offset: int) -> None:
    """Request the stride of an axis to be a multiple of `factor` plus `offset`.

        with T.block("b"):                      with T.block("b"):
            Y[vi, vj] = ...             ->          T.block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})
                                                    Y[vi, vj] = ...

    The annotation is [position in `T.writes`, axis, factor, offset]; a second call for the same axis replaces the
    first. Lowering picks the smallest stride s with s % factor == offset % factor that leaves room for the inner
    dimensions. Values do not change.

    Requires: the program allocates the buffer; -rank <= axis < rank; factor > 0. `buffer_index` is a position in
    `T.writes`, or a name.
    """
    buffer = find_buffer(block, buffer_index, attrs.WRITES)
    number = buffers(block)[1].index(buffer)
    check(
        factor > 0,
        block,
        f"the factor {factor} is not positive; strides are multiples of it, plus {offset}",
    )
    rank = buffer.rank
    check(
        -rank <= axis < rank,
        block,
        f"axis {axis} of {buffer.name} is not in [-{rank}, {rank})",
    )
    check(
        buffer.is_alloc,
        block,
        f"{buffer.name} is a parameter of the function, whose strides the caller chooses; "
        "cache_write it and align the copy",
    )
    known = block.annotations.get(ALIGN_KEY, [])
    check_entries(block, known)

    axis %= rank
    given = [number, axis, factor, offset]
    entries = [given if entry[:2] == [number, axis] else entry for entry in known]
    entries += [] if given in entries else [given]
    attrs.put(block.op, attrs.ANNOTATIONS, {**block.annotations, ALIGN_KEY: entries})


def check_entries(block: Block, known: Any) -> None:
    """Refuse an annotation that is not a list of [buffer, axis, factor, offset]."""
    good = isinstance(known, list) and all(
        isinstance(e, list) and len(e) == 4 and all(isinstance(n, int) for n in e) for e in known
    )
    if not good:
        text = (
            f'block "{block.name}" has {ALIGN_KEY} = {known!r}, which is not a list of [buffer, axis, factor, offset]'
        )
        refuse(block, text, fix=f'unannotate(block, "{ALIGN_KEY}") removes it')
