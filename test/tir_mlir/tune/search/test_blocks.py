"""Searches of programs of several blocks, in the default space, on this machine."""

import numpy as np
import pytest

from tir_mlir import build, te, tune

pytestmark = pytest.mark.nightly
ROWS, WIDTH, HIDDEN = 16, 24, 96


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
    return tune.tune(two_layers(), trials=10, threads=1, builders=1, seed=1)


def changed(best):
    """By trial, the blocks whose decisions are not those of the library's choice."""
    first, *others = best.trials
    return [{n.split(".")[0] for n, v in t.decisions.items() if first.decisions.get(n) != v} for t in others]


def test_all_candidates_run_and_the_winner_is_verified(best):
    assert best.statuses == ["ok"] * 10 and best.verified.startswith("checked at main") and best.gain >= 1


def test_blocks_are_searched_one_by_one_with_trials_by_their_iterations(best):
    """Of six trials for one block each, two for either, and the rest one to two."""
    alone = changed(best)[:6]
    assert alone[:3] == [{"Y"}] * 3 and all("H" in blocks for blocks in alone[4:])


def test_the_winner_computes_the_program(best):
    shapes = (ROWS, WIDTH), (WIDTH, HIDDEN), (HIDDEN,), (HIDDEN, 2 * WIDTH), (2 * WIDTH,)
    x, w, b, v, c = (np.random.default_rng(n).random(shape, dtype=np.float32) for n, shape in enumerate(shapes))
    out = np.full((ROWS, 2 * WIDTH), np.nan, np.float32)
    build(best.schedule)["main"](x, w, b, v, c, out)
    np.testing.assert_allclose(out, (x @ w + b) @ v + c, rtol=1e-4)
