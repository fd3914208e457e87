"""Random schedules that bind loops to blocks and threads."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from random import Random
from typing import Any

from tir_mlir import Schedule
from tir_mlir.errors import ScheduleError

FACTORS = (1, 2, 3, 4, 5, 8, 16, 32)
THREADS = ("threadIdx.x", "threadIdx.x", "threadIdx.x", "threadIdx.y", "threadIdx.z", "vthread.x")
BLOCKS = ("blockIdx.x", "blockIdx.x", "blockIdx.y", "blockIdx.z")


def scheduled(text: Any, random: Random) -> tuple[Schedule, list[str]]:
    """A program under random steps, and the steps that were taken."""
    sch, taken = Schedule(text), []
    for _ in range(random.randint(0, 4)):
        _step(sch, random, random.choice(MOVES), taken)
    for block in _blocks(sch, random):
        _bind_block(sch, block, random, taken)
    for _ in range(random.randint(0, 4)):
        _step(sch, random, random.choice((*MOVES, *LATE)), taken)
    if random.random() < 0.9:
        _bind_rest(sch)
    return sch, taken


def _bind_rest(sch: Schedule) -> None:
    """Bind a loop of each block that has none: a GPU runs nothing else."""
    for block in sch.get_child_blocks(sch.get_block("root")):
        loops = sch.get_loops(block)
        if all("Idx." not in sch.get(lp).kind for lp in loops):
            any(_attempt(lambda lp=lp: sch.bind(lp, "blockIdx.x") or True, False) for lp in loops)


def _step(sch: Schedule, random: Random, step: Callable[[Schedule, Random], str], taken: list[str]) -> None:
    with contextlib.suppress(ScheduleError, IndexError, ValueError):
        taken.append(step(sch, random))


def _blocks(sch: Schedule, random: Random) -> list[Any]:
    """All blocks with loops, the last one first."""
    names = [b for b in sch.get_child_blocks(sch.get_block("root"))]
    return names[::-1] if random.random() < 0.7 else names


def _bind_block(sch: Schedule, block: Any, random: Random, taken: list[str]) -> None:
    """Split some loops of a block, and bind them: outer ones to blocks, inner ones to threads."""
    name = sch.get(block).name
    try:
        loops = [lp for lp in sch.get_loops(block) if sch.get(lp).kind == "serial"]
    except ScheduleError:
        return
    if random.random() < 0.03:
        return
    if len(loops) > 1 and random.random() < 0.3:
        start = random.randrange(len(loops) - 1)
        loops = _attempt(lambda: [*loops[:start], sch.fuse(*loops[start : start + 2]), *loops[start + 2 :]], loops)
    tags = [*random.sample(("blockIdx.x", "blockIdx.y"), 2), *random.sample(("threadIdx.x", "threadIdx.y"), 2)]
    parts: list[Any] = []
    for loop in loops:
        if random.random() < 0.5:
            factor = random.choice(FACTORS)
            parts += _attempt(lambda loop=loop, factor=factor: sch.split(loop, [None, factor]), [loop])
        else:
            parts.append(loop)
    taken_tags = {sch.get(lp).kind for lp in sch.get_loops(block)}
    if random.random() < 0.95:
        tags = [tag for tag in tags if tag not in taken_tags] or tags
    chosen = sorted(random.sample(range(len(parts)), min(len(parts), random.randint(1, 3))))
    random.shuffle(tags) if random.random() < 0.15 else None
    for at, number in enumerate(chosen):
        tag = tags[(-1 - at if random.random() < 0.6 else at) % len(tags)]
        if not _is_near(sch, parts[number], tag, random) and _attempt(
            lambda number=number, tag=tag: sch.bind(parts[number], tag) or True, False
        ):
            taken.append(f"bind({name} loop {number} of {len(parts)}, {tag})")


def _is_near(sch: Schedule, loop: Any, tag: str, random: Random) -> bool:
    """Mostly: whether a loop around or inside another one is bound to an axis, too. Each thread runs one iteration of
    both then, which is seldom what the program says."""
    nests = [sch.get_loops(block) for block in sch.get_child_blocks(sch.get_block("root"))]
    near = {sch.get(lp).kind for nest in nests if loop in nest for lp in nest}
    return tag in near and random.random() < 0.95


def _attempt(change: Callable[[], Any], otherwise: Any) -> Any:
    try:
        return change()
    except (ScheduleError, ValueError):
        return otherwise


# --- moves ------------------------------------------------------------------------------------------------------------


def _any_block(sch: Schedule, random: Random) -> Any:
    return random.choice(sch.get_child_blocks(sch.get_block("root")))


def _any_loop(sch: Schedule, random: Random) -> Any:
    return random.choice(sch.get_loops(_any_block(sch, random)))


def split(sch: Schedule, random: Random) -> str:
    loop, factor = _any_loop(sch, random), random.choice(FACTORS)
    sch.split(loop, [None, factor])
    return f"split {factor}"


def reorder(sch: Schedule, random: Random) -> str:
    loops = sch.get_loops(_any_block(sch, random))
    start = random.randrange(len(loops) - 1)
    order = loops[start : start + random.choice((2, 2, 3))]
    random.shuffle(order)
    sch.reorder(*order)
    return "reorder"


def cache_read(sch: Schedule, random: Random) -> str:
    block, scope = _any_block(sch, random), random.choice(("shared", "shared", "local"))
    count = len(sch.get(block).reads)
    cache = sch.cache_read(block, random.randrange(count), scope)
    loops = sch.get_loops(block)
    where = random.choice(loops)
    sch.compute_at(cache, where)
    return f"cache_read {scope}"


def cache_write(sch: Schedule, random: Random) -> str:
    block, scope = _any_block(sch, random), random.choice(("shared", "local", "local"))
    cache = sch.cache_write(block, 0, scope)
    sch.reverse_compute_at(cache, random.choice(sch.get_loops(block)))
    return f"cache_write {scope}"


def compute_at(sch: Schedule, random: Random) -> str:
    block = _any_block(sch, random)
    consumer = random.choice(sch.get_consumers(block))
    sch.compute_at(block, random.choice(sch.get_loops(consumer)))
    return "compute_at"


def reverse_compute_at(sch: Schedule, random: Random) -> str:
    block = _any_block(sch, random)
    producer = random.choice(sch.get_producers(block))
    sch.reverse_compute_at(block, random.choice(sch.get_loops(producer)))
    return "reverse_compute_at"


def set_scope(sch: Schedule, random: Random) -> str:
    scope = random.choice(("shared", "shared", "local"))
    sch.set_scope(_any_block(sch, random), 0, scope)
    return f"set_scope {scope}"


def rfactor(sch: Schedule, random: Random) -> str:
    block = _any_block(sch, random)
    sch.rfactor(random.choice(sch.get_loops(block)), 0)
    return "rfactor"


def decompose(sch: Schedule, random: Random) -> str:
    block = _any_block(sch, random)
    sch.decompose_reduction(block, random.choice(sch.get_loops(block)))
    return "decompose_reduction"


def bind(sch: Schedule, random: Random) -> str:
    tag, loop = random.choice((*THREADS, *BLOCKS)), _any_loop(sch, random)
    if _is_near(sch, loop, tag, random):
        raise ValueError(tag)
    sch.bind(loop, tag)
    return f"bind {tag}"


def unroll(sch: Schedule, random: Random) -> str:
    sch.unroll(_any_loop(sch, random))
    return "unroll"


def vectorize(sch: Schedule, random: Random) -> str:
    block = _any_block(sch, random)
    sch.vectorize(sch.get_loops(block)[-1])
    return "vectorize"


def inline(sch: Schedule, random: Random) -> str:
    sch.compute_inline(_any_block(sch, random))
    return "inline"


MOVES = (
    split,
    reorder,
    cache_read,
    cache_read,
    cache_write,
    compute_at,
    compute_at,
    reverse_compute_at,
    set_scope,
    rfactor,
)
LATE = (bind, bind, bind, unroll, vectorize, decompose, inline)
