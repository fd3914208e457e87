"""What a copy relies on: it takes only what was written, and the block behind it needs nothing from before."""

from __future__ import annotations

from tir_mlir.dialect.analysis import Access, unwritten_reads
from tir_mlir.dialect.analysis.accesses import accesses
from tir_mlir.dialect.ir import Block, Buffer, only_reads
from tir_mlir.dialect.presburger import question
from tir_mlir.passes.schedule.legality import Scope, meeting, uncovered
from tir_mlir.passes.schedule.registry import refuse


def touching(block: Block, buffer: Buffer, writes: bool) -> list[Access]:
    """The reads, or the writes, of one buffer beneath a block."""
    return [a for a in accesses(block.op) if a.buffer == buffer.value and a.is_write == writes]


def check_box(buffer: Buffer, writer: Block, copy: Block, fix: str = "") -> None:
    """Refuse when a copy reads more of a buffer than the writer fills in the same iteration; `fix`: the way out."""
    level = meeting(writer.op, copy.op)[0]
    missing = uncovered(touching(copy, buffer, writes=False), touching(writer, buffer, writes=True), level)
    if missing:
        refuse(
            writer,
            f'block "{writer.name}" does not fill a box: the copy would also take {missing}, which it does not write',
            counterexample=missing,
            fix=fix,
        )


@only_reads
def check_filled(scope: Scope, cache: Buffer, block: Block, copy: Block, fix: str = "") -> None:
    """The write-back takes only what the block wrote, and the block itself relies on nothing from before."""
    check_box(cache, block, copy, fix or f'in the program, let block "{block.name}" write the rest, too')
    if not touching(block, cache, writes=False):
        return
    with question(f"whether {cache.name} is written before it is read"):
        found = unwritten_reads(cache.value, scope.op, block.op)
    if found is not None:
        touch, point = found
        refuse(
            block,
            f"at {touch.at(point)} the block reads what the buffer held before it wrote "
            "there; a cache would be empty: the block needs an init or a first write",
            counterexample=touch.example(point),
        )
