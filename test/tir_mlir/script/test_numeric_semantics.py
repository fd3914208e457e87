"""Numbers follow NumPy in every evaluator: compiled code, vectors, the interpreter with and without rounding."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from programs.short import each, main

from tir_mlir import Schedule, build, interpret
from tir_mlir.script import parse

PROGRAM = main("A:16:{dtype} B:16", each("B:16", "B[vi] = {value}"))
INPUTS = np.array(
    [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.5, 1.5, 2.5, -0.5, -1.5, -2.5, 3.49, 9e4, -7.0, 0.499, 65504.0]
)
NAN = "T.{d}('nan')"
VALUES: dict[str, Callable] = {
    "T.round(A[vi])": np.round,
    "T.nearbyint(A[vi])": np.rint,
    "T.floor(A[vi])": np.floor,
    "T.ceil(A[vi])": np.ceil,
    "T.trunc(A[vi])": np.trunc,
    "T.isinf(A[vi])": np.isinf,
    "T.isnan(A[vi])": np.isnan,
    "T.isfinite(A[vi])": np.isfinite,
    "T.isinf(A[vi]) and not T.isnan(A[vi])": np.isinf,
    "A[vi] == A[vi]": lambda a: a == a,
    "A[vi] != A[vi]": lambda a: a != a,
    f"A[vi] != {NAN}": lambda a: np.ones(16),
    f"A[vi] == {NAN}": lambda a: np.zeros(16),
    f"A[vi] < {NAN}": lambda a: np.zeros(16),
    "A[vi] < T.{d}(1)": lambda a: a < 1,
    "not (A[vi] < T.{d}(1))": lambda a: ~(a < 1),
    "A[vi] >= T.{d}(1)": lambda a: a >= 1,
    "T.max(A[vi], T.{d}(1))": lambda a: np.maximum(a, 1),
    f"T.min({NAN}, A[vi])": lambda a: a * np.nan,
    f"T.max(T.{{d}}(1), {NAN})": lambda a: a * np.nan,
    f"T.min({NAN}, T.{{d}}(1))": lambda a: a * np.nan,
    "T.truncmod(A[vi], T.{d}(2))": lambda a: np.fmod(a, 2),
    "T.Cast('bool', A[vi])": lambda a: a.astype(bool),
    "-A[vi]": np.negative,
    "T.{d}(1) / T.{d}(0)": lambda a: np.full(16, np.inf),
    "T.{d}(0) / T.{d}(0)": lambda a: np.full(16, np.nan),
    "T.{d}(0.1) + T.{d}(0.2)": lambda a: np.full(16, a.dtype.type(0.1) + a.dtype.type(0.2)),
    "T.{d}(0.1) == T.float64(0.1)": lambda a: np.full(16, a.dtype.type(0.1) == np.float64(0.1)),
}


@pytest.mark.few(10)
@pytest.mark.filterwarnings("ignore:.*runs serially")
@pytest.mark.parametrize("value", VALUES)
@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
def test_a_value_is_numpys_in_every_evaluator(value: str, dtype: str) -> None:
    mod = parse(PROGRAM.format(dtype=dtype, value=f'T.Cast("float32", {value.replace("{d}", dtype)})'))
    assert parse(mod.script()).equal(mod)
    with np.errstate(all="ignore"):
        a = INPUTS.astype(dtype)
        wanted = np.asarray(VALUES[value](a)).astype("float32")
    sch = Schedule(mod)
    sch.vectorize(sch.get_loops(sch.get_block("B"))[0])
    runs = {
        "compiled": build(mod), "vectorized": build(sch), "interpreted": lambda *x: interpret(mod, *x),
        "exact": lambda *x: interpret(mod, *x, exact=True),
    }  # fmt: skip
    for name, run in runs.items():
        b = np.zeros(16, "float32")
        run(a, b)
        np.testing.assert_array_equal(b, wanted, name)
        signs = [np.signbit(x)[~np.isnan(wanted)] for x in (b, wanted)]
        assert (signs[0] == signs[1]).all(), name


@pytest.mark.parametrize("value", ["T.isinf(A[vi])", "T.isnan(A[vi])", "A[vi] != T.float32('nan')"])
def test_verify_covers_tests_for_nan(value: str) -> None:
    sch = Schedule(parse(PROGRAM.format(dtype="float32", value=f'T.Cast("float32", {value})')))
    sch.split(sch.get_loops(sch.get_block("B"))[0], [4, 4])
    assert sch.verify()


def test_round_half_away_is_cs() -> None:
    mod = parse(PROGRAM.format(dtype="float32", value="T.round_half_away(A[vi])"))
    assert parse(mod.script()).equal(mod)
    a = np.array([np.nan, 0.5, -0.5, 2.5, 0.49999997, -1.5, 1e10, *[0] * 9], "float32")
    for run in (build(mod), lambda *x: interpret(mod, *x)):
        b = np.zeros(16, "float32")
        run(a, b)
        np.testing.assert_array_equal(b[:7], np.array([np.nan, 1, -1, 3, 0, -2, 1e10], "float32"))


@pytest.mark.parametrize(("word", "wanted"), [("isnan", False), ("isinf", False), ("isfinite", True)])
def test_integers_are_finite(word: str, wanted: bool) -> None:
    mod = parse(PROGRAM.format(dtype="int8", value=f'T.Cast("float32", T.{word}(A[vi]))'))
    b = np.full(16, 2, "float32")
    build(mod)(np.arange(16, dtype="int8"), b)
    np.testing.assert_array_equal(b, np.full(16, wanted))
