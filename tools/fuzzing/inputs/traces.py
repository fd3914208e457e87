"""Invalid JSON traces, in structure or in text: parsed, and applied to the same or another program."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from random import Random
from typing import Any

from fuzzing.inputs import corpus, texts
from fuzzing.inputs.judging import Fault, described, short, tried
from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError, TraceError
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.trace import Trace
from tir_mlir.schedule.trace.instruction import kind_of

ODD = (
    *texts.NUMBERS, "[]", "{}", "null", "true", '""', '"b0"', '"l1"', '"v2"', '"l99"', '"_"', '"\\"x\\""',
    '{"rv": "v3"}', "NaN", "[[],[]]", '"Split"', '"Nobody"', '"GetBlock"', ",", ":", "[", "]",
)  # fmt: skip
VALUES: tuple[Any, ...] = (
    None, True, False, 0, 1, -1, 3, 2, 4, 1 << 31, 1 << 63, 10**25, 0.5, float("nan"), float("inf"), "", "b0", "b1",
    "l0", "l1", "l2", "l3", "l5", "v1", "l01", "x9", "_", '"x"', '"main"', '"C"', "main", '"', "v1 * 4", "v1 // 0",
    "v1 +", "v1 + l1", "lambda i, j: (j, i)", '"lambda i, j: (i, j)"', "threadIdx.x", '"global"', [], [[]], {},
    {"rv": "v1"}, {"rv": "l1"}, {"rv": 3}, {"rv": "v0 * (v1"}, {"a": 1}, ["l1"], [None], "\0", "é" * 40, (1,),
)  # fmt: skip


@cache
def _traces() -> list[Any]:
    """Return JSON traces over the matmul program with loops, blocks, buffers and samples."""
    made = []
    for number in range(6):
        sch = Schedule(corpus.matmul(), seed=number + 1)
        block = sch.get_block("AB")
        i, j, k = sch.get_loops(block)
        if number % 2:
            tiles = sch.sample_perfect_tile(j, n=2, max_innermost_factor=8)
            j_0, j_1 = sch.split(j, tiles)
            sch.annotate(j_0, "k", [tiles[0], "x", {"a": 1.5}])
        else:
            j_0, j_1 = sch.split(j, [None, 4], preserve_unit_iters=False)
        sch.reorder(i, j_0, k, j_1)
        if number == 2:
            sch.fuse(i, j_0)
            sch.vectorize(j_1)
        if number == 3:
            sch.transform_layout(block, ("write", 0), lambda a, b: (b, a))
            sch.decompose_reduction(block, k)
        if number == 4:
            copy = sch.cache_read(block, 0, "local")
            sch.compute_at(copy, j_0)
            sch.set_scope(copy, 0, "shared")
            sch.storage_align(copy, 0, 0, 4, 1)
        if number == 5:
            sch.enter_postproc()
            sch.parallel(i)
            chosen = sch.sample_categorical([1, 2, 3], [0.25, 0.5, 0.25])
            sch.annotate(i, "s", chosen)
            place = sch.sample_compute_location(sch.get_block("C"))
            sch.reverse_compute_at("C", place)
        made.append(sch.trace.as_json())
    return made


def case(random: Random) -> str:
    """Apply a trace with mistakes."""
    given: Any = deepcopy(random.choice(_traces()))
    if random.random() < 0.75:
        for _ in range(random.choice((1, 1, 1, 2, 3, 9))):
            given = _changed(random, given)
    text: Any = given
    if random.random() < 0.01:
        text = "[" * random.choice((100, 3000, 100_000))
    elif random.random() < 0.01:
        text = given = [[_deep(3000)], []]
    elif random.random() < 0.4:
        text = json.dumps(given)
        if random.random() < 0.6:
            text = texts.mutated(random, text, ODD, most=1)
        if random.random() < 0.1:
            text = text.encode(errors="replace")
            at = random.randrange(len(text) + 1)
            text = text[:at] + bytes([random.randrange(256)]) + text[at:]
    try:
        shown = short(repr(text))
    except RecursionError:
        shown = "a list in a list, 3000 times"
    word, trace = tried(shown, lambda: Trace.from_json(text))
    if word == "refused":
        if not isinstance(trace, TraceError):
            raise Fault(f"a trace is refused with {described(trace)}\n{shown}")
        return word
    sch = Schedule(corpus.matmul(), seed=5) if random.random() < 0.8 else corpus.schedule(random)
    return _applied(random, trace, sch, shown)


def _applied(random: Random, trace: Trace, sch: Schedule, shown: str) -> str:
    """Check that a parsed trace runs, or is refused with the schedule unchanged."""
    before, text, known = sch.executor.module, sch.mod.text(), set(sch.executor._known)
    word, error = tried(shown, lambda: trace.apply_to_schedule(sch, remove_postproc=random.random() < 0.1))
    if word == "refused":
        if (
            sch.executor.module is not before
            or sch.mod.text() != text
            or len(sch.trace)
            or sch.executor._known != known
        ):
            raise Fault(f"a refused trace changed the schedule: {error}\n{shown}")
        if not isinstance(error, (TraceError, ScheduleError, TypeError, ValueError, IndexError)):
            raise Fault(f"applying a trace fails with {described(error)}\n{shown}")
        return word
    word, again = tried(shown, lambda: sch.trace.as_json())
    if word != "accepted":
        raise Fault(f"the applied trace cannot be serialized: {described(again)}\n{shown}")
    word, back = tried(short(repr(again)), lambda: Trace.from_json(json.dumps(again)).as_json())
    if word != "accepted" or json.dumps(back) != json.dumps(again):
        raise Fault(f"a serialized trace parses back as a different one: {back}\n{again}")
    tried(shown, lambda: (str(trace), str(trace.simplified()), repr(trace.insts)))
    return "accepted"


def _deep(depth: int) -> Any:
    found: Any = 1
    for _ in range(depth):
        found = [found]
    return found


def _changed(random: Random, given: Any) -> Any:
    """Change one position of the structure."""
    places: list[tuple[Any, Any]] = []
    todo = [given]
    while todo:
        one = todo.pop()
        if isinstance(one, (list, dict)):
            places += [(one, k) for k in (one if isinstance(one, dict) else range(len(one)))]
            todo += one.values() if isinstance(one, dict) else one
    if not places:
        return deepcopy(random.choice(VALUES))
    holder, key = random.choice(places)
    match random.randrange(7):
        case 0 | 1:
            holder[key] = deepcopy(random.choice(VALUES))
        case 2:
            del holder[key]
        case 3:
            other, name = random.choice(places)
            holder[key] = (
                deepcopy(other[name]) if name in (other if isinstance(other, dict) else range(len(other))) else None
            )
        case 4 if isinstance(holder, list):
            holder.insert(key, deepcopy(holder[key]))
        case 5 if isinstance(holder[key], str):
            holder[key] = kind_of(random.choice(sorted(PRIMITIVES))).name
        case 6 if isinstance(holder[key], str):
            holder[key] = f"{random.choice('blv')}{random.randrange(12)}"
        case _:
            for _ in range(random.choice((1, 2, 50))):
                holder[key] = [holder[key]]
    return given
