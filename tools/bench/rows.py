"""The result rows, and their machine-readable form."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from contest import OURS, Goal, Work
from measure import Stats, geometric_mean
from roofline import Roofs

KEYS = ("work", "shape", "dtype", "threads", "unit", "ours", "peers", "peak", "fraction")


@dataclass(frozen=True)
class Row:
    """One row: rates in `unit`, higher is better. `peak` is the roof, the maximum on this machine."""

    work: str
    shape: str
    dtype: str
    threads: int
    unit: str
    ours: float | None
    peers: dict[str, float]
    peak: float | None
    goals: tuple[Goal, ...] = ()
    missing: dict[str, str] = field(default_factory=dict)
    spread: dict[str, Stats] = field(default_factory=dict)
    origin: str = ""
    group: str = ""

    @property
    def times_best(self) -> float | None:
        """Our rate over that of the fastest peer; None if there is none of them."""
        return None if self.ours is None or not self.peers else self.ours / max(self.peers.values())

    @property
    def fraction(self) -> float | None:
        """Our share of the roof."""
        return None if self.ours is None or not self.peak else self.ours / self.peak

    @property
    def met(self) -> bool | None:
        """Whether all goals are met; None if any is unknown."""
        answers = [goal.met(self.ours, self.peers) for goal in self.goals]
        return None if not answers or None in answers else all(answers)

    @property
    def beaten_by(self) -> dict[str, float]:
        """The peers that are faster, with their rate over ours; the fastest first."""
        ours = self.ours
        if ours is None:
            return {}
        faster = sorted(((rate / ours, name) for name, rate in self.peers.items() if rate > ours), reverse=True)
        return {name: ratio for ratio, name in faster}

    def plain(self) -> dict[str, Any]:
        """Return the keys that bench.json has."""
        return {key: getattr(self, key) for key in KEYS}


def row(work: Work, took: Mapping[str, Stats], missing: Mapping[str, str], roofs: Roofs, origin: str = "") -> Row:
    """Make the row of a work from the times of its contestants in seconds."""
    amount = work.amount / 1e9
    rates = {name: stats.rate(amount) for name, stats in took.items()}
    least = roofs.least_seconds(work.operations, work.read, work.written, work.dtype, work.threads)
    return Row(
        work.work, work.shape, work.dtype, work.threads, work.unit,
        rates[OURS].median if OURS in rates else None,
        {name: rate.median for name, rate in rates.items() if name != OURS},
        amount / least, work.goals, dict(missing), rates, origin, work.group,
    )  # fmt: skip


def with_means(rows: Sequence[Row]) -> list[Row]:
    """Append to each group a row with the geometric mean of the contestants that ran in all of its rows."""
    found: list[Row] = []
    for number, one in enumerate(rows):
        found.append(one)
        if one.group and (number + 1 == len(rows) or rows[number + 1].group != one.group):
            found.append(_mean([r for r in rows if r.group == one.group]))
    return found


def _mean(rows: list[Row]) -> Row:
    first = rows[0]
    names = set.intersection(*(set(r.peers) for r in rows))
    ours = [r.ours for r in rows if r.ours is not None]
    peaks = [r.peak for r in rows if r.peak is not None]
    return Row(
        first.work, f"geometric mean of {len(rows)}", first.dtype, first.threads, first.unit,
        geometric_mean(ours) if len(ours) == len(rows) else None,
        {name: geometric_mean([r.peers[name] for r in rows]) for name in first.peers if name in names},
        geometric_mean(peaks) if len(peaks) == len(rows) else None, first.goals,
    )  # fmt: skip


def check(plain: Any) -> None:
    """Check the form of bench.json. Errors: ValueError."""
    if not isinstance(plain, list):
        raise ValueError("bench.json must be a list of rows")
    for one in plain:
        if tuple(one) != KEYS:
            raise ValueError(f"a row must have the keys {', '.join(KEYS)}, got {', '.join(one)}")
        figures = {"ours": one["ours"], "peak": one["peak"], "fraction": one["fraction"], **one["peers"]}
        for name, value in figures.items():
            if name in one["peers"] and value is None:
                raise ValueError(f"{one['work']}: {name} is null; a missing peer must be left out")
            if value is not None and not (math.isfinite(value) and value > 0):
                raise ValueError(f"{one['work']} {one['shape']}: {name} must be a positive number, got {value}")


def write(path: Path, rows: Sequence[Row], machine: Mapping[str, Any]) -> Path:
    """Write bench.json and bench-details.json (machine, spreads, reasons); return the path of the details."""
    plain = [one.plain() for one in rows]
    check(plain)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(plain, indent=1) + "\n")
    details = path.with_name(f"{path.stem}-details.json")
    more = [
        {**one.plain(), "met": one.met, "beaten_by": one.beaten_by, "schedule": one.origin, "missing": one.missing,
         "spread": {name: [s.least, s.median, s.greatest, s.runs] for name, s in one.spread.items()}}
        for one in rows
    ]  # fmt: skip
    details.write_text(json.dumps({"machine": dict(machine), "rows": more}, indent=1) + "\n")
    return details
