"""The next token from the scores of all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError


@dataclass(frozen=True)
class Sampling:
    """How the next token is drawn. temperature: 0 takes the one with the highest score; others divide the scores.
    top_k: of the so many highest, 0: of all; top_p: of the fewest whose probabilities add up to it. seed: of the
    numbers that are drawn; the same seed gives the same tokens."""

    temperature: float = 0.0
    top_k: int = 0
    top_p: float = 1.0
    seed: int = 0

    def __post_init__(self) -> None:
        if self.temperature < 0 or self.top_k < 0 or not 0 < self.top_p <= 1:
            raise ArgumentError(f"{self}: fix: temperature and top_k of at least 0, top_p above 0 and at most 1")

    def generator(self) -> np.random.Generator:
        return np.random.default_rng(self.seed)

    def token(self, scores: np.ndarray, generator: np.random.Generator) -> int:
        """A token for the scores of all tokens."""
        if self.temperature == 0:
            return int(scores.argmax())
        order = np.argsort(-scores, kind="stable")
        order = order[: self.top_k] if self.top_k else order
        scaled = scores[order].astype(np.float64) / self.temperature
        shares = np.exp(scaled - scaled[0])
        shares /= shares.sum()
        kept = int(np.searchsorted(np.cumsum(shares), self.top_p) + 1)
        shares = shares[:kept] / shares[:kept].sum()
        return int(order[:kept][generator.choice(len(shares), p=shares)])
