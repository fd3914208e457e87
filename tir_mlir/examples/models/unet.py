"""U-Net: convolutions down and up again, with the maps of each level joined on the way up."""

from __future__ import annotations

import torch
from torch import nn

from . import Example
from .weights import RandomInput


class DoubleConv(nn.Sequential):
    """Twice: 3 x 3 convolution, batch norm, ReLU."""

    def __init__(self, inputs: int, outputs: int) -> None:
        layers: list[nn.Module] = []
        for channels in (inputs, outputs):
            conv = nn.Conv2d(channels, outputs, 3, padding=1, bias=False)
            layers += [conv, nn.BatchNorm2d(outputs), nn.ReLU(inplace=True)]
        super().__init__(*layers)


class Up(nn.Module):
    """Twice the size by a transposed convolution, joined with the map of that size."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        self.up = nn.ConvTranspose2d(channels, channels // 2, 2, 2)
        self.conv = DoubleConv(channels, channels // 2)

    def forward(self, x: torch.Tensor, skip: torch.Tensor) -> torch.Tensor:
        return self.conv(torch.cat([skip, self.up(x)], dim=1))


class UNet(nn.Module):
    """[batch, 3, size, size] -> [batch, classes, size, size]."""

    def __init__(self, width: int = 32, depth: int = 4, classes: int = 2) -> None:
        super().__init__()
        channels = [width << level for level in range(depth + 1)]
        self.first = DoubleConv(3, width)
        self.down = nn.ModuleList(DoubleConv(count, 2 * count) for count in channels[:-1])
        self.up = nn.ModuleList(Up(count) for count in channels[:0:-1])
        self.last = nn.Conv2d(width, classes, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        maps = [self.first(x)]
        for down in self.down:
            maps.append(down(nn.functional.max_pool2d(maps[-1], 2)))
        x = maps.pop()
        for up in self.up:
            x = up(x, maps.pop())
        return self.last(x)


def unet(width: int = 32, size: int = 256, depth: int = 4, batch: int = 1) -> Example:
    return Example(UNet(width, depth), (RandomInput(batch, 3, size, size),))
