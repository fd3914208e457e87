"""Whole models from PyTorch compute what PyTorch computes."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.examples import models

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from tir_mlir import from_torch  # noqa: E402
from tir_mlir.examples.models import gpt2  # noqa: E402

ERROR = 1e-5


def built(example, **changes):
    return build(from_torch(example.model, example.inputs, dynamic=example.dynamic), threads=1, **changes)


def outputs(found) -> list:
    return list(found) if isinstance(found, tuple) else [found]


def assert_same(model, example, inputs):
    """The relative error of each output is at most 1e-5."""
    with torch.no_grad():
        wants = outputs(example.model(*inputs))
    for got, want in zip(outputs(model(*inputs)), wants, strict=True):
        assert got.shape == want.shape
        assert float((got - want).abs().max()) <= ERROR * float(want.abs().max())


@cache
def gpt(name):
    example = models.example(name, tiny=True)
    return example, built(example)


@pytest.mark.few(1)
@pytest.mark.parametrize("name", models.NAMES)
def test_tiny_models(name):
    example = models.example(name, tiny=True)
    assert_same(built(example), example, example.inputs)


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.parametrize("name", ["mlp", "bert-layer", "resnet18"])
def test_modules_of_bfloat16_take_and_return_tensors_of_bfloat16(name):
    """Rounded in other places than torch rounds."""
    example = models.example(name, tiny=True)
    wanted = outputs(example.model(*example.inputs))
    half = example.model.bfloat16()
    given = tuple(x.bfloat16() if x.is_floating_point() else x for x in example.inputs)
    found = outputs(build(from_torch(half, given), threads=1)(*given))
    for got, want in zip(found, wanted, strict=True):
        assert got.dtype == torch.bfloat16
        assert float((got.float() - want).abs().max()) <= 0.05 * float(want.abs().max())


@pytest.mark.nightly
@pytest.mark.parametrize("name", models.NAMES)
def test_models(name):
    example = models.example(name)
    assert_same(built(example), example, example.inputs)


@pytest.mark.few(1)
@pytest.mark.parametrize("prompt", [[99, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12], [5, 17, 3]])
@pytest.mark.nightly
def test_a_gpt_with_a_cache_generates_the_tokens_of_torch(prompt):
    (example, prefill), (_, decode) = gpt("gpt2-prefill"), gpt("gpt2-decode")
    tokens = torch.tensor([prompt])
    with torch.no_grad():
        wanted = gpt2.generate(example.model, example.model, tokens, 12)
    assert gpt2.generate(prefill, decode, tokens, 12) == wanted


@pytest.mark.nightly
@pytest.mark.few(2)
@pytest.mark.parametrize("length", [2, 7, 40])
def test_lengths_of_a_prompt(length):
    example, model = gpt("gpt2-prefill")
    assert_same(model, example, (torch.arange(length)[None] * 7 % 101,))


@pytest.mark.nightly
@pytest.mark.few(2)
@pytest.mark.parametrize("past", [2, 15, 16, 33])
def test_lengths_of_a_cache(past):
    example, model = gpt("gpt2-decode")
    cache = [torch.randn(1, 4, past, 8, generator=torch.Generator().manual_seed(n)) for n in range(4)]
    assert_same(model, example, (torch.tensor([[7]]), *cache))


@pytest.mark.nightly
@pytest.mark.parametrize("batch", [1, 2, 9])
def test_batches_of_the_mlp(batch):
    example = models.example("mlp-64", tiny=True)
    assert_same(built(example), example, (torch.randn(batch, 28),))


def test_arrays_in_arrays_out():
    example = models.example("mlp", tiny=True)
    found = built(example)(example.inputs[0].numpy())
    assert isinstance(found, np.ndarray) and found.shape == (1, 10)


class Last(torch.nn.Module):
    def forward(self, x):
        return x[:, -2] * 2.0


@pytest.mark.parametrize("length", [2, 3, 17])
def test_an_element_from_the_end_of_a_dynamic_axis(length):
    graph = from_torch(Last(), (torch.randn(1, 5, 3),), dynamic={"x": {1: "n"}})
    x = torch.randn(1, length, 3)
    assert torch.equal(build(graph, threads=1)(x), x[:, -2] * 2.0)
