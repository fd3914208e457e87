"""What an iteration of straight-line code takes on a core, and what limits it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

LATENCY = "latency"
FRONT_END = "front end"
_NEAR = 0.93
"""Of the cycles: a bound that is this near to them is what limits."""


@dataclass(frozen=True)
class Cycles:
    """ports: cycles that each port is busy. bounds: the least cycles, by what limits: FRONT_END, or the kind of work of
    the busiest port ("loads", "multiply-adds"). limit: the one that is reached, or LATENCY."""

    cycles: float
    ports: Mapping[str, float]
    bounds: Mapping[str, float]
    limit: str


def cycles_of(simulated: float, ports: Mapping[str, float], bounds: Mapping[str, float]) -> Cycles:
    """The cycles of a simulation, or the greatest bound, and which of them it is."""
    cycles = max(simulated, *bounds.values(), 0.0)
    limit = max(bounds, key=bounds.__getitem__, default=LATENCY)
    return Cycles(cycles, dict(ports), dict(bounds), limit if bounds.get(limit, 0.0) >= _NEAR * cycles else LATENCY)
