"""The result of a search as a table of text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Protocol

WIDTH = 110
"""Columns of a line of decisions."""


class TableResult(Protocol):
    """What a table shows of a result, see `Best`."""

    decisions: dict[str, int]
    seconds: float | None
    library_seconds: float | None
    verified: str
    notes: list[str]
    references: dict[str, float]

    @property
    def statuses(self) -> Sequence[str]: ...


def table_of(best: TableResult) -> str:
    """A row for the library's schedule, the best found, and what it is compared with; then how it was found.

    program             time          gain
    library's schedule  1.234 ms      1.00
    best found          0.987 ms      1.25
    NumPy               1.101 ms      1.12
    """
    rows = [("library's schedule", best.library_seconds), ("best found", best.seconds), *best.references.items()]
    lines = [f"{'program':20}{'time':>12}{'gain':>8}"]
    for name, seconds in rows:
        gain = f"{best.library_seconds / seconds:.2f}" if best.library_seconds and seconds else ""
        lines.append(f"{name:20}{duration(seconds):>12}{gain:>8}")
    lines += ["", *_wrap_words("decisions: ", [f"{k}={v}" for k, v in best.decisions.items()] or ["none"])]
    lines.append("trials: " + summarize_statuses(best.statuses))
    lines.append(f"verified: {best.verified}" if best.verified else "not verified")
    return "\n".join(lines + [f"note: {note}" for note in best.notes])


def align_columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Rows with the first column to the left and the others to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(w) if n == 0 else cell.rjust(w) for n, (cell, w) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def duration(seconds: float | None) -> str:
    """A time as text: `1.234 ms`."""
    if seconds is None:
        return "not measured"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size or unit == "us":
            return f"{seconds / size:.4g} {unit}"
    raise AssertionError("unreachable")


def summarize_statuses(statuses: Sequence[str]) -> str:
    """How many candidates ended how: `64: 55 ok, 6 slow, 3 refused`."""
    counts: Mapping[str, int] = Counter(statuses)
    return f"{len(statuses)}: " + ", ".join(f"{n} {s}" for s, n in sorted(counts.items(), key=lambda entry: -entry[1]))


def _wrap_words(head: str, words: Sequence[str]) -> list[str]:
    lines = [head]
    for n, word in enumerate(words):
        word += "," * (n < len(words) - 1)
        if len(lines[-1]) + len(word) > WIDTH:
            lines.append(" " * len(head))
        lines[-1] += word + " "
    return [line.rstrip() for line in lines]
