"""Cosines and sines of rotary positions: those that depend on the length of a sequence are of its length at each call.

| Kind | What a position turns by |
|---|---|
| most | the same for all lengths: a table |
| longrope | one table up to the original length, another one beyond it |
| dynamic | a table up to the original length; beyond it frequencies that shrink with the length, `Growth` |
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PretrainedConfig

    from tir_mlir.runtime.tools.given_files import Json

Table = tuple[np.ndarray, np.ndarray]
"""Cosines and sines, float32 [positions, columns]."""


@dataclass(frozen=True)
class Growth:
    """Of a sequence of n tokens, column c of position p is the cosine or sine of p * frequencies[c] * g **
    exponents[c], by `scale`; g = factor * n / original - (factor - 1)."""

    factor: float
    original: int
    scale: float
    frequencies: np.ndarray
    exponents: np.ndarray

    @property
    def words(self) -> np.ndarray:
        """The numbers in the order of loop.c, float64."""
        return np.concatenate([[self.factor, self.original, self.scale], self.frequencies, self.exponents])


@dataclass(frozen=True)
class Rotary:
    """table: of sequences of up to `until` tokens; None: of all. long, growth: of longer ones."""

    table: Table
    until: int | None = None
    long: Table | None = None
    growth: Growth | None = None

    @property
    def columns(self) -> int:
        return self.table[0].shape[1]

    @property
    def arrays(self) -> dict[str, np.ndarray | None]:
        """The arrays in the order of loop.c."""
        cos, sin = self.long or (None, None)
        growth = None if self.growth is None else self.growth.words
        return {"cos": self.table[0], "sin": self.table[1], "long_cos": cos, "long_sin": sin, "growth": growth}

    def facts(self) -> dict[str, Json]:
        """The fields as a JSON object."""
        growth = None
        if self.growth is not None:
            growth = {
                **vars(self.growth),
                "frequencies": _text(self.growth.frequencies),
                "exponents": _text(self.growth.exponents),
            }
        tables = {"table": [_text(each) for each in self.table], "long": [_text(each) for each in self.long or ()]}
        return {"columns": self.columns, "until": self.until, "growth": growth, **tables}


def rotary_of(facts: Mapping[str, Any]) -> Rotary:
    """From `facts()`."""
    table, long = (
        tuple(_array(text, np.float32).reshape(-1, facts["columns"]) for text in facts[key])
        for key in ("table", "long")
    )
    growth = None
    if facts["growth"] is not None:
        arrays = {key: _array(facts["growth"][key], np.float64) for key in ("frequencies", "exponents")}
        growth = Growth(**{**facts["growth"], **arrays})
    return Rotary((table[0], table[1]), facts["until"], (long[0], long[1]) if long else None, growth)


def without_positions(count: int) -> Rotary:
    """Of a model without rotary positions: a column of zeros, which no layer reads."""
    return Rotary((np.zeros((count, 1), np.float32), np.zeros((count, 1), np.float32)))


LAST, _CLOSE = 64, 0.05
"""The positions that are compared; how far angles of frequencies in float32 are off, at most, at the last of many."""


class _RotaryEmbedding(Protocol):
    """What a rotary module of transformers has."""

    config: PretrainedConfig
    inv_freq: Tensor
    attention_scaling: float

    def __call__(self, *args: Tensor | str) -> tuple[Tensor, Tensor]: ...


class RotaryModule:
    """A rotary module of transformers. kinds: of the layers that have positions of their own; None: all the same."""

    def __init__(self, module: _RotaryEmbedding, kinds: list[str | None]):
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


def _text(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _array(text: str, dtype: type[np.floating]) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype)
