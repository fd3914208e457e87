"""Random schedule steps: any primitive, or a ready-made schedule, on any block and loop, with possibly invalid
arguments."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import Any

from fuzzing.steps.choice import Arguments, Choice, Maker
from fuzzing.steps.layout import LAYOUT_STEPS
from fuzzing.steps.ready_made import READY_MADE
from fuzzing.steps.wide import WIDE_STEPS
from tir_mlir import Schedule
from tir_mlir.passes.schedule import PRIMITIVES

FACTORS: tuple[list[Any], ...] = (
    [None, 2], [None, 4], [3, None], [2, None, 2], [None, 5], [None, 16], [1, None], [None, 1], [4, 4], [2, 2],
    [None, None], [0, 2], [],
)  # fmt: skip


def split(c: Choice) -> Arguments:
    kwargs: dict[str, Any] = {}
    if c.often(0.25):
        kwargs["preserve_unit_iters"] = False
    if c.often(0.1):
        kwargs["disable_predication"] = True
    loop = c.loop()
    if c.often(0.15):
        limit = c.one((4, 16, -1))
        return [loop, c.tried(lambda: c.sch.sample_perfect_tile(loop, c.one((2, 3)), limit))], kwargs
    if c.often(0.1):
        extent = c.info(loop).extent
        unknown = c.one(([4, None], [2, None, 3], [None, 1]))  # of a symbolic extent
        return [loop, c.one(([None, extent], [extent, None], [1, extent])) if extent else unknown], kwargs
    return [loop, c.one(FACTORS[:10] if c.often(0.95) else FACTORS)], kwargs


def fuse(c: Choice) -> Arguments:
    loops = c.loops(c.block()) or c.loops(c.block())
    if not loops:
        raise c.nothing
    start = c.random.randrange(max(1, len(loops)))
    chosen = loops[start : start + 1 + c.random.randrange(3)]
    if c.often(0.05):
        c.random.shuffle(chosen)
    return chosen, {"preserve_unit_iters": False} if c.often(0.3) else {}


def reorder(c: Choice) -> Arguments:
    loops = list(c.loops(c.block()))
    if len(loops) < 2:
        raise c.nothing
    c.random.shuffle(loops)
    chosen = loops[: 2 + c.random.randrange(3)]
    return [*chosen, c.loop()] if c.often(0.05) else chosen, {}


def on_loop(c: Choice) -> Arguments:
    return [c.loop()], {}


def vectorize(c: Choice) -> Arguments:
    """Choose any loop; more often an innermost loop, or a reduction loop."""
    block = c.reduction() if c.often(0.3) else c.block()
    loops = c.loops(block)
    return [loops[-1] if loops and c.often(0.5) else c.loop_of(block)], {}


def bind(c: Choice) -> Arguments:
    return [c.loop(), c.one(("threadIdx.x", "threadIdx.y", "blockIdx.x", "vthread", "nothing"))], {}


def compute_at(c: Choice) -> Arguments:
    return _move(c, forward=True)


def reverse_compute_at(c: Choice) -> Arguments:
    return _move(c, forward=False)


def _move(c: Choice, forward: bool) -> Arguments:
    block, loop = c.pair(forward)
    if forward and c.often(0.1):
        loop = c.tried(lambda: c.sch.sample_compute_location(block))
    kwargs: dict[str, Any] = {}
    if c.often(0.3):
        kwargs["preserve_unit_loops"] = True
    if c.often(0.3):
        kwargs["index"] = c.one((-2, -2, 0, 1, 2, -3, 99))
    return [block, loop], kwargs


def decompose_reduction(c: Choice) -> Arguments:
    blocks = [b for b in c.blocks if any(kind == "R" for _, kind in c.info(b).iters)]
    blocks = [b for b in blocks if not c.info(b).name.endswith("_update")] or blocks
    block = c.one(blocks) if blocks and c.often(0.8) else c.block()
    return [block, c.loop_of(block)], {}


def blockize(c: Choice) -> Arguments:
    kwargs = {} if c.often(0.5) else {"preserve_unit_iters": False}
    return [_neighbors(c) if c.often(0.3) else c.loop()], kwargs


def _neighbors(c: Choice) -> list[Any]:
    """Return blocks under one loop, or any blocks."""
    if c.often(0.1):
        return c.some(c.blocks)
    parents = [c.sch.get_block("root"), *c.blocks]
    parents += [loop for block in c.blocks for loop in c.loops(block)]
    groups = [found for p in parents if len(found := c.sch.get_child_blocks(p)) > 1]
    group = c.one(groups)
    start = c.random.randrange(len(group) - 1)
    return group[start : start + c.random.randint(2, 3)]


def rfactor(c: Choice) -> Arguments:
    loops = c.loops(c.reduction()) if c.often(0.9) else []
    return [c.one(loops) if loops else c.loop(), c.one((0, 0, 1, 2, -1, -2, 5))], {}


def shifted(c: Choice) -> Arguments:
    return [c.reduction() if c.often(0.9) else c.block(), c.one((0, 1, 2))], {}


def epilogue(c: Choice) -> Arguments:
    block = c.reduction() if c.often(0.9) else c.block()
    users = c.sch.get_consumers(block)
    return [block, c.one(users) if c.often(0.9) else c.block()], {}


def consumer(c: Choice) -> Arguments:
    return [c.consumer()], {}


def inner(c: Choice) -> Arguments:
    return [c.inner()], {}


def padding(c: Choice) -> Arguments:
    places = [(b, loop) for b in c.blocks for loop in c.loops(b)]
    c.random.shuffle(places)
    if c.often(0.7):
        for block, loop in places[:12]:
            if c.sch.can_decompose_padding(block, loop):
                return [block, loop], {}
    block = c.block()
    return [block, c.loop_of(block)], {}


# primitive: (argument generator, weight)
STEPS: dict[str, tuple[Maker, int]] = {
    "split": (split, 8),
    "fuse": (fuse, 5),
    "reorder": (reorder, 6),
    "parallel": (on_loop, 3),
    "vectorize": (vectorize, 4),
    "unroll": (on_loop, 1),
    "bind": (bind, 3),
    "compute_at": (compute_at, 14),
    "reverse_compute_at": (reverse_compute_at, 12),
    "compute_inline": (inner, 3),
    "reverse_compute_inline": (consumer, 4),
    "decompose_reduction": (decompose_reduction, 6),
    "blockize": (blockize, 6),
    "rfactor": (rfactor, 7),
    "shift_operand": (shifted, 2),
    "decompose_padding": (padding, 4),
    "can_decompose_padding": (padding, 1),
    "fuse_reduction_epilogue": (epilogue, 5),
    "trim_reduction": (decompose_reduction, 2),
}
ALL = STEPS | LAYOUT_STEPS | WIDE_STEPS
LOOKING = ("get_block", "get_loops", "get_child_blocks", "get_producers", "get_consumers")
assert sorted([*ALL, *LOOKING]) == sorted(PRIMITIVES), sorted({*ALL, *LOOKING} ^ {*PRIMITIVES})


EVERY = ALL | READY_MADE
WHOLE = 0.06
"""The share of the steps that are ready-made schedules."""


def step(sch: Schedule, random: Random, wanted: Sequence[str] = ()) -> tuple[str, Arguments]:
    """Return a primitive or a ready-made schedule (one of `wanted`, if given) and its arguments."""
    choice = Choice(sch, random)
    steps = ALL if wanted or random.random() < 0.65 else STEPS
    steps = READY_MADE if not wanted and random.random() < WHOLE else steps
    steps = {name: EVERY[name] for name in wanted} or steps
    name = choice.one([n for n, (_, weight) in steps.items() for _ in range(weight)])
    return name, steps[name][0](choice)


def shown(sch: Schedule, name: str, arguments: Arguments) -> str:
    """Format a step as a call."""
    args, kwargs = arguments
    parts = [_word(sch, a) for a in args] + [f"{k}={_word(sch, v)}" for k, v in kwargs.items()]
    return f"{name}({', '.join(parts)})"


def _word(sch: Schedule, value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_word(sch, v) for v in value) + "]"
    if not hasattr(value, "owner"):
        return repr(value)
    if getattr(value, "is_mark", False):
        return "a mark"
    found = sch.get(value)
    return f"{found}~" if isinstance(found, int) else f"{found.name}#{value.id}"
