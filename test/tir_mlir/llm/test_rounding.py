"""Weights that compiled code rounds, beside NumPy."""

import numpy as np
import pytest

from tir_mlir.errors import GraphError
from tir_mlir.graph.precision.formats import Format, from_bfloat16, rounded
from tir_mlir.llm.rounding import rounded_rows


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("how", [Format("int4", 32, "int8"), Format("int8", 64, "int8")], ids=str)
def test_the_same_as_by_numpy(how, kind):
    rows = np.random.default_rng(0).standard_normal((5, 256), dtype="float32")
    rows[1, :64], rows[2] = 0, 1e-40
    bits = (rows.view("uint32") >> 16).astype("uint16")
    given, wide = (bits, from_bfloat16(bits)) if kind == "bfloat16" else (rows, rows)
    expected = rounded(wide, how, 0)
    stored, scale = rounded_rows("w", given, how)
    np.testing.assert_array_equal(stored, expected.stored)
    np.testing.assert_array_equal(scale, expected.scale)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(number):
    rows = np.ones((2, 64), "float32")
    rows[1, 40] = number
    with pytest.raises(GraphError, match="layer.w has numbers that are not finite"):
        rounded_rows("layer.w", rows, Format("int4", 32, "int8"))
