"""A language model from files: several sequences, weights of few bits, a program without Python."""

import subprocess

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
@pytest.mark.parametrize("cache", ["float32", "int8"])
def test_sequences_of_a_batch_do_not_know_of_each_other(saved, cache):
    prompts = [PROMPT, PROMPT[:5], PROMPT[::-1]]
    options = {"context": 128, "chunk": 16, "threads": 1, "cache": cache}
    together = llm.load(saved[1], "float32", batch=3, **options).generate_batch(prompts, 32)
    alone = llm.load(saved[1], "float32", **options)
    assert together == [alone.generate(prompt, 32) for prompt in prompts]


@pytest.mark.nightly
@pytest.mark.parametrize("cache", ["float32", "int8"])
def test_an_exported_program_generates_the_same(saved, tmp_path, cache):
    model = llm.load(saved[1], "float32", context=128, chunk=16, cache=cache, threads=1)
    model.export(tmp_path / "tiny")
    command = [str(tmp_path / "tiny" / "tiny"), "-w", str(tmp_path / "tiny" / "tiny.safetensors"), "-n", "32"]

    def told(*options):
        return subprocess.run([*command, *map(str, options)], capture_output=True, text=True)

    assert list(map(int, told(*PROMPT).stdout.split())) == model.generate(PROMPT, 32)
    drawn = model.generate(PROMPT, 32, llm.Sampling(0.8, 10, 0.9, 7))
    assert list(map(int, told("-t", 0.8, "-k", 10, "-p", 0.9, "-s", 7, *PROMPT).stdout.split())) == drawn
    assert "a token is beyond the vocabulary" in told(96).stderr
    assert "the cache has no room" in told(*PROMPT * 7).stderr


@pytest.mark.nightly
@pytest.mark.parametrize(("weights", "cache", "error"), [("int8", "float32", 0.05), ("float32", "int8", 0.02)])
def test_scores_in_8_bits_are_close(saved, weights, cache, error):
    model, folder = saved
    loaded = llm.load(folder, weights, cache=cache, context=128, chunk=16, threads=1)
    ours, theirs = torch.tensor(loaded.logits(PROMPT)), model(torch.tensor([PROMPT])).logits[0, -1]
    assert (ours - theirs).norm() < error * theirs.norm()


def test_groups_that_do_not_divide_are_refused_before_weights_are_read(saved):
    with pytest.raises(ArgumentError, match="rows of 64 are no whole groups of 48"):
        llm.load(saved[1], "int4", group=48, context=128, chunk=16)
