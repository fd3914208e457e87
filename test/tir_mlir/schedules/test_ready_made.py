"""Every ready-made schedule of random programs of mixed types computes what the program did."""

from __future__ import annotations

from collections import Counter

import pytest
from harness.ready_made import STAGES, scheduled

from fuzzing.steps.ready_made import READY_MADE
from tir_mlir import schedules

OTHERS = {"WeightPanels", "layer_norm", "softmax", "prepack", "plain", "plain_panels", "tile"}
"""No schedules of a block; `rowwise` by other names; of the parameters of a function, before it is scheduled; plain
schedules of functions of models that are to be ready soon, and of one block of them."""


def test_every_ready_made_schedule_is_tested_and_fuzzed():
    names = set(schedules.__all__) - OTHERS
    assert set(STAGES) == names and {f"schedules.{n}" for n in names} == set(READY_MADE)


@pytest.mark.few(99)
@pytest.mark.parametrize("name", STAGES)
def test_random_programs_compute_the_same(name):
    counts: Counter = Counter()
    for number in range(6):
        counts += scheduled(name, number, build=number == 0).counts
        if counts["applied", f"schedules.{name}"] and counts["judged", "verify"]:
            break
    assert counts["applied", f"schedules.{name}"] and counts["judged", "verify"]


@pytest.mark.nightly
@pytest.mark.parametrize("name", STAGES)
@pytest.mark.parametrize("part", range(4))
def test_more_random_programs_compute_the_same(name, part):
    for number in range(1000 + 50 * part, 1050 + 50 * part):
        scheduled(name, number, build=number % 10 == 0)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(10))
def test_a_thousand_products_of_mixed_types_compute_the_same(part):
    for number in range(100 * part, 100 * part + 100):
        scheduled("gemm", 10_000 + number)
        scheduled("auto", 10_000 + number)
