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
    hidden = attrs.get(block.op, attrs.HIDDEN, [])
    attrs.put(block.op, attrs.HIDDEN, sorted({*hidden, WORDS[key]}))


def explicit(block: Block, key: str) -> list[int]:
    """The numbers of the regions that the user declared by annotate_buffer_access."""
    numbers = block.annotations.get(EXPLICIT[key], [])
    return [n for n in numbers if isinstance(n, int)] if isinstance(numbers, list) else []


def only_groups(block: Block) -> bool:
    """Whether a block without iters has no declarations and no accesses besides those of nested blocks."""
    declarations = [attrs.get(block.op, key) for key in (attrs.READS, attrs.WRITES)]
    if block.iters or [] not in declarations or any(declarations):
        return False
    # the parser drops declarations equal to the computed regions
    if None in declarations and computed(block)[declarations.index(None)]:
        return False
    return not any(of_op(op) for op in ops(block.op, skip=lambda o: o != block.op and is_block(o)))


def trusted(block: Block) -> tuple[list[Region], list[Region]]:
    """The declared regions of a block if its accesses confirm them, else the computed regions."""
    result = []
    for key, actual in zip((attrs.READS, attrs.WRITES), computed(block), strict=True):
        unverified = hides(block, key) or explicit(block, key) or only_groups(block)
        result.append(actual if unverified else declared(block, key, actual))
    return result[0], result[1]
