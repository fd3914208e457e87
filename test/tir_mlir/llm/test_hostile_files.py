"""Hundreds of model files that mean harm: refused by a named error, or read inside of the file, in little memory."""

import importlib
import json
import os
import tracemalloc

import numpy as np
import pytest
from harness import hostile_files

from tir_mlir import llm
from tir_mlir.errors import ArgumentError, TirError
from tir_mlir.llm.gguf_files import gguf_model
from tir_mlir.llm.safetensors_files import INDEX, WHOLE, tensors_of

MOST = 1 << 24
"""Bytes that a file of a few kilobytes may take."""
FACTS = {
    "general.architecture": "llama", "llama.context_length": 64, "llama.embedding_length": 32, "llama.block_count": 1,
    "llama.feed_forward_length": 48, "llama.attention.head_count": 2, "llama.attention.head_count_kv": 1,
    "llama.attention.layer_norm_rms_epsilon": 1e-6, "llama.rope.scaling.type": "linear",
    "llama.rope.scaling.factor": 2.0,
    "general.name": "small", "tokenizer.ggml.token_type": [1, 2, 3],
}  # fmt: skip
PARTS = {"attn_q": (32, 32), "attn_k": (16, 32), "attn_v": (16, 32), "attn_output": (32, 32), "ffn_up": (48, 32)}
CONFIG = {
    "architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 4, "num_hidden_layers": 1,
    "vocab_size": 4,
    "quantization_config": {"quant_method": "gptq", "bits": 4, "group_size": 32, "desc_act": False},
}  # fmt: skip


def header():
    """The header of four tensors of safetensors, and the bytes behind it."""
    kinds = {"a": ("F32", [4, 4], 64), "p.qweight": ("I32", [8, 16], 512), "p.qzeros": ("I32", [2, 2], 16)}
    kinds |= {"p.scales": ("F16", [2, 16], 64)}
    found, end = {"__metadata__": {"format": "pt"}}, 0
    for name, (dtype, shape, size) in kinds.items():
        found[name] = {"dtype": dtype, "shape": shape, "data_offsets": [end, end + size]}
        end += size
    return found, bytes(end)


@pytest.fixture
def opened(monkeypatch):
    """What happens to files before a model is described."""

    class Described(TirError):
        pass

    def described(*_):
        raise Described("described")

    monkeypatch.setattr(importlib.import_module("tir_mlir.llm.load"), "describe_model", described)
    return lambda folder: llm.load(folder, "float32", context=8, chunk=8)


def check(read, *arguments):
    """Whether files are refused; else all of their elements can be read. Raises other errors than ours."""
    tracemalloc.start()
    try:
        read(*arguments)
    except TirError as error:
        return str(error)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < MOST
    return None


def read_all(tensors):
    for tensor in tensors.values():
        if hasattr(tensor, "read") and getattr(tensor, "dtype", "F32") in ("F32", "F16", "I32"):
            tensor.read()


@pytest.mark.parametrize("seed", range(3))
def test_headers_of_safetensors(tmp_path, seed):
    rng, (head, data) = np.random.default_rng(seed), header()
    files = [hostile_files.safetensors(each, data) for each in hostile_files.mutated_objects(head, rng, 120)]
    files += hostile_files.mutated_bytes(hostile_files.safetensors(head, data), rng, 80, 300)
    refused = 0
    for content in files:
        (tmp_path / WHOLE).write_bytes(content)
        refused += check(lambda: read_all(tensors_of(tmp_path))) is not None
    assert refused > 60


@pytest.mark.parametrize("seed", range(2))
def test_an_index_and_a_configuration(tmp_path, seed, opened):
    rng, (head, data) = np.random.default_rng(seed), header()
    (tmp_path / WHOLE).write_bytes(hostile_files.safetensors(head, data))
    index = {"metadata": {}, "weight_map": {name: WHOLE for name in head if name != "__metadata__"}}
    (tmp_path / "config.json").write_text(json.dumps(CONFIG))
    for each in hostile_files.mutated_objects(index, rng, 60):
        (tmp_path / INDEX).write_text(json.dumps(each))
        assert check(opened, tmp_path)
    (tmp_path / INDEX).unlink()
    for each in hostile_files.mutated_objects(CONFIG, rng, 60):
        (tmp_path / "config.json").write_text(json.dumps(each))
        assert check(opened, tmp_path)


