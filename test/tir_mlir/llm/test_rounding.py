"""Weights that compiled code rounds, beside NumPy."""

import numpy as np
import pytest

from tir_mlir.errors import GraphError
from tir_mlir.graph.precision.formats import Format, from_bfloat16, round_weight
from tir_mlir.llm.rounding import round_ahead, rounded_rows
from tir_mlir.llm.safetensors_files import StoredTensor


@pytest.mark.parametrize("kind", ["float32", "bfloat16"])
@pytest.mark.parametrize("how", [Format("int4", 32, "int8"), Format("int8", 64, "int8")], ids=str)
def test_the_same_as_by_numpy(how, kind):
    rows = np.random.default_rng(0).standard_normal((5, 256), dtype="float32")
    rows[1, :64], rows[2] = 0, 1e-40
    bits = (rows.view("uint32") >> 16).astype("uint16")
    given, wide = (bits, from_bfloat16(bits)) if kind == "bfloat16" else (rows, rows)
    expected = round_weight(wide, how, 0)
    stored, scale = rounded_rows("w", given, how)
    np.testing.assert_array_equal(stored, expected.stored)
    np.testing.assert_array_equal(scale, expected.scale)


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(number):
    rows = np.ones((2, 64), "float32")
    rows[1, 40] = number
    with pytest.raises(GraphError, match=r"layer.w has numbers that are not finite"):
        rounded_rows("layer.w", rows, Format("int4", 32, "int8"))


def test_what_there_is_time_for_is_rounded_ahead(tmp_path):
    rows, how = np.random.default_rng(0).standard_normal((3, 8, 64), dtype="float32"), Format("int4", 32, "int8")
    rows[1, 0, 0] = np.nan
    rows.tofile(tmp_path / "w")
    files = {f"w{n}": StoredTensor(tmp_path / "w", "F32", (8, 64), n * rows[0].nbytes) for n in range(3)}
    files["bias"] = StoredTensor(tmp_path / "w", "F32", (64,), 0)
    ahead = round_ahead(files, how, lambda: True)
    assert set(ahead) == {"w0", "w2"}  # of the other one is told where it is bound
    for part, expected in zip(ahead["w2"].read_encoded(2, 5).parts, rounded_rows("", rows[2, 2:5], how), strict=True):
        np.testing.assert_array_equal(part, expected)
    assert not round_ahead(files, how, lambda: False)
