"""Samples know which of their values machine types represent."""

from __future__ import annotations

import numpy as np
import pytest

from fuzzing.programs.making import Made
from fuzzing.programs.sample import Sample


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
