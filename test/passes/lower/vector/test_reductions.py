"""Sums over vectorized loops: any length, any combiner, with the lanes left over."""

from __future__ import annotations

import numpy as np
import pytest
from harness.lowered import passed, run

SIZES = [1, 2, 7, 15, 16, 17, 65, 127, 200]
COMBINERS = {
    "addf": ("-3.0", np.sum), "mulf": ("1.0", np.prod), "maximumf": ("-9.0", np.max), "minimumf": ("9.0", np.min),
    "maxnumf": ("-9.0", np.max), "addi": ("-3", np.sum), "muli": ("1", np.prod), "maxsi": ("-9", np.max),
    "minsi": ("9", np.min), "xori": ("5", np.bitwise_xor.reduce), "andi": ("-1", np.bitwise_and.reduce),
    "ori": ("0", np.bitwise_or.reduce),
}  # fmt: skip
TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "i32": np.int32, "i64": np.int64}
RNG = np.random.default_rng(3)


def reduction(op: str, n: int, type_: str, start: str, index: str = "%i, %k", outer: str = "", end: str = "") -> str:
    """C[i] = A[i, 0] op ... op A[i, n - 1], of 3 rows."""
    leave = " fastmath<reassoc>" if op in ("addf", "mulf") else ""
    return f"""func.func @main(%A: memref<3x{n}x{type_}>, %C: memref<3x{type_}>) attributes {{tir.id = 0 : i64}} {{
    %start = arith.constant {start} : {type_}
    affine.for %i = 0 to 3 {{
      {outer}
      affine.for %k = 0 to {n} {{
        affine.if affine_set<(d0) : (d0 == 0)>(%k) {{ affine.store %start, %C[%i] : memref<3x{type_}> }}
        %a = affine.load %A[{index}] : memref<3x{n}x{type_}>
        %c = affine.load %C[%i] : memref<3x{type_}>
        %s = arith.{op} %c, %a{leave} : {type_}
        affine.store %s, %C[%i] : memref<3x{type_}>
      }} {{tir.kind = "vectorized"}}
      {end}
    }}
    return
  }}"""


@pytest.mark.parametrize("n", SIZES)
@pytest.mark.parametrize("type_", ["f32", "i32"])
def test_any_length(n, type_):
    a = RNG.integers(-4, 5, (3, n)).astype(TYPES[type_])
    c = np.full(3, 99, a.dtype)
    op, start = ("addf", "-3.0") if type_ == "f32" else ("addi", "-3")
    run(reduction(op, n, type_, start), a, c)
    np.testing.assert_array_equal(c, a.sum(1) - 3)


@pytest.mark.few(4)
@pytest.mark.parametrize("op", list(COMBINERS))
def test_any_combiner(op):
    start, want = COMBINERS[op]
    for type_ in ("f64", "f16") if "f" in op[-1] else ("i8", "i64"):
        low = 1 if op == "mulf" else -2
        a = RNG.integers(low, 3, (3, 37)).astype(TYPES[type_])
        if op == "mulf":
            a[:, 5:] = 1
        c = np.full(3, 99, a.dtype)
        assert "vector.extract_strided_slice" in passed(reduction(op, 37, type_, start), "tir-lower-vectorize")
        run(reduction(op, 37, type_, start), a, c)
        first = a.dtype.type(float(start))
        np.testing.assert_array_equal(c, want(np.concatenate([np.full((3, 1), first), a], 1), axis=1).astype(a.dtype))


@pytest.mark.parametrize("order", ["o, k", "k, o"])
def test_a_part_of_a_sum_over_two_loops(order):
    first, second = order.split(", ")
    sizes, kinds = {"o": 5, "k": 16}, {"o": "", "k": '{tir.kind = "vectorized"}'}
    source = f"""func.func @main(%A: memref<3x80xf32>, %C: memref<3xf32>) attributes {{tir.id = 0 : i64}} {{
    %start = arith.constant 2.0 : f32
    affine.for %i = 0 to 3 {{
    affine.for %{first} = 0 to {sizes[first]} {{
    affine.for %{second} = 0 to {sizes[second]} {{
      affine.if affine_set<(d0, d1) : (d0 * 16 + d1 == 0)>(%o, %k) {{ affine.store %start, %C[%i] : memref<3xf32> }}
      %a = affine.load %A[%i, %o * 16 + %k] : memref<3x80xf32>
      %c = affine.load %C[%i] : memref<3xf32>
      %s = arith.addf %c, %a fastmath<reassoc> : f32
      affine.store %s, %C[%i] : memref<3xf32>
    }} {kinds[second]} }} {kinds[first]} }}
    return
  }}"""
    text = passed(source, "tir-lower-vectorize")
    assert text.count("arith.addf") == 6 and "affine.if" not in text  # one in the loop, the rest over the lanes
    a, c = RNG.integers(-4, 5, (3, 80)).astype(np.float32), np.zeros(3, np.float32)
    run(source, a, c)
    np.testing.assert_array_equal(c, a.sum(1) + 2)


def test_a_nan_is_not_lost():
    a = RNG.random((3, 67), np.float32)
    a[0, 0] = a[1, 40] = a[2, 66] = np.nan
    c = np.zeros(3, np.float32)
    run(reduction("maximumf", 67, "f32", "-9.0"), a, c)
    assert np.isnan(c).all()


def test_strided_lanes():
    a, c = RNG.integers(-4, 5, (3, 35)).astype(np.float32), np.zeros(3, np.float32)
    run(reduction("addf", 35, "f32", "0.0", index="%i, 34 - %k"), a, c)
    np.testing.assert_array_equal(c, a.sum(1))


def test_a_sum_with_observed_partial_results_stays_serial():
    show = "%t = affine.load %C[2] : memref<3xf32>\n affine.store %t, %C[0] : memref<3xf32>"
    source = reduction("addf", 16, "f32", "0.0").replace("%a = affine", show + "\n%a = affine")
    assert "vector<" not in passed(source, "tir-lower-vectorize")


def test_an_order_that_counts_stays():
    source = reduction("addf", 16, "f32", "0.0").replace(" fastmath<reassoc>", "")
    assert "vector<" not in passed(source, "tir-lower-vectorize")
