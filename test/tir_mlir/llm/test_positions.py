"""Rotary positions of each kind, at lengths on both sides of the original one, beside transformers."""

import numpy as np
import pytest

from tir_mlir import llm
from tir_mlir.llm.native.rotary import RotaryModule, rotary_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZES = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 1, "num_attention_heads": 4, "vocab_size": 96}
FACTORS = {"short_factor": [1.0 + i / 8 for i in range(8)], "long_factor": [1.0 + i for i in range(8)]}
KINDS = {
    "default": {}, "linear": {"factor": 4.0}, "dynamic": {"factor": 4.0},
    "yarn": {"factor": 4.0, "original_max_position_embeddings": 32},
    "llama3": {
        "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 32,
    },
    "longrope": {**FACTORS, "factor": 4.0, "original_max_position_embeddings": 32},
}  # fmt: skip
LENGTHS = (20, 32, 50)


def config(kind):
    positions = 32 if kind == "dynamic" else 128
    facts = {"rope_type": kind, "rope_theta": 10000.0, **KINDS[kind]}
    return transformers.LlamaConfig(**SIZES, max_position_embeddings=positions, rope_parameters=facts, pad_token_id=0)


def positions_of(rotary, length):
    """Cosines and sines of a sequence, as loop.c takes them."""
    if rotary.until is None or length <= rotary.until:
        tables = rotary.table
    elif rotary.growth is None:
        tables = rotary.long
    else:
        growth = rotary.growth
        by = growth.factor * length / growth.original - (growth.factor - 1)
        angles = np.arange(length)[:, None] * (growth.frequencies * by**growth.exponents)
        tables = growth.scale * np.cos(angles), growth.scale * np.sin(angles)
    return [each[:length] for each in tables]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_positions_are_those_of_the_length_of_the_sequence(kind, length):
    model = transformers.LlamaModel(config(kind))
    rotary = rotary_of(RotaryModule(model.rotary_emb, [None]).rotary(128, 64).facts())
    expected = transformers.LlamaModel(config(kind)).rotary_emb(torch.zeros(1, 1), torch.arange(length)[None])
    for found, each in zip(positions_of(rotary, length), expected, strict=True):
        np.testing.assert_allclose(found, each[0].numpy(), atol=2e-5)


def test_tables_that_are_the_same_are_one():
    facts = {"rope_type": "longrope", "rope_theta": 10000.0, "original_max_position_embeddings": 32, "factor": 1.0}
    facts |= {"short_factor": [2.0] * 8, "long_factor": [2.0] * 8}
    model = transformers.LlamaModel(transformers.LlamaConfig(**SIZES, rope_parameters=facts, pad_token_id=0))
    rotary = RotaryModule(model.rotary_emb, [None]).rotary(128, 64)
    assert rotary.until is None and rotary.long is None


def saved(kind, folder):
    torch.manual_seed(0)
    model = transformers.LlamaForCausalLM(config(kind)).eval()
    for name, weight in model.named_parameters():
        weight.data.mul_(6 if "q_proj" in name or "k_proj" in name else 2)  # so that positions matter
    model.save_pretrained(folder)
    return model


@pytest.mark.nightly
@pytest.mark.parametrize("kind", ["longrope", "dynamic"])
def test_scores_on_both_sides_of_the_original_length(tmp_path, kind):
    model = saved(kind, tmp_path)
    ours = llm.load(tmp_path, "float32", context=128, chunk=16, threads=1)
    tokens = torch.randint(1, 96, (1, 60), generator=torch.Generator().manual_seed(1))
    for length in LENGTHS:
        with torch.no_grad():
            scores = transformers.LlamaForCausalLM.from_pretrained(tmp_path)(tokens[:, :length]).logits[0, -1].numpy()
        found = ours.logits(tokens[0, :length].tolist())
        assert np.abs(found - scores).max() < 1e-4 * np.abs(scores).max()
    # each token is that of all before, also where the length comes to be another one
    if kind == "longrope":
        prompt = tokens[0, :28].tolist()
        made = ours.generate(prompt, 12)
        assert made == [int(ours.logits(prompt + made[:n]).argmax()) for n in range(12)]
    else:
        options = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0, "max_new_tokens": 12}
        assert ours.generate(tokens[0, :28].tolist(), 12) == model.generate(tokens[:, :28], **options)[0, 28:].tolist()


@pytest.mark.nightly
def test_an_exported_program_crosses_the_original_length(tmp_path):
    import subprocess

    saved("longrope", tmp_path / "files")
    ours = llm.load(tmp_path / "files", "float32", context=128, chunk=16, threads=1)
    ours.export(tmp_path / "tiny")
    program = tmp_path / "tiny" / "tiny"
    command = [program, "-w", f"{program}.safetensors", "-n", "12", *map(str, range(3, 31))]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert list(map(int, told.split())) == ours.generate(range(3, 31), 12)
