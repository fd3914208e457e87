"""A language model from files, beside transformers."""

import pytest

from tir_mlir import llm
from tir_mlir.errors import ArgumentError

torch = pytest.importorskip("torch")
transformers = pytest.importorskip("transformers")
PROMPT = list(range(3, 24))


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    torch.manual_seed(0)
    sizes = {"vocab_size": 96, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 256}
    model = transformers.Qwen2ForCausalLM(transformers.Qwen2Config(**sizes, **heads)).eval()
    for weight in model.parameters():
        if weight.dim() == 2:
            weight.data.mul_(4)  # so that tokens differ
    folder = tmp_path_factory.mktemp("tiny")
    model.save_pretrained(folder)
    return model, folder


@pytest.mark.nightly
def test_tokens_are_those_of_torch(saved):
    model, folder = saved
    ours = llm.load(folder, "float32", context=128, chunk=16, threads=1).generate(PROMPT, 64)
    options = {"do_sample": False, "eos_token_id": None, "pad_token_id": 0}
    theirs = model.generate(torch.tensor([PROMPT]), max_new_tokens=64, **options)[0, len(PROMPT) :]
    assert ours == theirs.tolist()


@pytest.mark.nightly
def test_weights_of_8_bits_are_close(saved):
    model, folder = saved
    ours = torch.tensor(llm.load(folder, "int8", context=128, chunk=16, threads=1).logits(PROMPT))
    theirs = model(torch.tensor([PROMPT])).logits[0, -1]
    assert (ours - theirs).norm() < 0.05 * theirs.norm()


def test_groups_that_do_not_divide_are_refused_before_weights_are_read(saved):
    with pytest.raises(ArgumentError, match="rows of 64 are no whole groups of 48"):
        llm.load(saved[1], "int4", group=48)
