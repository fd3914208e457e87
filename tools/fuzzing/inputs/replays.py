"""Random schedules with sampled factors and locations: their traces are complete, as Python and as JSON."""

from __future__ import annotations

from random import Random

from fuzzing.inputs.judging import Fault, described
from fuzzing.pairs.steps_taken import REFUSALS
from fuzzing.programs import program
from fuzzing.steps import step
from fuzzing.steps.choice import Choice, NothingThere
from fuzzing.steps.ready_made import applied_to
from fuzzing.tape import parts
from tir_mlir import Schedule
from tir_mlir.schedule import Trace
from tir_mlir.script.parser import parse
from tir_mlir.testing import verify_trace_roundtrip

STEPS = 7


def sampled(sch: Schedule, random: Random) -> None:
    """Apply a step with sampled arguments; decisions come from `random`, so that a failure is reproducible."""
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
    """Return a schedule after random steps, and the text of its program."""
    text = program(random).text
    sch = Schedule(parse(text), seed=random.randrange(1, 1 << 30), error_render_level="none")
    for _ in parts(random, "step", STEPS):
        try:
            if random.random() < 0.5:
                sampled(sch, random)
            else:
                name, (args, kwargs) = step(sch, random)
                applied_to(sch, name)(*args, **kwargs)
        except (*REFUSALS, ValueError, IndexError, NothingThere):  # pairs check these errors
            pass
    return sch, text


def round_trips(sch: Schedule, text: str) -> None:
    """Check that the trace and the simplified trace reproduce the program. Errors: AssertionError."""
    verify_trace_roundtrip(sch, parse(text))
    simple = Schedule(parse(text))
    sch.trace.simplified().apply_to_schedule(simple)
    if simple.mod.script() != sch.mod.script():
        raise Fault("the simplified trace makes a different program")
    again = Trace.from_json(sch.trace.as_json())
    if str(again) != str(sch.trace) or again.as_json() != sch.trace.as_json():
        raise Fault("the trace parses back from JSON as a different one")


def decides_anew(sch: Schedule, text: str, seed: int) -> bool:
    """Apply the trace with other decisions, entirely or not at all; return which. Errors: AssertionError."""
    other = Schedule(parse(text), seed=seed, error_render_level="none")
    before = other.mod.text()
    try:
        sch.trace.apply_to_schedule(other, False, lambda inst, inputs, attrs, decision: None)
    except (*REFUSALS, ValueError):
        if other.mod.text() != before or len(other.trace):
            raise Fault("a refused trace changed the schedule") from None
        return False
    verify_trace_roundtrip(other, parse(text))
    return True


def case(random: Random) -> str:
    """Replay the trace of a schedule, as recorded and with other decisions."""
    seed = random.randrange(1, 1 << 30)
    sch, text = scheduled(random)
    try:
        round_trips(sch, text)
        return "accepted" if decides_anew(sch, text, seed) else "refused"
    except Exception as error:
        told = str(error) if isinstance(error, AssertionError) else described(error)
        raise Fault(f"{told}\n{text}\n{sch.trace}") from error
