"""Slices and positions that are data beside NumPy."""

import numpy as np
import pytest
from harness.operators import random, run

from tir_mlir import te, topi
from tir_mlir.dialect.diagnostics import ScriptError

SLICES = [
    ([0, 2], [3, 9], None), ([1, -4], [100, -1], [1, 2]), ([-1, 5], [-100, 0], [-1, -2]), ([2, 3], [2, 1], None),
    ([None, 1], [None, None], [2, 3]),
]  # fmt: skip


@pytest.mark.parametrize(("begin", "end", "strides"), SLICES)
def test_slices(begin, end, strides):
    x = random(4, 10)
    wanted = x[tuple(slice(*s) for s in zip(begin, end, strides or [None, None], strict=True))]
    got = run(topi.strided_slice, x, begin=begin, end=end, strides=strides)
    np.testing.assert_array_equal(got, wanted)


def test_slices_of_chosen_axes():
    x = random(3, 4, 5)
    got = run(topi.strided_slice, x, begin=[1], end=[3], axes=[-1])
    np.testing.assert_array_equal(got, x[:, :, 1:3])


@pytest.mark.parametrize(("begin", "end", "stride"), [(0, -1, 1), (1, 1 << 62, 2)])
def test_slices_of_a_symbolic_size(begin, end, stride):
    x = random(6, 3)
    wanted = x[begin : None if end == 1 << 62 else end : stride]
    got = run(topi.strided_slice, x, begin=[begin], end=[end], strides=[stride], shapes=[("n", 3)], like=wanted)
    np.testing.assert_array_equal(got, wanted)


def test_a_slice_up_to_an_expression():
    n = te.var("n")
    x = te.placeholder((n + 4, 3), name="x")
    assert str(topi.strided_slice(x, [2], [n + 2]).shape[0]) == "n"


def test_a_slice_that_may_not_fit_is_refused():
    x = te.placeholder((te.var("n"), 3), name="x")
    for begin, end, least in (0, 5, 5), (-3, None, 3):
        with pytest.raises(ScriptError, match=f"holds only where n >= {least}"):
            te.create_prim_func([x, topi.strided_slice(x, [begin], [end])])


def test_flip_and_roll():
    x = random(4, 7)
    got = run(lambda x: [topi.flip(x, 0), topi.flip(x, (0, 1)), topi.roll(x, 2, 1), topi.roll(x, (-3, 9), (0, 1))], x)
    wanted = [x[::-1], x[::-1, ::-1], np.roll(x, 2, 1), np.roll(x, (-3, 9), (0, 1))]
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def test_flip_and_roll_of_a_symbolic_size():
    x = random(5, 3)
    wanted = [x[::-1], np.roll(x, 2, 0)]
    got = run(lambda x: [topi.flip(x, 0), topi.roll(x, 2, 0)], x, shapes=[("n", 3)], like=wanted)
    for one, other in zip(got, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("shapes", [None, [("rows", 4), ("b", "s")]])
def test_an_embedding(dtype, shapes):
    table, tokens = random(11, 4), np.array([[0, 10, 3], [3, 3, 7]], dtype)
    wanted = table[tokens]
    np.testing.assert_array_equal(run(topi.take, table, tokens, axis=0, shapes=shapes, like=wanted), wanted)


def test_take_along_the_last_axis_and_of_all():
    x, at = random(3, 5), np.array([4, 0], "int32")
    last, every = run(lambda x, at: [topi.take(x, at, -1), topi.take(x, at)], x, at)
    np.testing.assert_array_equal(last, x[:, [4, 0]])
    np.testing.assert_array_equal(every, x.ravel()[[4, 0]])


def test_positions_beyond_the_axis_are_limited_to_it_or_wrap():
    x, at = random(5), np.array([-2, 7, 4], "int32")
    clip, wrap = run(lambda x, at: [topi.take(x, at, 0), topi.take(x, at, 0, mode="wrap")], x, at)
    np.testing.assert_array_equal(clip, np.take(x, at, mode="clip"))
    np.testing.assert_array_equal(wrap, np.take(x, at, mode="wrap"))


@pytest.mark.parametrize("axis", [0, -1])
def test_gather_elements(axis):
    x, at = random(4, 5), np.array([[3, -1, 0, 1, 2], [0, 1, 2, 3, 3], [1, 1, 1, 1, -2]], "int64")
    if axis == -1:
        at = np.concatenate([at, at[:1]]) + (at[0] < 0)
    wanted = np.take_along_axis(x, at, axis)
    np.testing.assert_array_equal(run(lambda x, at: topi.gather(x, axis, at), x, at), wanted)


def test_gather_nd():
    x, at = random(3, 4, 5), np.array([[0, 1], [2, 3], [-1, 0]], "int32")
    np.testing.assert_array_equal(run(topi.gather_nd, x, at), x[at[:, 0], at[:, 1]])
    one = np.array([[[1], [3]], [[0], [0]], [[2], [2]]], "int32")
    wanted = np.stack([x[b][one[b, :, 0]] for b in range(3)])
    np.testing.assert_array_equal(run(topi.gather_nd, x, one, batch_dims=1), wanted)


def test_tensors_of_indices_broadcast():
    x, rows, columns = random(4, 5, 2), np.array([[0], [3]], "int64"), np.array([1, -1, 2], "int32")
    np.testing.assert_array_equal(run(topi.index_tensor, x, rows, columns), x[rows, columns])


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis):
    at = np.array([[0, 2], [1, 3]], "int64")
    wanted = np.moveaxis(np.where(at[..., None] == np.arange(4), 2.0, -1.0), -1, axis).astype("float32")
    got = run(topi.one_hot, at, on_value=2, off_value=-1, depth=4, axis=axis)
    np.testing.assert_array_equal(got, wanted)
