"""Python functions, lambdas and macros called with values of a program are inlined."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import parse
from tir_mlir.script import tir as T

SCALE = 3.0


def square(x):
    return x * x


def polynomial(x, coefficients):
    """Horner's rule."""
    total = coefficients[0]
    for c in coefficients[1:]:
        total = total * x + c
    return total


def clip(x, low=0.0, high=None):
    if high is not None:
        x = T.min(x, high)
    return x if x > low else T.float32(low)


def scaled(x):
    return x * SCALE


def recursive(x):
    return recursive(x + 1.0)


def branches(x):
    if x > 0.0:
        return x
    return -x


def loops(x):
    while x > 0.0:
        x = x - 1.0
    return x


def wrong(x):
    return x + undefined  # noqa: F821


gelu = lambda x: 0.5 * x * (1.0 + T.erf(x * 0.70710678))  # noqa: E731


class Layer:
    def __init__(self, bias):
        self.bias = bias

    def apply(self, x, weight):
        return x * weight + self.bias


PROGRAM = """
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            B[vi] = {value}
"""
NAMES = {
    "square": square, "polynomial": polynomial, "clip": clip, "scaled": scaled, "gelu": gelu, "recursive": recursive,
    "branches": branches, "loops": loops, "wrong": wrong, "half": functools.partial(Layer(1.0).apply, weight=0.5),
    "math": math, "np": np,
}  # fmt: skip
INPUT = np.linspace(-2, 1, 16).astype("float32")


def _program(value: str):
    return parse(PROGRAM.format(value=value), NAMES)


VALUES = {
    "square(A[vi])": INPUT * INPUT,
    "square(square(A[vi] + 1.0))": (INPUT + 1) ** 4,
    "polynomial(A[vi], [1.0, 2.0, 3.0])": INPUT * INPUT + 2 * INPUT + 3,
    "clip(A[vi])": np.maximum(INPUT, 0),
    "clip(A[vi], high=0.5, low=-1.0)": np.clip(INPUT, -1, 0.5),
    "scaled(A[vi])": INPUT * 3,
    "half(A[vi])": INPUT * np.float32(0.5) + 1,
    "(lambda x, y: x * y)(A[vi], 2.0)": INPUT * 2,
}


@pytest.mark.parametrize("value", VALUES)
def test_a_function_is_inlined(value: str) -> None:
    mod = _program(value)
    assert parse(mod.script()).equal(mod)
    b = np.zeros(16, "float32")
    build(mod)(INPUT, b)
    np.testing.assert_allclose(b, VALUES[value], rtol=1e-6, atol=1e-6)


def test_a_lambda_of_a_file_is_found() -> None:
    b = np.zeros(16, "float32")
    build(_program("gelu(A[vi])"))(INPUT, b)
    x = INPUT.astype("float64")
    np.testing.assert_allclose(b, 0.5 * x * (1 + np.vectorize(math.erf)(x * 0.70710678)), rtol=1e-5, atol=1e-6)


def test_a_function_of_the_text_is_inlined() -> None:
    mod = parse("def twice(x):\n    return x + x\n\n" + PROGRAM.format(value="twice(A[vi])"))
    assert "A[vi] + A[vi]" in mod.script()


def test_a_computed_argument_is_computed_once() -> None:
    """Without a name, the text of eight squares would have 256 loads."""
    value = "A[vi] + 1.0"
    for _ in range(8):
        value = f"square({value})"
    assert _program(value).script().count("A[vi] +") == 1


def test_a_call_on_python_values_runs() -> None:
    assert "T.float32(9.0)" in _program("A[vi] + square(3.0)").script()


REFUSED = {
    "recursive(A[vi])": "recursive is inlined more than 64 levels deep",
    "branches(A[vi])": "branches branches on a value of the program; choose a value: a if condition else b",
    "loops(A[vi])": "While is not supported in loops, .* decorate a function of statements with @T.macro",
    "square(A[vi], 2.0)": r"square\(x\): too many positional arguments",
    "wrong(A[vi])": "unknown name undefined",
    "math.exp(A[vi])": r"exp is compiled code and cannot take a value of type float32; use T\.exp",
    "np.exp(A[vi])": r"exp is compiled code and cannot take .*; use T\.exp",
}


@pytest.mark.parametrize("value", REFUSED)
def test_what_cannot_be_inlined_is_refused(value: str) -> None:
    with pytest.raises(ScriptError, match=REFUSED[value]):
        _program(value)


