"""swizzle: permute the addresses of a shared buffer against bank conflicts."""

from __future__ import annotations

from tir_mlir.dialect.analysis import buffers
from tir_mlir.dialect.diagnostics import emit_remark
from tir_mlir.dialect.ir import Block, attrs
from tir_mlir.dialect.ir.annotation_keys import ALIGN, SWIZZLE
from tir_mlir.passes.schedule.edits import find_buffer
from tir_mlir.passes.schedule.layout.storage_align import check_entries, read_positions
from tir_mlir.passes.schedule.registry import check, primitive


@primitive("swizzle", moves="nothing")
def swizzle(block: Block, buffer_index: int | str) -> None:
    """Request a permutation of the addresses of a shared buffer without bank conflicts.

        with T.block("S"):                      with T.block("S"):
            S[vi, vj] = ...             ->          T.block_attr({"swizzle": [0]})
                                                    S[vi, vj] = ...

    The annotation lists positions in `T.writes`. `build` for a GPU counts the passes over the banks that the accesses
    of warps take, and xors bits of the addresses with higher ones so that each takes the fewest; elements that one
    access loads or stores remain adjacent. It refuses a buffer for which no such permutation is found. Indices and
    values do not change: proofs see a plain buffer.

    Requires: the program allocates the buffer, in scope shared, without storage_align. `buffer_index` is a position in
    `T.writes`, or a name.
    """
    buffer = find_buffer(block, buffer_index, attrs.WRITES)
    number = buffers(block)[1].index(buffer)
    check(
        buffer.is_alloc,
        block,
        f"{buffer.name} is a parameter of the function, whose addresses the caller chooses",
        f'cache_read({buffer.name}, "shared"), and swizzle the copy where it is read; or cache_write it',
    )
    check(
        buffer.scope in ("shared", "shared.dyn"),
        block,
        f'{buffer.name} is of scope "{buffer.scope}"; only shared memory has banks',
        'set_scope(block, buffer_index, "shared")',
    )
    aligned = block.annotations.get(ALIGN, [])
    check_entries(block, aligned)
    check(
        all(entry[0] != number for entry in aligned),
        block,
        f"the rows of {buffer.name} are padded by storage_align, which serves the same end",
        f'unannotate(block, "{ALIGN}")',
    )
    entries = read_positions(block, SWIZZLE)
    emit_remark(f"the program allocates `{buffer.name}` in shared memory: its addresses are its own")
    attrs.put(block.op, attrs.ANNOTATIONS, {**block.annotations, SWIZZLE: sorted({*entries, number})})
