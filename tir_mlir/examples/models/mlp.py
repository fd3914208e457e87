"""The multilayer perceptron of the course, for the images of FashionMNIST as rows of 784 numbers."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from . import Example
from .weights import RandomInput


class MLP(nn.Module):
    """Two dense layers with a ReLU between them: [batch, 784] -> [batch, 10]."""

    def __init__(self, sizes: Sequence[int] = (784, 128, 10)) -> None:
        super().__init__()
        inputs, hidden, outputs = sizes
        self.linear0 = nn.Linear(inputs, hidden)
        self.relu = nn.ReLU()
        self.linear1 = nn.Linear(hidden, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear1(self.relu(self.linear0(x)))


def mlp(sizes: Sequence[int] = (784, 128, 10), batch: int = 1) -> Example:
    dynamic = {"x": {0: torch.export.Dim("batch", max=4096)}} if batch > 1 else None
    return Example(MLP(sizes), (RandomInput(batch, sizes[0]),), dynamic)
