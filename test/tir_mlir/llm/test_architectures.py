"""Tokens and scores of tiny models of many architectures, beside transformers."""

import pytest

from tir_mlir import llm

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")

PROMPT, COUNT = list(range(3, 24)), 64
SIZES = {"vocab_size": 96, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "pad_token_id": 0}
SIZES |= {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 256}
GPT2 = {"vocab_size": 96, "n_embd": 64, "n_layer": 2, "n_head": 4, "n_positions": 256}
WINDOW = {"head_dim": 16, "sliding_window": 8, "query_pre_attn_scalar": 16}
CAPS = {"final_logit_softcapping": 2.0, "attn_logit_softcapping": 5.0}
LAYERS = ["sliding_attention", "full_attention"]
MODELS = {
    "gpt2": ("GPT2LMHeadModel", "GPT2Config", GPT2),
    "llama": ("LlamaForCausalLM", "LlamaConfig", SIZES),
    "qwen2": ("Qwen2ForCausalLM", "Qwen2Config", SIZES),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", {**SIZES, "head_dim": 16}),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", SIZES),
    "mistral": ("MistralForCausalLM", "MistralConfig", {**SIZES, "sliding_window": 8}),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", {**SIZES, "head_dim": 16}),
    "gemma2": ("Gemma2ForCausalLM", "Gemma2Config", {**SIZES, **WINDOW, **CAPS, "layer_types": LAYERS}),
    "gemma3": ("Gemma3ForCausalLM", "Gemma3TextConfig", {**SIZES, **WINDOW, "layer_types": LAYERS}),
}


def made(name):
    """A model whose greedy tokens differ: larger weights than those of a new one, but smaller rows of tokens."""
    model, config, sizes = MODELS[name]
    torch.manual_seed(0)
    model = getattr(transformers, model)(getattr(transformers, config)(**sizes)).eval()
    for weight in model.parameters():
        weight.data.mul_(6) if weight.dim() == 2 else weight.data.add_(torch.randn_like(weight) * 0.1)
    model.get_input_embeddings().weight.data.mul_(1 / 30)
    return model


@pytest.mark.nightly
@pytest.mark.parametrize("name", MODELS)
def test_tokens_and_scores_are_those_of_torch(tmp_path, name):
    model = made(name)
    model.save_pretrained(tmp_path)
    options = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    tokens = model.generate(torch.tensor([PROMPT]), max_new_tokens=COUNT, **options)[0].tolist()
    with torch.no_grad():
        scores = model(torch.tensor([tokens])).logits[0, -1]
    ours = llm.load(tmp_path, "float32", context=128, chunk=16, threads=1)
    assert ours.generate(PROMPT, COUNT) == tokens[len(PROMPT) :]
    assert len(set(tokens[len(PROMPT) :])) >= 8
    assert (torch.tensor(ours.logits(tokens)) - scores).abs().max() < 1e-4 * scores.abs().max()
