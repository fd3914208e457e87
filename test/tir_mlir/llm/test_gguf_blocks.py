"""Weights in blocks of GGUF: what they stand for is what the format's own package says, in Python and in the loop."""

import numpy as np
import pytest

from tir_mlir.graph.precision import stored_formats
from tir_mlir.llm.native.load_loop import loop
from tir_mlir.llm.native.parts import KINDS

gguf = pytest.importorskip("gguf")
BLOCKS = [kind for kind in KINDS if kind not in ("F32", "F16", "BF16")]
SCALES = {
    "Q4_1": (0, 2),
    "Q5_1": (0, 2),
    "Q2_K": (80, 82),
    "Q3_K": (108,),
    "Q4_K": (0, 2),
    "Q5_K": (0, 2),
    "Q6_K": (208,),
}


def blocks(name, rows=3, count=2):
    """Rows of blocks whose numbers are random, and whose scales are finite."""
    rng = np.random.default_rng(0)
    kind = gguf.GGMLQuantizationType[name]
    data = rng.integers(0, 256, (rows, count, gguf.GGML_QUANT_SIZES[kind][1]), "uint8")
    for at in SCALES.get(name, (0,)):
        scales = rng.standard_normal((rows, count), "float32").astype("float16")
        data[:, :, at : at + 2] = scales[..., None].view("uint8")
    return data.reshape(rows, -1), gguf.quants.dequantize(data.reshape(rows, -1), kind)


@pytest.mark.parametrize("name", BLOCKS)
def test_weights_stand_for_what_the_format_says(name):
    data, expected = blocks(name)
    np.testing.assert_array_equal(getattr(stored_formats, name.lower())(data).values(), expected)


@pytest.mark.parametrize("name", BLOCKS)
def test_rows_of_tokens_are_read_by_the_loop_in_the_same_way(name):
    data, expected = blocks(name)
    found = np.empty_like(expected)
    for row, out in zip(data, found, strict=True):
        loop().row(KINDS.index(name), row.ctypes.data, out.size, out.ctypes.data)
    np.testing.assert_array_equal(found, expected)
