"""BERT-base, whole and one layer of it; names of weights as published."""

from __future__ import annotations

import torch
from torch import nn

from . import Example
from .weights import RandomInput


class BertSelfAttention(nn.Module):
    """Attention of all tokens to all; `mask` [batch, 1, 1, tokens] is False for tokens to leave out."""

    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(dim, dim)
        self.key = nn.Linear(dim, dim)
        self.value = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        batch, length, dim = x.shape
        q, k, v = (self._split(layer(x)) for layer in (self.query, self.key, self.value))
        out = nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        return out.transpose(1, 2).reshape(batch, length, dim)

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(*x.shape[:2], self.heads, -1).transpose(1, 2)


class Output(nn.Module):
    """A dense layer, the shortcut, a layer norm."""

    def __init__(self, inputs: int, dim: int) -> None:
        super().__init__()
        self.dense = nn.Linear(inputs, dim)
        self.LayerNorm = nn.LayerNorm(dim, eps=1e-12)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor, shortcut: torch.Tensor) -> torch.Tensor:
        return self.LayerNorm(self.dropout(self.dense(x)) + shortcut)


class BertAttention(nn.Module):
    def __init__(self, dim: int, heads: int) -> None:
        super().__init__()
        self.self = BertSelfAttention(dim, heads)
        self.output = Output(dim, dim)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        return self.output(self.self(x, mask), x)


class Intermediate(nn.Module):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.dense = nn.Linear(dim, hidden)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return nn.functional.gelu(self.dense(x))


class BertLayer(nn.Module):
    """[batch, tokens, dim] -> the same."""

    def __init__(self, dim: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.attention = BertAttention(dim, heads)
        self.intermediate = Intermediate(dim, hidden)
        self.output = Output(hidden, dim)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
        x = self.attention(x, mask)
        return self.output(self.intermediate(x), x)


class Embeddings(nn.Module):
    """Words, positions and the kind of text; all tokens are of the first kind."""

    def __init__(self, words: int, positions: int, dim: int) -> None:
        super().__init__()
        self.word_embeddings = nn.Embedding(words, dim)
        self.position_embeddings = nn.Embedding(positions, dim)
        self.token_type_embeddings = nn.Embedding(2, dim)
        self.LayerNorm = nn.LayerNorm(dim, eps=1e-12)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        positions = torch.arange(ids.shape[1])
        kinds = self.token_type_embeddings(torch.zeros_like(ids))
        return self.LayerNorm(self.word_embeddings(ids) + kinds + self.position_embeddings(positions))


class BertEncoder(nn.Module):
    def __init__(self, layers: int, dim: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.layer = nn.ModuleList(BertLayer(dim, heads, hidden) for _ in range(layers))

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        for layer in self.layer:
            x = layer(x, mask)
        return x


class Pooler(nn.Module):
    """The first token through a dense layer and tanh."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dense = nn.Linear(dim, dim)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(self.dense(x[:, 0]))


class Bert(nn.Module):
    """ids [batch, tokens], mask [batch, tokens] with 0 for padding -> states [batch, tokens, dim], pooled [batch,
    dim]."""

    def __init__(self, words: int, positions: int, layers: int, dim: int, heads: int, hidden: int) -> None:
        super().__init__()
        self.embeddings = Embeddings(words, positions, dim)
        self.encoder = BertEncoder(layers, dim, heads, hidden)
        self.pooler = Pooler(dim)

    def forward(self, ids: torch.Tensor, mask: torch.Tensor | None = None) -> tuple[torch.Tensor, torch.Tensor]:
        seen = None if mask is None else mask[:, None, None, :] != 0
        states = self.encoder(self.embeddings(ids), seen)
        return states, self.pooler(states)


def bert_layer(dim: int = 768, heads: int = 12, hidden: int = 3072, tokens: int = 128, batch: int = 1) -> Example:
    return Example(BertLayer(dim, heads, hidden), (RandomInput(batch, tokens, dim),))


def bert(
    words: int = 30522, layers: int = 12, dim: int = 768, heads: int = 12, hidden: int = 3072, tokens: int = 128,
    batch: int = 1, masked: bool = False,
) -> Example:  # fmt: skip
    model = Bert(words, 512, layers, dim, heads, hidden)
    ids = RandomInput(batch, tokens, below=words)
    if not masked:
        return Example(model, (ids,))
    padded = torch.ones(batch, tokens, dtype=torch.int64)
    padded[:, -(tokens // 4) :] = 0
    return Example(model, (ids, padded))
