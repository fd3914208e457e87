"""What all contestants of a line are made of: the model, its inputs, the right outputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from tir_mlir.examples import models

from .table import F32, Line

Call = Callable[[], Any]


class Missing(Exception):
    """Why a contestant does not take part."""


@dataclass(frozen=True)
class Subject:
    """folder: where files that are made once are kept."""

    line: Line
    example: models.Example
    expected: list[np.ndarray]
    folder: Path

    @property
    def name(self) -> str:
        return self.line.model

    def plain(self) -> bool:
        """Whether the weights are as the model has them."""
        return self.line.weights == F32


def subject(line: Line, folder: Path, tiny: bool = False) -> Subject:
    """Make the model of a line with random weights; what is right is what PyTorch computes in float32."""
    torch.set_grad_enabled(False)
    example = models.example(line.model, tiny)
    return Subject(line, example, arrays(example.model(*example.inputs)), folder)


def arrays(found: Any) -> list[np.ndarray]:
    """The outputs of a model as arrays of float32 or whole numbers."""
    several = found if isinstance(found, (tuple, list)) else [found]
    return [_array(each) for each in several]


def _array(each: Any) -> np.ndarray:
    if isinstance(each, torch.Tensor):
        return (each.float() if each.is_floating_point() else each).numpy()
    return np.asarray(each)


def error(got: Sequence[np.ndarray], expected: Sequence[np.ndarray]) -> float:
    """The largest difference of an output over its largest value. Errors: ValueError for other shapes."""
    if [each.shape for each in got] != [each.shape for each in expected]:
        raise ValueError(f"shapes {[each.shape for each in got]}, expected {[each.shape for each in expected]}")
    worst = 0.0
    for one, want in zip(got, expected, strict=True):
        difference = np.abs(one.astype(np.float64) - want).max(initial=0.0)
        if not np.isfinite(difference):
            return float("inf")
        worst = max(worst, float(difference) / max(float(np.abs(want).max(initial=0.0)), 1e-30))
    return worst
