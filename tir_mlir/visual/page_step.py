"""A step as a page shows it: plain data, so that the page knows nothing of schedules."""

from __future__ import annotations

from dataclasses import dataclass

from mlir import ir


@dataclass(frozen=True)
class PageStep:
    """One step: what was asked, where, what became of it, and the program before and after.

    `kind`: `start` (the program as written), `step`, `choice` (a sampled number), `refused` or `not provable`.
    `proof`: why it is legal, or why it was refused, with `example`, a counterexample in words, and `fix`, a way out.
    `focus`: the ids of the loops and blocks that it is about, those that it made first.
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
        """Whether the program stayed as it was because nothing showed that the step is right."""
        return self.kind in ("refused", "not provable")

    @property
    def name(self) -> str:
        """The primitive."""
        return self.call.partition("(")[0]
