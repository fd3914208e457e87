"""Whole models: imported, built, and the results those of torch."""

import pytest
from harness.torch_models import check

from tir_mlir.examples import models

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
pytestmark = pytest.mark.nightly

NAMES = ["lenet", "bert-layer", "gpt2-block", "gpt2-decode", "llama-decode", "vit-b16", "whisper-encoder"]
NIGHTLY = ["resnet18", "mobilenet-v2", "mobilenet-v3-small", "unet", "llama-block", "bert-masked"]


@pytest.mark.parametrize("name", [*NAMES, *(pytest.param(n, marks=pytest.mark.nightly) for n in NIGHTLY)])
def test_a_model(name):
    example = models.example(name, tiny=True)
    check(example.model, *example.inputs, dynamic=example.dynamic)


def test_a_model_imported_at_one_length_runs_at_others():
    example = models.example("gpt2-decode", tiny=True)
    ids, *cache = example.inputs
    longer = [torch.randn(*c.shape[:2], c.shape[2] + 3, *c.shape[3:]) for c in cache]
    check(example.model, *example.inputs, others=(ids, *longer), dynamic=example.dynamic)
