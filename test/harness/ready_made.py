"""Ready-made schedules of random typed programs, checked by `verify`, by the interpreter and by compiled code."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random

from programs.parsed import parse

from fuzzing.pairs.judges import built, interpreted, is_large, verified
from fuzzing.pairs.steps_taken import take
from fuzzing.pairs.story import State, Story
from fuzzing.programs import program
from tir_mlir import Schedule

STAGES: dict[str, Sequence[str]] = {
    "auto": ("typed",),
    "gemm": ("typed_product",),
    "gemv": ("typed_product",),
    "conv2d": ("typed_window",),
    "reduction": ("typed_sum", "typed_product"),
    "rowwise": ("typed_rows",),
    "elementwise": ("typed_map",),
    "transpose": ("typed_map",),
    "attention": ("typed_attention",),
    "independent": ("typed_map", "typed_sum", "typed_rows"),
}
"""The stages whose programs a ready-made schedule may take; it refuses those that it does not."""
TRIES = 3


def scheduled(name: str, number: int, build: bool = False) -> Story:
    """Apply a ready-made schedule to a random program, for a random CPU, and check that it computes the same as before:
    by `verify`, and by exact arithmetic against NumPy. A refusal must leave everything as it was.

    `build`: also compile and run it, where it is for this machine. Errors: AssertionError, with the program and steps.
    """
    random = Random(f"{name}/{number}")
    story = Story(program(random, 1, STAGES[name]))
    module, arrays = parse(story.sample.text), story.sample.arrays()
    story.states.append(State("", module, arrays, story.sample.expected(arrays)))
    sch = Schedule(module, seed=number + 1, error_render_level="none")
    for _ in range(TRIES):
        if take(story, sch, random, False, [f"schedules.{name}"]):
            break
    try:
        if not is_large(story.now, story.sample.size):
            interpreted(story.now)
        verified(story, sch)
        if build:
            built(story, sch, random, checked=False)
    except AssertionError as error:
        raise AssertionError(story.text(str(error))) from error
    return story
