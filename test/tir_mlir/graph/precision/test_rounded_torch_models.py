"""Whole models with rounded weights beside PyTorch with weights rounded the same way."""

import copy

import numpy as np
import pytest

from tir_mlir import build, from_torch, quantize_weights
from tir_mlir.examples import models
from tir_mlir.graph.precision.formats import format_of, round_weight

torch = pytest.importorskip("torch")
torch.set_num_threads(1)


def with_rounded_layers(model, name):
    """A copy of a model whose dense layers have the numbers that a format has for their weights."""
    made = copy.deepcopy(model)
    for layer in made.modules():
        if isinstance(layer, torch.nn.Linear):
            values = round_weight(layer.weight.numpy(), format_of(name), 0).values
            layer.weight.copy_(torch.from_numpy(values))
    return made


@pytest.mark.nightly
@pytest.mark.parametrize("name", ["bf16", "int8", "int4"])
@pytest.mark.parametrize("model", ["llama-block", "llama-decode"])
def test_a_llama_block(model, name):
    example = models.example(model, tiny=True)
    more = {} if example.dynamic is None else {"dynamic": example.dynamic}
    graph = from_torch(example.model, example.inputs, **more)
    small = quantize_weights(graph, name)
    assert len(small.rounding) == 7 and not small.rounding.kept
    found = build(small, threads=1)(*example.inputs)
    with torch.no_grad():
        wanted = with_rounded_layers(example.model, name)(*example.inputs)
    for one, other in zip(found, wanted, strict=True):
        assert float((one - other).abs().max() / other.abs().max()) < 2e-5


@pytest.mark.nightly
def test_resnet_with_weights_of_int8():
    example = models.example("resnet18", tiny=True)
    # of 32 pixels, the last convolutions have one, and are products with the middle of their weights
    inputs = (torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(0)),)
    graph = from_torch(example.model, inputs)
    small = quantize_weights(graph, "int8")
    assert len(small.rounding) == 21 and small.rounding.worst.relative < 0.02
    assert all("." in w.name and w.name.endswith("weight") for w in small.rounding.weights)
    assert small.compare(graph, *map(np.asarray, inputs), threads=1).relative < 0.05
    before = build(graph, threads=1).memory.weights
    assert build(small, threads=1).memory.weights < 0.4 * before
