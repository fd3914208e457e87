"""Values chosen by a condition in a vectorized loop: vectors, if all lanes share the condition."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from harness.lowered import passed, run
from programs.sequences import cumulative_down

from tir_mlir import Schedule, build

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
        assert "-> vector<" in passed(text, "tir-lower-vectorized")
    run(text, a, b, c)
    np.testing.assert_array_equal(c, np.where(np.arange(5)[:, None] >= 2, a, np.float32(7)) + b)


@pytest.mark.parametrize("n", [7, 16, 65])
def test_a_condition_of_the_lane_is_a_mask(n):
    text = chosen(n, "d0 - 2 >= 0", "%j")
    assert "vector.create_mask" in passed(text, "tir-lower-vectorized")
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
