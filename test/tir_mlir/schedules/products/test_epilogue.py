"""Elementwise blocks after a product are computed where its tiles are written."""

import numpy as np
import pytest
from programs.layers import chain, dense

from tir_mlir import Schedule, build, schedules, te
from tir_mlir.target import Target

RNG = np.random.default_rng(3)
SMALL = Target(vector_bits=128, registers=16, l1=1 << 10, l2=4 << 10, l3=16 << 10, cores=2)
WIDE = Target(vector_bits=256, registers=32, l1=1 << 10, l2=8 << 10, l3=16 << 10, cores=2)


def scheduled(program, target=WIDE, threads=1):
    sch = Schedule(program)
    found = schedules.auto(sch, target, threads)
    assert sch.verify()
    return sch, found


def numbers(*shape):
    return RNG.integers(-4, 5, shape).astype("float32")


@pytest.mark.parametrize("target", [SMALL, WIDE], ids=["small", "wide"])
@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("rows", [1, 2, 7, 64])
def test_bias_and_relu(rows, turned, threads, target):
    sch, found = scheduled(dense(rows, 37, 50, ["bias", "relu"], turned), target, threads)
    assert found["bias"] == found["relu"] == found["dense"] == "gemm"
    x, w, b, y = numbers(rows, 50), numbers(37, 50), numbers(37), np.empty((rows, 37), "float32")
    build(sch)(x, w if turned else w.T.copy(), b, y)
    np.testing.assert_array_equal(y, np.maximum(x @ w.T + b, 0))


@pytest.mark.nightly
@pytest.mark.parametrize(("depth", "placed"), [(40, False), (300, True)], ids=["whole", "in passes"])
def test_a_residual(depth, placed):
    """Of a sum in passes, the residual is added to the columns that all passes have gone over."""
    sch, found = scheduled(dense(20, 37, depth, ["bias", "add"]))
    assert found == dict.fromkeys(["dense", "bias", "add"], "gemm")
    assert ("add" in names(sch)) is placed and "bias" not in names(sch)
    assert not placed or len(sch.get_loops("add")) == 3
    x, w, b, r, y = numbers(20, depth), numbers(37, depth), numbers(37), numbers(20, 37), np.empty((20, 37), "float32")
    build(sch)(x, w, b, r, y)
    np.testing.assert_array_equal(y, x @ w.T + b + r)


def names(sch):
    """The names of the blocks."""
    return {sch.get(b).name for b in sch.get_child_blocks(sch.get_block("root"))}


def test_a_scale_found_before():
    """A scale of each row, found at run time, multiplies where tiles are written."""
    x, w, k, r = (
        te.placeholder((20, 32), name="X"),
        te.placeholder((37, 32), name="W"),
        te.reduce_axis((0, 32)),
        te.reduce_axis((0, 32)),
    )
    s = te.compute((20,), lambda i: te.max(te.abs(x[i, r]), axis=r), name="scale")
    y = te.compute((20, 37), lambda i, j: te.sum(x[i, k] * w[j, k], axis=k), name="dense")
    z = te.compute((20, 37), lambda i, j: s[i] * y[i, j], name="rescaled")
    sch, found = scheduled(te.create_prim_func([x, w, z]))
    assert found["rescaled"] == found["dense"] == "gemm" and "rescaled" not in names(sch)


def test_nothing_is_stored_between():
    sch, _ = scheduled(dense(64, 96, 40, ["bias", "gelu", "add"]))
    assert "T.alloc_buffer((64, 96))" not in sch.mod.script()  # only accumulators, in scope local
    assert "add" not in names(sch)


@pytest.mark.nightly
def test_a_result_by_heads():
    """[rows, heads * size] to [heads, rows, size]: stored in its order, directly."""
    rows, heads, size = 24, 3, 32
    x, w = te.placeholder((rows, 40), name="X"), te.placeholder((heads * size, 40), name="W")
    k = te.reduce_axis((0, 40), name="k")
    y = te.compute((rows, heads * size), lambda i, j: te.sum(x[i, k] * w[j, k], axis=k), name="dense")
    z, (b,) = chain(y, ["bias"])
    z = te.compute((heads, rows, size), lambda h, i, d: z[i, h * size + d], name="heads")
    sch, found = scheduled(te.create_prim_func([x, w, b, z]))
    assert found == dict.fromkeys(["dense", "bias", "heads"], "gemm") and "heads" not in names(sch)
    a, c, d, out = (
        numbers(rows, 40),
        numbers(heads * size, 40),
        numbers(heads * size),
        np.empty((heads, rows, size), "f4"),
    )
    build(sch)(a, c, d, out)
    np.testing.assert_array_equal(out, (a @ c.T + d).reshape(rows, heads, size).transpose(1, 0, 2))


def test_a_product_that_others_read_is_stored():
    x, w = te.placeholder((20, 30), name="X"), te.placeholder((40, 30), name="W")
    k, n = te.reduce_axis((0, 30), name="k"), te.reduce_axis((0, 40), name="n")
    y = te.compute((20, 40), lambda i, j: te.sum(x[i, k] * w[j, k], axis=k), name="dense")
    z, _ = chain(y, ["relu"])
    s = te.compute((20,), lambda i: te.sum(y[i, n], axis=n), name="rows")
    _sch, found = scheduled(te.create_prim_func([x, w, z, s]))
    assert found == {"dense": "gemm", "relu": "elementwise", "rows": "reduction"}


def test_gemm_alone_takes_no_consumer():
    sch = Schedule(dense(20, 37, 40, ["bias"]))
    schedules.gemm(sch, "dense", WIDE, 1)
    assert "bias" in names(sch)


def test_gemm_with_an_epilogue():
    sch = Schedule(dense(20, 37, 40, ["bias"]))
    schedules.gemm(sch, "dense", WIDE, 1, epilogue="bias")
    assert "bias" not in names(sch) and sch.verify()
