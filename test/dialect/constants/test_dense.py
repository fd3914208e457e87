"""Constants of many elements: written and read back, with memory behind them that looks like more elements."""

import re
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from mlir import ir

from tir_mlir.dialect.constants.dense import dense_array, dense_attr, dense_numbers, splat_of
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import enter_context

ROOT = Path(__file__).resolve().parents[3]
DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")


def poison() -> list[ir.Attribute]:
    """Constants of both bytes, so that what lies behind another constant is neither all ones nor all zeros."""
    random = np.random.default_rng(0)
    return [dense_attr(random.integers(0, 256, 8, np.uint8)) for _ in range(500)]


def arrays(dtype: str, count: int) -> list[np.ndarray]:
    """A splat of each end of a type, and different elements."""
    if dtype == "bool":
        return [np.ones(count, bool), np.zeros(count, bool), np.arange(count) % 3 == 1]
    if dtype in FLOATS:
        ends = np.array([-0.0, np.finfo(dtype).max, np.inf, np.nan], dtype)
        return [*(np.full(count, end, dtype) for end in ends), np.resize(ends, count)]
    info = np.iinfo(dtype)
    return [
        np.full(count, info.min, dtype),
        np.full(count, info.max, dtype),
        np.resize(np.arange(77), count).astype(dtype),
    ]


@pytest.mark.parametrize("count", [0, 1, 9, 4097])
@pytest.mark.parametrize("dtype", [*DTYPES, *FLOATS])
def test_every_type_comes_back(dtype: str, count: int):
    with enter_context():
        for values in arrays(dtype, count):
            before = poison()
            attribute = dense_attr(values)
            behind = poison()
            read = dense_array(ir.Attribute.parse(str(attribute)) if count < 100 else attribute).view(dtype)
            assert read.tobytes() == values.tobytes() or np.isnan(values).any(), (values[:9], read[:9])
            np.testing.assert_array_equal(read, values)
            assert dense_numbers(attribute) == pytest.approx(
                (values.view(dtype.lstrip("u")) if dtype[0] == "u" else values).tolist(), rel=0, abs=0, nan_ok=True
            )
            assert (splat_of(attribute) is not None) == (count > 0 and len(np.unique(values)) == 1)
            del before, behind


@pytest.mark.parametrize("count", [0, 1, 9, 4097])
def test_bfloat16_comes_back_as_its_bits(count: int):
    with enter_context():
        for values in (np.full(count, -0.0), np.resize([1.5, -0.0, 3e38, np.inf], count)):
            wanted = values.astype(ml_dtypes.bfloat16)
            attribute = dense_attr(wanted)
            np.testing.assert_array_equal(dense_array(attribute), wanted.view(np.uint16))
            np.testing.assert_array_equal(dense_numbers(attribute), wanted.astype(np.float64))
            assert dense_attr(wanted.view(np.uint16), ir.BF16Type.get()) == attribute


def test_shapes_are_kept():
    with enter_context():
        for values in (np.ones((3, 5), bool), np.arange(15).reshape(3, 5), np.zeros((2, 0, 4), bool), np.array(True)):
            np.testing.assert_array_equal(dense_array(dense_attr(values)), values)


def test_what_is_read_may_be_written():
    with enter_context():
        read = dense_array(dense_attr(np.ones(9, np.float32)))
    read[0] = 2
    assert read.tolist() == [2, *[1] * 8]


def test_a_type_that_numpy_lacks_is_named():
    with enter_context(), pytest.raises(TirError, match=r"constants of i4 are not supported; fix: one of float16"):
        dense_array(ir.Attribute.parse("dense<1> : tensor<9xi4>"))


def test_elements_are_read_in_one_place():
    """A view of the bindings on the elements of an i1 splat reads past its end."""
    reads = re.compile(r"Dense(Int|FP)?ElementsAttr\b(?!\.get_splat)")
    files = [path for folder in ("dialect", "passes", "tir_mlir") for path in (ROOT / folder).rglob("*.py")]
    assert {path.name for path in files if reads.search(path.read_text())} == {"dense.py"}
