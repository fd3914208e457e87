"""The next token from the scores of all."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError
from tir_mlir.llm.native.load_loop import LoopSampling, loop


@dataclass(frozen=True)
class Sampling:
    """How the next token is drawn.

    temperature: 0 takes the one with the highest score; others divide the scores.
    top_k: of the so many highest, 0: of all.
    top_p: of the fewest whose probabilities add up to it.
    seed: of the numbers that are drawn, 0 to 2**64 - 1; the same seed gives the same tokens.
    """

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not (self.temperature >= 0 and self.top_k >= 0 and 0 < self.top_p <= 1):
            raise ArgumentError(f"{self}: fix: temperature and top_k of at least 0, top_p above 0 and at most 1")
        if not 0 <= self.seed < 2**64:
            raise ArgumentError(f"{self}: fix: a seed of at least 0 and below 2**64")

    @property
    def native(self) -> LoopSampling:
        """The same for the loop."""
        return LoopSampling(self.temperature, self.top_p, self.top_k, self.seed)

    def token(self, scores: np.ndarray, number: int = 0, sequence: int = 0) -> int:
        """A token for the scores of all tokens, float32 [tokens]. number, sequence: which draw it is; the same one
        gives the same token."""
        given = np.ascontiguousarray(scores, np.float32)
        if given.ndim != 1 or not given.size:
            raise ArgumentError(f"scores of shape {given.shape}; fix: one axis of a token and more")
        order, shares = np.empty(given.size, np.int64), np.empty(given.size, np.float64)
        addresses = order.ctypes.data, shares.ctypes.data
        how = self.native
        return loop().token(given.ctypes.data, given.size, ctypes.addressof(how), number, sequence, *addresses)
