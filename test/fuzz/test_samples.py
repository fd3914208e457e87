"""Samples know which of their values machine types represent."""

from random import Random

import numpy as np
import pytest

from fuzzing.pairs.judges import interpreted
from fuzzing.pairs.story import State
from fuzzing.programs import program
from fuzzing.programs.families import FAMILIES
from fuzzing.programs.making import Made
from fuzzing.programs.sample import Maker, Sample
from tir_mlir.script.parser import parse


@pytest.mark.parametrize("other", ["int32", "uint8", "uint64"])
def test_a_negative_value_between_unsigned_parameters_is_noted(other):
    def meaning(held):
        held["B"] = held["A"] - held["A"].max() - 1

    sample = Sample("", [Made("A", (3,), dtype="uint64"), Made("I", (3,), dtype=other)], 0, meaning)
    sample.expected(sample.arrays())
    assert sample.negative


def test_signed_programs_may_have_negative_values():
    sample = Sample("", [Made("A", (3,), dtype="int32")], 0, lambda held: held.update(B=np.full(3, -1)))
    sample.expected(sample.arrays())
    assert sample.fits and not sample.negative


@pytest.mark.parametrize("stage", [s for stages in FAMILIES.values() for s in stages])
def test_a_stage_means_what_numpy_computes(stage):
    for number in range(3):
        sample = program(Random(f"{stage}/{number}"), 1, [stage])
        arrays = sample.arrays()
        interpreted(State("", parse(sample.text), arrays, sample.expected(arrays)))


def test_every_stage_of_a_family_is_drawn():
    assert {s for stages in FAMILIES.values() for s in stages} <= set(Maker.STAGES)


def test_a_program_is_of_the_families_of_its_stages():
    sample = Sample("", [Made("P0", (3,))], 0, lambda _: None, ["csr", "reduce"], owners={"T1": "csr", "T12": "reduce"})
    assert sample.families() == sample.families("T1") == sample.families("T1_global") == ["bounds from data"]
    assert sample.families("T12") == sample.families("P0") == []


def test_values_of_all_magnitudes_fit_their_type():
    sample = program(Random(0), 1, ["unsigned"])
    arrays = sample.arrays()
    sample.expected(arrays)
    assert sample.fits and max(a.max() for a in arrays) > 127


def test_integers_outside_their_type_are_noted():
    sample = Sample(
        "", [Made("A", (3,), dtype="uint8")], 0, lambda held: held.update(B=held["A"] + 256), types={"B": "uint8"}
    )
    sample.expected(sample.arrays())
    assert sample.wraps


def test_an_unknown_family_is_refused_by_name():
    with pytest.raises(ValueError, match="no stage or family 'recurrent': ordered, scatter"):
        program(Random(0), 1, ["recurrent"])
