"""Input kinds: some inputs of each pass; injected faults are detected."""

from __future__ import annotations

import os
from random import Random

import pytest

from fuzzing.inputs import KINDS, cached, judging, names, replays, script, simplify, steps
from fuzzing.kinds import Fault
from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.runtime.cache import store
from tir_mlir.schedule import Trace
from tir_mlir.script import parser

COUNTS = {"linalg": 3, "replays": 3, "kernels": 4, "descriptions": 8, "steps": 8, "cached": 30}


@pytest.mark.few(5)
@pytest.mark.parametrize("name", KINDS)
def test_a_few_inputs_are_fine(name):
    made = [KINDS[name].case(Random(f"{name}/{number}")) for number in range(COUNTS.get(name, 12))]
    assert set(made) <= {"accepted", "refused"}


@pytest.mark.parametrize("name", ["script", "mlir", "traces", "maps", "tensors"])
def test_the_same_seed_gives_the_same_input(name):
    first, second = Random(name), Random(name)
    for random in (first, second):
        KINDS[name].case(random)
    assert first.getstate() == second.getstate()


def test_programs_are_diverse():
    made = [script.text_of(Random(number)) for number in range(200)]
    assert len(set(made)) > 190 and sum("prim_func" in text for text in made) > 100


@pytest.mark.parametrize(
    "error", [AttributeError("x"), RecursionError("x"), MemoryError(), KeyError(3), TypeError("x")]
)
def test_an_error_of_another_class_is_a_fault(monkeypatch, error):
    def broken(*_: object) -> None:
        raise error

    monkeypatch.setattr(parser.FunctionParser, "function", broken)
    monkeypatch.setattr(judging, "_HERE", os.path.dirname(__file__) + "/nowhere")
    if isinstance(error, RecursionError):
        monkeypatch.setattr(parser, "_parse_one", broken)
    with pytest.raises(Fault, match=type(error).__name__):
        for number in range(40):
            script.case(Random(number))


def test_a_schedule_that_a_refusal_changes_is_a_fault(monkeypatch):
    def broken(self: Schedule, *_: object, **__: object) -> None:
        self.trace.append(self.trace.insts[0]) if self.trace.insts else self._known.add(-7)
        raise ScheduleError("no")

    monkeypatch.setattr(Schedule, "split", broken)
    monkeypatch.setattr(steps, "NAMES", ["split"])
    with pytest.raises(Fault, match="a refused step changed"):
        for number in range(10):
            steps.case(Random(number))


def test_a_cache_that_checks_nothing_is_a_fault(monkeypatch):
    monkeypatch.setattr(store, "_sum", lambda *_: b"")
    with pytest.raises(Fault, match=r"loaded .* saved"):
        for number in range(200):
            cached._loaded(Random(number))


def test_a_simplification_that_changes_a_value_is_a_fault(monkeypatch):
    monkeypatch.setattr(simplify, "fold_expr", lambda expr, ranges: expr + 1 if ranges[0][0] is None else expr)
    with pytest.raises(Fault, match="different value"):
        for number in range(3):
            simplify.case(Random(number))


def test_a_trace_that_loses_a_step_is_a_fault(monkeypatch):
    whole = Trace.as_json
    monkeypatch.setattr(Trace, "as_json", lambda self: [whole(self)[0][:-1], whole(self)[1]])
    with pytest.raises(
        Fault, match=r"makes a different program|parses back from JSON as a different one|produces a different program"
    ):
        for number in range(5):
            replays.case(Random(number))


def test_a_name_that_a_nest_binds_anew_is_a_fault(monkeypatch):
    monkeypatch.setattr("tir_mlir.script.parser.function_state.Scope.lose", lambda *_: None)
    with pytest.raises(Fault, match="accepted, and not what Python computes"):
        for number in range(200):
            names.case(Random(number))
