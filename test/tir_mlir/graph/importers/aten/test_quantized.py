"""Graphs of torch with conversions to integers and back (pt2e): they are computed in integers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.ao.quantization.fx import _decomposed  # noqa: F401  # registers the operators

import tir_mlir
from tir_mlir.graph.compile import compile_graph

OPS = torch.ops.quantized_decomposed


class Layer(torch.nn.Module):
    """A dense layer between conversions, with zero points of its weights."""

    def __init__(self, zero: int = 0):
        super().__init__()
        generator = torch.Generator().manual_seed(2)
        self.register_buffer("w", torch.randint(-127, 128, (3, 8), generator=generator, dtype=torch.int8))
        self.register_buffer("scales", torch.tensor([0.01, 0.02, 0.03]))
        self.register_buffer("zeros", torch.full((3,), zero, dtype=torch.int64))

    def forward(self, x):
        limits = 0, 255, torch.uint8
        x = OPS.dequantize_per_tensor(OPS.quantize_per_tensor(x, 0.05, 7, *limits), 0.05, 7, *limits)
        w = OPS.dequantize_per_channel(self.w, self.scales, self.zeros, 0, -128, 127, torch.int8)
        y = torch.relu(torch.nn.functional.linear(x, w))
        return OPS.dequantize_per_tensor(OPS.quantize_per_tensor(y, 0.1, 0, *limits), 0.1, 0, *limits)


def test_a_layer_is_of_integers_and_computes_what_torch_does():
    model, x = Layer(), torch.randn(2, 8, generator=torch.Generator().manual_seed(1))
    graph = tir_mlir.from_torch(model, (x,))
    assert 'out_dtype="int32"' in compile_graph(graph, until="integers").script()
    ours = np.asarray(tir_mlir.build(graph, threads=1)(x))
    np.testing.assert_allclose(ours, model(x).numpy(), atol=1e-6)


@pytest.mark.parametrize("zero", [0, 2])
def test_an_import_in_the_cache_is_of_the_same_zero_points(zero):
    """Weights with zero points other than 0 stay in floats."""
    graph = tir_mlir.from_torch(Layer(zero), (torch.zeros(2, 8),))
    assert ('out_dtype="int32"' in compile_graph(graph, until="integers").script()) == (zero == 0)
