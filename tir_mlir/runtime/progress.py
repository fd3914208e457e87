"""What builds, imports, exports and verifications tell while they run: a line on a terminal after two seconds, and log
records of `tir_mlir`.

The line is on stderr if that is a terminal, and gone at the end; TIR_PROGRESS=0 turns it off. Programs get the logger
`tir_mlir`: INFO for each stage and each candidate of a search, DEBUG for each function.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from tir_mlir.dialect.diagnostics import variables

_SETTING = "TIR_PROGRESS"
PATIENCE = 2.0
"""Seconds after which a build shows its line."""


@dataclass(frozen=True)
class Done:
    """A function that is done.

    label: its name in the graph.
    seconds: of CPU time.
    cached: its result came from the cache, or from an equal one of the same build.
    kind: of what was done with it, the folder of the cache.
    """

    label: str
    seconds: float
    cached: bool = False
    kind: str = ""


class Build:
    """A build, or an import of a model, that is followed: its title, its stage, and the functions that are done."""

    def __init__(self, title: str):
        self.title, self.stage = title, ""
        self.functions: list[Done] = []
        self.count = self.done = 0
        """Functions of the stage, and how many of them are done."""
        self.unit = "functions"

    def expect(self, count: int, unit: str = "functions") -> None:
        """Announce a number of functions, or of other units."""
        self.unit = unit
        if self.done == self.count:
            self.count = self.done = 0
        self.count += count

    def note(self, done: Done) -> None:
        """A function is done."""
        self.functions.append(done)
        self.done += 1
        how = "from the cache" if done.cached else f"{done.seconds:.3f} s"
        log("DEBUG", "%s: %s %s: %s", self.title, done.kind, done.label, how)


class _WorkerTime(threading.local):
    """CPU seconds of the workers that computed for this thread."""

    seconds = 0.0


_BUILD: ContextVar[Build | None] = ContextVar("build", default=None)
worker_time = _WorkerTime()


@contextmanager
def follow_build(title: str, shown: bool = True) -> Iterator[Build]:
    """Follow what is done inside, unless it is part of a build that is followed. title: "build of main". shown: False
    where something else is shown on the terminal."""
    outer = _BUILD.get()
    if outer is not None:
        yield outer
        return
    build = Build(title)
    token = _BUILD.set(build)
    line = _Line(build) if shown and _is_shown() else None
    try:
        yield build
    finally:
        _BUILD.reset(token)
        if line is not None:
            line.close()


def current() -> Build | None:
    """The build that is followed in this context."""
    return _BUILD.get()


def enter_stage(stage: str) -> None:
    """A stage of the build begins."""
    build = _BUILD.get()
    if build is not None:
        build.stage, build.count, build.done = stage, 0, 0


def leave_stage(stage: str, seconds: float, cpu_seconds: float) -> None:
    """A stage ends, after wall and CPU seconds."""
    build = _BUILD.get()
    title = "build" if build is None else build.title
    log("INFO", "%s: %s: %.3f s, %.3f s CPU", title, stage, seconds, cpu_seconds)


@contextmanager
def stage(name: str) -> Iterator[None]:
    """A stage of what is followed."""
    enter_stage(name)
    start, cpu = time.perf_counter(), time.process_time()
    try:
        yield
    finally:
        leave_stage(name, time.perf_counter() - start, time.process_time() - cpu)


def log(level: str, message: str, *args: Any) -> None:
    """A record of the logger `tir_mlir`, if somebody listens."""
    logging = sys.modules.get("logging")  # not imported by any part of the program: nobody listens
    if logging is not None:
        logger = logging.getLogger("tir_mlir")
        number = getattr(logging, level)
        if logger.isEnabledFor(number):
            logger.log(number, message, *args)


def _is_shown() -> bool:
    try:
        return variables.flag(_SETTING, True) and sys.stderr is not None and sys.stderr.isatty()
    except (OSError, ValueError, AttributeError):  # closed, or no file
        return False


class _Line:
    """The line of a build on a terminal; a thread shows it once the build has taken some time."""

    def __init__(self, build: Build):
        self._build, self._ended, self._start = build, threading.Event(), time.monotonic()
        self._thread = threading.Thread(target=self._show, daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # no thread can start
            self._ended.set()

    def close(self) -> None:
        """Take the line away."""
        self._ended.set()
        if self._thread.ident is not None:
            self._thread.join()

    def _show(self) -> None:
        if self._ended.wait(PATIENCE):
            return
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        columns = TextColumn("{task.description}"), BarColumn(24), TextColumn("{task.fields[functions]}")
        bar = Progress(
            *columns,
            TextColumn("{task.fields[seconds]:.0f} s"),
            console=Console(file=sys.stderr),
            transient=True,
            auto_refresh=False,
            redirect_stdout=False,
            redirect_stderr=False,
        )
        build = self._build
        with bar:
            line = bar.add_task(build.title, total=None, functions="", seconds=PATIENCE)
            while not self._ended.wait(0.1):
                count, done = build.count, min(build.done, build.count)
                counts = f"{done} of {count} {build.unit}" if count else ""
                stage = f"{build.title}: {build.stage}".removesuffix(": ")
                seconds = time.monotonic() - self._start
                bar.update(
                    line, description=stage, total=count or None, completed=done, functions=counts, seconds=seconds
                )
                bar.refresh()
