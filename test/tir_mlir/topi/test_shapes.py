"""Shapes, orders and parts beside NumPy."""

import numpy as np
import pytest
from harness.operators import build_and_run, random, run

from tir_mlir import te, topi

RESHAPES = [
    ((2, 6), (3, 4)), ((2, 3, 4), (6, -1)), ((2, 3, 4), (0, -1)), ((24,), (2, 1, 3, 4)), ((6, 35), (10, 21)),
    ((1,), ()), ((), (1, 1)), ((4, 1, 6), (4, 6)), ((15, 17), (17, 15)), ((2, 3, 4, 5), (2, 12, 5)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "target"), RESHAPES)
def test_reshape(shape, target):
    x = random(*shape)
    wanted = x.reshape([shape[i] if n == 0 else n for i, n in enumerate(target)])
    np.testing.assert_array_equal(run(topi.reshape, x, newshape=target), wanted)


N = te.var("n")
SYMBOLIC = [
    ((N, 12), (N, 3, 4), (5, 3, 4)), ((N, 12), (-1, 4), (15, 4)), ((2, N, 12), (0, -1), (2, 60)),
    ((2, N, 4), (N * 2, 4), (10, 4)), ((N, 4), (N * 4,), (20,)), ((1, N, 6), (1, N, 2, 3), (1, 5, 2, 3)),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "target", "wanted"), SYMBOLIC, ids=str)
def test_reshape_of_symbolic_sizes(shape, target, wanted):
    x, given = random(*(5 if s is N else s for s in shape)), te.placeholder(shape, name="x")
    (got,) = build_and_run([given], [topi.reshape(given, target)], [x], [x.reshape(wanted)])
    np.testing.assert_array_equal(got, x.reshape(wanted))


def test_an_axis_that_stays_is_indexed_by_itself():
    x = te.placeholder((N, 12, 5), name="x")
    text = te.create_prim_func([x, topi.reshape(x, (N, 3, 4, 5))]).script()
    assert "x[v_i0, v_i1 * 4 + v_i2, v_i3]" in text


def test_axes():
    x = random(3, 1, 5)
    got = run(lambda x: [topi.expand_dims(x, 0), topi.expand_dims(x, (1, -1)), topi.squeeze(x), topi.squeeze(x, 1),
                         topi.transpose(x), topi.transpose(x, (1, -1, 0)), topi.nn.flatten(x)], x)  # fmt: skip
    wanted = [x[None], np.expand_dims(x, (1, -1)), x[:, 0], x[:, 0], x.T, x.transpose(1, 2, 0), x.reshape(3, 5)]
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_axes_of_symbolic_sizes():
    x = random(5, 1, 7, dtype="int8")
    wanted = [x.transpose(2, 0, 1), x[:, 0], x[:, :, None]]
    got = run(lambda x: [topi.transpose(x, (2, 0, 1)), topi.squeeze(x, 1), topi.expand_dims(x, 2)],
              x, shapes=[("n", 1, "m")], like=wanted)  # fmt: skip
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_concatenate(axis):
    parts = [random(*(n if d == axis % 3 else 4 for d in range(3)), seed=n) for n in (1, 15, 2)]
    got = run(lambda *x: topi.concatenate(x, axis), *parts)
    np.testing.assert_array_equal(got, np.concatenate(parts, axis))


def test_concatenate_symbolic_sizes():
    a, b = random(5, 3), random(1, 3)
    wanted = np.concatenate([a, b, a])
    shapes = [("n", 3), (1, 3), ("n", 3)]
    got = run(lambda *x: topi.concatenate(x), a, b, a, shapes=shapes, like=wanted)
    np.testing.assert_array_equal(got, wanted)


def test_stack():
    a, b, c = (random(3, 4, seed=s) for s in range(3))
    first, last = run(lambda *x: [topi.stack(x), topi.stack(x, -1)], a, b, c)
    np.testing.assert_array_equal(first, np.stack([a, b, c]))
    np.testing.assert_array_equal(last, np.stack([a, b, c], -1))


@pytest.mark.parametrize(("sections", "axis"), [(3, 1), ([2, 5], -1), ([1], 0), ([-2], 1)])
def test_split(sections, axis):
    x = random(4, 9)
    got = run(topi.split, x, indices_or_sections=sections, axis=axis)
    for one, other in zip(got, np.split(x, sections, axis), strict=True):
        np.testing.assert_array_equal(one, other)


def test_split_a_symbolic_size():
    x = te.placeholder((N * 2, 3), name="x")
    assert [str(part.shape[0]) for part in topi.split(x, 2)] == ["n", "n"]


def test_repetitions():
    x = random(2, 3)
    got = run(lambda x: [topi.tile(x, (2, 1, 3)), topi.repeat(x, 3, 1), topi.repeat(x, 2, 0)], x)
    for one, other in zip(got, (np.tile(x, (2, 1, 3)), x.repeat(3, 1), x.repeat(2, 0)), strict=True):
        np.testing.assert_array_equal(one, other)


def test_a_repetition_of_a_symbolic_size():
    x = random(5, 3)
    wanted = [np.tile(x, (2, 1)), x.repeat(4, 0)]
    got = run(lambda x: [topi.tile(x, (2, 1)), topi.repeat(x, 4, 0)], x, shapes=[("n", 3)], like=wanted)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_constants():
    outs = run(lambda x: [topi.full((2, 3), "int8", 5), topi.zeros((3,)), topi.ones_like(x), topi.full_like(x, 2.5),
                          topi.arange(7, dtype="int32"), topi.arange(1, 9, 3), topi.arange(5, 0, -2, "int64"),
                          topi.arange(0.0, 1.0, 0.25), topi.eye(3, 4, 1)], random(2, 2))  # fmt: skip
    wanted = [np.full((2, 3), 5, "int8"), np.zeros(3, "float32"), np.ones((2, 2)), np.full((2, 2), 2.5), np.arange(7),
              np.arange(1, 9, 3), np.arange(5, 0, -2), np.arange(0, 1, 0.25), np.eye(3, 4, 1)]  # fmt: skip
    for one, other in zip(outs, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("k", [-1, 0, 2])
def test_triangles(k):
    x = random(2, 5, 4)
    lower, upper = run(lambda x: [topi.tril(x, k), topi.triu(x, k)], x, shapes=[(2, "n", 4)], like=[x, x])
    np.testing.assert_array_equal(lower, np.tril(x, k))
    np.testing.assert_array_equal(upper, np.triu(x, k))