@pytest.mark.parametrize("seed", range(3))
def test_gguf(tmp_path, seed):
    rng, path = np.random.default_rng(seed), tmp_path / "small.gguf"
    tensors = {"token_embd.weight": np.zeros((4, 32)), "rope_freqs.weight": np.ones(8)}
    tensors |= {f"blk.0.{name}.weight": np.zeros(shape) for name, shape in PARTS.items()}
    good, size = hostile_files.gguf(FACTS, tensors)
    path.write_bytes(good)
    assert check(lambda: read_all(gguf_model(path).tensors)) is None
    for content in hostile_files.mutated_bytes(good, rng, 200, size):
        path.write_bytes(content)
        check(lambda: read_all(gguf_model(path).tensors))


@pytest.mark.parametrize(("fact", "words"), [
    ({"llama.attention.scale": 0.5}, "llama.attention.scale is 0.5, which is not supported"),
    ({"llama.expert_count": 8}, "llama.expert_count is 8"), ({"qwen2.vocab_size": 4}, "qwen2.vocab_size is 4"),
    ({"llama.rope.scaling.type": "abc"}, "rope_freqs.weight with rope.scaling.type 'abc'"),
    ({"llama.rope.dimension_count": 8}, "rope.dimension_count is 8 for heads of 16"),
    ({"split.count": 2}, "split.count is 2"),
    ({"llama.attention.value_length": 8}, "keys of 16 columns and values of other ones"),
    ({"general.type": "adapter"}, "general.type is 'adapter'"),
])  # fmt: skip
def test_a_fact_of_gguf_that_is_not_read(tmp_path, fact, words):
    tensors = {"token_embd.weight": np.zeros((4, 32)), "rope_freqs.weight": np.ones(8)}
    (tmp_path / "a.gguf").write_bytes(hostile_files.gguf(FACTS | fact, tensors)[0])
    with pytest.raises(ArgumentError, match=words):
        gguf_model(tmp_path / "a.gguf")


@pytest.mark.parametrize(
    "name", ["blk.0.attn_sinks.weight", "blk.0.attn_q.scale", "blk.00.attn_q.weight", "cls.weight"]
)
def test_a_tensor_of_gguf_that_is_not_known(tmp_path, name):
    tensors = {"token_embd.weight": np.zeros((4, 32)), name: np.zeros((32, 32))}
    (tmp_path / "a.gguf").write_bytes(hostile_files.gguf(FACTS, tensors)[0])
    with pytest.raises(ArgumentError, match=f"the tensor '{name}' is not known, and may matter"):
        gguf_model(tmp_path / "a.gguf")


def test_tensors_that_lie_over_each_other(tmp_path):
    head, data = header()
    head["b"] = {"dtype": "F32", "shape": [2], "data_offsets": [60, 68]}
    (tmp_path / WHOLE).write_bytes(hostile_files.safetensors(head, data))
    with pytest.raises(ArgumentError, match="b lies over a"):
        tensors_of(tmp_path)


@pytest.mark.parametrize(("file", "words"), [
    ("../secret/model.safetensors", "lies outside of the folder"), ("link.safetensors", "lies outside of the folder"),
    ("pipe.safetensors", "it is not a regular file"), ("none.safetensors", "no such file"),
])  # fmt: skip
def test_an_index_that_leads_elsewhere(tmp_path, file, words):
    secret, folder = tmp_path / "secret", tmp_path / "model"
    secret.mkdir(), folder.mkdir()
    (secret / WHOLE).write_bytes(hostile_files.safetensors(*header()))
    (folder / "link.safetensors").symlink_to(secret / WHOLE)
    os.mkfifo(folder / "pipe.safetensors")
    (folder / INDEX).write_text(json.dumps({"weight_map": {"a": file}}))
    with pytest.raises(ArgumentError, match=words):
        tensors_of(folder)


def test_files_of_a_snapshot_of_the_hub(tmp_path):
    """Its files are links to blobs that lie beside of the snapshots."""
    blobs, folder = tmp_path / "models--a--b" / "blobs", tmp_path / "models--a--b" / "snapshots" / "1"
    blobs.mkdir(parents=True), folder.mkdir(parents=True)
    (blobs / "0f").write_bytes(hostile_files.safetensors(*header()))
    (folder / WHOLE).symlink_to("../../blobs/0f")
    assert set(tensors_of(folder)) == {"a", "p.qweight", "p.qzeros", "p.scales"}


def test_more_layers_than_tensors_are_refused_before_a_model_is_made(tmp_path, opened):
    (tmp_path / WHOLE).write_bytes(hostile_files.safetensors(*header()))
    (tmp_path / "config.json").write_text(json.dumps(CONFIG | {"num_hidden_layers": 10**9}))
    with pytest.raises(ArgumentError, match="num_hidden_layers is 1000000000, and the files have 4 tensors"):
        opened(tmp_path)
