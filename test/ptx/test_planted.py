"""Faults planted in the PTX of real kernels by the rules of `fuzzing.kernels.planted_ptx`: the machine finds them."""

from __future__ import annotations

from collections import Counter
from functools import cache

import numpy as np
import pytest
from programs import gpu_programs

from fuzzing.kernels.planted_ptx import KINDS, Judge, Planted, planted_faults

PROGRAMS = {
    "product": (lambda: gpu_programs.product(32, 32, 64), [(32, 64), (64, 32), (32, 32)]),
    "transposed": (lambda: gpu_programs.transposed(32, 8), [(32, 32)] * 2),
    "row sums": (lambda: gpu_programs.row_sums_by_threads(4, 64), [(4, 64), (4,)]),
    "row factors": (lambda: gpu_programs.row_sums_by_factors(4, 64), [(4, 64), (4,)]),
}
ALWAYS = ("barrier", "wait", "store", "offset")
"""Kinds that change what a kernel does wherever they are planted."""


@cache
def judge(name: str) -> Judge:
    program, shapes = PROGRAMS[name]
    rng = np.random.default_rng(0)
    return Judge(program(), [rng.standard_normal(s).astype(np.float32) for s in shapes])


def verdicts(name: str, faults: list[Planted]) -> list[tuple[Planted, str]]:
    return [(fault, judge(name).verdict(fault)) for fault in faults]


@pytest.mark.few(1)
@pytest.mark.slow
@pytest.mark.parametrize("name", PROGRAMS)
def test_some_faults_are_found(name):
    """Of each kind three, spread over the text; what is not found changes no result."""
    faults = planted_faults(judge(name).text)
    some = []
    for kind in KINDS:
        ours = [f for f in faults if f.kind == kind]
        some += ours[:: max(1, len(ours) // 3)][:3]
    missed = [f for f, verdict in verdicts(name, some) if not verdict]
    assert len(some) - len(missed) >= 8
    assert not [f for f in missed if f.kind in ALWAYS], missed


@pytest.mark.nightly
@pytest.mark.parametrize("name", PROGRAMS)
def test_all_faults_are_found(name):
    """Every fault that the rules plant; nine of ten of those that need not change a result."""
    found = verdicts(name, planted_faults(judge(name).text))
    missed = [f for f, verdict in found if not verdict]
    assert not [f for f in missed if f.kind in ALWAYS], missed
    assert len(missed) <= len(found) // 10, Counter(f.kind for f in missed)


@pytest.mark.parametrize(("name", "verdict"), {"product": "numbers", "row sums": "", "row factors": ""}.items())
def test_a_guard_turned_round(name, verdict):
    """Lanes of one warp that all store the sum that they all have store what one of them stored before."""
    faults = [f for f in planted_faults(judge(name).text) if f.kind == "guard"]
    assert {verdict for _, verdict in verdicts(name, faults)} == {verdict}


@pytest.mark.nightly
def test_a_barrier_that_is_dropped_is_a_race():
    faults = [f for f in planted_faults(judge("product").text) if f.kind == "barrier"]
    assert len(faults) >= 2
    assert {verdict for _, verdict in verdicts("product", faults)} == {"race"}
