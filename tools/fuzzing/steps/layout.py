"""Random steps on buffers: caching, layouts, scopes, types, declared regions."""

from __future__ import annotations

from typing import Any

from fuzzing.steps.choice import SCOPES, Arguments, Choice, Maker
from tir_mlir import IndexMap
from tir_mlir.dialect.index_maps import RegionMap
from tir_mlir.dialect.ir.dtypes import represents

LAYOUTS: dict[int, tuple[str, ...]] = {
    1: (
        "lambda i: (i // 4, i % 4)",
        "lambda i: (i % 2, i // 2)",
        "lambda i: i + 3",
        "lambda i: i * 2",
        "lambda i: -i",
        "lambda i: 20 - i",
        "lambda i: i // 2",
        "lambda i: (0, i)",
        "lambda i: i",
    ),
    2: (
        "lambda i, j: (j, i)",
        "lambda i, j: (i // 4, j, i % 4)",
        "lambda i, j: i * 64 + j",
        "lambda i, j: (i + j, j)",
        "lambda i, j: (i, j // 3, j % 3)",
        "lambda i, j: (i // 2, j // 2, i % 2, j % 2)",
        "lambda i, j: (i, 20 - j)",
        "lambda i, j: j",
        "lambda i, j: (i, j, 0)",
        "lambda i, j: (j, i + 1)",
    ),
    3: (
        "lambda i, j, k: (k, i, j)",
        "lambda i, j, k: (i, j * 32 + k)",
        "lambda i, j, k: (i, k // 2, j, k % 2)",
        "lambda i, j, k: (i, k, j // 3, j % 3)",
    ),
}
TYPES = ("float32", "float16", "bfloat16", "float64", "int8", "int16", "int32", "int64", "uint8", "uint32", "nothing")


def cache(word: str) -> Maker:
    def make(c: Choice) -> Arguments:
        block = c.block()
        kwargs = {}
        if c.often(0.35):
            users = c.sch.get_consumers(block) if word == "write" else c.blocks
            kwargs["consumer_blocks"] = c.some(users) if users and c.often(0.8) else c.some(c.blocks)
        return [block, c.number(block, word), c.one(SCOPES)], kwargs

    return make


def touched(c: Choice) -> tuple[Any, Any]:
    """Return a block and one of the buffers that it reads or writes."""
    block = c.block()
    word = c.one(("read", "write"))
    number = c.number(block, word)
    return block, number if isinstance(number, str) else (word, number)


def reindex(c: Choice) -> Arguments:
    return list(touched(c)), {}


def reindex_cache(word: str) -> Maker:
    def make(c: Choice) -> Arguments:
        block = c.block()
        names = [name for name, _ in c.info(block).iters]
        chosen = c.some(names)
        terms = [f"{n} // 2, {n} % 2" if c.often(0.15) else n for n in chosen]
        text = f"lambda {', '.join(names)}: ({', '.join(terms)},)"
        return [block, c.number(block, word), c.one(SCOPES), IndexMap.from_text(text)], {}

    return make


def cache_inplace(c: Choice) -> Arguments:
    updated = []
    for block in c.blocks:
        info = c.info(block)
        names = [r.buffer.name for r in info.writes]
        updated += [(block, n) for n, r in enumerate(info.reads) if r.buffer.name in names]
    if updated and c.often(0.8):
        return [*c.one(updated), c.one(SCOPES)], {}
    block = c.block()
    return [block, c.number(block, "read"), c.one(SCOPES)], {}


def cache_index(c: Choice) -> Arguments:
    return [c.block(), c.one(SCOPES)], {"cse_thresh": c.one((0, 0, 1, 2))}


def cache_value(c: Choice) -> Arguments:
    path = [c.one((0, 0, 1)) for _ in range(c.one((0, 0, 1, 1, 2, 3)))]
    return [c.block(), path, c.one(SCOPES)], {}


def write_in_place(c: Choice) -> Arguments:
    block = c.block()
    return [block, c.number(block, "read")], {}


def around_loop(word: str) -> Maker:
    def make(c: Choice) -> Arguments:
        block = c.block()
        return [c.loop_of(block), block, c.number(block, word), c.one(SCOPES)], {}

    return make


def transform_layout(c: Choice) -> Arguments:
    block, which = touched(c)
    info = c.info(block)
    regions = [*info.reads, *info.writes]
    names = {r.buffer.name: r.buffer for r in regions}
    if isinstance(which, tuple):
        side = info.reads if which[0] == "read" else info.writes
        found = side[which[1]].buffer if 0 <= which[1] < len(side) else None
    else:
        found = names.get(which)
    rank = len(found.shape) if found is not None else 1
    if rank not in LAYOUTS:
        raise c.nothing
    map_ = IndexMap.from_text(c.one(LAYOUTS[rank]))
    kwargs: dict[str, Any] = {}
    if c.often(0.5):
        names = ", ".join(f"x{n}" for n in range(len(map_.terms)))
        # small values: the exact reference does not wrap like int8
        kwargs["pad_value"] = c.one((7, 7, 0, IndexMap.from_text(f"lambda {names}: x0 % 8 + 1")))
    if c.often(0.1):
        kwargs["assume_injective_transform"] = True
    return [block, which, map_], kwargs


