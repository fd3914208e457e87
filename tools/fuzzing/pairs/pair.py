"""One pair: a random schedule of a random program, and the results of its checks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import partial
from random import Random

from fuzzing.kinds import Fault, Kind, Record
from fuzzing.pairs.judges import built, interpreted, is_large, overlapping, printed, replayed, verified
from fuzzing.pairs.steps_taken import take
from fuzzing.pairs.story import State, Story
from fuzzing.programs import program
from fuzzing.steps.ready_made import READY_MADE
from fuzzing.tape import parts
from fuzzing.untouched import NotRecorded, audited
from tir_mlir import Schedule
from tir_mlir.script.parser import parse

LENGTH, LENGTHS = 7, (7, 7, 3, 12)
THOROUGH, PRINTED, REPLAYED, VERIFIED, BUILT, BUILT_MORE, CHECKED = 0.02, 0.6, 0.2, 0.6, 0.06, 0.3, 0.3
"""Shares of the pairs that are judged after every step and in every way; printed and parsed; replayed in one way;
verified; built, those with vectors, instructions, parallel loops or tables more often; and of these, checked builds.
The interpreter judges all of them."""
MORE = ("vectorize", "tensorize", "parallel", *READY_MADE)


@dataclass(frozen=True)
class Wanted:
    """What to draw: programs of these stages or families, these steps; all of them if there are none."""

    stages: Sequence[str] = ()
    steps: Sequence[str] = ()


ANY = Wanted()


def tell(random: Random, length: int = LENGTH, thorough: bool = True, wanted: Wanted = ANY) -> Story:
    """Generate a program, apply `length` random steps, run the checks. Errors: Fault."""
    everything = thorough or random.random() < THOROUGH
    judges = [everything or random.random() < share for share in (PRINTED, REPLAYED, VERIFIED, BUILT_MORE)]
    fewer = everything or random.random() < BUILT / BUILT_MORE
    story = Story(program(random, words=wanted.stages))
    try:
        with audited() if everything else nullcontext():
            _tell(story, random, length, everything, judges, fewer, wanted.steps)
    except (Exception, NotRecorded) as error:
        text = str(error) if isinstance(error, AssertionError) else f"{type(error).__name__}: {error}"
        raise Fault(story.text(text)) from error
    return story


def _tell(
    story: Story,
    random: Random,
    length: int,
    everything: bool,
    judges: list[bool],
    fewer: bool,
    wanted: Sequence[str],
) -> None:
    module = parse(story.sample.text)
    arrays = story.sample.arrays()
    story.states.append(State("", module, arrays, story.sample.expected(arrays)))
    interpreted(story.now)
    sch = Schedule(module, seed=random.randrange(1, 1 << 30), error_render_level="none")
    large: list[State] = []
    for _ in parts(random, "step", length):
        if not take(story, sch, random, everything, wanted):
            continue
        if is_large(story.now, story.sample.size):
            story.counts["judged", "interpreter, up to the first large program"] += 1
            large = [story.states.pop()]
            break
        if everything:
            printed(story.now)
            interpreted(story.now)
    print_, replay, verify, machine = judges
    story.last = ""
    if not everything:
        _judged(story, print_)
    story.counts["judged", "interpreter"] += 1
    story.states += large
    if replay:
        replayed(story, sch, module, None if everything else random)
    if verify:
        verified(story, sch)
    if story.sample.may_alias:
        overlapping(story, random)
    tables = any(p.table for p in story.sample.params)
    if machine and (fewer or tables or any(story.applied(name) for name in MORE)):
        built(story, sch, random, random.random() < CHECKED)


def _judged(story: Story, print_: bool) -> None:
    """Check the last program; if it is wrong, raise for the first wrong one."""
    judges = [interpreted, printed][: 1 + print_]
    if _error(story.now, judges) is None:
        return
    for number, state in enumerate(story.states):
        if (error := _error(state, judges)) is not None:
            del story.states[number + 1 :]
            raise error


def _error(state: State, judges: Sequence[Callable[[State], None]]) -> Exception | None:
    try:
        for judge in judges:
            judge(state)
    except Exception as error:  # any error is a finding
        return error
    return None


def case(random: Random, thorough: bool = False, wanted: Wanted = ANY) -> Record:
    """Run a pair as an item."""
    story = tell(random, random.choice(LENGTHS), thorough, wanted)
    steps = sum(n for (what, _), n in story.counts.items() if what == "applied")
    story.counts.update(("program", name) for name in story.sample.stages)
    story.counts.update(("program of", family) for family in story.sample.families())
    return Record("scheduled" if steps else "untouched", story.counts, story.text)


def kind(thorough: bool, wanted: Wanted = ANY) -> Kind:
    """Return the kind of item. `thorough`: all checks, after every step."""
    return Kind(partial(case, thorough=thorough, wanted=wanted))
