"""Configurations of transformers that are refused by name before anything is computed."""

import pytest

from tir_mlir.errors import ArgumentError
from tir_mlir.llm.checks.fields import check_fields, check_layers_of

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

SIZES = {"hidden_size": 64, "num_hidden_layers": 1, "vocab_size": 96, "pad_token_id": 0}
EXPERTS = {
    **SIZES,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "intermediate_size": 96,
    "num_experts_per_tok": 2,
}
LINEAR = {"rope_type": "linear", "rope_theta": 10000.0, "factor": 2.0}


def without_values(name, sizes):
    with torch.device("meta"):
        return getattr(transformers, f"{name}ForCausalLM")(getattr(transformers, f"{name}Config")(**sizes))


@pytest.mark.parametrize(("name", "sizes", "words"), [
    ("Mixtral", {**EXPERTS, "num_local_experts": 4}, "has mixtures of experts .model.layers.0.mlp.exp"),
    ("Qwen3Moe", {**EXPERTS, "num_experts": 4, "moe_intermediate_size": 32, "head_dim": 16}, "has mixtures of experts"),
    ("Mamba", SIZES, "MambaForCausalLM keeps a state that is not keys and values"),
])  # fmt: skip
def test_layers_that_are_not_supported(tmp_path, name, sizes, words):
    with pytest.raises(ArgumentError, match=words):
        check_layers_of(tmp_path, without_values(name, sizes))


@pytest.fixture(scope="module")
def llama():
    return without_values("Llama", {**SIZES, "num_attention_heads": 4, "rope_parameters": LINEAR})


@pytest.mark.parametrize("given", [
    {"attention_multiplier": None, "use_qk_norm": False, "rope_theta": 10000.0, "head_dim": 16, "temperature": 0.6},
    {"hidden_act": "silu", "interpolate_factor": 1},
    {"torch_dtype": "float16", "_name_or_path": "x", "auto_map": {"AutoConfig": "a.B"}, "attn_pdrop": 0.1},
    {"transformers.js_config": {"a": 1}, "rope_scaling": {"type": "linear"}, "transformers_version": "4"},
])  # fmt: skip
def test_fields_that_are_read_or_do_not_matter(tmp_path, llama, given):
    check_fields(tmp_path, given, llama.config, llama)
    check_layers_of(tmp_path, llama)


@pytest.mark.parametrize("given", [
    {"use_qk_norm": True}, {"attention_multiplier": 0.5}, {"final_logit_softcapping": 30.0},
    {"embedding_multiplier": 0},
])  # fmt: skip
def test_a_field_that_nothing_reads(tmp_path, llama, given):
    with pytest.raises(ArgumentError, match=f"nothing reads {next(iter(given))} of config.json"):
        check_fields(tmp_path, given, llama.config, llama)


@pytest.mark.parametrize(("change", "words"), [
    ({"beta_fast": 32}, "nothing reads beta_fast of rotary positions of the kind linear"),
    ({"rope_type": "other"}, "rotary positions of the kind 'other' are not supported"),
])  # fmt: skip
def test_a_fact_of_positions_that_nothing_reads(tmp_path, llama, change, words):
    given = transformers.LlamaConfig(**SIZES, num_attention_heads=4, rope_parameters=dict(LINEAR))
    given.rope_parameters |= change
    with pytest.raises(ArgumentError, match=words):
        check_fields(tmp_path, {}, given, llama)
