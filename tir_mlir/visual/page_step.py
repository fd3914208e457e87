"""A step on a history page: plain data, independent of schedules."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir


@dataclass(frozen=True)
class PageStep:
    """A step: its call, source location and outcome, and the program before and after it.

    `kind`: `start` (the initial program), `step`, `choice` (a sampling step), `refused` or `not provable`. `proof`: the
    preconditions checked, or the reason of a refusal; `example`: its counterexample as text; `fix`: a suggested change.
    `focus`: the ids of the loops and blocks involved, results first.
    """

    kind: str
    call: str
    number: int = 0
    ms: float = 0.0
    summary: str = ""
    rewrite: str = ""
    proof: str = ""
    example: str = ""
    fix: str = ""
    source: str = ""
    line: str = ""
    focus: tuple[int, ...] = ()
    before: ir.Module | None = None
    after: ir.Module | None = None

    @property
    def is_refused(self) -> bool:
        """Whether the step was refused, so that the program is unchanged."""
        return self.kind in ("refused", "not provable")

    @property
    def name(self) -> str:
        """The name of the primitive."""
        return self.call.partition("(")[0]
