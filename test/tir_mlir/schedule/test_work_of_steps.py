"""The work of a step does not grow with the number of nests that it leaves alone."""

from __future__ import annotations

import cProfile
import pstats
from collections.abc import Callable
from functools import cache
from typing import Any

import pytest
from programs.parsed import parse

from tir_mlir import Schedule
from tir_mlir.errors import ScheduleError
from tir_mlir.schedule.executor import Executor

FEW, MANY = 5, 60


@pytest.fixture(autouse=True)
def not_audited(monkeypatch):
    """The audit of the tests looks at everything."""
    monkeypatch.setattr(Executor, "audit", None)


@cache
def program(count: int, rows: str = "64") -> Schedule:
    """B = A + count over `rows` x 64 elements, one nest for each addition, after a first step."""
    buffers = ["A", *(f"X{n}" for n in range(count - 1)), "B"]
    lines = ["@T.prim_func", "def main(a: T.handle, b: T.handle):"]
    lines += ["    n = T.int32()"] if rows == "n" else []
    lines += [f'    {b} = T.match_buffer({a}, ({rows}, 64), "float32")' for a, b in ("aA", "bB")]
    lines += [f'    {name} = T.alloc_buffer(({rows}, 64), "float32")' for name in buffers[1:-1]]
    for number in range(count):
        lines += [
            f"    for i, j in T.grid({rows}, 64):",
            f'        with T.block("b{number}"):',
            '            vi, vj = T.axis.remap("SS", [i, j])',
            f"            {buffers[number + 1]}[vi, vj] = {buffers[number]}[vi, vj] + 1.0",
        ]
    sch = Schedule(parse("\n".join(lines)))
    sch.unroll(sch.get_loops("b0")[1])
    return sch


def work(count: int, step: Callable[[Schedule, str, list[Any]], Any], rows: str = "64") -> int:
    """The number of calls that a step makes, of functions of Python and of MLIR. The second of two, for caches."""
    for _ in range(2):
        sch = program(count, rows).copy()
        name = f"b{count // 2}"
        loops = sch.get_loops(name)
        profile = cProfile.Profile()
        profile.enable()
        step(sch, name, loops)
        profile.disable()
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined]


STEPS: dict[str, Callable[[Schedule, str, list[Any]], Any]] = {
    "get_block": lambda sch, name, loops: sch.get_block(name),
    "get_loops": lambda sch, name, loops: sch.get_loops(name),
    "get_producers": lambda sch, name, loops: sch.get_producers(name),
    "split": lambda sch, name, loops: sch.split(loops[0], [None, 16]),
    "fuse": lambda sch, name, loops: sch.fuse(*loops),
    "reorder": lambda sch, name, loops: sch.reorder(*loops[::-1]),
    "parallel": lambda sch, name, loops: sch.parallel(loops[0]),
    "vectorize": lambda sch, name, loops: sch.vectorize(loops[1]),
    "cache_read": lambda sch, name, loops: sch.cache_read(name, 0, "local"),
    "cache_write": lambda sch, name, loops: sch.cache_write(name, 0, "local"),
    "compute_at": lambda sch, name, loops: sch.compute_at(f"b{int(name[1:]) - 1}", loops[0]),
    "reverse_compute_inline": lambda sch, name, loops: sch.reverse_compute_inline(name),
    "reverse_compute_at": lambda sch, name, loops: sch.reverse_compute_at(f"b{int(name[1:]) + 1}", loops[0]),
    "compute_inline": lambda sch, name, loops: sch.compute_inline(name),
    "set_scope": lambda sch, name, loops: sch.set_scope(name, 0, "local"),
    "transform_layout": lambda sch, name, loops: sch.transform_layout(name, ("write", 0), lambda i, j: (j, i)),
    "blockize": lambda sch, name, loops: sch.blockize(loops[1]),
    "reindex": lambda sch, name, loops: sch.reindex(name, ("read", 0)),
    "storage_align": lambda sch, name, loops: sch.storage_align(name, 0, 0, 32, 8),
    "annotate": lambda sch, name, loops: sch.annotate(loops[0], "my.note", 1),
}


@pytest.mark.parametrize("name", STEPS)
def test_a_step_among_many_nests_works_as_much_as_among_few(name):
    few, many = work(FEW, STEPS[name]), work(MANY, STEPS[name])
    assert many <= few + 60 + few // 20


REFUSED: dict[str, Callable[[Schedule, str, list[Any]], Any]] = {
    "a query": lambda sch, name, loops: sch.can_reorder(loops[0], loops[0]),
    "factors": lambda sch, name, loops: refused(lambda: sch.split(loops[0], [3, 5])),
    "no reduction": lambda sch, name, loops: refused(lambda: sch.rfactor(loops[0], 0)),
    "a loop that is gone": lambda sch, name, loops: refused(lambda: sch.split(_fused(sch, loops), [None, 2])),
}


def _fused(sch: Schedule, loops: list[Any]) -> Any:
    sch.fuse(*loops)
    return loops[0]


def refused(step: Callable[[], Any]) -> None:
    with pytest.raises(ScheduleError):
        step()


@pytest.mark.parametrize("name", REFUSED)
def test_so_does_a_refusal(name):
    few, many = work(FEW, REFUSED[name]), work(MANY, REFUSED[name])
    assert many <= few + 60 + few // 20


@pytest.mark.parametrize("name", ["split", "fuse", "reorder", "cache_read", "compute_at", "compute_inline"])
def test_so_does_a_step_of_a_program_of_symbolic_sizes(name):
    few, many = (work(count, STEPS[name], rows="n") for count in (FEW, MANY))
    assert many <= few + 60 + few // 20
