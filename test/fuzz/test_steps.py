"""The fuzzer draws the arguments of every step, of any program, by number and by name."""

from contextlib import suppress
from random import Random

import pytest

from fuzzing.programs import program
from fuzzing.steps import step
from fuzzing.steps.choice import NothingThere
from fuzzing.steps.step import EVERY
from tir_mlir import Schedule
from tir_mlir.script.parser import parse


@pytest.fixture(scope="module")
def schedules():
    return [Schedule(parse(program(Random(number)).text)) for number in range(12)]


@pytest.mark.few(20)
@pytest.mark.parametrize("name", EVERY)
def test_arguments_are_drawn(name, schedules):
    random = Random(name)
    for sch in schedules:
        for _ in range(4):
            with suppress(NothingThere):
                step(sch.copy(), random, [name])
