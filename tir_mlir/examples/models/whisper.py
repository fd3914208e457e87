"""The encoder of a Whisper-like model: two convolutions over time, then a transformer.

Names of weights are as published.
"""

from __future__ import annotations

import math

import torch
from torch import nn

from . import Example
from .weights import RandomInput


class WhisperAttention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim, bias=False)
        self.value = nn.Linear(dim, dim)
        self.out = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = (self._split(layer(x)) for layer in (self.query, self.key, self.value))
        out = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out(out.transpose(1, 2).flatten(2))

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)


class WhisperBlock(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.attn = WhisperAttention(dim, heads)
        self.attn_ln = nn.LayerNorm(dim)
        self.mlp = nn.Sequential(nn.Linear(dim, 4 * dim), nn.GELU(), nn.Linear(4 * dim, dim))
        self.mlp_ln = nn.LayerNorm(dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.attn(self.attn_ln(x))
        return x + self.mlp(self.mlp_ln(x))


class WhisperEncoder(nn.Module):
    """[batch, bands, frames] -> [batch, frames / 2, dim]."""

    positional_embedding: torch.Tensor

    def __init__(self, bands: int, frames: int, dim: int, heads: int, layers: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(bands, dim, 3, padding=1)
        self.conv2 = nn.Conv1d(dim, dim, 3, 2, 1)
        self.register_buffer("positional_embedding", sinusoids(frames // 2, dim))
        self.blocks = nn.ModuleList(WhisperBlock(dim, heads) for _ in range(layers))
        self.ln_post = nn.LayerNorm(dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.gelu(self.conv1(x))
        x = nn.functional.gelu(self.conv2(x)).permute(0, 2, 1) + self.positional_embedding
        for block in self.blocks:
            x = block(x)
        return self.ln_post(x)


def sinusoids(length: int, dim: int) -> torch.Tensor:
    """[length, dim]: sines, then cosines, of positions over dim / 2 wave lengths up to 10000."""
    scales = torch.exp(-math.log(10000) / (dim // 2 - 1) * torch.arange(dim // 2))
    angles = torch.arange(length)[:, None] * scales[None, :]
    return torch.cat([angles.sin(), angles.cos()], dim=1)


def whisper_encoder(
    bands: int = 80, frames: int = 3000, dim: int = 384, heads: int = 6, layers: int = 4, batch: int = 1
) -> Example:
    return Example(WhisperEncoder(bands, frames, dim, heads, layers), (RandomInput(batch, bands, frames),))
