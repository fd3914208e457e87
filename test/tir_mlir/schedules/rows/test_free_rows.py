"""schedules of rows with free=True: every point is right, a decision leaves its mark, the defaults are the schedule."""

from __future__ import annotations

import numpy as np
import pytest
from harness.spaces import check_points
from programs.rowwise import layer_norm, reduced, softmax

from tir_mlir import Schedule, build, schedules
from tir_mlir.target import Target
from tir_mlir.tune.spaces.deciders import Defaults, Fixed, Recording

SMALL = Target(vector_bits=128, registers=8, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
RNG = np.random.default_rng(7)
SIZES = [(1, 127), (15, 1), (17, 15), (127, 17)]


def space(sch):
    schedules.auto(sch, SMALL, 1, free=True)


def text(program, **decisions) -> str:
    sch = Schedule(program, decider=Fixed(decisions))
    space(sch)
    return sch.mod.script()


def softmax_of(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(1, keepdims=True))
    return e / e.sum(1, keepdims=True)


def norm_of(x: np.ndarray, g: np.ndarray) -> np.ndarray:
    t = 2 * x
    d = t - t.mean((1, 2), keepdims=True)
    return d / np.sqrt((d * d).sum((1, 2), keepdims=True) + 1) * g


# --- points -----------------------------------------------------------------------------------------------------------


@pytest.mark.few(2)
@pytest.mark.parametrize("shape", SIZES)
def test_points_of_a_softmax(shape):
    x = RNG.standard_normal(shape, np.float32)
    assert "out.inline_power" in check_points(softmax(shape), space, [x], softmax_of(x), rtol=1e-5)


@pytest.mark.few(2)
@pytest.mark.parametrize("shape", SIZES)
def test_points_of_a_layer_norm(shape):
    x, g = RNG.standard_normal((*shape, 3), np.float32), RNG.standard_normal((shape[1], 3), np.float32)
    names = check_points(layer_norm(*shape), space, [x, g], norm_of(x, g), rtol=1e-4)
    assert "out.fuse_spread" in names


@pytest.mark.parametrize("sizes", [(17, 127), (1, 15)])
def test_points_of_a_layer_norm_of_symbolic_sizes(sizes):
    x, g = RNG.standard_normal((*sizes, 3), np.float32), RNG.standard_normal((sizes[1], 3), np.float32)
    check_points(layer_norm("m", "n"), space, [x, g], norm_of(x, g), 2, rtol=1e-4)


@pytest.mark.few(2)
@pytest.mark.parametrize(("shape", "axes"), [((127, 17, 3), (1, 2)), ((17, 3), (1,)), ((1, 15), (1,)), ((555,), (0,))])
def test_points_of_a_reduction(shape, axes):
    x = RNG.integers(-4, 5, shape).astype("float32")
    expected = np.atleast_1d(x.sum(axes))
    check_points(reduced(shape, axes), space, [x], expected)


# --- marks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "value"), [("out.rows", 4), ("out.inline_power", 1), ("out.join_total", 4)])
def test_a_decision_about_a_softmax_changes_it(name, value):
    x = RNG.standard_normal((17, 128), np.float32)
    program = softmax((17, 128))
    assert text(program, **{name: value}) != text(program)
    check(program, [x], softmax_of(x), {name: value})


@pytest.mark.parametrize(
    ("shape", "axes", "name", "value"),
    [((15, 7, 3), (1, 2), "C.fused", 0), ((127, 3), (1,), "C.over_results", 1), ((2, 127), (1,), "C.step", 16)],
)
def test_a_decision_about_a_reduction_changes_it(shape, axes, name, value):
    x = RNG.integers(-4, 5, shape).astype("float32")
    program = reduced(shape, axes)
    assert text(program, **{name: value}) != text(program)
    check(program, [x], x.sum(axes), {name: value})


@pytest.mark.filterwarnings("error")
def test_fused_axes_of_a_row_are_vectorized():
    x, g = RNG.standard_normal((17, 15, 3), np.float32), RNG.standard_normal((15, 3), np.float32)
    decisions = {f"out.fuse_{name}": 1 for name in ("total", "spread", "twice", "out")}
    check(layer_norm(17, 15), [x, g], norm_of(x, g), decisions)


def check(program, inputs, expected, decisions):
    sch = Schedule(program, decider=Fixed(decisions))
    space(sch)
    out = np.full(expected.shape, 99, expected.dtype)
    build(sch)["main"](*inputs, out)
    np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-5)


def test_passes_that_may_not_join_stay_alone():
    """A step of 16 does not divide 127: the sum would read what the next step writes."""
    assert text(softmax((17, 127)), **{"out.join_total": 4}) == text(softmax((17, 127)))


# --- defaults ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "program",
    [softmax((17, 127)), softmax((17, 127), 0), layer_norm(17, 15), layer_norm("m", "n"), reduced((17, 15, 3), (1, 2)),
     reduced((17, 3), (1,)), reduced((555,), (0,)), reduced((7, 5, 17), (0, 2))],
)  # fmt: skip
@pytest.mark.parametrize("threads", [1, 2])
def test_the_defaults_are_the_schedule_itself(program, threads):
    free, fixed = Schedule(program, decider=(decider := Recording(Defaults()))), Schedule(program)
    schedules.auto(free, SMALL, threads, free=True)
    schedules.auto(fixed, SMALL, threads)
    assert free.mod.script() == fixed.mod.script()
    assert decider.decisions and not fixed.trace.decisions
