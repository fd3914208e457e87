"""The vision transformer ViT-B/16; structure and names of weights as in torchvision."""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import nn

from . import Example
from .weights import RandomInput


class VitSelfAttention(nn.Module):
    """Attention whose queries, keys and values come from one product; the weights of nn.MultiheadAttention."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.in_proj_weight = nn.Parameter(torch.empty(3 * dim, dim))
        self.in_proj_bias = nn.Parameter(torch.empty(3 * dim))
        self.out_proj = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        batch, length, dim = x.shape
        packed = nn.functional.linear(x, self.in_proj_weight, self.in_proj_bias)
        packed = packed.view(batch, length, 3, self.heads, dim // self.heads).permute(2, 0, 3, 1, 4)
        q, k, v = packed.unbind(0)
        out = nn.functional.scaled_dot_product_attention(q, k, v)
        return self.out_proj(out.transpose(1, 2).reshape(batch, length, dim))


class EncoderBlock(nn.Module):
    """Attention and a dense network, each after a layer norm and next to a shortcut."""

    def __init__(self, dim: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(dim, eps=1e-6)
        self.self_attention = VitSelfAttention(dim, heads)
        self.ln_2 = nn.LayerNorm(dim, eps=1e-6)
        self.mlp = nn.Sequential(
            nn.Linear(dim, hidden), nn.GELU(), nn.Dropout(0.0), nn.Linear(hidden, dim), nn.Dropout(0.0)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = x + self.self_attention(self.ln_1(x))
        return x + self.mlp(self.ln_2(x))


class VitEncoder(nn.Module):
    """The blocks, between the embedding of positions and a layer norm."""

    def __init__(self, length: int, dim: int, layers: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.pos_embedding = nn.Parameter(torch.empty(1, length, dim))
        blocks = [(f"encoder_layer_{n}", EncoderBlock(dim, heads, hidden)) for n in range(layers)]
        self.layers = nn.Sequential(OrderedDict(blocks))
        self.ln = nn.LayerNorm(dim, eps=1e-6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.ln(self.layers(x + self.pos_embedding))


class VisionTransformer(nn.Module):
    """[batch, 3, size, size] -> [batch, classes]."""

    def __init__(self, size: int, patch: int, dim: int, layers: int, heads: int, hidden: int, classes: int) -> None:
        super().__init__()
        self.conv_proj = nn.Conv2d(3, dim, patch, patch)
        self.class_token = nn.Parameter(torch.empty(1, 1, dim))
        self.encoder = VitEncoder((size // patch) ** 2 + 1, dim, layers, heads, hidden)
        self.heads = nn.Sequential(OrderedDict(head=nn.Linear(dim, classes)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.conv_proj(x).flatten(2).transpose(1, 2)
        x = torch.cat([self.class_token.expand(x.shape[0], -1, -1), x], dim=1)
        return self.heads(self.encoder(x)[:, 0])


def vit_b16(
    size: int = 224, patch: int = 16, dim: int = 768, layers: int = 12, heads: int = 12, hidden: int = 3072,
    classes: int = 1000, batch: int = 1,
) -> Example:  # fmt: skip
    model = VisionTransformer(size, patch, dim, layers, heads, hidden, classes)
    return Example(model, (RandomInput(batch, 3, size, size),))
