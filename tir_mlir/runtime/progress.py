"""What builds, imports, exports and verifications tell while they run: a line on a terminal after two seconds, and log
records of `tir_mlir`.

The line is on stderr if that is a terminal, and gone at the end; TIR_PROGRESS=0 turns it off. Programs get the logger
`tir_mlir`: INFO for each stage and each candidate of a search, DEBUG for each function.
"""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import variables

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_SETTING = "TIR_PROGRESS"
BAR = 32
"""Characters of a bar."""
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


def log(level: str, message: str, *args: object) -> None:
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


class LiveDisplay(ABC):
    """What `render` returns, drawn on a terminal several times a second, from `start` to `stop`."""

    fleeting = False
    """Whether it is gone at the end."""

    def __init__(self, console: Console | None = None):
        self._console, self._live = console, None
        self._begun = time.monotonic()

    def start(self) -> None:
        """Begin to draw."""
        from rich.console import Console
        from rich.live import Live

        self._live = Live(
            get_renderable=self.render,
            console=self._console or Console(file=sys.stderr),
            refresh_per_second=4,
            transient=self.fleeting,
            redirect_stdout=not self.fleeting,
            redirect_stderr=not self.fleeting,
        )
        self._live.start()

    def stop(self) -> None:
        """Draw no more."""
        if self._live is not None:
            self._live.stop()

    @abstractmethod
    def render(self) -> RenderableType:
        """What is shown now."""

    def bar(self, done: int, count: int, unit: str) -> str:
        """A bar of what is done, if it is known how much comes, and the seconds passed."""
        drawn, left = "━╌" if (sys.stderr.encoding or "").lower().startswith("utf") else "=-"
        full = round(BAR * min(1.0, done / max(1, count)))
        bar = f"{drawn * full}{left * (BAR - full)} {done} of {count} {unit}, " if count else ""
        return f"{bar}{time.monotonic() - self._begun:.0f} s"


class _Line(LiveDisplay):
    """The line of a build; it is shown once the build has taken some time."""

    fleeting = True

    def __init__(self, build: Build):
        super().__init__()
        self._build = build
        self._timer = threading.Timer(PATIENCE, self.start)
        self._timer.daemon = True
        with contextlib.suppress(RuntimeError):  # no thread can start
            self._timer.start()

    def close(self) -> None:
        """Take the line away."""
        self._timer.cancel()
        if self._timer.ident is not None:
            self._timer.join()
        self.stop()

    def render(self) -> RenderableType:
        from rich.text import Text

        build = self._build
        stage = f"{build.title}: {build.stage}".removesuffix(": ")
        text = f"{stage} {self.bar(min(build.done, build.count), build.count, build.unit)}"
        return Text(text, no_wrap=True, overflow="ellipsis")
