"""LeNet-5, with ReLU and max pooling."""

from __future__ import annotations

import torch
from torch import nn

from . import Example
from .weights import RandomInput


class LeNet(nn.Module):
    """Two convolutions with pooling, three dense layers: [batch, 1, 28, 28] -> [batch, 10]."""

    def __init__(self, width: int = 6, classes: int = 10) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, width, 5, padding=2)
        self.conv2 = nn.Conv2d(width, 16, 5)
        self.pool = nn.MaxPool2d(2)
        self.fc1 = nn.Linear(16 * 5 * 5, 20 * width)
        self.fc2 = nn.Linear(20 * width, 14 * width)
        self.fc3 = nn.Linear(14 * width, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        x = torch.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc3(torch.relu(self.fc2(x)))


def lenet(width: int = 6, batch: int = 1) -> Example:
    return Example(LeNet(width), (RandomInput(batch, 1, 28, 28),))
