"""The program in the error of a refused step is printed when the error is read, and is the one before the step."""

from __future__ import annotations

import copy
import pickle
import traceback

import pytest
from programs.matmul import matmul

from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ForkError, LateText
from tir_mlir.errors import ScheduleError
from tir_mlir.schedule import refusal
from tir_mlir.script import printer

MARKED = "  |             for k in range(8):\n  |             ^^^^^^^^^^^^^^^^^^  # here"


def refused(sch: Schedule) -> ScheduleError:
    with pytest.raises(ScheduleError) as raised:
        sch.parallel(sch.get_loops("C")[2])
    return raised.value


@pytest.fixture
def printed(monkeypatch):
    """The number of programs that were printed, as a list of ones."""
    made: list[int] = []
    script = printer.script
    monkeypatch.setattr(printer, "script", lambda *args, **options: (made.append(1), script(*args, **options))[1])
    return made


def test_a_refusal_prints_no_program(printed):
    refused(Schedule(matmul(8, 8, 8)))
    assert not printed


def test_a_query_prints_no_program(printed):
    sch = Schedule(matmul(8, 8, 8))
    assert not sch.can_parallel(sch.get_loops("C")[2])
    assert not printed


def test_the_text_of_a_query_has_the_program():
    sch = Schedule(matmul(8, 8, 8))
    assert MARKED in sch.can_parallel(sch.get_loops("C")[2]).text


def test_the_text_is_made_once(printed):
    error = refused(Schedule(matmul(8, 8, 8)))
    assert str(error) == str(error)
    assert len(printed) == 1


def test_the_program_is_the_one_before_the_step():
    sch = Schedule(matmul(8, 8, 8))
    error = refused(sch)
    i, *_ = sch.get_loops("C")
    sch.split(i, [2, 4])
    sch.undo()
    sch.split(i, [4, 2])
    del sch, i
    assert MARKED in str(error)
    assert "i_0" not in str(error)


@pytest.mark.parametrize("show", [str, repr, lambda e: e.args[0], lambda e: "".join(traceback.format_exception(e))])
def test_every_way_to_read_an_error_shows_the_program(show):
    assert "in the program before the step:" in show(refused(Schedule(matmul(8, 8, 8))))


def test_a_notebook_shows_the_program():
    assert "in the program before the step:" in "\n".join(refused(Schedule(matmul(8, 8, 8)))._render_traceback_())


@pytest.mark.parametrize("through", [copy.copy, lambda e: pickle.loads(pickle.dumps(e))])
def test_copies_keep_the_text(through):
    error = refused(Schedule(matmul(8, 8, 8)))
    other = through(error)
    assert str(other) == str(error)
    assert MARKED in str(other)


def test_a_pickled_answer_keeps_the_text():
    sch = Schedule(matmul(8, 8, 8))
    answer = sch.can_parallel(sch.get_loops("C")[2])
    assert pickle.loads(pickle.dumps(answer)).text == answer.text


def test_arguments_that_are_set_are_kept():
    error = refused(Schedule(matmul(8, 8, 8)))
    error.args = ("other",)
    assert str(error) == "other"


def test_a_text_that_cannot_be_printed_any_more_says_so(monkeypatch):
    error = refused(Schedule(matmul(8, 8, 8)))

    def entered() -> None:
        raise ForkError("forked")

    monkeypatch.setattr(refusal, "enter_context", entered)
    assert "the program before the step cannot be printed: forked" in str(error)


def test_a_late_text_frees_what_it_was_made_of():
    text = LateText(lambda: "made")
    assert (str(text), repr(text), pickle.loads(pickle.dumps(text))) == ("made", "'made'", "made")
    assert text._make is None
