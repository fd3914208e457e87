"""The models of the examples: exported whole, of the published sizes, the same for a seed."""

from __future__ import annotations

import importlib
import subprocess
import sys

import pytest
from harness import ROOT

from tir_mlir.examples import models

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

PUBLISHED = {
    "mlp": 101_770, "resnet18": 11_689_512, "resnet50": 25_557_032, "mobilenet-v2": 3_504_872,
    "mobilenet-v3-small": 2_542_856, "vit-b16": 86_567_656, "bert-base": 109_482_240, "gpt2-prefill": 124_439_808,
}  # fmt: skip


def outputs(found) -> list:
    return list(found) if isinstance(found, tuple) else [found]


@pytest.mark.parametrize("name", models.NAMES)
@pytest.mark.few(2)
def test_the_exported_program_computes_the_same(name):
    example = models.example(name, tiny=True)
    whole = torch.export.export(example.model, example.inputs, dynamic_shapes=example.dynamic)
    expected = outputs(example.model(*example.inputs))
    for got, want in zip(outputs(whole.module()(*example.inputs)), expected, strict=True):
        assert torch.equal(got, want) and bool(want.isfinite().all()) and float(want.abs().max()) > 0.05


@pytest.mark.parametrize("name", PUBLISHED)
def test_as_many_weights_as_published(name):
    line = models.row(name)
    with torch.device("meta"):
        made = getattr(importlib.import_module(f"tir_mlir.examples.models.{line.file}"), line.maker)(**line.real)
    assert sum(each.numel() for each in made.model.parameters()) == PUBLISHED[name]


@pytest.mark.parametrize(
    ("name", "weight"),
    [
        ("resnet18", "layer2.0.downsample.0.weight"),
        ("mobilenet-v2", "features.1.conv.0.0.weight"),
        ("mobilenet-v3-small", "features.1.block.1.fc1.weight"),
        ("vit-b16", "encoder.layers.encoder_layer_0.self_attention.in_proj_weight"),
        ("bert-base", "encoder.layer.0.attention.self.query.weight"),
        ("gpt2-decode", "transformer.h.0.attn.c_attn.weight"),
    ],
)
def test_weights_have_the_published_names(name, weight):
    assert weight in models.example(name, tiny=True).model.state_dict()


def test_a_seed_gives_the_same_model_and_leaves_the_generator_of_torch():
    before = torch.get_rng_state()
    first, second, other = (models.example("lenet", seed=seed) for seed in (3, 3, 4))
    torch.set_rng_state(before)
    for one, two in zip(first.model.parameters(), second.model.parameters(), strict=True):
        assert torch.equal(one, two)
    assert torch.equal(first.inputs[0], second.inputs[0]) and not torch.equal(first.inputs[0], other.inputs[0])


def test_the_cache_gives_the_tokens_of_whole_prompts():
    gpt2 = importlib.import_module("tir_mlir.examples.models.gpt2")
    example = models.example("gpt2-prefill", tiny=True)
    model, prompt = example.model, example.inputs[0]
    whole = prompt
    for _ in range(6):
        whole = torch.cat([whole, model(whole)[0].argmax(-1, keepdim=True)], dim=1)
    assert gpt2.generate(model, model, prompt, 6) == whole[0, prompt.shape[1] :].tolist()


def test_a_llama_block_with_a_cache_computes_what_it_does_without():
    example = models.example("llama-block", tiny=True)
    block, x = example.model, example.inputs[0]
    whole, keys, _ = block(x)
    past = block(x[:, :-1])[1:]
    last, longer, _ = block(x[:, -1:], *past)
    assert torch.allclose(last, whole[:, -1:], atol=1e-5) and torch.allclose(longer, keys, atol=1e-6)


def test_an_unknown_name_is_refused():
    with pytest.raises(ValueError, match="no model 'resnet'; fix: one of mlp, mlp-64, lenet"):
        models.example("resnet")


def test_torch_is_imported_with_the_first_model_only():
    code = "import sys, tir_mlir, tir_mlir.examples.models; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], cwd=ROOT, check=True)
