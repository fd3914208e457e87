"""MobileNetV2 and MobileNetV3 (small); structure and names of weights as in torchvision."""

from __future__ import annotations

import torch
from torch import nn

from . import Example
from .weights import RandomInput


def conv_norm(
    inputs: int,
    outputs: int,
    size: int,
    stride: int = 1,
    groups: int = 1,
    act: type[nn.Module] | None = nn.ReLU6,
    eps: float = 1e-5,
) -> nn.Sequential:
    """Convolution, batch norm, activation."""
    conv = nn.Conv2d(inputs, outputs, size, stride, size // 2, groups=groups, bias=False)
    norm = nn.BatchNorm2d(outputs, eps)
    return nn.Sequential(conv, norm) if act is None else nn.Sequential(conv, norm, act())


def multiple_of_8(channels: float) -> int:
    """The nearest multiple of 8, at least 8, not below nine tenths of `channels`."""
    rounded = max(8, int(channels + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * channels else rounded


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


def mobilenet_v2(
    width: float = 1.0, classes: int = 1000, size: int = 224, batch: int = 1, deep: bool = True
) -> Example:
    return Example(MobileNetV2(width, classes, deep), (RandomInput(batch, 3, size, size),))


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
EPSILON = 1e-3
"""Of the batch norms of MobileNetV3."""


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


class SqueezedResidual(nn.Module):
    """1 x 1 up, depthwise, squeeze and excitation, 1 x 1 down; a shortcut where the shapes agree."""

    def __init__(
        self, inputs: int, window: int, hidden: int, outputs: int, squeezed: bool, act: type[nn.Module], stride: int
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = [] if hidden == inputs else [conv_norm(inputs, hidden, 1, act=act, eps=EPSILON)]
        layers.append(conv_norm(hidden, hidden, window, stride, hidden, act, EPSILON))
        if squeezed:
            layers.append(SqueezeExcitation(hidden, multiple_of_8(hidden // 4)))
        layers.append(conv_norm(hidden, outputs, 1, act=None, eps=EPSILON))
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
        features: list[nn.Module] = [conv_norm(3, first, 3, 2, act=nn.Hardswish, eps=EPSILON)]
        for inputs, window, hidden, outputs, squeezed, act, stride in blocks:
            sizes = [multiple_of_8(count * width) for count in (inputs, hidden, outputs)]
            features.append(SqueezedResidual(sizes[0], window, *sizes[1:], squeezed, act, stride))  # pyright: ignore
        features.append(conv_norm(last, 6 * last, 1, act=nn.Hardswish, eps=EPSILON))
        wide = 1024 if deep else 32
        self.features = nn.Sequential(*features)
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(
            nn.Linear(6 * last, wide), nn.Hardswish(inplace=True), nn.Dropout(0.2), nn.Linear(wide, classes)
        )

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.classifier(torch.flatten(self.avgpool(self.features(x)), 1))


def mobilenet_v3_small(
    width: float = 1.0, classes: int = 1000, size: int = 224, batch: int = 1, deep: bool = True
) -> Example:
    return Example(MobileNetV3(width, classes, deep), (RandomInput(batch, 3, size, size),))
