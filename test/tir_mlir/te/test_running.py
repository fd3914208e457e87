"""Tensor expressions scheduled, built and compared with NumPy."""

import numpy as np
import pytest

from tir_mlir import Schedule, build, te


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
def test_a_scheduled_matmul_with_bias(n):
    a, b = te.placeholder((n, n), name="A"), te.placeholder((n, n), name="B")
    bias = te.placeholder((n,), name="bias")
    k = te.reduce_axis((0, n), name="k")
    c = te.compute((n, n), lambda i, j: te.sum(a[i, k] * b[k, j], axis=k), name="C")
    d = te.compute((n, n), lambda i, j: te.max(c[i, j] + bias[j], 0.0), name="D")
    sch = Schedule(te.create_prim_func([a, b, bias, d]))
    i, j, k = sch.get_loops("C")
    j_0, j_1 = sch.split(j, factors=[None, 16])
    sch.reorder(i, j_0, k, j_1)
    sch.reverse_compute_at("D", j_0)
    rng = np.random.default_rng(0)
    x, y, z = (rng.random(s, dtype=np.float32) for s in ((n, n), (n, n), (n,)))
    out = np.empty((n, n), np.float32)
    build(sch)(x, y, z, out)
    np.testing.assert_allclose(out, np.maximum(x @ y + z, 0), rtol=1e-5)


@pytest.mark.parametrize("n", [1, 7, 16])
def test_a_softmax_of_symbolic_size(n):
    size = te.var("n")
    a = te.placeholder((4, size), name="A")
    k, m = te.reduce_axis((0, size), name="k"), te.reduce_axis((0, size), name="m")
    top = te.compute((4,), lambda i: te.max(a[i, k], axis=k), name="top")
    e = te.compute((4, size), lambda i, j: te.exp(a[i, j] - top[i]), name="e")
    s = te.compute((4,), lambda i: te.sum(e[i, m], axis=m), name="s")
    out = te.compute((4, size), lambda i, j: e[i, j] / s[i], name="out")
    x = np.random.default_rng(1).standard_normal((4, n)).astype(np.float32)
    y = np.empty_like(x)
    build(te.create_prim_func([a, out]))(x, y)
    wanted = np.exp(x - x.max(1, keepdims=True))
    np.testing.assert_allclose(y, wanted / wanted.sum(1, keepdims=True), rtol=1e-5)


def test_a_reducer_of_pairs_finds_the_greatest():
    def combine(x, y):
        return te.Select(x[1] >= y[1], x[0], y[0]), te.Select(x[1] >= y[1], x[1], y[1])

    argmax = te.comm_reducer(combine, lambda t0, t1: (-1, te.min_value(t1)), name="argmax")
    idx, val = te.placeholder((8, 13), "int32", name="idx"), te.placeholder((8, 13), name="val")
    k = te.reduce_axis((0, 13), name="k")
    found = te.compute((8,), lambda i: argmax((idx[i, k], val[i, k]), axis=k), name="argmax")
    x = np.random.default_rng(2).standard_normal((8, 13)).astype(np.float32)
    at, best = np.empty(8, np.int32), np.empty(8, np.float32)
    build(te.create_prim_func([idx, val, *found]))(np.tile(np.arange(13, dtype=np.int32), (8, 1)), x, at, best)
    np.testing.assert_array_equal(at, x.argmax(1))
    np.testing.assert_array_equal(best, x.max(1))


def test_a_condition_of_a_reduction_leaves_points_out():
    a = te.placeholder((9, 9), name="A")
    k = te.reduce_axis((0, 9), name="k")
    s = te.compute((9,), lambda i: te.max(a[i, k], axis=k, where=k <= i), name="S")
    x = np.random.default_rng(3).standard_normal((9, 9)).astype(np.float32)
    out = np.empty(9, np.float32)
    build(te.create_prim_func([a, s]))(x, out)
    np.testing.assert_array_equal(out, [x[i, : i + 1].max() for i in range(9)])
