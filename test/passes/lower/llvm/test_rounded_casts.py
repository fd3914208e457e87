"""Rounded numbers as integers, where a CPU does not round in casts: by an addition, halves to even."""

import numpy as np
import pytest
from harness.lowered import run

HALVES = np.arange(-600, 600, dtype=np.float32) / 2
X = np.concatenate([HALVES, HALVES * 300, [1e30, -1e30, np.inf, -np.inf, 4194304.5, -8388609.0]]).astype("f4")


def program(count: int, zero: float, low: float, high: float, cast: str, width: int) -> str:
    image, result = f"memref<{count}xf32>", f"memref<{count}xi{width}>"
    return f"""func.func @main(%X: {image}, %Y: {result}) attributes {{tir.id = 0 : i64}} {{
    %zero = arith.constant {zero} : f32
    %low = arith.constant {low} : f32
    %high = arith.constant {high} : f32
    affine.for %i = 0 to {count} {{
      %x = affine.load %X[%i] : {image}
      %r = math.roundeven %x : f32
      %s = arith.addf %r, %zero : f32
      %a = arith.maximumf %s, %low : f32
      %b = arith.minimumf %a, %high : f32
      %y = arith.{cast} %b : f32 to i{width}
      affine.store %y, %Y[%i] : {result}
    }} {{tir.kind = "vectorized"}}
    return
  }}"""


@pytest.mark.parametrize(
    ("zero", "low", "high", "cast", "dtype"),
    [(3.0, 0.0, 255.0, "fptoui", "uint8"), (-4.0, -128.0, 127.0, "fptosi", "int8"),
     (0.0, -32768.0, 32767.0, "fptosi", "int16"), (0.0, 0.0, 65535.0, "fptoui", "uint16")],
)  # fmt: skip
def test_the_integers_are_those_of_rounded_numbers(zero, low, high, cast, dtype):
    y = np.empty(X.size, dtype)
    run(program(X.size, zero, low, high, cast, 8 * y.itemsize), X, y)
    np.testing.assert_array_equal(y, np.clip(np.rint(X) + np.float32(zero), low, high).astype(dtype))
