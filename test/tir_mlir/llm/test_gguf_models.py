"""Small models of transformers as GGUF files, by the writer of the format's own package: the scores of transformers."""

import numpy as np
import pytest

from tir_mlir import llm

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
gguf = pytest.importorskip("gguf")

PROMPT = list(range(3, 43))
SIZES = {"vocab_size": 96, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "pad_token_id": 0}
SIZES |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 128, "rms_norm_eps": 1e-5}
PARTS = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "self_attn.qkv_proj": "attn_qkv",
    "mlp.gate_proj": "ffn_gate", "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "mlp.gate_up_proj": "ffn_up",
}  # fmt: skip
WHOLE = {"model.embed_tokens.weight": "token_embd.weight", "model.norm.weight": "output_norm.weight",
         "lm_head.weight": "output.weight"}  # fmt: skip
LLAMA3 = {"rope_type": "llama3", "rope_theta": 10000.0, "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 32}  # fmt: skip
LONG = {"rope_type": "longrope", "rope_theta": 10000.0, "short_factor": [1.0] * 8, "long_factor": list(range(1, 9)),
        "attention_factor": 1.25}  # fmt: skip
YARN = {"rope_type": "yarn", "rope_theta": 10000.0, "factor": 4.0, "original_max_position_embeddings": 32}
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 4.0}
MODELS = {
    "llama": ("Llama", {"rope_parameters": LLAMA3}), "biases": ("Llama", {"attention_bias": True, "mlp_bias": True}),
    "linear": ("Llama", {"rope_parameters": LINEAR}), "mistral": ("Mistral", {"sliding_window": 8}),
    "qwen2": ("Qwen2", {"rope_parameters": YARN}), "qwen3": ("Qwen3", {"head_dim": 32, "attention_bias": True}),
    "phi3": ("Phi3", {"rope_parameters": LONG, "original_max_position_embeddings": 32, "sliding_window": None}),
}  # fmt: skip


def model_of(name):
    kind, more = MODELS[name]
    torch.manual_seed(0)
    config = getattr(transformers, f"{kind}Config")(**SIZES, **more)
    model = getattr(transformers, f"{kind}ForCausalLM")(config).eval()
    for path, weight in model.named_parameters():
        if path.endswith("bias"):
            weight.data.normal_()
        elif "q_proj" in path or "k_proj" in path or "qkv_proj" in path:
            weight.data.mul_(6)  # so that positions matter
    return model


def write(model, architecture, path):
    """The file, as the converters of the format write it."""
    config, writer = model.config, gguf.GGUFWriter(path, architecture)
    writer.add_context_length(128)
    writer.add_embedding_length(64)
    writer.add_block_count(2)
    writer.add_feed_forward_length(96)
    writer.add_head_count(4)
    writer.add_head_count_kv(2)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_freq_base(10000.0)
    writer.add_vocab_size(96)
    columns = getattr(config, "head_dim", None) or 16
    writer.add_key_length(columns)
    writer.add_value_length(columns)
    writer.add_rope_dimension_count(columns)
    if getattr(config, "sliding_window", None):
        writer.add_sliding_window(config.sliding_window)
    write_positions(config.rope_parameters, model, writer)
    for name, tensor in model.state_dict().items():
        array = tensor.numpy()
        if architecture == "llama" and ("q_proj" in name or "k_proj" in name):
            heads = 4 if "q_proj" in name else 2
            array = array.reshape(heads, 2, -1, *array.shape[1:]).swapaxes(1, 2).reshape(array.shape)
        if name not in WHOLE:
            _, _, layer, part = name.split(".", 3)
            part, kind = part.rsplit(".", 1)
            name = f"blk.{layer}.{PARTS[part]}.{kind}"
        writer.add_tensor(WHOLE.get(name, name), np.ascontiguousarray(array))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def write_positions(facts, model, writer):
    match facts["rope_type"]:
        case "llama3":
            plain = 10000.0 ** -(np.arange(0, 16, 2) / 16)
            divisors = plain / model.model.rotary_emb.inv_freq.numpy()
            writer.add_tensor("rope_freqs.weight", divisors.astype("float32"))
        case "longrope":
            writer.add_rope_scaling_orig_ctx_len(32)
            writer.add_rope_scaling_attn_factors(facts["attention_factor"])
            for name in ("long", "short"):
                writer.add_tensor(f"rope_factors_{name}.weight", np.array(facts[f"{name}_factor"], "float32"))
        case "linear" | "yarn" as kind:
            writer.add_rope_scaling_type(gguf.RopeScalingType(kind))
            writer.add_rope_scaling_factor(facts["factor"])
            if kind == "yarn":
                writer.add_rope_scaling_orig_ctx_len(32)


@pytest.mark.nightly
@pytest.mark.parametrize("name", MODELS)
def test_scores_are_those_of_transformers(tmp_path, name):
    model, path = model_of(name), tmp_path / "small.gguf"
    write(model, {"Llama": "llama", "Mistral": "llama"}.get(MODELS[name][0], MODELS[name][0].lower()), path)
    with torch.no_grad():
        scores = model(torch.tensor([PROMPT])).logits[0, -1].numpy()
    found = llm.load(path, "float32", context=128, chunk=64, threads=1).logits(PROMPT)
    assert np.abs(found - scores).max() < 1e-4 * np.abs(scores).max()
