"""Random schedule steps: any primitive, on any block and loop, with arguments that need not make sense."""

from __future__ import annotations

from random import Random
from typing import Any

from choice import SCOPES, Arguments, Choice, Maker
from wide_steps import WIDE

from tir_mlir import Schedule

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
    return [c.loop(), c.one(FACTORS[:10] if c.often(0.95) else FACTORS)], kwargs


def fuse(c: Choice) -> Arguments:
    loops = c.loops(c.block()) or c.loops(c.block())
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


def bind(c: Choice) -> Arguments:
    return [c.loop(), c.one(("threadIdx.x", "blockIdx.x", "vthread", "nothing"))], {}


def compute_at(c: Choice) -> Arguments:
    return _move(c, forward=True)


def reverse_compute_at(c: Choice) -> Arguments:
    return _move(c, forward=False)


def _move(c: Choice, forward: bool) -> Arguments:
    block, loop = c.pair(forward)
    kwargs: dict[str, Any] = {}
    if c.often(0.3):
        kwargs["preserve_unit_loops"] = True
    if c.often(0.3):
        kwargs["index"] = c.one((-2, -2, 0, 1, 2, -3, 99))
    return [block, loop], kwargs


def cache(c: Choice) -> Arguments:
    kwargs = {"consumer_blocks": [c.block()]} if c.often(0.2) else {}
    return [c.block(), c.one((0, 0, 0, 1, 2)), c.one(SCOPES)], kwargs


def on_block(c: Choice) -> Arguments:
    return [c.block()], {}


def decompose_reduction(c: Choice) -> Arguments:
    blocks = [b for b in c.blocks if any(kind == "R" for _, kind in c.sch.get(b).iters)]
    blocks = [b for b in blocks if not c.sch.get(b).name.endswith("_update")] or blocks
    block = c.one(blocks) if blocks and c.often(0.8) else c.block()
    loops = c.loops(block)
    return [block, c.one(loops) if loops and c.often(0.9) else c.loop()], {}


def blockize(c: Choice) -> Arguments:
    return [c.loop()], {} if c.often(0.5) else {"preserve_unit_iters": False}


def annotate(c: Choice) -> Arguments:
    value = c.one((1, "text", [1, 2], {"a": 1}, True, 1.5, 'a "b" \n'))
    return [c.block() if c.often(0.5) else c.loop(), c.one(("k", "pragma_x")), value], {}


def unannotate(c: Choice) -> Arguments:
    return [c.block() if c.often(0.5) else c.loop(), c.one(("k", "pragma_x"))], {}


def set_scope(c: Choice) -> Arguments:
    return [c.block(), c.one((0, 0, 0, 1)), c.one(SCOPES)], {}


# primitive: (what makes its arguments, how often)
MAKERS: dict[str, tuple[Maker, int]] = {
    "split": (split, 8),
    "fuse": (fuse, 5),
    "reorder": (reorder, 6),
    "parallel": (on_loop, 3),
    "vectorize": (on_loop, 3),
    "unroll": (on_loop, 1),
    "bind": (bind, 2),
    "compute_at": (compute_at, 16),
    "reverse_compute_at": (reverse_compute_at, 14),
    "compute_inline": (on_block, 2),
    "reverse_compute_inline": (on_block, 3),
    "cache_read": (cache, 4),
    "cache_write": (cache, 4),
    "decompose_reduction": (decompose_reduction, 6),
    "blockize": (blockize, 5),
    "set_scope": (set_scope, 1),
    "annotate": (annotate, 1),
    "unannotate": (unannotate, 1),
    "get_output_blocks": (on_block, 1),
}


def step(sch: Schedule, random: Random) -> tuple[str, Arguments]:
    """A primitive and its arguments."""
    choice = Choice(sch, random)
    makers = MAKERS | WIDE if random.random() < 0.6 else MAKERS
    names = [n for n, (_, weight) in makers.items() if hasattr(sch, n) for _ in range(weight)]
    name = choice.one(names)
    return name, makers[name][0](choice)


def shown(sch: Schedule, name: str, arguments: Arguments) -> str:
    """How a step reads."""
    args, kwargs = arguments
    parts = [_word(sch, a) for a in args] + [f"{k}={_word(sch, v)}" for k, v in kwargs.items()]
    return f"{name}({', '.join(parts)})"


def _word(sch: Schedule, value: Any) -> str:
    if isinstance(value, list):
        return "[" + ", ".join(_word(sch, v) for v in value) + "]"
    if not hasattr(value, "owner"):
        return repr(value)
    return f"{sch.get(value).name}#{value.id}"
