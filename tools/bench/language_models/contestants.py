"""Who runs the model: each makes, from a folder and a type of weights, a function from a prompt to the next tokens."""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .model_files import gguf_of_model

CONTEXT = 2048
Generate = Callable[[Sequence[int], int], Iterator[int]]
"""A prompt and how many -> the tokens that follow, one by one; the first when the prompt was computed."""


def missing(name: str, weights: str) -> str | None:
    """Why a contestant is left out."""
    for module in NEEDED[name]:
        if importlib.util.find_spec(module) is None:
            return f"{module} is not installed"
    if name == "torch" and weights in ("int8", "int4"):
        return "transformers' modules have no weights of few bits"
    return None


def ours(folder: Path, weights: str, threads: int) -> Generate:
    from tir_mlir import llm

    model = llm.load(folder, weights, context=CONTEXT, threads=threads)
    return model.stream


def llama_cpp(folder: Path, weights: str, threads: int) -> Generate:
    """llama.cpp by the package llama-cpp-python, without the copies of weights for AMX, which crash on some CPUs."""
    api: Any = importlib.import_module("llama_cpp")
    path = gguf_of_model(folder, weights)
    api.llama_backend_init()
    options = api.llama_model_default_params()
    options.use_extra_bufts = False
    options.n_gpu_layers = 0
    model = api.llama_model_load_from_file(str(path).encode(), options)
    if not model:
        raise RuntimeError(f"llama.cpp does not load {path}")
    sizes = api.llama_context_default_params()
    sizes.n_ctx, sizes.n_batch, sizes.n_ubatch = CONTEXT, CONTEXT, 512
    sizes.n_threads = sizes.n_threads_batch = threads
    context: Any = api.llama_init_from_model(model, sizes)
    count = api.llama_vocab_n_tokens(api.llama_model_get_vocab(model))

    def next_of(tokens: Sequence[int]) -> int:
        given = (api.llama_token * len(tokens))(*tokens)
        if api.llama_decode(context, api.llama_batch_get_one(given, len(tokens))):
            raise RuntimeError("llama_decode failed")
        return int(np.ctypeslib.as_array(api.llama_get_logits_ith(context, -1), (count,)).argmax())

    def generate(prompt: Sequence[int], more: int) -> Iterator[int]:
        api.llama_memory_clear(api.llama_get_memory(context), True)
        token = next_of(prompt)
        yield token
        for _ in range(more - 1):
            token = next_of([token])
            yield token

    return generate


def torch(folder: Path, weights: str, threads: int) -> Generate:
    """Transformers' modules in PyTorch, eager."""
    import torch

    transformers: Any = importlib.import_module("transformers")
    torch.set_num_threads(threads)
    torch.set_grad_enabled(False)
    model = transformers.AutoModelForCausalLM.from_pretrained(folder, dtype=getattr(torch, weights)).eval()

    def generate(prompt: Sequence[int], more: int) -> Iterator[int]:
        tokens, past = torch.tensor([list(prompt)]), None
        for _ in range(more):
            out = model(tokens, past_key_values=past, use_cache=True, logits_to_keep=1)
            past, tokens = out.past_key_values, out.logits[:, -1].argmax(-1, keepdim=True)
            yield int(tokens)

    return generate


CONTESTANTS = {"ours": ours, "llama.cpp": llama_cpp, "torch": torch}
NEEDED = {"ours": ("torch", "transformers"), "llama.cpp": ("llama_cpp", "gguf"), "torch": ("torch", "transformers")}
"""The modules that a contestant imports; ours, to find out once what the model computes."""
