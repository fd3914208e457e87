"""The model that all contestants run, as the files that each of them reads."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

LAYERS, HEADS = 24, 14
SIZES = {
    "vocab_size": 151936, "hidden_size": 896, "intermediate_size": 4864, "num_hidden_layers": LAYERS,
    "num_attention_heads": HEADS, "num_key_value_heads": 2, "max_position_embeddings": 32768,
    "tie_word_embeddings": True,
}  # fmt: skip
"""Those of Qwen-2 of 0.5 billion parameters."""
GGUF_TYPES = {"float32": "F32", "bfloat16": "BF16", "int8": "Q8_0", "int4": "Q4_0"}
WEIGHTS = tuple(GGUF_TYPES)
_OWN_NAMES = {
    "self_attn.q_proj": "attn_q", "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v",
    "self_attn.o_proj": "attn_output", "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up",
    "mlp.down_proj": "ffn_down", "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm",
}  # fmt: skip


def write_model(folder: Path) -> None:
    """config.json and safetensors, with random weights of bfloat16; nothing if they are there."""
    if not (folder / "model.safetensors").exists():
        import torch

        transformers: Any = importlib.import_module("transformers")
        torch.manual_seed(0)
        config = transformers.Qwen2Config(**SIZES)
        transformers.Qwen2ForCausalLM(config).to(torch.bfloat16).save_pretrained(folder)


def gguf_of_model(folder: Path, weights: str) -> Path:
    """The same weights as a GGUF file, all matrices of one type; written if it is not there. Needs `gguf`."""
    path = folder / f"{weights}.gguf"
    if not path.exists():
        gguf: Any = importlib.import_module("gguf")
        from tir_mlir.llm.safetensors_files import tensors_of

        partial = path.with_suffix(".partial")
        writer = gguf.GGUFWriter(partial, "qwen2")
        _facts(writer)
        kind = gguf.GGMLQuantizationType[GGUF_TYPES[weights]]
        for name, tensor in tensors_of(folder).items():
            array = np.ascontiguousarray(tensor.read(), dtype=np.float32)
            if array.ndim == 1 or weights == "float32":
                writer.add_tensor(gguf_name(name), array)
            else:
                writer.add_tensor(gguf_name(name), gguf.quants.quantize(array, kind), raw_dtype=kind)
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        partial.rename(path)
    return path


def gguf_name(name: str) -> str:
    """model.layers.3.mlp.up_proj.weight -> blk.3.ffn_up.weight."""
    if name.startswith("model.layers."):
        number, _, rest = name.removeprefix("model.layers.").partition(".")
        part, _, kind = rest.rpartition(".")
        return f"blk.{number}.{_OWN_NAMES[part]}.{kind}"
    return {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight"}[name]


def _facts(writer: Any) -> None:
    writer.add_context_length(SIZES["max_position_embeddings"])
    writer.add_embedding_length(SIZES["hidden_size"])
    writer.add_block_count(LAYERS)
    writer.add_feed_forward_length(SIZES["intermediate_size"])
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(SIZES["num_key_value_heads"])
    writer.add_layer_norm_rms_eps(1e-6)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(SIZES["vocab_size"])
    writer.add_tokenizer_model("no_vocab")
