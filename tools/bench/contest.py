"""The unit of measurement: a workload and, for each contestant, a call and its result, checked before any timing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

OURS = "ours"
TOLERANCE = {
    "float64": 1e-11,
    "float32": 1e-4,
    "int32": 0.0,
    "int8": 0.0,
    "uint8": 0.0,
}  # maximum difference, relative to the largest value


@dataclass(frozen=True)
class Contestant:
    """One implementation of a workload. `result` returns the output of the last call; None: nothing to compare."""

    call: Callable[[], Any]
    result: Callable[[], np.ndarray] | None = None


@dataclass
class Contest:
    """All implementations of one workload on the same inputs.

    `missing`: the reason why a contestant does not take part. `origin`: the source of our schedule. `inputs`: what all
    of them take; the output is a contestant's own.
    """

    expected: np.ndarray
    contestants: dict[str, Contestant] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    origin: str = ""
    inputs: Sequence[np.ndarray] = ()


@dataclass(frozen=True)
class Goal:
    """Our rate must be at least `factor` times that of the fastest of `peers`; without peers, at least `factor`."""

    factor: float
    peers: tuple[str, ...]

    def met(self, ours: float | None, peers: Mapping[str, float]) -> bool | None:
        """Return whether the goal is met; None if our rate or all peers are missing."""
        rates = [peers[name] for name in self.peers if name in peers] if self.peers else [1.0]
        return None if ours is None or not rates else ours >= self.factor * max(rates)

    def __str__(self) -> str:
        return f"{self.factor:.3g} x {' or '.join(self.peers)}" if self.peers else f"{self.factor:.3g}"


@dataclass(frozen=True)
class Work:
    """One row of the table. `operations` (arithmetic), `read` and `written` (bytes, every array once) are per call;
    rates are in billions of `amount` per second."""

    work: str
    shape: str
    dtype: str
    threads: int
    unit: str
    operations: float
    read: float
    written: float
    make: Callable[[], Contest]
    goals: tuple[Goal, ...] = ()
    group: str = ""  # works of one group also get a row with their geometric mean

    @property
    def amount(self) -> float:
        return {"GFLOP/s": self.operations, "GOP/s": self.operations, "GB/s": self.read + self.written}[self.unit]

    @property
    def name(self) -> str:
        return f"{self.work} {self.shape} {self.dtype}, {self.threads} thread{'s' * (self.threads != 1)}"


class WrongResult(ValueError):
    """A contestant computes a wrong result."""


def check(name: str, contestant: Contestant, expected: np.ndarray) -> None:
    """Call a contestant once and compare its result. Errors: WrongResult."""
    contestant.call()
    if contestant.result is None:
        return
    got = np.asarray(contestant.result())
    if got.shape != expected.shape:
        raise WrongResult(f"{name} returns shape {got.shape}, expected {expected.shape}")
    difference = np.abs(got.astype(np.float64) - expected).max(initial=0.0)
    allowed = TOLERANCE[expected.dtype.name] * np.abs(expected.astype(np.float64)).max(initial=0.0)
    if not difference <= allowed:
        raise WrongResult(f"{name} differs from NumPy by {difference:.3g}, more than {allowed:.3g}")
