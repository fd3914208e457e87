"""Elementwise operators and activations, many in one program, beside torch."""

import numpy as np
import pytest
from harness.operators import random, run

from tir_mlir import topi

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

FLOATS = {
    "exp": None, "exp2": None, "expm1": None, "tanh": None, "sigmoid": None, "erf": None, "sin": None, "cos": None,
    "tan": None, "atan": None, "sinh": None, "cosh": None, "asinh": None, "floor": None, "ceil": None, "round": None,
    "trunc": None, "abs": None, "negative": None, "square": None, "sign": None, "reciprocal": None,
}  # fmt: skip
POSITIVE = ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")
UNIT = ("asin", "acos", "atanh")
ACTIVATIONS = {
    "relu": {}, "relu6": {}, "leaky_relu": {"alpha": 0.2}, "gelu": {}, "gelu_tanh": {}, "silu": {}, "hardsigmoid": {},
    "hardswish": {}, "elu": {"alpha": 0.7}, "selu": {}, "softplus": {"beta": 2.0, "threshold": 5.0}, "softsign": {},
    "mish": {},
}  # fmt: skip


def close(got, wanted, dtype="float32"):
    tolerance = {"float32": 3e-6, "float16": 2e-3, "float64": 1e-12}[dtype]
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_functions_of_floats(dtype):
    x = random(3, 5, 17, dtype=dtype)
    got = run(lambda x: [getattr(topi, n)(x) for n in FLOATS], x)
    for name, one in zip(FLOATS, got, strict=True):
        close(one, getattr(torch, name)(torch.tensor(x)).numpy(), dtype)


def test_functions_of_positive_floats():
    x, names = np.abs(random(1, 15)) + np.float32(0.01), (*POSITIVE, "acosh")
    got = run(lambda x: [*(getattr(topi, n)(x) for n in POSITIVE), topi.acosh(topi.add(x, 1))], x)
    for name, one in zip(names, got, strict=True):
        close(one, getattr(torch, name)(torch.tensor(x) + (name == "acosh")).numpy())


def test_functions_of_floats_below_one():
    x = np.linspace(-0.99, 0.99, 33, dtype=np.float32)
    for name, one in zip(UNIT, run(lambda x: [getattr(topi, n)(x) for n in UNIT], x), strict=True):
        close(one, getattr(torch, name)(torch.tensor(x)).numpy())


@pytest.mark.nightly
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_activations(dtype):
    x = random(5, 31, dtype=dtype) * np.asarray(4, dtype)
    x[0, 0] = 0
    got = run(lambda x: [getattr(topi.nn, n)(x, **a) for n, a in ACTIVATIONS.items()], x, shapes=[("n", 31)],
              like=[x] * len(ACTIVATIONS))  # fmt: skip
    functional = torch.nn.functional
    for (name, attrs), one in zip(ACTIVATIONS.items(), got, strict=True):
        torch_name, more = ("gelu", {"approximate": "tanh"}) if name == "gelu_tanh" else (name, {})
        more |= {{"alpha": "negative_slope"}.get(k, k) if name == "leaky_relu" else k: v for k, v in attrs.items()}
        wanted = getattr(functional, torch_name)(torch.tensor(x).float(), **more)
        close(one, wanted.to(getattr(torch, dtype)).numpy(), dtype)


def test_prelu_has_a_slope_for_each_channel():
    x, slope = random(2, 5, 3), random(5)
    got = run(topi.nn.prelu, x, slope, shapes=[("n", 5, 3), (5,)], like=x)
    np.testing.assert_array_equal(got, torch.nn.functional.prelu(torch.tensor(x), torch.tensor(slope)).numpy())
    one = run(topi.nn.prelu, x, slope[:1])
    np.testing.assert_array_equal(one, np.where(x > 0, x, x * slope[0]))


def test_dropout_is_the_input():
    x = random(3, 4)
    np.testing.assert_array_equal(run(topi.nn.dropout, x, rate=0.9), x)


def test_tests_of_floats():
    x = np.array([1, np.nan, np.inf, -np.inf, 0], "float32")
    got = run(lambda x: [topi.isnan(x), topi.isinf(x), topi.isfinite(x)], x)
    for one, wanted in zip(got, (np.isnan(x), np.isinf(x), np.isfinite(x)), strict=True):
        assert one.dtype == bool
        np.testing.assert_array_equal(one, wanted)


@pytest.mark.parametrize("dtype", ["int32", "int8", "int64", "uint8"])
def test_functions_of_integers(dtype):
    x = random(3, 7, dtype=dtype)
    functions = {"abs": np.abs, "negative": np.negative, "square": np.square, "sign": np.sign, "bitwise_not": np.invert}
    for name, one in zip(functions, run(lambda x: [getattr(topi, n)(x) for n in functions], x), strict=True):
        np.testing.assert_array_equal(one, functions[name](x))


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize("limits", [(-1, 2), (None, 1), (0, None)])
def test_clip(dtype, limits):
    x = random(4, 9, dtype=dtype)
    np.testing.assert_array_equal(run(topi.clip, x, a_min=limits[0], a_max=limits[1]), np.clip(x, *limits))


CASTS = [("float32", "int32"), ("float32", "float16"), ("int8", "float32"), ("bool", "int32"), ("int32", "bool"),
         ("float32", "bool"), ("bool", "float32"), ("int64", "int32"), ("float16", "float64")]  # fmt: skip


@pytest.mark.parametrize(("own", "dtype"), CASTS)
def test_cast(own, dtype):
    x = random(3, 5, dtype=own)
    x[0] = x[0] * np.asarray(0, own)
    np.testing.assert_array_equal(run(topi.astype, x, dtype=dtype), x.astype(dtype))


def test_logical_not():
    x = random(17, dtype="bool")
    np.testing.assert_array_equal(run(topi.logical_not, x), ~x)
