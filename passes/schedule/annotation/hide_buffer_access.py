"""unsafe_hide_buffer_access: drop regions from what a block declares."""

from __future__ import annotations

from typing import Literal

from tir_mlir.dialect.analysis import EXPLICIT, declare, explicit, hide
from tir_mlir.dialect.analysis.regions import regions
from tir_mlir.dialect.ir import Block, attrs
from tir_mlir.passes.schedule.annotation.annotate_buffer_access import KEYS, check_region_index
from tir_mlir.passes.schedule.registry import primitive


@primitive("unsafe_hide_buffer_access", moves="in place")
def unsafe_hide_buffer_access(block: Block, buf_type: Literal["read", "write"], buf_index_array: list[int]) -> None:
    """Drop regions from what a block declares to read or write.

        T.reads(A[vi], B[vi])           ->      T.reads(B[vi])

    The computation does not change. Unsafe: the declared regions are then smaller than the accesses, and are trusted.
    Dependence tests still use the accesses, so dependences through a hidden buffer still count.

    Requires: the block has read (write) regions of these indices, in the order of `T.reads` (`T.writes`).
    """
    key = KEYS[buf_type]
    all_regions = regions(block)[0 if buf_type == "read" else 1]
    for number in buf_index_array:
        check_region_index(block, number, buf_type, len(all_regions))
    if not buf_index_array:
        return

    visible = [n for n in range(len(all_regions)) if n not in buf_index_array]
    declare(block, key, [all_regions[n] for n in visible])
    hide(block, key)
    if numbers := explicit(block, key):
        moved = [visible.index(n) for n in numbers if n in visible]
        facts = {k: v for k, v in block.annotations.items() if k != EXPLICIT[key]}
        attrs.put(block.op, attrs.ANNOTATIONS, {**facts, EXPLICIT[key]: moved} if moved else facts)
