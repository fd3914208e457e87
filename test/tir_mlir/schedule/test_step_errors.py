"""Whatever stops a step is a ScheduleError, and changes nothing."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pytest
from programs.matmul import matmul

from tir_mlir import Schedule
from tir_mlir.errors import (
    IndexMapError,
    InternalError,
    IntrinError,
    ScheduleError,
    StepIndexError,
    StepTypeError,
    StepValueError,
    TirError,
)
from tir_mlir.passes.schedule import PRIMITIVES

STEPS = {
    "no loops": (lambda sch: sch.fuse(), ValueError, "fuse needs at least one loop"),
    "one loop": (lambda sch: sch.merge(sch.get_loops("C")[0]), ValueError, "merge needs at least two loops"),
    "the root": (lambda sch: sch.add_unit_loop(sch.get_block("root")), ValueError, "the root block"),
    "no annotation": (lambda sch: sch.unannotate("C", "key"), IndexError, 'has no annotation "key"'),
    "a candidate": (lambda sch: sch.sample_categorical([1], [2.0, 1.0]), ValueError, "2.0"),
    "another schedule": (
        lambda sch: sch.unroll(Schedule(matmul(8, 8, 8)).get_loops("C")[0]), IndexError, "belongs to another schedule"
    ),
    "an index map": (lambda sch: sch.transform_layout("C", "A", lambda i: i ** 2), IndexMapError, "a power of i"),
    "an array": (lambda sch: sch.annotate("C", "my.key", np.arange(3)), TypeError, "cannot be an annotation"),
    "an intrinsic": (lambda sch: sch.tensorize("C", "unknown"), IntrinError, "unknown"),
}  # fmt: skip


def test_a_primitive_whose_file_was_not_imported_is_named():
    sch = Schedule(matmul(8, 8, 8))
    with pytest.raises(TirError, match=r"no primitive 'twist'; fix: import the file that has @primitive\('twist'\)"):
        sch.executor.apply("twist", sch.get_block("C"))
    assert [entry.call for entry in sch.history if entry.changed] == []


@pytest.mark.parametrize("name", STEPS)
def test_every_error_of_a_step_is_a_schedule_error(name):
    step, kind, match = STEPS[name]
    sch = Schedule(matmul(8, 8, 8))
    before = sch.mod.script()
    with pytest.raises(ScheduleError, match=match) as raised:
        step(sch)
    assert isinstance(raised.value, kind)
    assert sch.mod.script() == before


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (KeyError("x"), InternalError), (AssertionError("x"), InternalError), (RuntimeError("x"), InternalError),
        (ValueError("x"), StepValueError), (IndexError("x"), StepIndexError), (TypeError("x"), StepTypeError),
    ],
)  # fmt: skip
def test_an_error_of_pythons_from_inside_is_a_schedule_error(error, kind, monkeypatch):
    monkeypatch.setitem(PRIMITIVES, "unroll", _failing(error))
    sch = Schedule(matmul(8, 8, 8))
    loop = sch.get_loops("C")[0]
    with pytest.raises(kind, match="unroll") as raised:
        sch.unroll(loop)
    assert isinstance(raised.value, ScheduleError) and raised.value.unexpected
    assert raised.value.__cause__ is error
    assert len(sch.trace) == 2


@pytest.mark.parametrize("step", ["unroll", "can_unroll", "explain"])
@pytest.mark.parametrize("fault", [lambda loop: loop + None, lambda loop: [][loop.id], lambda loop: loop.op == None])  # noqa: E711
def test_an_error_that_no_statement_raised_is_a_fault_and_says_nothing_of_the_step(fault, step, monkeypatch):
    fault.__signature__ = PRIMITIVES["unroll"].signature
    monkeypatch.setitem(PRIMITIVES, "unroll", replace(PRIMITIVES["unroll"], run=fault))
    sch = Schedule(matmul(8, 8, 8))
    loop = sch.get_loops("C")[0]
    arguments = ("unroll", loop) if step == "explain" else (loop,)
    with pytest.raises(InternalError, match=r"a fault in the primitive, (Type|Index)Error"):
        getattr(sch, step)(*arguments)


def _failing(error: Exception):
    def run(loop):
        raise error

    run.__signature__ = PRIMITIVES["unroll"].signature
    return replace(PRIMITIVES["unroll"], run=run)


def test_a_refusal_is_not_unexpected():
    sch = Schedule(matmul(8, 8, 8))
    with pytest.raises(ScheduleError) as raised:
        sch.parallel(sch.get_loops("C")[2])
    assert not raised.value.unexpected


def test_the_errors_can_be_pickled():
    sch = Schedule(matmul(8, 8, 8))
    with pytest.raises(StepValueError) as raised:
        sch.fuse()
    assert isinstance(pickle.loads(pickle.dumps(raised.value)), StepValueError)
