"""GGUF files: tensors by the names of transformers, without rounding; files that are refused."""

import struct

import numpy as np
import pytest

from tir_mlir.errors import ArgumentError
from tir_mlir.graph.precision.stored_formats import Grouped
from tir_mlir.llm.gguf_files import GgufTensor, gguf_model

Q4_0 = 2


def text(word):
    return struct.pack("<Q", len(word)) + word.encode()


def written(folder, kind=Q4_0, architecture="qwen2", cut=0, magic=b"GGUF"):
    """A file of one layer's queries: 4 rows of a block of 32, and the rows of 2 tokens."""
    names = {"context_length": 64, "embedding_length": 32, "block_count": 1, "feed_forward_length": 8}
    names |= {"attention.head_count": 2, "attention.head_count_kv": 1}
    facts = [text("general.architecture") + struct.pack("<I", 8) + text(architecture)]
    facts += [text(f"{architecture}.{name}") + struct.pack("<II", 4, value) for name, value in names.items()]
    facts += [text(f"{architecture}.attention.layer_norm_rms_epsilon") + struct.pack("<If", 6, 1e-6)]
    infos = [text("token_embd.weight") + struct.pack("<IQQIQ", 2, 32, 2, 0, 0)]
    infos += [text("blk.0.attn_q.weight") + struct.pack("<IQQIQ", 2, 32, 4, kind, 256)]
    head = magic + struct.pack("<IQQ", 3, len(infos), len(facts)) + b"".join(facts + infos)
    rows = np.random.default_rng(0).integers(0, 256, (4, 18), "uint8")
    rows[:, :2] = np.full((4, 1), 0.5, "float16").view("uint8")
    tokens = np.arange(64, dtype="float32").tobytes()
    whole = head + b"\0" * (-len(head) % 32) + tokens + rows.tobytes()
    path = folder / "tiny.gguf"
    path.write_bytes(whole[: len(whole) - cut])
    return path, rows


def test_weights_of_few_bits_are_taken_as_they_are(tmp_path):
    path, rows = written(tmp_path)
    stored = gguf_model(path).tensors["model.layers.0.self_attn.q_proj.weight"].read_encoded(1, 3)
    assert isinstance(stored, Grouped)
    np.testing.assert_array_equal(stored.weight, rows[1:3, 2:])
    assert (stored.group, stored.bits, stored.scale.tolist()) == (32, 4, [[0.5], [0.5]])


def test_queries_of_llama_have_the_order_of_transformers(tmp_path):
    tensors = [
        gguf_model(written(tmp_path, architecture=name)[0]).tensors["model.layers.0.self_attn.q_proj.weight"].read()
        for name in ("qwen2", "llama")
    ]
    np.testing.assert_array_equal(tensors[1], tensors[0])  # heads of two rows: the halves are the rows themselves


def test_the_configuration(tmp_path):
    model = gguf_model(written(tmp_path)[0])
    assert model.config["architectures"] == ["Qwen2ForCausalLM"] and model.config["tie_word_embeddings"]
    assert (model.config["vocab_size"], model.config["num_key_value_heads"]) == (2, 1)
    np.testing.assert_array_equal(model.tensors["model.embed_tokens.weight"].read(1, 2)[0, :2], [32, 33])


def test_a_scale_that_is_not_finite_is_refused(tmp_path):
    path, rows = written(tmp_path)
    queries = "model.layers.0.self_attn.q_proj.weight"
    gguf_model(path).tensors[queries].check(queries)
    rows[2, :2] = np.array([np.nan], "float16").view("uint8")
    path.write_bytes(path.read_bytes()[: -rows.nbytes] + rows.tobytes())
    with pytest.raises(ArgumentError, match="a scale of Q4_0 is not finite"):
        gguf_model(path).tensors[queries].check(queries)


@pytest.mark.parametrize(("at", "what"), [(0, "scale"), (2, "minimum")])
def test_an_error_says_which_number_of_a_block_is_not_finite(tmp_path, at, what):
    block = np.zeros(20, "uint8")
    block[at : at + 2] = np.array([np.inf], "float16").view("uint8")
    (tmp_path / "block").write_bytes(block.tobytes())
    tensor = GgufTensor(tmp_path / "block", "Q4_1", (1, 32), 0, 20)
    with pytest.raises(ArgumentError, match=f"w: a {what} of Q4_1 is not finite; fix: write the file again"):
        tensor.check("w")


@pytest.mark.parametrize(("options", "words"), [
    ({"cut": 1}, "cut short, blk.0.attn_q.weight"), ({"cut": 500}, "header is cut short"),
    ({"magic": b"GGML"}, "not a GGUF file"),
    ({"architecture": "bert"}, "architecture 'bert' is not known"), ({"kind": 16}, "of type IQ2_XXS of GGUF"),
])  # fmt: skip
def test_a_file_that_is_refused(tmp_path, options, words):
    with pytest.raises(ArgumentError, match=words):
        gguf_model(written(tmp_path, **options)[0])
