"""tir_mlir.empty: arrays on a boundary."""

import numpy as np
import pytest

import tir_mlir
from tir_mlir.dialect.diagnostics import ArgumentError


@pytest.mark.parametrize("align", [1, 64, 4096])
@pytest.mark.parametrize(("shape", "dtype"), [((3, 5), "float32"), (7, np.int8), ((), "float64"), ((0, 4), "int32")])
def test_starts_on_the_boundary(shape, dtype, align):
    array = tir_mlir.empty(shape, dtype, align)
    assert array.ctypes.data % align == 0 or not array.size
    assert array.shape == np.empty(shape).shape
    assert array.dtype == dtype
    assert array.flags.writeable and array.flags.c_contiguous


def test_bfloat16_is_bits():
    assert tir_mlir.empty(4, "bfloat16").dtype == np.uint16


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (((2, -1),), "negative extent"),
        (("8",), "the shape must be integers"),
        (((2.5,),), "the shape must be integers"),
        ((4, "float33"), "unknown dtype 'float33'"),
        ((4, object), "holds Python objects"),
        ((4, "int8", 48), "align must be a power of two"),
        ((4, "int8", 0), "align must be a power of two"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        tir_mlir.empty(*arguments)
