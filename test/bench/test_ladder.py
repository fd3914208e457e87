"""The ladder: every stage on the way from the program to the library's schedule computes the product."""

import itertools

import numpy as np

import ladder
from contest import check
from works.entering import compiled


def test_every_rung_is_correct_and_names_its_step():
    a, b = np.random.default_rng(0).uniform(-1, 1, (2, 40, 40)).astype(np.float32)
    steps = []
    for step, sch in ladder.stages(40, 1):
        check(step, compiled(sch, [a, b], np.empty((40, 40), np.float32)), a @ b.T)
        steps.append(step)
    assert steps[0] == "as written" and len(steps) > 3
    assert any(step.startswith("vectorize(loop=") for step in steps)


def test_rungs_have_a_rate(monkeypatch):
    first = ladder.stages
    monkeypatch.setattr(ladder, "stages", lambda n, threads: itertools.islice(first(n, threads), 2))
    rungs = list(ladder.climb(32, 1))
    assert len(rungs) == 2 and all(rung.rate is not None and rung.rate > 0 for rung in rungs)
