"""Arguments that overlap, for functions that allow it (`tir.noalias = False`): buffers of one type in one memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tir_mlir.equivalence.inputs import Arguments
from tir_mlir.runtime.call.signature import BufferParam, CallSignature

SHIFTS = (0, 1, -1)
"""Distances in elements between the starts of one buffer and the next: the same memory, a view shifted either way."""


@dataclass(frozen=True)
class OverlappingArguments(Arguments):
    """A generator of arguments whose row-major buffers of one type start `shift` elements apart."""

    shift: int = 0

    def arrays(self, seed: int, kind: str, exact: bool) -> list[Any]:
        """Arguments, deterministic in the seed; each element has one value in all buffers that hold it."""
        found = super().arrays(seed, kind, exact)
        groups: dict[np.dtype, list[int]] = {}
        for number, param in enumerate(self.signature.params):
            if isinstance(param, BufferParam) and param.strides is None and param.dtype != "bool":
                groups.setdefault(found[number].dtype, []).append(number)
        for numbers in groups.values():
            self._overlay(found, numbers)
        return found

    def _overlay(self, arrays: list[Any], numbers: list[int]) -> None:
        """Replace some arrays by views of one memory."""
        first = -min(0, self.shift) * (len(numbers) - 1)
        starts = [first + place * self.shift for place in range(len(numbers))]
        ends = [start + arrays[n].size for start, n in zip(starts, numbers, strict=True)]
        memory = np.zeros(max(ends), arrays[numbers[0]].dtype)
        for start, end, n in zip(starts, ends, numbers, strict=True):
            view = memory[start:end].reshape(arrays[n].shape)
            view[...] = arrays[n]
            arrays[n] = view

    def __str__(self) -> str:
        distance = "in the same memory" if not self.shift else f"starting {abs(self.shift)} element apart"
        return f"with arguments that overlap, {distance}"


def may_overlap(signature: CallSignature) -> bool:
    """Whether a function takes overlapping buffers, and has several of one type."""
    kinds = [p.dtype for p in signature.params if isinstance(p, BufferParam) and p.strides is None]
    return not signature.noalias and len(set(kinds)) < len(kinds)
