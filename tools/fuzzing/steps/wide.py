"""More random steps: unusual loops, block layouts, padding, sampling, intrinsics."""

from __future__ import annotations

from typing import Any

from fuzzing.steps.choice import Arguments, Choice, Maker
from fuzzing.steps.instructions import instruction
from fuzzing.steps.layout import LAYOUTS
from fuzzing.steps.whole_blocks import whole
from tir_mlir import IndexMap


def merge(c: Choice) -> Arguments:
    """Loops of equal depth in sibling nests, or any loops."""
    if c.often(0.1):
        return [c.loop() for _ in range(c.one((2, 3, 1)))], {}
    first = c.loops(c.block())
    if not first:
        raise c.nothing
    depth = c.random.randrange(min(2, len(first)))
    extent = c.info(first[depth]).extent
    nests = [loops for b in c.blocks if len(loops := c.loops(b)) > depth and loops[depth] != first[depth]]
    alike = [loops[depth] for loops in nests if c.info(loops[depth]).extent == extent]
    return [first[depth], *dict.fromkeys(c.some(alike)[:2])], {}


def fission(c: Choice) -> Arguments:
    """A loop around several blocks, and one of them; occasionally any loop and block."""
    shared = [(lp, held) for b in c.blocks for lp in c.loops(b) if len(held := c.sch.get_child_blocks(lp)) > 1]
    if c.often(0.05):
        return [c.loop(), c.block()], {}
    loop, held = c.one(shared)
    return [loop, c.one(held[:-1])], {}


def loop_partition(c: Choice) -> Arguments:
    kwargs = {"preserve_unit_iters": False} if c.often(0.3) else {}
    return [c.loop(), c.one(([1], [2, None], [3], [1, 2], [None, 2], [1, None, 1], [0], [None, None]))], kwargs


def version_loop(c: Choice) -> Arguments:
    return [c.loop(), c.one(([1], [7], [2, 16], [0], [3, 3], []))], {}


def add_unit_loop(c: Choice) -> Arguments:
    return [c.block() if c.often(0.5) else c.loop()], {}


def annotate(c: Choice) -> Arguments:
    value = c.one((1, "text", [1, 2], {"a": 1}, True, 1.5, 'a "b" \n', "sampled"))
    if value == "sampled":
        found = c.sch.sample_categorical([1, 2, 5], [1, 1, 2])
        value = c.one((found, [found, 3], {"k": found}))
    return [c.block() if c.often(0.5) else c.loop(), c.one(("k", "pragma_x")), value], {}


def unannotate(c: Choice) -> Arguments:
    found = [(x, key) for b in c.blocks for x in [b, *c.loops(b)] for key in c.info(x).annotations]
    if c.often(0.9):
        return list(c.one(found)), {}
    return [c.block() if c.often(0.5) else c.loop(), c.one(("k", "pragma_x"))], {}


def output_blocks(c: Choice) -> Arguments:
    return [c.block() if c.often(0.5) else c.sch.get_block("root")], {}


def transform_block_layout(c: Choice) -> Arguments:
    block = c.block()
    rank = len(c.info(block).iters)
    if rank not in LAYOUTS:
        raise c.nothing
    return [block, IndexMap.from_text(c.one(LAYOUTS[rank]))], {}


def reorder_block_iter_var(c: Choice) -> Arguments:
    block = c.block()
    order = list(range(len(c.info(block).iters)))
    c.random.shuffle(order)
    return [block, order if c.often(0.9) else [*order, 0]], {}


def pad_einsum(c: Choice) -> Arguments:
    block = c.block()
    return [block, [c.one((1, 2, 4, 16)) for _ in c.info(block).iters]], {}


def perfect_tile(c: Choice) -> Arguments:
    count = c.one((1, 2, 3))
    kwargs: dict[str, Any] = {"n": count, "max_innermost_factor": c.one((16, 4, -1))}
    if c.often(0.3):
        kwargs["decision"] = [c.one((1, 2, 3, 4, 0)) for _ in range(count if c.often(0.9) else 2)]
    return [c.loop()], kwargs


def partitioned_tile(c: Choice) -> Arguments:
    kwargs: dict[str, Any] = {"n": 3, "partition_pos": c.one((0, 1, 2, 3)), "innerpart_factor": c.one((1, 2, 3))}
    if c.often(0.3):
        kwargs["decision"] = [c.one((1, 2, 3, 4)) for _ in range(3)]
    return [c.loop()], kwargs


def categorical(c: Choice) -> Arguments:
    kwargs = {"decision": c.one((0, 1, 2, 7))} if c.often(0.3) else {}
    return [[4, 8, 16], [1, 2, 0.5]], kwargs


def compute_location(c: Choice) -> Arguments:
    return [c.block()], {"decision": c.one((-2, -1, 0, 1, 2, 9))} if c.often(0.3) else {}


def tensorize(c: Choice) -> Arguments:
    """An intrinsic of a loop's extent for the operation that the block's name indicates."""
    blocks = [b for b in c.blocks if all(kind == "S" for _, kind in c.info(b).iters) or "_update" in c.info(b).name]
    block = c.one(blocks) if blocks and c.often(0.9) else c.block()
    loops = c.loops(block)
    if c.often(0.5) and loops and (name := whole(c.info(block))):
        return [loops[0], name], {}
    loop = c.one(loops[-3:])
    lengths = [c.info(lp).extent for lp in loops[loops.index(loop) :]]
    written = c.info(block).writes
    if None in lengths or not written:
        raise c.nothing
    name = instruction(c.info(block).name, written[0].buffer.dtype, [int(n) for n in lengths], c.random)
    return [loop, name], {"preserve_unit_iters": False} if c.often(0.3) else {}


def nothing(c: Choice) -> Arguments:
    return [], {}


WIDE_STEPS: dict[str, tuple[Maker, int]] = {
    "merge": (merge, 5),
    "fission": (fission, 6),
    "loop_partition": (loop_partition, 3),
    "version_loop": (version_loop, 2),
    "add_unit_loop": (add_unit_loop, 1),
    "annotate": (annotate, 2),
    "unannotate": (unannotate, 2),
    "get_output_blocks": (output_blocks, 1),
    "transform_block_layout": (transform_block_layout, 6),
    "reorder_block_iter_var": (reorder_block_iter_var, 2),
    "pad_einsum": (pad_einsum, 5),
    "tensorize": (tensorize, 5),
    "sample_perfect_tile": (perfect_tile, 1),
    "sample_partitioned_tile": (partitioned_tile, 1),
    "sample_categorical": (categorical, 1),
    "sample_compute_location": (compute_location, 1),
    "enter_postproc": (nothing, 1),
}
