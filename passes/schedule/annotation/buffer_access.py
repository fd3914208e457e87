"""annotate_buffer_access, unsafe_hide_buffer_access: override, or drop, a region that a block declares for a buffer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from tir_mlir.dialect.analysis import EXPLICIT, Region, declare, explicit, hide
from tir_mlir.dialect.analysis.regions import regions
from tir_mlir.dialect.diagnostics import IndexMapError, NotAffine
from tir_mlir.dialect.index_maps import RegionMap
from tir_mlir.dialect.ir import Block, Index, attrs
from tir_mlir.passes.schedule.registry import check, primitive, refuse

KEYS = {"read": attrs.READS, "write": attrs.WRITES}


@primitive("annotate_buffer_access", moves="nothing", proves=False)
def annotate_buffer_access(
    block: Block,
    buffer_index: int,
    buf_type: Literal["read", "write"],
    gen_new_ranges: RegionMap | str | Callable[..., Any],
) -> None:
    """Declare which region of a buffer a block reads or writes, instead of the computed one.

        T.reads(A[vi])                  ->      T.reads(A[vi - 1 : vi + 1])
                                                T.block_attr({"explicit_read_region": [0]})

    `gen_new_ranges` maps the iters to an expression or (begin, end) for each dimension. The computation does not
    change. The declared region is trusted: it may be smaller than the accesses. Dependence tests still use the
    accesses, so the declaration does not affect the legality of later steps.

    Requires: the block reads (writes) a buffer of that index, in the order of `T.reads` (`T.writes`); affine
    expressions, one entry a dimension.
    """
    key = KEYS[buf_type]
    declared_regions = regions(block)[0 if buf_type == "read" else 1]
    check_region_index(block, buffer_index, buf_type, len(declared_regions))
    region = declared_regions[buffer_index]
    try:
        spans = RegionMap.wrap(gen_new_ranges).apply([Index.from_value(i.var) for i in block.iters])
    except (IndexMapError, NotAffine) as error:
        refuse(block, str(error), fix=_fix(block))
    rank = region.buffer.rank
    check(
        len(spans) == rank,
        block,
        f"the lambda returns {len(spans)} ranges; {region.buffer.name} has {rank} dimensions, "
        "each needs an expression or (begin, end)",
    )

    new_region = Region(region.buffer, tuple(a for a, _ in spans), tuple((b - a).simplify() for a, b in spans))
    declared_regions = [new_region if n == buffer_index else r for n, r in enumerate(declared_regions)]
    declare(block, key, declared_regions)
    numbers = explicit(block, key)
    numbers = numbers if buffer_index in numbers else [*numbers, buffer_index]
    attrs.put(block.op, attrs.ANNOTATIONS, {**block.annotations, EXPLICIT[key]: numbers})


def check_region_index(block: Block, number: int, word: str, count: int) -> None:
    """Refuse an index that is out of range for the regions of a block."""
    if not 0 <= number < count:
        has = f"it has {count}, counted from 0" if count else "it has none"
        refuse(block, f'block "{block.name}" has no {word} region number {number}; {has}')


def _fix(block: Block) -> str:
    """Fix for ranges of the wrong form."""
    names = ", ".join(i.name for i in block.iters)
    return f"write it as lambda {names}: with an affine expression or (begin, end) for each dimension"


@primitive("unsafe_hide_buffer_access", moves="in place", proves=False)
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
