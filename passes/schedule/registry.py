"""Every schedule primitive by name: a function over views; a `Schedule` method, a trace step and a `tir-opt` pass.

A primitive is written in this order: docstring (the rewrite before -> after, what it keeps, what it requires), all
checks, then the edits. It takes and returns views (`Loop`, `Block`) and plain values; it runs no clean-up. Whoever
calls it gives it a module that may be thrown away when it raises, so a refusal half-way leaves nothing behind
(`Schedule` does that).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import Counterexample, ScheduleError
from tir_mlir.dialect.ir import View


@dataclass(frozen=True)
class Sample:
    """What a sampling primitive answers: the choice it made, as the trace keeps it, and what it stands for."""

    decision: Any
    results: Any


@dataclass(frozen=True)
class Primitive:
    """A registered primitive; `pure` ones only look and leave the module alone.

    `samples` is set for primitives that choose at random and answer by a `Sample`: the type of its results.
    """

    name: str
    run: Callable[..., Any]
    pure: bool = False
    samples: Any = None

    @cached_property
    def signature(self) -> inspect.Signature:
        return inspect.signature(self.run, eval_str=True)

    @cached_property
    def returns(self) -> Any:
        """The annotation of what the primitive gives."""
        return self.samples or self.signature.return_annotation

    @property
    def doc(self) -> str:
        return inspect.getdoc(self.run) or ""


PRIMITIVES: dict[str, Primitive] = {}


def primitive(name: str, pure: bool = False, samples: Any = None) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function under a name (TVM's name, with underscores)."""

    def register(run: Callable[..., Any]) -> Callable[..., Any]:
        PRIMITIVES[name] = Primitive(name, run, pure, samples)
        return run

    return register


def refuse(
    culprit: View | ir.Operation | None,
    message: str,
    provable: bool = True,
    counterexample: Counterexample | None = None,
    fix: str = "",
) -> NoReturn:
    """Raise the refusal of a primitive. `culprit` is what gets marked on the printed program.

    `provable=False`: nothing shows that the step is wrong, but nothing shows that it is right either. `fix`: what the
    user may do instead, where the message does not say it.
    """
    raise ScheduleError(message, _op(culprit), provable, counterexample=counterexample, fix=fix)


def check(holds: bool, culprit: View | ir.Operation | None, message: str, fix: str = "") -> None:
    """Refuse unless `holds`."""
    if not holds:
        refuse(culprit, message, fix=fix)


def _op(culprit: View | ir.Operation | None) -> ir.Operation | None:
    return culprit.op if isinstance(culprit, View) else culprit
