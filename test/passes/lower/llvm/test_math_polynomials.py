"""Functions as polynomials: accuracy over the whole range, and the same value in a vector and alone."""

from __future__ import annotations

import math

import numpy as np
import pytest
from harness.lowered import run

N = 1 << 16
MOST = {"exp": 1.1, "exp2": 1.1, "expm1": 1.5, "log": 1.0, "log1p": 1.5, "tanh": 1.5, "erf": 1.5, "sin": 1.6}  # ulp
EDGES = [0.0, -0.0, math.inf, -math.inf, math.nan, 1e-45, -1e-45, 1.0, -1.0, 88.72284, 88.7229, -87.33655, -103.97]
EXACT = {
    "exp": np.exp, "exp2": np.exp2, "expm1": np.expm1, "log": np.log, "log1p": np.log1p, "tanh": np.tanh,
    "erf": np.vectorize(math.erf, otypes=[np.float64]), "sin": np.sin, "cos": np.cos,
}  # fmt: skip


def program(function: str, dtype: str, count: int, kind: str) -> str:
    memref = f"memref<{count}x{dtype}>"
    return f"""func.func @main(%X: {memref}, %Y: {memref}) attributes {{tir.id = 0 : i64}} {{
    affine.for %i = 0 to {count} {{
      %x = affine.load %X[%i] : {memref}
      %y = math.{function} %x : {dtype}
      affine.store %y, %Y[%i] : {memref}
    }} {{tir.kind = "{kind}"}}
    return
  }}"""


def results(function: str, dtype: str, x: np.ndarray) -> np.ndarray:
    """By vectors; checked to be what scalars give."""
    found = []
    for kind in ("vectorized", "serial"):
        y = np.empty_like(x)
        run(program(function, dtype, x.size, kind), x, y)
        found.append(y)
    np.testing.assert_array_equal(*found)
    return found[0]


def ulps(got: np.ndarray, exact: np.ndarray, dtype) -> np.ndarray:
    """How far results are from the exact ones, where these are numbers; the others must be equal."""
    with np.errstate(over="ignore"):
        rounded = exact.astype(dtype)
    finite = np.isfinite(rounded) & np.isfinite(got)
    np.testing.assert_array_equal(got[~finite], rounded[~finite])
    return np.abs(got[finite].astype(exact.dtype) - exact[finite]) / np.spacing(np.abs(rounded[finite]))


@pytest.mark.parametrize("function", list(MOST))
def test_float32_over_all_exponents(function):
    spread = np.linspace(0, 2**32 - 1, N - 2 * len(EDGES)).astype(np.uint32).view(np.float32)
    x = np.concatenate([spread, np.array(EDGES, np.float32), -np.array(EDGES, np.float32)])
    with np.errstate(all="ignore"):
        exact = EXACT[function](x.astype(np.float64))
    assert ulps(results(function, "f32", x), exact, np.float32).max() <= MOST[function]


@pytest.mark.parametrize("function", ["expm1", "log1p"])
def test_float32_near_the_middle(function):
    """Values near 0, -1 and 1, where the exponent and the rest of the argument cancel."""
    x = np.concatenate([np.linspace(-1.1, 1.1, N), [-20, 20, 2**24, 2**24 + 2, 2**30, 3e38]]).astype(np.float32)
    x = np.concatenate([x, np.geomspace(1e-44, 1e-3, 4000).astype(np.float32)])
    with np.errstate(all="ignore"):
        exact = EXACT[function](x.astype(np.float64))
    y = results(function, "f32", x)
    assert ulps(y, exact, np.float32).max() <= MOST[function]
    exists = ~np.isnan(exact)
    np.testing.assert_array_equal(np.signbit(y[exists]), np.signbit(exact[exists]))


@pytest.mark.parametrize("function", ["sin", "cos"])
def test_angles_beside_zeros_and_beyond_those_that_are_reduced(function):
    x = (np.arange(N) * math.pi / 2).astype(np.float32)
    x = np.concatenate([x, np.linspace(-10, 10, N), [1e-44, 102900, 1e6, 3e38]]).astype(np.float32)
    exact = EXACT[function](x.astype(np.float64))
    assert ulps(results(function, "f32", x), exact, np.float32).max() <= 3.5


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 60, reason="long double is not longer than double here")
@pytest.mark.parametrize("function", ["exp", "expm1", "log1p"])
def test_float64(function):
    x = np.concatenate([np.linspace(-760, 725, 20000), np.linspace(-1, 1, 2001), EDGES, [709.7827, 709.7828, -745]])
    x = np.concatenate([x, np.geomspace(1e-320, 1e300, 4000), -np.geomspace(1e-320, 1e-1, 2000), [-1 + 2.0**-53, -1]])
    with np.errstate(all="ignore"):
        exact = EXACT[function](x.astype(np.longdouble))
    assert ulps(results(function, "f64", x), exact, np.float64).max() <= {**MOST, "expm1": 2.0}[function]


@pytest.mark.parametrize("kind", ["vectorized", "serial"])
def test_zeros_keep_their_sign(kind):
    for function, dtype in (("expm1", "f32"), ("log1p", "f32"), ("expm1", "f64"), ("log1p", "f64")):
        x = np.array([0.0, -0.0] * 8, "float" + dtype[1:])
        y = np.ones_like(x)
        run(program(function, dtype, 16, kind), x, y)
        np.testing.assert_array_equal(y.view("u1"), x.view("u1"), function)


def test_float16_goes_by_float32():
    x = np.linspace(-12, 11, 1000).astype(np.float16)
    np.testing.assert_array_equal(results("exp", "f16", x), np.exp(x.astype(np.float32)).astype(np.float16))


def test_bfloat16_is_rounded_to_nearest_even():
    x = np.linspace(0, 2**32 - 1, N).astype(np.uint32)
    x[:6] = 0x3F808000, 0x3F818000, 0x7F7FFFFF, 0x7F800001, 0xFFC00000, 0x80000001
    y = np.zeros(N, np.uint16)
    run(
        f"""func.func @main(%X: memref<{N}xf32>, %Y: memref<{N}xbf16>) attributes {{tir.id = 0 : i64}} {{
    affine.for %i = 0 to {N} {{
      %x = affine.load %X[%i] : memref<{N}xf32>
      %y = arith.truncf %x : f32 to bf16
      affine.store %y, %Y[%i] : memref<{N}xbf16>
    }} {{tir.kind = "vectorized"}}
    return
  }}""",
        x.view(np.float32),
        y,
    )
    is_nan = np.isnan(x.view(np.float32))
    wide = x.astype(np.uint64)
    np.testing.assert_array_equal(y[~is_nan], ((wide + 0x7FFF + (wide >> 16 & 1)) >> 16)[~is_nan].astype(np.uint16))
    assert np.isnan((y.astype(np.uint32) << 16).view(np.float32)[is_nan]).all()
