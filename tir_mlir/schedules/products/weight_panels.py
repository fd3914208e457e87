"""The layout of a weight in panels: a packed copy that is made once, when a model is loaded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.runtime.aligned import empty


@dataclass(frozen=True)
class WeightPanels:
    """A weight in panels of `width` along one dimension, the other dimensions in a given order within a panel.

        W[100, 30]  ->  P[3, 30, 48]     P[p, k, l] = W[p * 48 + l, k], and 0 after row 99      along = 0, inner = (1,)

        W[96, 30]   ->  P[2, 15, 48, 2]  P[p, k, l, t] = W[p * 48 + l, k * 2 + t]       group = 2

    `name`: the parameter; `source`: its shape before; `shape`: after; `dtype`: of both. group: adjacent elements along
    the other dimension, of two, that stay adjacent; the panels are full then.
    """

    name: str
    source: tuple[int, ...]
    dtype: str
    along: int
    inner: tuple[int, ...]
    width: int
    group: int = 1

    @property
    def shape(self) -> tuple[int, ...]:
        panels = -(-self.source[self.along] // self.width)
        if self.group > 1:
            return (panels, self.source[self.inner[0]] // self.group, self.width, self.group)
        return (panels, *(self.source[d] for d in self.inner), self.width)

    @property
    def layout(self) -> Callable[..., tuple]:
        """The index map from the weight to its panels."""
        n, inner, width, group = self.along, self.inner, self.width, self.group
        if group > 1:
            return lambda *i: (i[n] // width, i[inner[0]] // group, i[n] % width, i[inner[0]] % group)
        return lambda *i: (i[n] // width, *(i[d] for d in inner), i[n] % width)

    def apply(self, array: Any) -> np.ndarray:
        """The panels of an array, a copy on a boundary of a cache line, with zeros after the last row.

        Raises ArgumentError for another shape or another size of elements.
        """
        weight = np.asarray(array)
        packed = empty(self.shape, self.dtype)
        if weight.shape != self.source or weight.itemsize != packed.itemsize:
            actual = f"{weight.dtype} of shape {weight.shape}"
            raise ArgumentError(f"panels of {self.name}: expected {self.dtype} of shape {self.source}, got {actual}")
        if self.group > 1:
            panels, groups, width, group = self.shape
            matrix = weight.view(packed.dtype) if self.along == 0 else weight.view(packed.dtype).T
            packed[:] = matrix.reshape(panels, width, groups, group).transpose(0, 2, 1, 3)
            return packed
        rows = np.moveaxis(weight.view(packed.dtype), (*self.inner, self.along), range(weight.ndim))
        full_panels = weight.shape[self.along] // self.width
        for panel in range(packed.shape[0]):
            part = rows[..., panel * self.width : (panel + 1) * self.width]
            packed[panel, ..., : part.shape[-1]] = part
            if panel == full_panels:
                packed[panel, ..., part.shape[-1] :] = 0
        return packed
