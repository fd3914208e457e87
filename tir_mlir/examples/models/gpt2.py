"""GPT-2 with a cache of keys and values; names of weights as published.

The cache is explicit: two tensors a layer, keys and values, each [batch, heads, length, dim / heads], go in and come
out one step longer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import nn

from . import Example
from .weights import RandomInput

POSITIONS = 1024


class Conv1D(nn.Module):
    """A dense layer whose weight is [inputs, outputs]."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(inputs, outputs))
        self.bias = nn.Parameter(torch.empty(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = torch.addmm(self.bias, x.reshape(-1, x.shape[-1]), self.weight)
        return out.view(*x.shape[:-1], out.shape[-1])


class Gpt2Attention(nn.Module):
    """Each token attends to itself and those before it."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.c_attn = Conv1D(dim, 3 * dim)
        self.c_proj = Conv1D(dim, dim)

    def forward(self, x: torch.Tensor, past: Sequence[torch.Tensor] = ()) -> tuple[torch.Tensor, ...]:
        """Return the output and the keys and values, those of `past` first; after a past, x is one token."""
        batch, length, dim = x.shape
        q, k, v = (
            part.view(*part.shape[:2], self.heads, -1).transpose(1, 2) for part in self.c_attn(x).split(dim, dim=2)
        )
        if past:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=not past)
        return self.c_proj(out.transpose(1, 2).reshape(batch, length, dim)), k, v


class Dense(nn.Module):
    def __init__(self, dim: int) -> None:
        super().__init__()
        self.c_fc = Conv1D(dim, 4 * dim)
        self.c_proj = Conv1D(4 * dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.c_proj(nn.functional.gelu(self.c_fc(x), approximate="tanh"))


class Gpt2Block(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(dim)
        self.attn = Gpt2Attention(dim, heads)
        self.ln_2 = nn.LayerNorm(dim)
        self.mlp = Dense(dim)

    def forward(self, x: torch.Tensor, past: Sequence[torch.Tensor] = ()) -> tuple[torch.Tensor, ...]:
        out, k, v = self.attn(self.ln_1(x), past)
        x = x + out
        return x + self.mlp(self.ln_2(x)), k, v


class BlockAlone(Gpt2Block):
    """[batch, tokens, dim] -> the same, without a cache."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:  # pyright: ignore[reportIncompatibleMethodOverride]
        return super().forward(x)[0]


class Transformer(nn.Module):
    def __init__(self, words: int, layers: int, dim: int, heads: int) -> None:
        super().__init__()
        self.wte = nn.Embedding(words, dim)
        self.wpe = nn.Embedding(POSITIONS, dim)
        self.h = nn.ModuleList(Gpt2Block(dim, heads) for _ in range(layers))
        self.ln_f = nn.LayerNorm(dim)

    def forward(self, tokens: torch.Tensor, cache: Sequence[torch.Tensor]) -> tuple[torch.Tensor, list[torch.Tensor]]:
        past = cache[0].shape[2] if cache else 0
        x = self.wte(tokens) + self.wpe(torch.arange(past, past + tokens.shape[1]))
        longer: list[torch.Tensor] = []
        for number, block in enumerate(self.h):
            x, k, v = block(x, cache[2 * number : 2 * number + 2])
            longer += [k, v]
        return self.ln_f(x), longer


class GPT2(nn.Module):
    """(tokens [batch, n], *cache) -> (logits of the token that follows [batch, words], *cache n longer).

    Without a cache, `tokens` is the prompt; with one, the next token.
    """

    def __init__(self, words: int = 50257, layers: int = 12, dim: int = 768, heads: int = 12) -> None:
        super().__init__()
        self.transformer = Transformer(words, layers, dim, heads)
        self.lm_head = nn.Linear(dim, words, bias=False)
        self.lm_head.weight = self.transformer.wte.weight

    def forward(self, tokens: torch.Tensor, *cache: torch.Tensor) -> tuple[torch.Tensor, ...]:
        x, longer = self.transformer(tokens, cache)
        return self.lm_head(x[:, -1]), *longer


def generate(
    prefill: Callable[..., Sequence[Any]], decode: Callable[..., Sequence[Any]], prompt: torch.Tensor, count: int
) -> list[int]:
    """The `count` most probable tokens after a prompt [1, n], one after the other. prefill, decode: GPT2, or functions
    built from it."""
    logits, *cache = prefill(prompt)
    tokens = [int(logits.argmax())]
    while len(tokens) < count:
        logits, *cache = decode(torch.tensor([tokens[-1:]]), *cache)
        tokens.append(int(logits.argmax()))
    return tokens


def gpt2_block(dim: int = 768, heads: int = 12, tokens: int = 128, batch: int = 1) -> Example:
    return Example(BlockAlone(dim, heads), (RandomInput(batch, tokens, dim),))


def gpt2_prefill(words: int = 50257, layers: int = 12, dim: int = 768, heads: int = 12, tokens: int = 128) -> Example:
    dynamic = {"tokens": {1: torch.export.Dim("n", min=2, max=POSITIONS)}}
    return Example(GPT2(words, layers, dim, heads), (RandomInput(1, tokens, below=words),), dynamic)


def gpt2_decode(words: int = 50257, layers: int = 12, dim: int = 768, heads: int = 12, tokens: int = 128) -> Example:
    past = torch.export.Dim("past", min=2, max=POSITIONS - 1)
    cache = [RandomInput(1, heads, tokens, dim // heads) for _ in range(2 * layers)]
    dynamic = {"tokens": None, "cache": tuple({2: past} for _ in cache)}
    return Example(GPT2(words, layers, dim, heads), (RandomInput(1, 1, below=words), *cache), dynamic)
