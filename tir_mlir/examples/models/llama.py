"""A block of a Llama-style model: RMS norm, rotary positions, grouped queries, SwiGLU.

Names of weights are as published.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from . import Example
from .weights import RandomInput

BASE = 500000.0
LONGEST = 8192


def rotary(start: int, length: int, dim: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Cosines and sines [length, dim] of the positions start, start + 1, ..."""
    frequencies = BASE ** (-torch.arange(0, dim, 2, dtype=torch.float32) / dim)
    angles = torch.arange(start, start + length).to(torch.float32)[:, None] * frequencies[None, :]
    angles = torch.cat([angles, angles], dim=-1)
    return angles.cos(), angles.sin()


def rotate_pairs(x: torch.Tensor, cos: torch.Tensor, sin: torch.Tensor) -> torch.Tensor:
    """Rotate the pairs (x[i], x[i + dim / 2]) of the last dimension."""
    low, high = x.chunk(2, dim=-1)
    return x * cos + torch.cat([-high, low], dim=-1) * sin


class LlamaAttention(nn.Module):
    """Queries of several heads share keys and values."""

    def __init__(self, dim: int, heads: int, groups: int) -> None:
        super().__init__()
        self.head_dim = dim // heads
        self.q_proj = nn.Linear(dim, heads * self.head_dim, bias=False)
        self.k_proj = nn.Linear(dim, groups * self.head_dim, bias=False)
        self.v_proj = nn.Linear(dim, groups * self.head_dim, bias=False)
        self.o_proj = nn.Linear(heads * self.head_dim, dim, bias=False)

    def forward(self, x: torch.Tensor, past: Sequence[torch.Tensor]) -> tuple[torch.Tensor, ...]:
        q, k, v = (self._split(layer(x)) for layer in (self.q_proj, self.k_proj, self.v_proj))
        cos, sin = rotary(past[0].shape[2] if past else 0, x.shape[1], self.head_dim)
        q, k = rotate_pairs(q, cos.to(q.dtype), sin.to(q.dtype)), rotate_pairs(k, cos.to(k.dtype), sin.to(k.dtype))
        if past:
            k, v = torch.cat([past[0], k], dim=2), torch.cat([past[1], v], dim=2)
        out = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=not past, enable_gqa=True)
        return self.o_proj(out.transpose(1, 2).reshape(x.shape)), k, v

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], -1, self.head_dim).transpose(1, 2)


class SwiGLU(nn.Module):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(dim, hidden, bias=False)
        self.up_proj = nn.Linear(dim, hidden, bias=False)
        self.down_proj = nn.Linear(hidden, dim, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down_proj(nn.functional.silu(self.gate_proj(x)) * self.up_proj(x))


class LlamaBlock(nn.Module):
    """(x [batch, n, dim], *past) -> (the same shape, keys, values).

    past: keys and values of the tokens before, [batch, groups, length, dim / heads] each; x is one token then.
    """

    def __init__(self, dim: int, heads: int, groups: int, hidden: int) -> None:
        super().__init__()
        self.input_layernorm = nn.RMSNorm(dim, eps=1e-5)
        self.self_attn = LlamaAttention(dim, heads, groups)
        self.post_attention_layernorm = nn.RMSNorm(dim, eps=1e-5)
        self.mlp = SwiGLU(dim, hidden)

    def forward(self, x: torch.Tensor, *past: torch.Tensor) -> tuple[torch.Tensor, ...]:
        out, k, v = self.self_attn(self.input_layernorm(x), past)
        x = x + out
        return x + self.mlp(self.post_attention_layernorm(x)), k, v


def llama_block(dim: int = 2048, heads: int = 32, groups: int = 8, hidden: int = 8192, tokens: int = 128) -> Example:
    dynamic = {"x": {1: torch.export.Dim("n", min=2, max=LONGEST)}}
    return Example(LlamaBlock(dim, heads, groups, hidden), (RandomInput(1, tokens, dim),), dynamic)


def llama_decode(dim: int = 2048, heads: int = 32, groups: int = 8, hidden: int = 8192, tokens: int = 128) -> Example:
    length = torch.export.Dim("past", min=2, max=LONGEST)
    past = [RandomInput(1, groups, tokens, dim // heads) for _ in range(2)]
    dynamic = {"x": None, "past": ({2: length}, {2: length})}
    return Example(LlamaBlock(dim, heads, groups, hidden), (RandomInput(1, 1, dim), *past), dynamic)
