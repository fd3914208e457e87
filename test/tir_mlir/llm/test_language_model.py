"""A language model from files: several sequences, weights of few bits, a program without Python."""

import copy
import json
import shutil
import subprocess

import numpy as np
import pytest
from harness.packed_words import packed_words

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


def write_in_few_bits(model, folder, method):
    """The model's files with the weights of its layers in 4 bits by a method, and the same as floats in the model."""
    from safetensors.torch import load_file, save_file

    state, told = load_file(folder / "model.safetensors"), {"format": "pt"}
    for name, weight in list(state.items()):
        if weight.dim() != 2 or ".layers." not in name:
            continue
        groups = weight.reshape(len(weight), -1, 32)
        scale = (groups.abs().amax(2) / 7).half().float()
        q = (groups / scale[:, :, None]).round().clamp(-8, 7)
        model.get_parameter(name).data = (q * scale[:, :, None]).reshape(weight.shape)
        stem, q = name.removesuffix(".weight"), q.reshape(weight.shape).numpy()
        del state[name]
        if method == "torchao":
            state |= {f"{stem}._weight_qdata": torch.tensor(q).to(torch.int8), f"{stem}._weight_scale": scale}
            state[f"{stem}._weight_zero_point"] = torch.zeros(scale.shape, dtype=torch.int8)
            facts = {"block_size": [1, 32], "target_dtype": {"_type": "torch.dtype", "_data": "int4"}}
            told[name] = json.dumps({"_type": "IntxUnpackedToInt8Tensor", "_data": facts})
        else:
            words, zeros = packed_words(method, q.T + 8, np.full((q.shape[1] // 32, len(q)), 8))
            state |= {f"{stem}.qweight": torch.tensor(words), f"{stem}.qzeros": torch.tensor(zeros)}
            state[f"{stem}.scales"] = scale.half().T.contiguous()
    save_file(state, folder / "model.safetensors", told)
    config = json.loads((folder / "config.json").read_text())
    config["quantization_config"] = {"quant_method": method, "bits": 4, "group_size": 32}
    (folder / "config.json").write_text(json.dumps(config))


@pytest.mark.nightly
@pytest.mark.parametrize("method", ["gptq", "awq", "torchao"])
def test_a_checkpoint_in_few_bits_from_files_to_tokens(saved, tmp_path, method):
    """As floats the scores are PyTorch's; in 4 bits the layers are as in the file, and what multiplies the last norm,
    which the file has as floats, is in 8 bits."""
    model, files = copy.deepcopy(saved[0]), tmp_path
    model.save_pretrained(files)
    write_in_few_bits(model, files, method)
    with torch.no_grad():
        theirs = model(torch.tensor([PROMPT])).logits[0, -1].numpy()
    options = {"context": 128, "chunk": 16, "threads": 1}
    np.testing.assert_allclose(llm.load(files, "float32", **options).logits(PROMPT), theirs, atol=1e-3)
    small = llm.load(files, "int4", **options).logits(PROMPT)
    assert np.linalg.norm(small - theirs) < 0.05 * np.linalg.norm(theirs)


@pytest.mark.nightly
@pytest.mark.parametrize(("kind", "words"), [
    ("vit", "transformers has no language model of it"), ("bert", "BertModel has no layers; fix: a model of layers"),
    ("none_such", "transformers has no language model of it"),
])  # fmt: skip
def test_another_architecture_is_refused(saved, tmp_path, kind, words):
    shutil.copytree(saved[1], tmp_path, dirs_exist_ok=True)
    (tmp_path / "config.json").write_text(json.dumps({"model_type": kind, "is_decoder": True}))
    with pytest.raises(ArgumentError, match=words):
        llm.load(tmp_path, context=128, chunk=16)
