"""storage_align: how far apart the rows of a buffer lie in memory."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.analysis import buffers
from tir_mlir.dialect.ir import Block, attrs
from tir_mlir.passes.schedule.edits import pick
from tir_mlir.passes.schedule.registry import check, primitive, refuse

KEY = "buffer_dim_align"


@primitive("storage_align")
def storage_align(block: Block, buffer_index: int | str, axis: int, factor: int, offset: int) -> None:
    """Ask for the stride of an axis to be `offset` more than a multiple of `factor`.

        with T.block("b"):                      with T.block("b"):
            Y[vi, vj] = ...             ->          T.block_attr({"buffer_dim_align": [[0, 0, 32, 8]]})
                                                    Y[vi, vj] = ...

    The annotation holds the number of the buffer among the writes of the block, the axis, factor and offset; a second
    call for the same axis takes the place of the first. Lowering honours it: the least stride s with
    s % factor == offset % factor that leaves room for what lies inside the axis. Elements stay what they are.

    Requires: the program allocates the buffer; -rank <= axis < rank; factor > 0. `buffer_index` counts the buffers as
    `T.writes` prints them, or is a name.
    """
    buffer = pick(block, buffer_index, attrs.WRITES)
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
        f"axis {axis} of {buffer.name} does not lie in [-{rank}, {rank})",
    )
    check(
        buffer.is_alloc,
        block,
        f"{buffer.name} is a parameter of the function, its strides are given; cache_write it and align the copy",
    )
    known = block.annotations.get(KEY, [])
    check_entries(block, known)

    axis %= rank
    given = [number, axis, factor, offset]
    entries = [given if entry[:2] == [number, axis] else entry for entry in known]
    entries += [] if given in entries else [given]
    attrs.put(block.op, attrs.ANNOTATIONS, {**block.annotations, KEY: entries})


def check_entries(block: Block, known: Any) -> None:
    """Refuse an annotation that is no list of [buffer, axis, factor, offset]."""
    good = isinstance(known, list) and all(
        isinstance(e, list) and len(e) == 4 and all(isinstance(n, int) for n in e) for e in known
    )
    if not good:
        text = f'block "{block.name}" has {KEY} = {known!r}, which is no list of [buffer, axis, factor, offset]'
        refuse(block, text, fix=f'unannotate(block, "{KEY}") takes it off')
