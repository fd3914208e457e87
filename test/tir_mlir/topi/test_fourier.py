"""Fourier transforms by factors, as written and scheduled, beside NumPy."""

import numpy as np
import pytest

from tir_mlir import Schedule, build, schedules, te, topi
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.topi.fourier import fft_factors, fft_roots, irfft_roots, rfft_roots

RNG = np.random.default_rng(3)
ERROR = {"float32": 3e-7, "float64": 1e-15}


def run_kernel(operands, results, scheduled):
    sch = Schedule(te.create_prim_func([*operands, *results]))
    if scheduled:
        assert set(schedules.auto(sch, threads=1).values()) == {"stages"}
    return build(sch.mod)


def is_near(got, want, dtype):
    return np.abs(got - want).max() <= ERROR[dtype] * np.abs(want).max()


@pytest.mark.parametrize(
    ("size", "dtype", "scheduled"),
    [(16, "float32", False), (60, "float64", True), (128, "float32", True), (200, "float32", True)],
)
def test_complex_numbers(size, dtype, scheduled):
    roots = fft_roots(size).astype(dtype)
    operands = [te.placeholder(shape, dtype, name) for shape, name in [((3, size), "x"), ((3, size), "y")]]
    w = te.placeholder(roots.shape, dtype, "w")
    x, y = RNG.standard_normal((2, 3, size)).astype(dtype)
    real, imaginary = np.zeros((2, 3, size), dtype)
    run_kernel([*operands, w], topi.fft(*operands, w), scheduled)(x, y, roots, real, imaginary)
    assert is_near(real + 1j * imaginary, np.fft.fft(x + 1j * y.astype("complex128")), dtype)


@pytest.mark.parametrize(("size", "layout"), [(24, "parts"), (40, "joined"), (256, "joined")])
def test_real_numbers(size, layout):
    roots = rfft_roots(size).astype("float32")
    x, w = te.placeholder((2, 3, size), name="x"), te.placeholder(roots.shape, name="w")
    a = RNG.standard_normal((2, 3, size)).astype("float32")
    results = topi.rfft(x, w, layout)
    got = [np.zeros(tuple(map(int, each.shape)), "float32") for each in results]
    run_kernel([x, w], results, True)(a, roots, *got)
    real, imaginary = got if layout == "parts" else np.moveaxis(got[0], -1, 0)
    assert is_near(real + 1j * imaginary, np.fft.rfft(a.astype("float64")), "float32")


def test_back_to_real_numbers():
    roots = irfft_roots(48).astype("float32")
    x, y, w = (te.placeholder(s, name=n) for s, n in (((3, 25), "x"), ((3, 25), "y"), (roots.shape, "w")))
    a, b = RNG.standard_normal((2, 3, 25)).astype("float32")
    got = np.zeros((3, 24, 2), "float32")
    run_kernel([x, y, w], [topi.irfft(x, y, w)], True)(a, b, roots, got)
    assert is_near(got.reshape(3, 48), np.fft.irfft(a + 1j * b.astype("float64")) * 48, "float32")


def test_factors():
    assert [fft_factors(n) for n in (512, 200, 12)] == [[8, 8, 8], [8, 5, 5], [4, 3]]
    assert not any(map(fft_factors, (1, 8, 14, 50)))


def test_a_size_of_another_factor_is_refused():
    x, w = te.placeholder((3, 28), name="x"), te.placeholder((2, 9), name="w")
    with pytest.raises(GraphError, match=r"a transform of 28 complex numbers.*\n.*a product of 2, 3 and 5"):
        topi.fft(x, x, w)
