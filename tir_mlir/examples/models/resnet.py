"""ResNet-18 and ResNet-50; structure and names of weights as in torchvision."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import nn

from . import Example
from .weights import RandomInput


class BasicBlock(nn.Module):
    """Two 3 x 3 convolutions next to a shortcut."""

    expansion = 1

    def __init__(self, inputs: int, planes: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, planes, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.downsample = _shortcut(inputs, planes, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.bn2(self.conv2(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class Bottleneck(nn.Module):
    """1 x 1, 3 x 3 (with the stride) and 1 x 1 convolutions next to a shortcut."""

    expansion = 4

    def __init__(self, inputs: int, planes: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(inputs, planes, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(planes)
        self.conv2 = nn.Conv2d(planes, planes, 3, stride, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(planes)
        self.conv3 = nn.Conv2d(planes, 4 * planes, 1, bias=False)
        self.bn3 = nn.BatchNorm2d(4 * planes)
        self.relu = nn.ReLU(inplace=True)
        self.downsample = _shortcut(inputs, 4 * planes, stride)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        out = self.relu(self.bn1(self.conv1(x)))
        out = self.relu(self.bn2(self.conv2(out)))
        out = self.bn3(self.conv3(out))
        out += x if self.downsample is None else self.downsample(x)
        return self.relu(out)


class ResNet(nn.Module):
    """[batch, 3, size, size] -> [batch, classes]. layers: blocks of each of the four stages."""

    def __init__(
        self, block: type[BasicBlock | Bottleneck], layers: Sequence[int], width: int = 64, classes: int = 1000
    ) -> None:
        super().__init__()
        self.inputs = width
        self.conv1 = nn.Conv2d(3, width, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        self.layer1 = self._stage(block, width, layers[0], 1)
        self.layer2 = self._stage(block, 2 * width, layers[1], 2)
        self.layer3 = self._stage(block, 4 * width, layers[2], 2)
        self.layer4 = self._stage(block, 8 * width, layers[3], 2)
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(8 * width * block.expansion, classes)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(torch.flatten(self.avgpool(x), 1))

    def _stage(self, block: type[BasicBlock | Bottleneck], planes: int, count: int, stride: int) -> nn.Sequential:
        blocks = []
        for number in range(count):
            blocks.append(block(self.inputs, planes, 1 if number else stride))
            self.inputs = planes * block.expansion
        return nn.Sequential(*blocks)


def resnet18(width: int = 64, classes: int = 1000, size: int = 224, batch: int = 1) -> Example:
    return Example(ResNet(BasicBlock, (2, 2, 2, 2), width, classes), (RandomInput(batch, 3, size, size),))


def resnet50(width: int = 64, classes: int = 1000, size: int = 224, batch: int = 1) -> Example:
    layers = (3, 4, 6, 3) if width == 64 else (2, 1, 1, 1)
    return Example(ResNet(Bottleneck, layers, width, classes), (RandomInput(batch, 3, size, size),))


def _shortcut(inputs: int, outputs: int, stride: int) -> nn.Sequential | None:
    """A 1 x 1 convolution where the shapes differ."""
    if stride == 1 and inputs == outputs:
        return None
    return nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))
