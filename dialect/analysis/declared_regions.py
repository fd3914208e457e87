"""Declared regions that may be smaller than the accesses of their block, at the user's responsibility.

Proofs never rely on them: dependences, dataflow and coverage are computed from the accesses.
"""

from __future__ import annotations

from tir_mlir.dialect.analysis.accesses import of_op
from tir_mlir.dialect.analysis.regions import Region, computed, declared
from tir_mlir.dialect.ir import Block, attrs, is_block, ops

EXPLICIT = {attrs.READS: "explicit_read_region", attrs.WRITES: "explicit_write_region"}
"""Annotations of a block: the numbers of the regions declared by annotate_buffer_access."""
WORDS = {attrs.READS: "reads", attrs.WRITES: "writes"}


def hides(block: Block, key: str) -> bool:
    """Whether unsafe_hide_buffer_access removed regions from the declarations of a block."""
    return WORDS[key] in attrs.get(block.op, attrs.HIDDEN, [])


def hide(block: Block, key: str) -> None:
    """Record that regions are missing from the declarations of a block."""
    known = attrs.get(block.op, attrs.HIDDEN, [])
    attrs.put(block.op, attrs.HIDDEN, sorted({*known, WORDS[key]}))


def explicit(block: Block, key: str) -> list[int]:
    """The numbers of the regions that the user declared by annotate_buffer_access."""
    found = block.annotations.get(EXPLICIT[key], [])
    return [n for n in found if isinstance(n, int)] if isinstance(found, list) else []


def only_groups(block: Block) -> bool:
    """Whether a block without iters has no declarations and no accesses besides those of nested blocks."""
    given = [attrs.get(block.op, key) for key in (attrs.READS, attrs.WRITES)]
    if block.iters or [] not in given or any(given):
        return False
    # the parser drops declarations equal to the computed regions
    if None in given and computed(block)[given.index(None)]:
        return False
    return not any(of_op(op) for op in ops(block.op, skip=lambda o: o != block.op and is_block(o)))


def trusted(block: Block) -> tuple[list[Region], list[Region]]:
    """The declared regions of a block if its accesses confirm them, else the computed regions."""
    found = []
    for key, actual in zip((attrs.READS, attrs.WRITES), computed(block), strict=True):
        unverified = hides(block, key) or explicit(block, key) or only_groups(block)
        found.append(actual if unverified else declared(block, key, actual))
    return found[0], found[1]
