"""MobileNetV3 (small); structure and names of weights as in torchvision."""

from __future__ import annotations

import torch
from torch import nn

from . import Example
from .mobilenet_v2 import multiple_of_8
from .weights import Drawn

BLOCKS = (
    (16, 3, 16, 16, True, nn.ReLU, 2),
    (16, 3, 72, 24, False, nn.ReLU, 2),
    (24, 3, 88, 24, False, nn.ReLU, 1),
    (24, 5, 96, 40, True, nn.Hardswish, 2),
    (40, 5, 240, 40, True, nn.Hardswish, 1),
    (40, 5, 240, 40, True, nn.Hardswish, 1),
    (40, 5, 120, 48, True, nn.Hardswish, 1),
    (48, 5, 144, 48, True, nn.Hardswish, 1),
    (48, 5, 288, 96, True, nn.Hardswish, 2),
    (96, 5, 576, 96, True, nn.Hardswish, 1),
    (96, 5, 576, 96, True, nn.Hardswish, 1),
)
"""Of each block: channels in, window, hidden channels, channels out, squeezed or not, activation, stride."""


class SqueezeExcitation(nn.Module):
    """Channels scaled by a small network of their means."""

    def __init__(self, channels: int, squeezed: int) -> None:
        super().__init__()
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.fc1 = nn.Conv2d(channels, squeezed, 1)
        self.fc2 = nn.Conv2d(squeezed, channels, 1)
        self.activation = nn.ReLU()
        self.scale_activation = nn.Hardsigmoid()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scale = self.fc2(self.activation(self.fc1(self.avgpool(x))))
        return self.scale_activation(scale) * x


class InvertedResidual(nn.Module):
    """1 x 1 up, depthwise, squeeze and excitation, 1 x 1 down; a shortcut where the shapes agree."""

    def __init__(
        self, inputs: int, window: int, hidden: int, outputs: int, squeezed: bool, act: type[nn.Module], stride: int
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = [] if hidden == inputs else [conv_norm(inputs, hidden, 1, act)]
        layers.append(conv_norm(hidden, hidden, window, act, stride, hidden))
        if squeezed:
            layers.append(SqueezeExcitation(hidden, multiple_of_8(hidden // 4)))
        layers.append(conv_norm(hidden, outputs, 1, None))
        self.block = nn.Sequential(*layers)
        self.shortcut = stride == 1 and inputs == outputs

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.block(x) + x if self.shortcut else self.block(x)


class MobileNetV3(nn.Module):
    """[batch, 3, size, size] -> [batch, classes]. deep: all blocks, otherwise the first five."""

    def __init__(self, width: float = 1.0, classes: int = 1000, deep: bool = True) -> None:
        super().__init__()
        blocks = BLOCKS if deep else BLOCKS[:5]
        first, last = multiple_of_8(16 * width), multiple_of_8(blocks[-1][3] * width)
        features: list[nn.Module] = [conv_norm(3, first, 3, nn.Hardswish, 2)]
        for inputs, window, hidden, outputs, squeezed, act, stride in blocks:
            sizes = [multiple_of_8(count * width) for count in (inputs, hidden, outputs)]
            features.append(InvertedResidual(sizes[0], window, *sizes[1:], squeezed, act, stride))  # pyright: ignore
        features.append(conv_norm(last, 6 * last, 1, nn.Hardswish))
        wide = 1024 if deep else 32
        self.features = nn.Sequential(*features)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * last, wide), nn.Hardswish(inplace=True), nn.Dropout(0.2), nn.Linear(wide, classes)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def conv_norm(
    inputs: int, outputs: int, size: int, act: type[nn.Module] | None, stride: int = 1, groups: int = 1
) -> nn.Sequential:
    """Convolution, batch norm, activation."""
    conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    norm = nn.BatchNorm2d(outputs, eps=1e-3)
    return nn.Sequential(conv, norm) if act is None else nn.Sequential(conv, norm, act())


def mobilenet_v3_small(
    width: float = 1.0, classes: int = 1000, size: int = 224, batch: int = 1, deep: bool = True
) -> Example:
    return Example(MobileNetV3(width, classes, deep), (Drawn(batch, 3, size, size),))
