"""Rotary modules of transformers as cosines and sines for sequences of any length."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.llm.native.rotary import Growth, Rotary, Table

LAST, _CLOSE = 64, 0.05
"""The positions that are compared; how far angles of frequencies in float32 are off, at most, at the last of many."""


class RotaryModule:
    """A rotary module of transformers. kinds: of the layers that have positions of their own; None: all the same."""

    def __init__(self, module: Any, kinds: list[str | None]):
        self._module, self._kinds = module, kinds

    def rotary(self, count: int, context: int) -> Rotary:
        """Of `count` positions, of sequences of up to `context` tokens. Raises ArgumentError for kinds of positions
        that depend on the length in a way that is not known."""
        until = self._until()
        if until is None:
            return Rotary(self._table(np.arange(count)))
        short = self._table(np.minimum(np.arange(count), min(count, until) - 1))
        if context <= until:
            return Rotary(short)
        if "dynamic" in self._types():
            return Rotary(short, until, growth=self._growth(short, until, context))
        long = self._table(np.arange(max(count, until + 1)))
        if all(np.array_equal(a[:until], b[:until]) for a, b in zip(short, long, strict=True)):
            return Rotary(long)
        return Rotary(short, until, long)

    def _types(self) -> list[str]:
        types = getattr(self._module, "rope_type", "default")
        return [types if isinstance(types, str) else types[kind] for kind in self._kinds]

    def _until(self) -> int | None:
        """The longest sequence for which the frequencies are the first ones; None: any."""
        found, config = set[int](), self._module.config
        for kind, type_ in zip(self._kinds, self._types(), strict=True):
            facts = config.rope_parameters if kind is None else config.rope_parameters[kind]
            if type_ == "dynamic":
                found.add(config.max_position_embeddings)
            elif type_ == "longrope":
                found.add(facts["original_max_position_embeddings"])
        if len(found) > 1 or ("dynamic" in self._types() and len(self._kinds) > 1):
            raise _unknown(f"positions of kinds {', '.join(self._types())} in one model")
        return found.pop() if found else None

    def _table(self, positions: np.ndarray) -> Table:
        """Cosines and sines of positions of one sequence, those of each kind side by side."""
        import torch

        module = copy.deepcopy(self._module)  # some keep the greatest length
        with torch.no_grad():
            x, at = torch.zeros(1, 1), torch.from_numpy(positions)[None]
            found = [module(x, at, *([] if kind is None else [kind])) for kind in self._kinds]
        cos, sin = (np.concatenate([each[n][0].numpy() for each in found], axis=1) for n in (0, 1))
        return cos, sin

    def _growth(self, short: Table, until: int, context: int) -> Growth:
        """How frequencies shrink, compared with the module at three lengths."""
        frequencies = self._module.inv_freq.double().numpy()
        half, scale = len(frequencies), float(self._module.attention_scaling)
        factor = float(self._module.config.rope_parameters["factor"])
        exponents = -2.0 * np.arange(half) / (2 * half - 2) if half > 1 else np.zeros(1)
        for layout in (np.arange(2 * half) % half, np.arange(2 * half) // 2, np.arange(half)):
            growth = Growth(factor, until, scale, frequencies[layout], exponents[layout])
            same = len(layout) == short[0].shape[1] and all(
                _is_close(_grown_table(growth, at), self._table(at))
                for at in (
                    np.arange(max(length - LAST, 0), length)
                    for length in {until + 1, (until + 1 + context) // 2, context}
                )
            )
            if same:
                return growth
        raise _unknown(f"positions of the kind dynamic beyond {until} tokens")


def _grown_table(growth: Growth, positions: np.ndarray) -> Table:
    """What loop.c computes, of the last positions of a sequence."""
    by = growth.factor * (positions[-1] + 1) / growth.original - (growth.factor - 1)
    angles = positions[:, None] * (growth.frequencies * by**growth.exponents)
    return growth.scale * np.cos(angles), growth.scale * np.sin(angles)


def _is_close(found: Table, expected: Table) -> bool:
    return all(np.abs(a - b).max() < _CLOSE for a, b in zip(found, expected, strict=True))


def _unknown(what: str) -> ArgumentError:
    return ArgumentError(f"{what} are not supported; fix: load(..., context=...) of at most the original length")