def test_an_error_quotes_the_body_and_names_the_call() -> None:
    with pytest.raises(ScriptError) as caught:
        _program("wrong(A[vi])")
    text = str(caught.value)
    assert "return x + undefined" in text and "in wrong, called in line 7 of <script>" in text


@T.macro
def store(A, B, i, function):
    with T.block("B"):
        vi = T.axis.spatial(16, i)
        B[vi] = function(A[vi])


@T.macro(hygienic=False)
def store_at_vi(function):
    B[vi] = function(A[vi])  # noqa: F821


def test_a_macro_of_statements() -> None:
    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            store(A, B, i, lambda x: clip(x) * 2.0)

    assert parse(main.script()).equal(main.isolated_module)
    b = np.zeros(16, "float32")
    build(main)(INPUT, b)
    np.testing.assert_array_equal(b, np.maximum(INPUT, 0) * 2)


def test_a_macro_that_sees_the_names_of_its_caller() -> None:
    @T.prim_func
    def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
        for i in range(16):
            with T.block("B"):
                vi = T.axis.spatial(16, i)  # noqa: F841
                store_at_vi(square)

    assert "B[vi] = A[vi] * A[vi]" in main.script()


def test_a_hygienic_macro_does_not() -> None:
    with pytest.raises(ScriptError, match="unknown name A"):
        parse(PROGRAM.replace("B[vi] = {value}", "m(s)"), {"m": T.macro(store_at_vi.func), "s": square})


def test_an_error_of_the_verifier_is_at_the_call() -> None:
    with pytest.raises(ScriptError) as caught:
        parse(
            PROGRAM.split("        with")[0].replace("16)", "17)", 1) + "        m(A, B, i, s)",
            {"m": store, "s": square},
        )
    assert "m(A, B, i, s)" in str(caught.value)


def test_a_macro_is_not_called_from_python() -> None:
    with pytest.raises(
        ScriptError, match=r"store is a T.macro: it is called in a function decorated with @T.prim_func"
    ):
        store(1, 2, 3, 4)


POWERS = {
    "A[vi] ** 2": ("float32", INPUT * INPUT),
    "A[vi] ** 3": ("float32", INPUT**3),
    "A[vi] ** A[vi]": ("float32", np.power(INPUT, INPUT)),
    "2.0 ** A[vi]": ("float32", np.power(np.float32(2), INPUT)),
    "A[vi] ** 0": ("float32", INPUT**0),
    "(vi - 8) ** 3": ("int32", (np.arange(16) - 8) ** 3),
    "vi ** 0": ("int32", np.arange(16) ** 0),
    "T.Cast('uint8', vi) ** 5": ("uint8", np.arange(16, dtype="uint8") ** 5),
    "T.pow(vi, 2)": ("int32", np.arange(16) ** 2),
}


@pytest.mark.parametrize("value", POWERS)
def test_powers(value: str) -> None:
    dtype, wanted = POWERS[value]
    mod = parse(PROGRAM.format(value=value).replace('B: T.Buffer((16,), "float32"', f'B: T.Buffer((16,), "{dtype}"'))
    assert parse(mod.script()).equal(mod)
    b = np.zeros(16, dtype)
    with np.errstate(invalid="ignore"):
        build(mod)(INPUT, b)
    np.testing.assert_allclose(b, wanted, rtol=1e-6)


@pytest.mark.parametrize("value", ["vi ** vi", "vi ** (-1)", "vi ** 65"])
def test_a_power_of_an_integer_has_a_constant_exponent(value: str) -> None:
    with pytest.raises(ScriptError, match="the power of an integer has a constant exponent of 0 to 64; of floats any"):
        _program(f"T.Cast('float32', {value})")


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_an_integer_stored_to_a_float_buffer_is_cast(dtype: str) -> None:
    text = PROGRAM.format(value="vi * 3 + I[vi]").replace(
        'A: T.Buffer((16,), "float32")', 'I: T.Buffer((16,), "int32")'
    )
    mod = parse(text.replace('B: T.Buffer((16,), "float32")', f'B: T.Buffer((16,), "{dtype}")'))
    assert f'T.Cast("{dtype}", ' in mod.script() and parse(mod.script()).equal(mod)
    i, b = np.arange(16, dtype="int32") ** 2, np.zeros(16, dtype)
    build(mod)(i, b)
    np.testing.assert_array_equal(b, (np.arange(16) * 3 + i).astype(dtype))
