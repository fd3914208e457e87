"""A step on a history page: plain data, independent of schedules."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir


@dataclass(frozen=True)
class Measured:
    """The seconds of a run, or the reason why there is none; the values of shape variables that it took."""

    seconds: float | None
    why: str = ""
    sizes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True)
class PageStep:
    """A step: its call, source location and outcome, and the program before and after it.

    kind: `start` (the initial program), `step`, `choice` (a sampling step), `refused` or `not provable`.
    number: that of the history; of a refused step, that of the last step before it.
    facts: what was proved of this program.
    proves: unset for a primitive that has nothing to prove.
    requires: its preconditions, for any program.
    proof: the reason of a refusal.
    example: its counterexample as text.
    fix: a suggested change.
    focus: the ids of the loops and blocks involved, results first.
    """

    kind: str
    call: str
    number: int = 0
    ms: float = 0.0
    summary: str = ""
    rewrite: str = ""
    facts: tuple[str, ...] = ()
    requires: str = ""
    proves: bool = True
    proof: str = ""
    example: str = ""
    fix: str = ""
    source: str = ""
    line: str = ""
    focus: tuple[int, ...] = ()
    before: ir.Module | None = None
    after: ir.Module | None = None
    measured: Measured | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the step was refused, so that the program is unchanged."""
        return self.kind in ("refused", "not provable")

    @property
    def name(self) -> str:
        """The name of the primitive."""
        return self.call.partition("(")[0]
