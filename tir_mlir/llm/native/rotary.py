"""Cosines and sines of rotary positions: those that depend on the length of a sequence are of its length at each call.

| Kind | What a position turns by |
|---|---|
| most | the same for all lengths: a table |
| longrope | one table up to the original length, another one beyond it |
| dynamic | a table up to the original length; beyond it frequencies that shrink with the length, `Growth` |
"""

from __future__ import annotations

import base64
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

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

    def facts(self) -> dict[str, Any]:
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


def _text(array: np.ndarray) -> str:
    return base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()


def _array(text: str, dtype: Any) -> np.ndarray:
    return np.frombuffer(base64.b64decode(text), dtype)
