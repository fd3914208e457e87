"""Random steps of the rest of the language: layouts, copies in a block's order, padding, sampling, odd loops."""

from __future__ import annotations

from typing import Any

from choice import SCOPES, Arguments, Choice, Maker

from tir_mlir import IndexMap

LAYOUTS: dict[int, tuple[str, ...]] = {
    1: (
        "lambda i: (i // 4, i % 4)",
        "lambda i: (i % 2, i // 2)",
        "lambda i: i + 3",
        "lambda i: -i",
        "lambda i: i // 2",
    ),
    2: (
        "lambda i, j: (j, i)",
        "lambda i, j: (i // 4, j, i % 4)",
        "lambda i, j: i * 64 + j",
        "lambda i, j: (i + j, j)",
        "lambda i, j: (i, j // 3, j % 3)",
    ),
    3: ("lambda i, j, k: (k, i, j)", "lambda i, j, k: (i, j * 32 + k)", "lambda i, j, k: (i, k // 2, j, k % 2)"),
}


def merge(c: Choice) -> Arguments:
    return [c.loop() for _ in range(c.one((2, 2, 2, 3, 1)))], {}


def siblings(c: Choice) -> Arguments:
    """Loops of one depth in nests side by side: what merge is for."""
    first, second = c.loops(c.block()), c.loops(c.block())
    if not first or not second or c.often(0.1):
        return merge(c)
    depth = c.random.randrange(min(len(first), len(second)))
    return [first[depth], second[depth]], {}


def loop_partition(c: Choice) -> Arguments:
    return [c.loop(), c.one(([1], [2, None], [3], [1, 2], [None, 2], [0], [None, None]))], {}


def add_unit_loop(c: Choice) -> Arguments:
    return [c.block() if c.often(0.5) else c.loop()], {}


def rfactor(c: Choice) -> Arguments:
    blocks = [b for b in c.blocks if any(kind == "R" for _, kind in c.sch.get(b).iters)]
    loops = c.loops(c.one(blocks)) if blocks and c.often(0.9) else []
    return [c.one(loops) if loops else c.loop(), c.one((0, 0, 1, -1, 5))], {}


def touched(c: Choice) -> tuple[Any, tuple[str, int]]:
    """A block and one of the buffers it reads or writes."""
    block = c.block()
    kind = c.one(("read", "write"))
    found = c.sch.get(block)
    count = len(found.reads if kind == "read" else found.writes)
    return block, (kind, c.random.randrange(count) if count and c.often(0.95) else count)


def reindex(c: Choice) -> Arguments:
    block, buffer = touched(c)
    return [block, buffer], {}


def reindex_cache(c: Choice) -> Arguments:
    block = c.block()
    names = [name for name, _ in c.sch.get(block).iters]
    if not names:
        raise c.nothing
    chosen = c.random.sample(names, c.random.randint(1, len(names)))
    text = f"lambda {', '.join(names)}: ({', '.join(chosen)},)"
    return [block, c.one((0, 0, 0, 1, 2)), c.one(SCOPES), IndexMap.from_text(text)], {}


def cache_inplace(c: Choice) -> Arguments:
    return [c.block(), c.one((0, 0, 1)), c.one(SCOPES)], {}


def cache_index(c: Choice) -> Arguments:
    return [c.block(), c.one(SCOPES)], {"cse_thresh": c.one((0, 0, 1))}


def around_loop(c: Choice) -> Arguments:
    block = c.block()
    loops = c.loops(block)
    return [c.one(loops) if loops and c.often(0.9) else c.loop(), block, c.one((0, 0, 1)), c.one(SCOPES)], {}


def transform_layout(c: Choice) -> Arguments:
    """Of buffers that the program keeps to itself: a parameter's caller would have to change too."""
    block = c.one([b for b in c.blocks if _inner(c, b)])
    pad = {"pad_value": 7} if c.often(0.5) else {}
    return [block, ("write", 0), IndexMap.from_text(c.one(LAYOUTS[_inner(c, block)]))], pad


def _inner(c: Choice, block: Any) -> int:
    """The rank of the buffer that a block writes; 0 for a parameter."""
    written = c.sch.get(block).writes
    if not written or block in c.sch.get_output_blocks("root"):
        return 0
    rank = len(written[0].buffer.shape)
    return rank if rank in LAYOUTS else 0


def transform_block_layout(c: Choice) -> Arguments:
    block = c.block()
    rank = len(c.sch.get(block).iters)
    if rank not in LAYOUTS:
        raise c.nothing
    return [block, IndexMap.from_text(c.one(LAYOUTS[rank]))], {}


def reorder_block_iter_var(c: Choice) -> Arguments:
    block = c.block()
    order = list(range(len(c.sch.get(block).iters)))
    c.random.shuffle(order)
    return [block, order if c.often(0.9) else [*order, 0]], {}


def pad_einsum(c: Choice) -> Arguments:
    block = c.block()
    return [block, [c.one((1, 2, 4, 16)) for _ in c.sch.get(block).iters]], {}


def block_and_loop(c: Choice) -> Arguments:
    block = c.block()
    loops = c.loops(block)
    return [block, c.one(loops) if loops else c.loop()], {}


def two_blocks(c: Choice) -> Arguments:
    return [c.block(), c.block()], {}


def written(c: Choice) -> Arguments:
    return [c.block(), c.one((0, 0, 0, 1))], {}


def storage_align(c: Choice) -> Arguments:
    return [c.block(), c.one((0, 0, 1)), c.one((0, -1, -2, 3)), c.one((4, 16, 0)), c.one((0, 1, 4))], {}


def hide(c: Choice) -> Arguments:
    return [c.block(), c.one(("read", "write")), [0]], {}


def perfect_tile(c: Choice) -> Arguments:
    return [c.loop()], {"n": c.one((1, 2, 3)), "max_innermost_factor": c.one((16, 4, -1))}


WIDE: dict[str, tuple[Maker, int]] = {
    "merge": (siblings, 3),
    "loop_partition": (loop_partition, 3),
    "add_unit_loop": (add_unit_loop, 1),
    "rfactor": (rfactor, 8),
    "reindex": (reindex, 4),
    "reindex_cache_read": (reindex_cache, 4),
    "reindex_cache_write": (reindex_cache, 4),
    "cache_inplace": (cache_inplace, 2),
    "cache_index": (cache_index, 1),
    "read_at": (around_loop, 3),
    "write_at": (around_loop, 3),
    "transform_layout": (transform_layout, 6),
    "transform_block_layout": (transform_block_layout, 4),
    "reorder_block_iter_var": (reorder_block_iter_var, 1),
    "pad_einsum": (pad_einsum, 4),
    "decompose_padding": (block_and_loop, 2),
    "fuse_reduction_epilogue": (two_blocks, 2),
    "rolling_buffer": (written, 3),
    "storage_align": (storage_align, 2),
    "unsafe_hide_buffer_access": (hide, 1),
    "sample_perfect_tile": (perfect_tile, 1),
    "sample_compute_location": (written, 0),
}
