"""MobileNetV2; structure and names of weights as in torchvision."""

from __future__ import annotations

import torch
from torch import nn

from . import Example
from .weights import Drawn

STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))
"""Of each stage: the factor of the hidden channels, the output channels, the number of blocks, the first stride."""


class InvertedResidual(nn.Module):
    """1 x 1 up, depthwise 3 x 3, 1 x 1 down without an activation; a shortcut where the shapes agree."""

    def __init__(self, inputs: int, outputs: int, stride: int, factor: int) -> None:
        super().__init__()
        hidden = inputs * factor
        up = [] if factor == 1 else [conv_norm(inputs, hidden, 1)]
        self.shortcut = stride == 1 and inputs == outputs
        self.conv = nn.Sequential(
            *up,
            conv_norm(hidden, hidden, 3, stride, hidden),
            nn.Conv2d(hidden, outputs, 1, bias=False),
            nn.BatchNorm2d(outputs),
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.conv(x) if self.shortcut else self.conv(x)


class MobileNetV2(nn.Module):
    """[batch, 3, size, size] -> [batch, classes]. deep: all blocks of a stage, otherwise two at most."""

    def __init__(self, width: float = 1.0, classes: int = 1000, deep: bool = True) -> None:
        super().__init__()
        channels = multiple_of_8(32 * width)
        last = multiple_of_8(1280 * max(width, 1.0)) if deep else 64
        features: list[nn.Module] = [conv_norm(3, channels, 3, 2)]
        for factor, outputs, count, stride in STAGES:
            outputs = multiple_of_8(outputs * width)
            for number in range(count if deep else min(count, 2)):
                features.append(InvertedResidual(channels, outputs, 1 if number else stride, factor))
                channels = outputs
        self.features = nn.Sequential(*features, conv_norm(channels, last, 1))
        self.classifier = nn.Sequential(nn.Dropout(0.2), nn.Linear(last, classes))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = nn.functional.adaptive_avg_pool2d(self.features(x), (1, 1))
        return self.classifier(torch.flatten(x, 1))


def conv_norm(inputs: int, outputs: int, size: int, stride: int = 1, groups: int = 1) -> nn.Sequential:
    """Convolution, batch norm, ReLU up to 6."""
    conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm2d(outputs), nn.ReLU6(inplace=True))


def multiple_of_8(channels: float) -> int:
    """The nearest multiple of 8, at least 8, not below nine tenths of `channels`."""
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded


def mobilenet_v2(
    width: float = 1.0, classes: int = 1000, size: int = 224, batch: int = 1, deep: bool = True
) -> Example:
    return Example(MobileNetV2(width, classes, deep), (Drawn(batch, 3, size, size),))
