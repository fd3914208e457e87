"""Keys and values of a layer in its cache: as float32, or as int8 with a scale for each token of a head."""

from __future__ import annotations

import torch
from torch import Tensor

from tir_mlir.llm.description import CacheFact

_MOST, _LEAST = 127, 1e-30
"""The greatest number of int8 that is used; the least scale, of what is all zeros."""


class Cache:
    """What a layer takes for its cache: keys and values [sequences, heads, capacity, columns] of all positions, some of
    them written, in place. scales: of keys and values, [sequences, heads, capacity, 1]; none: they are float32."""

    def __init__(self, keys: Tensor, values: Tensor, scales: tuple[Tensor, Tensor] | None, positions: Tensor):
        self.keys, self.values, self.scales, self.positions = keys, values, scales, positions

    def update(self, keys: Tensor, values: Tensor, *_: object, **__: object) -> tuple[Tensor, Tensor]:
        if self.scales is None:
            return self._put(self.keys, keys), self._put(self.values, values)
        return self._store_rounded(self.keys, self.scales[0], keys), self._store_rounded(
            self.values, self.scales[1], values
        )

    def _store_rounded(self, whole: Tensor, scales: Tensor, new: Tensor) -> Tensor:
        """Numbers of a token of a head by the scale at which its largest is 127."""
        scale = (new.abs().amax(-1, keepdim=True) / _MOST).clamp(min=_LEAST)
        numbers = self._put(whole, torch.round(new / scale).to(torch.int8))
        return numbers.float() * self._put(scales, scale)

    def _put(self, whole: Tensor, new: Tensor) -> Tensor:
        if len(whole) == 1:
            whole.index_copy_(2, self.positions, new)
        else:
            whole[torch.arange(len(whole)), :, self.positions] = new[:, :, 0]
        return whole


def cache_arrays(dtype: str, sequences: int, heads: int, columns: int) -> dict[str, Tensor]:
    """The arrays of a cache of two positions, by the names of the inputs of a layer."""
    shape = sequences, heads, 2
    element = torch.float32 if dtype == "float32" else torch.int8
    arrays = {name: torch.zeros(*shape, columns, dtype=element) for name in ("keys", "values")}
    if dtype == "int8":
        arrays |= {name: torch.zeros(*shape, 1) for name in ("key_scales", "value_scales")}
    return arrays


def facts_of(arrays: dict[str, Tensor]) -> list[CacheFact]:
    """Of each array its name, the heads of a sequence, the bytes of a position of one."""
    return [(name, array.shape[1], array.shape[3] * array.element_size()) for name, array in arrays.items()]
