"""Random schedules with sampled integers and places: their traces say all that was done, as Python and as JSON.

`make check` runs a few; `TIR_FUZZ=1000` runs that many other ones.
"""

from __future__ import annotations

import os
from random import Random

from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from fuzzing.pairs.steps_taken import REFUSALS
from fuzzing.programs import program
from fuzzing.steps import step
from fuzzing.steps.choice import Choice, NothingThere
from tir_mlir import Schedule
from tir_mlir.schedule import Trace
from tir_mlir.script.parser import parse
from tir_mlir.testing import verify_trace_roundtrip

SETTINGS = settings(
    max_examples=int(os.environ.get("TIR_FUZZ", "20")),
    deadline=None,
    database=None,
    print_blob=True,
    derandomize="TIR_FUZZ" not in os.environ,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate,),
)


def sampled(sch: Schedule, random: Random) -> None:
    """A step whose arguments were sampled: the choice is made by `random`, so that a failure can be run again."""
    c = Choice(sch, random)
    sch.seed(random.randrange(1, 1 << 30))
    match random.randrange(4):
        case 0:
            loop = c.loop()
            sch.split(loop, sch.sample_perfect_tile(loop, random.randrange(2, 4), random.choice((1, 4, -1))))
        case 1:
            loop = c.loop()
            sch.split(loop, sch.sample_partitioned_tile(loop, 3, random.randrange(3), random.randrange(1, 4)))
        case 2:
            block = c.block()
            place = sch.sample_compute_location(block)
            sch.compute_at(block, place, random.random() < 0.5)
        case 3:
            value = sch.sample_categorical([0, 1, 2], [1, 2, 3.5])
            sch.annotate(c.block(), "sampled", [value, {"k": value}])


def scheduled(random: Random) -> tuple[Schedule, str]:
    text = program(random).text
    sch = Schedule(parse(text), seed=random.randrange(1, 1 << 30), error_render_level="none")
    for _ in range(7):
        try:
            if random.random() < 0.5:
                sampled(sch, random)
            else:
                name, (args, kwargs) = step(sch, random)
                getattr(sch, name)(*args, **kwargs)
        except (*REFUSALS, ValueError, IndexError, NothingThere):  # `tell` sees to it that these are no faults
            pass
    return sch, text


@SETTINGS
@given(st.randoms(use_true_random=False))
def test_traces_round_trip(random):
    sch, text = scheduled(random)
    verify_trace_roundtrip(sch, parse(text))
    simple = Schedule(parse(text))
    sch.trace.simplified().apply_to_schedule(simple)
    assert simple.mod.script() == sch.mod.script()
    again = Trace.from_json(sch.trace.as_json())
    assert str(again) == str(sch.trace) and again.as_json() == sch.trace.as_json()


@SETTINGS
@given(st.randoms(use_true_random=False))
def test_other_decisions_are_taken_whole_or_not_at_all(random):
    sch, text = scheduled(random)
    other = Schedule(parse(text), seed=random.randrange(1, 1 << 30), error_render_level="none")
    before = other.mod.text()
    try:
        sch.trace.apply_to_schedule(other, False, lambda inst, inputs, attrs, decision: None)
    except (*REFUSALS, ValueError):
        assert other.mod.text() == before and len(other.trace) == 0
    else:
        verify_trace_roundtrip(other, parse(text))
