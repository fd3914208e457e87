"""unsafe_hide_buffer_access: regions leave what a block declares."""

from __future__ import annotations

from typing import Literal

from tir_mlir.dialect.analysis import EXPLICIT, declare, explicit, hide
from tir_mlir.dialect.analysis.regions import regions
from tir_mlir.dialect.ir import Block, attrs
from tir_mlir.passes.schedule.annotation.annotate_buffer_access import KEYS, check_number
from tir_mlir.passes.schedule.registry import primitive


@primitive("unsafe_hide_buffer_access")
def unsafe_hide_buffer_access(block: Block, buf_type: Literal["read", "write"], buf_index_array: list[int]) -> None:
    """Leave regions out of what a block declares to read or write.

        T.reads(A[vi], B[vi])           ->      T.reads(B[vi])

    The block computes what it did. Unsafe: the declared regions are less than what it touches, and the user vouches
    that this is meant. Proofs go on asking the accesses, so dependences through what is hidden still count.

    Requires: the block has read (write) regions of these numbers, as `T.reads` (`T.writes`) prints them.
    """
    key = KEYS[buf_type]
    found = regions(block)[0 if buf_type == "read" else 1]
    for number in buf_index_array:
        check_number(block, number, buf_type, len(found))
    if not buf_index_array:
        return

    kept = [n for n in range(len(found)) if n not in buf_index_array]
    declare(block, key, [found[n] for n in kept])
    hide(block, key)
    if numbers := explicit(block, key):
        moved = [kept.index(n) for n in numbers if n in kept]
        facts = {k: v for k, v in block.annotations.items() if k != EXPLICIT[key]}
        attrs.put(block.op, attrs.ANNOTATIONS, {**facts, EXPLICIT[key]: moved} if moved else facts)
