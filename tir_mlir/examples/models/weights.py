"""Random weights and inputs with a fixed seed."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import nn

NORMS = (nn.LayerNorm, nn.RMSNorm, nn.BatchNorm2d)


class RandomInput:
    """An input to be drawn: its shape, and `below` for whole numbers in [0, below) instead of a normal distribution."""

    def __init__(self, *shape: int, below: int | None = None) -> None:
        self.shape, self.below = shape, below


def fill_weights(model: nn.Module, seed: int) -> nn.Module:
    """Draw all parameters, and the statistics of batch norms, so that every one changes the result and activations
    remain within a few powers of ten; return the model in evaluation mode without gradients."""
    generator = torch.Generator().manual_seed(seed)
    done: set[int] = set()
    model.eval().requires_grad_(False)
    for module in model.modules():
        for name, values in module.named_parameters(recurse=False):
            if id(values) not in done:  # a weight may have two names
                done.add(id(values))
                _fill(module, name, values, generator)
        if isinstance(module, nn.BatchNorm2d):
            _statistics(module, generator)
    return model


def draw_inputs(inputs: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    """Replace each Drawn by a tensor; others remain."""
    generator = torch.Generator().manual_seed(seed + 1)
    return tuple(_tensor(entry, generator) if isinstance(entry, RandomInput) else entry for entry in inputs)


def _tensor(spec: RandomInput, generator: torch.Generator) -> torch.Tensor:
    if spec.below is not None:
        return torch.randint(spec.below, spec.shape, generator=generator)
    return torch.randn(spec.shape, generator=generator)


def _fill(module: nn.Module, name: str, values: torch.Tensor, generator: torch.Generator) -> None:
    values.normal_(generator=generator)
    if isinstance(module, NORMS):
        values.mul_(0.1).add_(1.0 if name == "weight" else 0.0)
    elif values.dim() < 2:
        values.mul_(0.05)
    else:
        values.mul_(_gain(module) / math.sqrt(_fan_in(module, values)))


def _gain(module: nn.Module) -> float:
    return math.sqrt(2) if isinstance(module, nn.Conv2d) else 1.0


def _fan_in(module: nn.Module, values: torch.Tensor) -> int:
    """The terms of a sum of the layer; of an embedding, its columns."""
    if isinstance(module, nn.ConvTranspose2d):
        return values.shape[0]
    if isinstance(module, (nn.Linear, nn.Conv1d, nn.Conv2d)):
        return values[0].numel()
    return values.shape[-1]


def _statistics(module: nn.BatchNorm2d, generator: torch.Generator) -> None:
    if module.running_mean is not None and module.running_var is not None:
        module.running_mean.normal_(generator=generator).mul_(0.1)
        module.running_var.uniform_(0.5, 2.0, generator=generator)
