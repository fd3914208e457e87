"""The answer to "would this step be legal?": yes, no with a counterexample, or not provable and what was missing."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from tir_mlir.dialect.counterexample import Counterexample
from tir_mlir.dialect.errors import ScheduleError
from tir_mlir.dialect.report import html
from tir_mlir.script.module import IRModule

Verdict = Literal["legal", "illegal", "not provable"]


@dataclass(frozen=True)
class Answer:
    """What would become of a step. True exactly when it is legal.

    `reason`: why it is not (for "not provable": what could not be shown). `counterexample`: the iterations and the
    element that show it, where there are such; `fix`: what to do instead, where the reason does not say it. `text` is
    the whole refusal with the program. `mod`: the program after a legal step.
    """

    call: str
    verdict: Verdict
    reason: str = ""
    counterexample: Counterexample | None = None
    fix: str = ""
    text: str = field(default="", repr=False, compare=False)
    mod: IRModule | None = field(default=None, repr=False, compare=False)

    @staticmethod
    def refused(call: str, error: ScheduleError) -> Answer:
        verdict: Verdict = "illegal" if error.provable else "not provable"
        return Answer(call, verdict, error.reason, error.counterexample, error.fix, str(error))

    @property
    def missing(self) -> str:
        """What could not be shown, of a step that is not provable."""
        return self.reason if self.verdict == "not provable" else ""

    def __bool__(self) -> bool:
        return self.verdict == "legal"

    def __str__(self) -> str:
        if self:
            return f"{self.call}: legal"
        lines = [f"{self.call}: {self.verdict}: {self.reason}"]
        example = self.counterexample
        if example is not None:
            sizes = "".join(f", {n}={v}" for n, v in example.sizes)
            lines += [f"  iteration: {i}{sizes}" for i in example.iterations]
            lines += [f"  element: {example.element}"] if example.element else []
            lines += [f"  not so where: {example.unless}"] if example.unless else []
        return "\n".join(lines + ([f"  fix: {self.fix}"] if self.fix else []))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html(str(self))
