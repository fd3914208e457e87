"""Registry of the schedule primitives. Each is a `Schedule` method, a trace step and a `tir-opt` pass.

A primitive is a function over views (`Loop`, `Block`) and plain values: docstring (rewrite before -> after, invariant,
requirements), then all checks, then the edits. It runs no clean-up pass. The caller works on a copy of the module and
discards it when the primitive raises.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import Counterexample, ScheduleError, ScheduleWarning
from tir_mlir.dialect.ir import View, user_frame


@dataclass(frozen=True)
class Sample:
    """Result of a sampling primitive: the decision recorded in the trace, the values it stands for, its name."""

    decision: Any
    results: Any
    name: str = ""


Moves = Literal["nothing", "in place", "under its loop", "into others", "anywhere"]
"""Where a primitive may let accesses run. "nothing": no access moves, or only within the iterations of one loop nest.
"in place": a block stays under the conditions and in the iterations around it. "under its loop": what is under the loop
changes, a condition around the loop stays around all of it. "into others": other blocks, at their place, compute what a
block reads or writes.
"""


@dataclass(frozen=True)
class Primitive:
    """A registered primitive. `pure` primitives do not change the module.

    `samples` is the result type of a primitive that makes a random decision and returns a `Sample`. `moves`: where it
    may let accesses run. `keeps_order`: it keeps the order of all accesses, or decides it by dependences, which know
    what parameters may alias; so does one that moves nothing.
    """

    name: str
    run: Callable[..., Any]
    pure: bool = False
    samples: Any = None
    moves: Moves = "anywhere"
    keeps_order: bool = False

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.run, eval_str=True)

    @cached_property
    def returns(self) -> Any:
        """The annotated result type."""
        return self.samples or self.signature.return_annotation

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.run) or ""


PRIMITIVES: dict[str, Primitive] = {}


def primitive(
    name: str, pure: bool = False, samples: Any = None, moves: Moves = "anywhere", keeps_order: bool = False
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function as the primitive `name` (TVM's name, with underscores). The rest: see `Primitive`."""

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        PRIMITIVES[name] = Primitive(name, run, pure, samples, moves, keeps_order or moves == "nothing")
        return run

    return register


def refuse(
    culprit: View | ir.Operation | None,
    message: str,
    provable: bool = True,
    counterexample: Counterexample | None = None,
    fix: str = "",
) -> NoReturn:
    """Raise `ScheduleError`. `culprit` is marked in the printed program.

    `provable=False`: legality could not be decided. `fix`: what the user can do instead.
    """
    raise ScheduleError(message, _op(culprit), provable, counterexample=counterexample, fix=fix)


def check(holds: bool, culprit: View | ir.Operation | None, message: str, fix: str = "") -> None:
    """Refuse unless `holds`."""
    if not holds:
        refuse(culprit, message, fix=fix)


def warn(message: str) -> None:
    """Warn at the user's line that part of a request has no effect. The step goes on."""
    frame = user_frame()
    if frame is None:
        warnings.warn(message, ScheduleWarning, stacklevel=2)
        return
    seen = frame.f_globals.setdefault("__warningregistry__", {})
    name = frame.f_globals.get("__name__", "")
    warnings.warn_explicit(message, ScheduleWarning, frame.f_code.co_filename, frame.f_lineno, name, seen)


def _op(culprit: View | ir.Operation | None) -> ir.Operation | None:
    return culprit.op if isinstance(culprit, View) else culprit
