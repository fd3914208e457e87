"""Searches of programs of several blocks, in the default space, on this machine."""

import numpy as np
import pytest

from tir_mlir import build, te, tune
from tir_mlir.target import resolved
from tir_mlir.tune.search.candidates import draw_candidate
from tir_mlir.tune.search.tuner import library_space
from tir_mlir.tune.spaces.deciders import Fixed

pytestmark = pytest.mark.nightly
ROWS, WIDTH, HIDDEN = 16, 24, 96
TRIALS = 16


def product(a, b, name):
    r = te.reduce_axis((0, a.shape[1]), name=f"r{name}")
    return te.compute((a.shape[0], b.shape[1]), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name=name)


def plus(a, bias, name):
    return te.compute(a.shape, lambda i, j: a[i, j] + bias[j], name=name)


def two_layers():
    """Four blocks; the second product has twice the iterations of the first."""
    x, w, b = (te.placeholder(s, name=n) for n, s in (("X", (ROWS, WIDTH)), ("W", (WIDTH, HIDDEN)), ("B", (HIDDEN,))))
    v, c = (te.placeholder(s, name=n) for n, s in (("V", (HIDDEN, 2 * WIDTH)), ("D", (2 * WIDTH,))))
    hidden = plus(product(x, w, "H"), b, "G")
    return te.create_prim_func([x, w, b, v, c, plus(product(hidden, v, "Y"), c, "Z")])


@pytest.fixture(scope="module")
def best():
    return tune.tune(two_layers(), trials=TRIALS, threads=1, builders=1, seed=1)


def changed(best):
    """By trial, the blocks whose decisions are not those of the library's choice."""
    first, *others = best.trials
    return [{n.split(".")[0] for n, v in t.decisions.items() if first.decisions.get(n) != v} for t in others]


def drawn(trial):
    """The schedule of a trial, drawn again from its decisions."""
    return draw_candidate(two_layers(), library_space(resolved(None), 1), Fixed(trial.decisions)).schedule


def check(schedule):
    shapes = (ROWS, WIDTH), (WIDTH, HIDDEN), (HIDDEN,), (HIDDEN, 2 * WIDTH), (2 * WIDTH,)
    x, w, b, v, c = (np.random.default_rng(n).random(shape, dtype=np.float32) for n, shape in enumerate(shapes))
    out = np.full((ROWS, 2 * WIDTH), np.nan, np.float32)
    build(schedule)["main"](x, w, b, v, c, out)
    np.testing.assert_allclose(out, (x @ w + b) @ v + c, rtol=1e-4)


def test_all_candidates_run_and_the_winner_is_verified(best):
    """A busy machine may stop one that seems slow before it is compared: that is done here."""
    assert len(best.trials) == TRIALS and best.statuses[0] == "ok" and set(best.statuses) <= {"ok", "slow"}
    for trial in best.trials:
        if trial.status == "slow":
            check(drawn(trial))
    assert best.verified.startswith("checked at main") and best.gain >= 1


def test_blocks_are_searched_one_by_one_with_trials_by_their_iterations(best):
    """Of 11 trials for one block each, 2 for each, and the rest 2 to 1 to the products; what was found is kept."""
    alone = changed(best)[:11]
    assert alone[:4] == [{"Y"}] * 4
    earlier = {"Y"}
    for block, trials in (("H", alone[4:7]), ("G", alone[7:9]), ("Z", alone[9:])):
        assert all(block in blocks <= earlier | {block} for blocks in trials)
        earlier.add(block)


def test_the_winner_computes_the_program(best):
    check(best.schedule)
