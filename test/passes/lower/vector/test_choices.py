"""Values chosen by a condition in a vectorized loop: vectors, if all lanes share the condition."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from harness.lowered import passed, run
from programs.sequences import cumulative_down
from programs.short import each, program

from tir_mlir import Schedule, build
from tir_mlir.passes.lower import LoweringWarning
from tir_mlir.script import tir as T

RNG = np.random.default_rng(3)


def chosen(n: int, condition: str, value: str = "%i") -> str:
    """C[i, j] is A[i, j] + B[i, j] under a condition, else 7.0 + B[i, j], of 5 rows."""
    return f"""func.func @main(%A: memref<5x{n}xf32>, %B: memref<5x{n}xf32>, %C: memref<5x{n}xf32>)
      attributes {{tir.id = 0 : i64}} {{
    %seven = arith.constant 7.0 : f32
    affine.for %i = 0 to 5 {{
      affine.for %j = 0 to {n} {{
        %b = affine.load %B[%i, %j] : memref<5x{n}xf32>
        %x = affine.if affine_set<(d0) : ({condition})>({value}) -> f32 {{
          %a = affine.load %A[%i, %j] : memref<5x{n}xf32>
          affine.yield %a : f32
        }} else {{
          affine.yield %seven : f32
        }}
        %s = arith.addf %x, %b : f32
        affine.store %s, %C[%i, %j] : memref<5x{n}xf32>
      }} {{tir.kind = "vectorized"}}
    }}
    return
  }}"""


@pytest.mark.parametrize("n", [1, 7, 16, 17, 65, 100])
def test_a_condition_that_all_lanes_share(n):
    text = chosen(n, "d0 - 2 >= 0")
    a, b = RNG.random((2, 5, n), dtype=np.float32)
    c = np.empty_like(a)
    if n > 1:
        assert "-> vector<" in passed(text, "tir-lower-vectorize")
    run(text, a, b, c)
    np.testing.assert_array_equal(c, np.where(np.arange(5)[:, None] >= 2, a, np.float32(7)) + b)


@pytest.mark.parametrize("n", [7, 16, 65])
def test_a_condition_of_the_lane_is_a_mask(n):
    text = chosen(n, "d0 - 2 >= 0", "%j")
    assert "vector.create_mask" in passed(text, "tir-lower-vectorize")
    a, b = RNG.random((2, 5, n), dtype=np.float32)
    c = np.empty_like(a)
    run(text, a, b, c)
    np.testing.assert_array_equal(c, np.where(np.arange(n) >= 2, a, np.float32(7)) + b)


@pytest.mark.parametrize(("rows", "columns"), [(1, 1), (5, 64), (30, 100)])
def test_a_cumulative_sum_down_the_columns(rows, columns):
    sch = Schedule(cumulative_down(rows, columns))
    i, j = sch.get_loops("C")
    j_0, j_1 = sch.split(j, [None, 64])
    sch.reorder(j_0, i, j_1)
    sch.vectorize(j_1)
    a = RNG.integers(-4, 5, (rows, columns)).astype(np.float32)
    c = np.empty_like(a)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build(sch, cache=False)(a, c)
    np.testing.assert_array_equal(c, a.cumsum(0))


def masked(n: int, nested: bool):
    """Y is A * S of its row where K holds, under a condition on the row; a row without is -1."""

    @T.prim_func
    def one(
        A: T.Buffer((5, n), "float32"), K: T.Buffer((5, n), "int32"), S: T.Buffer((5,), "float32"),
        Y: T.Buffer((5, n), "float32"),
    ):  # fmt: skip
        for i, j in T.grid(5, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                kept = T.if_then_else(K[vi, vj] > 0, A[vi, vj] * S[vi], T.float32(0))
                Y[vi, vj] = T.if_then_else(S[vi] > 0.5, kept, T.float32(-1))

    @T.prim_func
    def two(
        A: T.Buffer((5, n), "float32"), K: T.Buffer((5, n), "int32"), S: T.Buffer((5,), "float32"),
        Y: T.Buffer((5, n), "float32"),
    ):  # fmt: skip
        for i, j in T.grid(5, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                kept = T.if_then_else(A[vi, vj] > 0.5, A[vi, vj] * S[vi], T.float32(-1))
                Y[vi, vj] = T.if_then_else(K[vi, vj] > 0, kept, T.float32(0))

    return two if nested else one


@pytest.mark.parametrize("nested", [False, True], ids=["of a row", "of each lane"])
@pytest.mark.parametrize("n", [7, 16, 65])
def test_a_condition_on_data_around_another(n, nested):
    sch = Schedule(masked(n, nested))
    sch.vectorize(sch.get_loops("Y")[-1])
    a, k = RNG.random((5, n), dtype=np.float32), RNG.integers(0, 2, (5, n)).astype(np.int32)
    scale, y = RNG.random(5, dtype=np.float32), np.full((5, n), np.nan, np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build(sch, cache=False)(a, k, scale, y)
    if nested:
        expected = np.where(k > 0, np.where(a > 0.5, a * scale[:, None], -1), 0)
    else:
        expected = np.where(scale[:, None] > 0.5, np.where(k > 0, a * scale[:, None], 0), -1)
    np.testing.assert_allclose(y, expected, rtol=1e-6)


def test_a_shared_element_that_may_be_outside_is_not_loaded_for_all_lanes():
    """Where no lane runs, S[vi + 1] may be beyond S."""

    main = program(
        "A:5x16 S:5 Y:5x16", each("Y:5x16", "Y[vi, vj] = T.if_then_else(vi < 4 and vi + vj < 9, S[vi + 1], A[vi, vj])")
    )
    sch = Schedule(main)
    sch.vectorize(sch.get_loops("Y")[-1])
    a, scale, y = RNG.random((5, 16), dtype=np.float32), RNG.random(5, dtype=np.float32), np.empty((5, 16), np.float32)
    with pytest.warns(LoweringWarning, match="guards an access of S whose lanes are not adjacent"):
        build(sch, cache=False)(a, scale, y)
    i, j = np.indices((5, 16))
    np.testing.assert_array_equal(y, np.where((i < 4) & (i + j < 9), np.append(scale[1:], 0)[:, None], a))
