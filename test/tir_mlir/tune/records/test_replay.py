"""Records as schedules: replayed on their program, their decisions on another size."""

from __future__ import annotations

import pytest
from programs.matmul import matmul

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import TuneError
from tir_mlir.tune.records.record import Record, subject
from tir_mlir.tune.records.replay import replayed, resized
from tir_mlir.tune.spaces.deciders import Defaults, Recording


def space(sch: Schedule) -> None:
    """The columns in two parts, the rows in one of a few widths."""
    i, j, _ = sch.get_loops("C")
    sch.split(j, sch.sample_perfect_tile(j, 2, name="columns"))
    sch.split(i, [None, sch.sample_categorical([1, 2, 4, 8], [0.1, 0.2, 0.6, 0.1], name="rows")])


def recorded(size: int, decide=Defaults) -> Record:
    decider = Recording(decide())
    sch = Schedule(matmul(size, size, size), decider=decider)
    space(sch)
    found = {"decisions": decider.decisions, "trace": sch.trace.as_json()}
    return subject(matmul(size, size, size)).record(space="mine", **found)


def test_a_record_is_replayed_with_its_trace():
    record = recorded(16)
    sch = replayed(record, matmul(16, 16, 16))
    assert sch.trace.as_json() == record.trace and len(sch.get_loops("C")) == 5
    assert sch.verify()


def test_a_program_with_other_names_starts_from_the_scheduled_program():
    record = recorded(16)
    other = matmul(16, 16, 16).script().replace('T.block("C")', 'T.block("product")').replace("A", "left")
    from tir_mlir.script.parser import parse

    sch = replayed(record, parse(other))
    assert "left: T.Buffer" in sch.mod.script() and len(sch.trace) == 0
    assert len(sch.get_loops("C")) == 5


def test_a_record_of_another_program_is_refused():
    with pytest.raises(TuneError, match="is about another program; fix: for other sizes, `resized`"):
        replayed(recorded(16), matmul(32, 16, 16))


@pytest.mark.parametrize("size", [8, 17, 48])
def test_decisions_of_another_size_become_the_nearest(size):
    record = recorded(32)
    sch, decisions = resized(record, matmul(size, size, size), space)
    assert decisions["rows"] == record.decisions["rows"] == 4 and decisions.keys() == record.decisions.keys()
    assert sch.verify()
