"""Which tensors of files are the parameters of a model, which do not matter, and which are refused."""

import pytest

from tir_mlir.errors import ArgumentError
from tir_mlir.llm.checks.matching import Parameters, StatedTensor

SHAPES = {"transformer.wte.weight": (8, 4), "transformer.h.0.ln.weight": (4,), "lm_head.weight": (8, 4)}
MODEL = Parameters(SHAPES, {"lm_head.weight": "transformer.wte.weight"}, "transformer", "transformer.h.", ["old_mask$"])
FILES = {"wte.weight": (8, 4), "h.0.ln.weight": (4,)}


def matched(more, files=FILES):
    given = {name: StatedTensor(shape, "F32") for name, shape in files.items()}
    return MODEL.match_tensors("files", {**given, **more})


@pytest.mark.parametrize("prefix", ["", "transformer."])
def test_names_with_and_without_the_prefix(prefix):
    found = matched({}, {prefix + name: shape for name, shape in FILES.items()})
    assert {name: tensor.shape for name, tensor in found.items()} == SHAPES


@pytest.mark.parametrize(("name", "dtype"), [
    ("h.0.attn.bias", "U8"), ("h.0.attn.masked_bias", "F32"), ("transformer.h.0.rotary_emb.inv_freq", "F32"),
    ("h.0.old_mask", "BOOL"), ("extra", "I64"), ("extra", "F8_E4M3"),
])  # fmt: skip
def test_buffers_that_nothing_needs(name, dtype):
    assert matched({name: StatedTensor((3,), dtype)}).keys() == SHAPES.keys()


@pytest.mark.parametrize(("name", "dtype", "words"), [
    ("extra", "F32", "the tensor 'extra' is in the files"), ("h.0.ln.bias", "F32", "transformer.h.0.ln.bias' is in"),
    ("h.0.ln.bias", "F8_E4M3", "transformer.h.0.ln.bias' is in"), ("h.1.ln.weight", "F32", "h.1.ln.weight' is in"),
    ("transformer.wte.weight", "F32", "the tensor 'wte.weight' is in the files"),
])  # fmt: skip
def test_tensors_that_may_matter(name, dtype, words):
    with pytest.raises(ArgumentError, match=words):
        matched({name: StatedTensor((8, 4), dtype)})