def set_scope(c: Choice) -> Arguments:
    block = c.block()
    return [block, c.number(block, "write"), c.one(SCOPES)], {}


def unsafe_set_dtype(c: Choice) -> Arguments:
    block = c.inner()
    number = c.number(block, "write")
    buffers = [region.buffer for region in c.info(block).writes]
    dtype = next((b.dtype for n, b in enumerate(buffers) if number in (n, b.name)), "float32")
    return [block, number, c.one([t for t in TYPES if _holds(t, dtype)])], {}


def _holds(wide: str, narrow: str) -> bool:
    """Whether exact values of one type, the ends of its range among them, survive in another: floats round in machines
    only."""
    if wide == "nothing" or (wide.endswith(("float16", "float32", "float64")) and narrow.startswith("float")):
        return True
    return represents(wide, narrow) or wide in ("bfloat16", "float32", "float64")


def storage_align(c: Choice) -> Arguments:
    block = c.block()
    number = c.number(block, "write")
    return [block, number, c.one((0, 0, -1, -2, 1, 3)), c.one((4, 16, 3, 0)), c.one((0, 1, 4))], {}


def swizzle(c: Choice) -> Arguments:
    block = c.block()
    return [block, c.number(block, "write")], {}


def hide(c: Choice) -> Arguments:
    return [c.block(), c.one(("read", "write")), c.one(([0], [0], [1], [0, 1], [], [9]))], {}


def annotate_buffer_access(c: Choice) -> Arguments:
    block, word = c.block(), c.one(("read", "write"))
    info = c.info(block)
    regions = info.reads if word == "read" else info.writes
    number = c.random.randrange(len(regions)) if regions else 0
    rank = len(regions[number].buffer.shape) if regions else 1
    names = [name for name, _ in info.iters]
    spans = []
    for _ in range(rank):
        start = c.one(names) if names and c.often(0.8) else str(c.one((0, 1, 5)))
        spans.append(f"({start} - {c.one((0, 0, 1))}, {start} + {c.one((1, 1, 2, 0))})")
    return [block, number, word, RegionMap.from_text(f"lambda {', '.join(names)}: [{', '.join(spans)}]")], {}


def rolling_buffer(c: Choice) -> Arguments:
    """Arguments for a block that shares a loop with its consumers."""
    shared = []
    results = c.sch.get_output_blocks("root")
    for block in (b for b in c.blocks if b not in results):
        users = [set(c.loops(user)) for user in c.sch.get_consumers(block)]
        if users and set(c.loops(block)).intersection(*users):
            shared.append(block)
    block = c.one(shared) if shared and c.often(0.9) else c.block()
    number = c.number(block, "write")
    return [block, number], {}


def double_buffer(c: Choice) -> Arguments:
    """Arguments for a block that shares a loop with its consumers."""
    blocks, number = rolling_buffer(c)[0]
    loops = c.loops(blocks)
    return [blocks, c.one(loops) if loops else c.loop(), c.one([2, 3]) if isinstance(number, int) else 2], {}


def tma_pipeline(c: Choice) -> Arguments:
    """Arguments for a block that shares a loop with its consumers, in shared memory or not."""
    blocks, loop, stages = double_buffer(c)[0]
    return [blocks, loop, stages, c.often(0.5)], {}


def pipeline(c: Choice) -> Arguments:
    """Arguments for a loop that several nests share: a number of stages, or a list of stages and an order."""
    blocks = rolling_buffer(c)[0][0]
    loops = c.loops(blocks)
    loop = c.one(loops) if loops else c.loop()
    children = len(c.sch.get_child_blocks(loop))
    if c.often(0.5):
        return [loop, c.one([2, 2, 3])], {}
    order = c.random.sample(range(children), children)
    return [loop, sorted(c.one([0, 1, 2]) for _ in range(children)), order], {}


LAYOUT_STEPS: dict[str, tuple[Maker, int]] = {
    "cache_read": (cache("read"), 6),
    "cache_write": (cache("write"), 6),
    "reindex": (reindex, 5),
    "reindex_cache_read": (reindex_cache("read"), 4),
    "reindex_cache_write": (reindex_cache("write"), 4),
    "cache_inplace": (cache_inplace, 3),
    "cache_index": (cache_index, 2),
    "cache_value": (cache_value, 2),
    "write_in_place": (write_in_place, 2),
    "read_at": (around_loop("read"), 4),
    "write_at": (around_loop("write"), 4),
    "transform_layout": (transform_layout, 8),
    "set_scope": (set_scope, 2),
    "unsafe_set_dtype": (unsafe_set_dtype, 2),
    "storage_align": (storage_align, 2),
    "swizzle": (swizzle, 1),
    "unsafe_hide_buffer_access": (hide, 2),
    "annotate_buffer_access": (annotate_buffer_access, 2),
    "rolling_buffer": (rolling_buffer, 4),
    "double_buffer": (double_buffer, 3),
    "tma_pipeline": (tma_pipeline, 1),
    "pipeline": (pipeline, 4),
}
