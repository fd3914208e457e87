"""The times of other libraries for products of matrices."""

import importlib.util

import pytest

from tir_mlir import te
from tir_mlir.tune.report.matmul_libraries import _arguments, matmul_seconds


def product(shape_a, shape_b, out, axes, dtype="float32", k=16):
    a, b = te.placeholder(shape_a, name="A", dtype=dtype), te.placeholder(shape_b, name="B", dtype=dtype)
    r = te.reduce_axis((0, k), name="r")
    return te.create_prim_func([a, b, te.compute(out, lambda *i: te.sum(axes(a, b, r, *i), axis=r), name="C")])


def plain(dtype="float32"):
    return product((8, 16), (16, 4), (8, 4), lambda a, b, r, i, j: a[i, r] * b[r, j], dtype)


def test_a_product_is_known():
    assert _arguments(plain(), 1) == [[[8, 16], [0, 1]], [[16, 4], [0, 1]], "float32", "process_time"]


def test_transposed_operands_are_views():
    found = _arguments(product((8, 16), (4, 16), (8, 4), lambda a, b, r, i, j: a[i, r] * b[j, r]), 2)
    assert found == [[[8, 16], [0, 1]], [[4, 16], [1, 0]], "float32", "perf_counter"]


def test_a_batch_comes_first():
    found = _arguments(product((3, 8, 16), (3, 16, 4), (3, 8, 4), lambda a, b, r, n, i, j: a[n, i, r] * b[n, r, j]), 1)
    assert found[:2] == [[[3, 8, 16], [0, 1, 2]], [[3, 16, 4], [0, 1, 2]]]


def test_what_matmul_does_not_compute_is_not_compared():
    assert _arguments(plain("int32"), 1) is None
    a = te.placeholder((8,), name="A")
    assert _arguments(te.create_prim_func([a, te.compute((8,), lambda i: a[i] + 1.0, name="B")]), 1) is None


INSTALLED = [name for name, module in (("NumPy", "numpy"), ("PyTorch", "torch")) if importlib.util.find_spec(module)]


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_libraries_that_are_installed_are_timed(dtype):
    found = matmul_seconds(plain(dtype), 1)
    assert list(found) == INSTALLED and all(1e-8 < seconds < 1 for seconds in found.values())


@pytest.mark.nightly
@pytest.mark.slow
def test_libraries_take_batches_and_views():
    batch = product((3, 8, 16), (3, 4, 16), (3, 8, 4), lambda a, b, r, n, i, j: a[n, i, r] * b[n, j, r])
    assert list(matmul_seconds(batch, 1)) == INSTALLED


def test_a_library_that_is_not_installed_is_left_out(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    assert matmul_seconds(plain(), 1) == {}
