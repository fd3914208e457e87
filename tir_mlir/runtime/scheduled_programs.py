"""Where `build` may find a schedule for a program: a hook that layers above set, such as a database of records."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from mlir import ir

from tir_mlir.target import AnyTarget

AS_GIVEN = "as given"


@dataclass(frozen=True)
class ScheduledProgram:
    """A program to build, and where its schedule came from."""

    module: ir.Module
    origin: str


Finder = Callable[[object, "AnyTarget | str", "int | None"], ScheduledProgram]
FINDER: ContextVar[Finder | None] = ContextVar("tir_mlir_finder", default=None)
"""Called by `build` with what is built, the target, and the number of threads (None: not said)."""


@contextmanager
def built_as_given() -> Iterator[None]:
    """Context in which programs are built as they are."""
    token = FINDER.set(None)
    try:
        yield
    finally:
        FINDER.reset(token)


def find(program: object, target: AnyTarget | str, module: ir.Module, threads: int | None = None) -> ScheduledProgram:
    """What to build for a program whose module is `module`: the program itself unless a hook is set."""
    finder = FINDER.get()
    if finder is None:
        return ScheduledProgram(module, AS_GIVEN)
    with built_as_given():  # what the hook builds itself, as to check an intrinsic
        return finder(program, target, threads)
