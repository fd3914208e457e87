"""`sch.can_NAME(...)`: check whether a step would be legal by running it on a copy of the schedule."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Literal

from tir_mlir.dialect.diagnostics import Counterexample, LateText, ScheduleError, html
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.schedule.primitives import Primitives
from tir_mlir.script.module import IRModule

if TYPE_CHECKING:
    from tir_mlir.schedule.can_types import CanMethods
else:
    CanMethods = Primitives


class LegalityQueries(CanMethods):
    """`can_NAME(...)` for each primitive `NAME`: check whether the step would be legal. The schedule is unchanged.

    The methods are derived from `Primitives`. `can_decompose_padding` is itself a primitive and returns a bool;
    `explain("decompose_padding", ...)` returns the reason.
    """

    def _ask(self, step: Callable[[Any], Any]) -> Answer:
        raise NotImplementedError


def query_of(step: Callable[..., Any]) -> Callable[..., Answer]:
    """The query whether a step would be legal."""

    def query(self: LegalityQueries, /, *args: Any, **kwargs: Any) -> Answer:
        def apply(trial: Any) -> Any:
            return step(trial, *args, **kwargs)

        return methodcaller("_ask", apply)(self)

    signature = inspect.signature(step)
    query.__signature__ = signature.replace(return_annotation="Answer")  # pyright: ignore[reportFunctionMemberAccess]
    query.__name__ = f"can_{step.__name__}"
    query.__qualname__ = f"Schedule.{query.__name__}"
    query.__doc__ = f"Check whether `{step.__name__}` would be legal with these arguments. Returns an Answer."
    return query


for _name in dir(Primitives) & PRIMITIVES.keys():  # a user's primitive may be registered before this import
    if not hasattr(LegalityQueries, f"can_{_name}") and not _name.startswith("can_"):
        setattr(LegalityQueries, f"can_{_name}", query_of(getattr(Primitives, _name)))


Verdict = Literal["legal", "illegal", "not provable"]


@dataclass(frozen=True)
class Answer:
    """The legality of a step. Truthy if it is legal.

    reason: why the step is refused (for "not provable": what could not be proven).
    counterexample: the conflicting iterations and element, if known.
    fix: a suggested change, if the reason does not imply one.
    mod: the program after a legal step.
    """

    call: str
    verdict: Verdict
    reason: str = ""
    counterexample: Counterexample | None = None
    fix: str = ""
    mod: IRModule | None = field(default=None, repr=False, compare=False)
    _text: str | LateText = field(default="", repr=False, compare=False)

    @staticmethod
    def from_error(call: str, error: ScheduleError) -> Answer:
        verdict: Verdict = "illegal" if error.provable else "not provable"
        return Answer(call, verdict, error.reason, error.counterexample, error.fix, None, error.text)

    @property
    def text(self) -> str:
        """The complete diagnostic of a refusal, with the program."""
        return str(self._text)

    @property
    def missing(self) -> str:
        """For a step that is not provable: what could not be proven."""
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
            lines += [f"  unless: {example.unless}"] if example.unless else []
        return "\n".join(lines + ([f"  fix: {self.fix}"] if self.fix else []))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return html(str(self))
