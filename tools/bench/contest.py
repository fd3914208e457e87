"""What is measured: a work, and for each contestant a call and the result it leaves, compared before any timing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

OURS = "ours"
TOLERANCE = {"float64": 1e-11, "float32": 1e-4, "int32": 0.0}  # largest difference, relative to the largest value


@dataclass(frozen=True)
class Contestant:
    """One way to do the work. `result` gives what the last call computed, as an array; None: nothing to compare."""

    call: Callable[[], Any]
    result: Callable[[], np.ndarray] | None = None


@dataclass
class Contest:
    """All ways to do one work on the same inputs. `missing` says of a contestant why it is not there.

    `origin`: where the schedule of ours comes from.
    """

    expected: np.ndarray
    contestants: dict[str, Contestant] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    origin: str = ""


@dataclass(frozen=True)
class Goal:
    """Ours is to be at least `factor` times the fastest of these peers; without peers, at least `factor`."""

    factor: float
    peers: tuple[str, ...]

    def met(self, ours: float | None, peers: Mapping[str, float]) -> bool | None:
        """None where one of the two is missing."""
        rates = [peers[name] for name in self.peers if name in peers] if self.peers else [1.0]
        return None if ours is None or not rates else ours >= self.factor * max(rates)

    def __str__(self) -> str:
        return f"{self.factor:.3g} x {' or '.join(self.peers)}" if self.peers else f"{self.factor:.3g}"


@dataclass(frozen=True)
class Work:
    """One line of the table. `operations`, `read` and `written` are of one call: arithmetic, and bytes, every array
    once. The figures are billions of `amount` a second.
    """

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
    group: str = ""  # works of one group also give a line with their geometric mean

    @property
    def amount(self) -> float:
        return {"GFLOP/s": self.operations, "GOP/s": self.operations, "GB/s": self.read + self.written}[self.unit]

    @property
    def name(self) -> str:
        return f"{self.work} {self.shape} {self.dtype}, {self.threads} thread{'s' * (self.threads != 1)}"


class WrongResult(ValueError):
    """A contestant did not compute what the others do."""


def check(name: str, contestant: Contestant, expected: np.ndarray) -> None:
    """Call it once and compare. Raises WrongResult."""
    contestant.call()
    if contestant.result is None:
        return
    got = np.asarray(contestant.result())
    if got.shape != expected.shape:
        raise WrongResult(f"{name} gives shape {got.shape}, not {expected.shape}")
    difference = np.abs(got.astype(np.float64) - expected).max(initial=0.0)
    allowed = TOLERANCE[expected.dtype.name] * np.abs(expected.astype(np.float64)).max(initial=0.0)
    if not difference <= allowed:
        raise WrongResult(f"{name} differs from NumPy by {difference:.3g}, more than {allowed:.3g}")
