"""`interpret(..., machine=m)`: results, counts, the timeline, where it stops, and what is refused."""

from __future__ import annotations

import linecache
import re
import sys

import numpy as np
import pytest
from programs.systolic import schedule_product, systolic

from tir_mlir import accel, build, interpret
from tir_mlir.accel.interpreted_run import MachineReport
from tir_mlir.errors import ArgumentError
from tir_mlir.schedule import Schedule

SHAPE = (33, 20, 17)


@pytest.fixture(scope="module")
def machine() -> accel.Machine:
    return systolic()


@pytest.fixture(scope="module")
def sch(machine: accel.Machine) -> Schedule:
    return schedule_product(machine, *SHAPE, (2, 1, 1), True)


def run(sch: Schedule, **options: object) -> tuple[MachineReport, np.ndarray]:
    m, n, k = SHAPE
    rng = np.random.default_rng(0)
    a, b = rng.integers(-128, 128, (m, k), np.int8), rng.integers(-128, 128, (k, n), np.int8)
    c = np.zeros((m, n), np.int8)
    report = interpret(sch, a, b, C=c, **options)
    assert isinstance(report, MachineReport)
    expected = np.clip(np.rint((a.astype(np.int32) @ b) / np.float32(512)), 0, 127)
    np.testing.assert_array_equal(c, expected)
    return report, c


def test_results_and_time_are_those_of_the_built_program(machine: accel.Machine, sch: Schedule) -> None:
    report, _ = run(sch, machine=machine)
    timeline = build(sch, target=machine).main.timeline
    assert str(report.timeline) == str(timeline) and report.cycles == timeline.cycles
    assert report.runs == dict(timeline.issued)


def test_elements_are_counted_without_those_behind_edges(machine: accel.Machine, sch: Schedule) -> None:
    report, _ = run(sch, machine=machine)
    m, n, k = SHAPE
    assert (report["C"].reads, report["C"].writes) == (0, m * n)
    assert report["A"].reads % (m * k) == 0 and report["A"].writes == 0
    assert f"{m * n}" in next(line for line in str(report).splitlines() if line.startswith("C "))


def stops_at(monkeypatch: pytest.MonkeyPatch, sch: Schedule, machine: accel.Machine, **breakpoints: object):
    """The loops, the shapes of the memories, and the line where it stops."""
    seen: list[tuple[dict[str, int], tuple[int, ...], str]] = []

    def hook() -> None:
        frame = sys._getframe(1)
        line = linecache.getline(frame.f_code.co_filename, frame.f_lineno)
        seen.append((dict(frame.f_locals), frame.f_globals["sp"].shape, line))

    monkeypatch.setattr(sys, "breakpointhook", hook)
    run(sch, machine=machine, breakpoints=breakpoints)
    return seen


def test_it_stops_before_each_instruction_of_a_name(
    monkeypatch: pytest.MonkeyPatch, machine: accel.Machine, sch: Schedule
) -> None:
    seen = stops_at(monkeypatch, sch, machine, compute=True)
    assert len(seen) == build(sch, target=machine).main.timeline.issued["compute"]
    assert all(rows == (1024, 16) and "breakpoint()" in line for _, rows, line in seen)


def test_a_condition_takes_numbers_and_loops(
    monkeypatch: pytest.MonkeyPatch, machine: accel.Machine, sch: Schedule
) -> None:
    partial = stops_at(monkeypatch, sch, machine, mvout=lambda rows, cols: rows < 16 or cols < 16)
    assert 0 < len(partial) < build(sch, target=machine).main.timeline.issued["mvout"]
    every = stops_at(monkeypatch, sch, machine, mvout=lambda **values: values["rows"] < 16 or values["cols"] < 16)
    assert [loops for loops, *_ in every] == [loops for loops, *_ in partial]


REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "another name": ({"breakpoints": ["comput"]}, 'no instruction "comput" in main; did you mean compute'),
    "a condition on what is not there": (
        {"breakpoints": {"zero": lambda depth: depth > 1}},
        "the condition of zero takes a name that is not there; it has ",
    ),
    "an option of the other interpreter": ({"exact": True}, "exact is not for a machine; fix: leave it out"),
    "a target": ({"target": "cuda"}, "target is not for a machine"),
    "no machine": ({"machine": "array"}, "machine is an accel.Machine, not 'array'"),
    "a name of an option": ({"machin": 1}, "did you mean 'machine'?"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_a_machine_has_not_is_refused(machine: accel.Machine, sch: Schedule, case: str) -> None:
    options, message = REFUSED[case]
    with pytest.raises(ArgumentError) as caught:
        run(sch, **{"machine": machine, **options})
    assert message in str(caught.value)


def test_a_buffer_may_be_called_as_python_calls_its_functions(machine: accel.Machine) -> None:
    sch = schedule_product(machine, 16, 16, 16, (1, 1, 1), False)
    text = sch.mod.script()
    for name, other in (("A", "run"), ("C", "min")):
        text = re.sub(rf"\b{name}(?=[:.\[])", other, text)
    assert text != sch.mod.script()
    a, b, c = np.ones((16, 16), np.int8), np.ones((16, 16), np.int8), np.zeros((16, 16), np.int8)
    interpret(text, a, b, c, machine=machine)
    assert (c == 0).all()  # 16 / 512, rounded
