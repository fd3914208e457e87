"""One line measured: every contestant checked against PyTorch, then timed one after the other; memory of
activations."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import measure
from measure import Stats
from ours import in_words
from threads import quiet, set_threads

from . import built, onnx_peer, torch_peers
from .subject import Call, Missing, Subject, arrays, error
from .table import Line

OURS, EAGER, COMPILED, ONNX = "ours", "eager", "compiled", "onnxruntime"
CONTESTANTS = (OURS, EAGER, COMPILED, ONNX)


@dataclass
class Measured:
    """Milliseconds a call, bytes of activations and relative errors, by contestant; why others are missing."""

    line: Line
    threads: int
    took: dict[str, Stats] = field(default_factory=dict)
    memory: dict[str, int] = field(default_factory=dict)
    errors: dict[str, float] = field(default_factory=dict)
    missing: dict[str, str] = field(default_factory=dict)
    building: dict[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def best(self) -> tuple[str, float] | None:
        """The fastest peer and its milliseconds."""
        peers = {name: stats.median for name, stats in self.took.items() if name != OURS}
        return min(peers.items(), key=lambda pair: pair[1]) if peers else None

    @property
    def ratio(self) -> float | None:
        """The time of the best peer over ours; above 1, ours is faster."""
        ours, best = self.took.get(OURS), self.best
        return None if ours is None or best is None else best[1] / ours.median

    @property
    def met(self) -> bool | None:
        return None if self.ratio is None or self.line.bar is None else self.ratio >= self.line.bar

    def plain(self) -> dict[str, Any]:
        """The row of models.json."""
        return {
            "model": self.line.model, "weights": self.line.weights, "threads": self.threads,
            "milliseconds": {name: asdict(stats) for name, stats in self.took.items()},
            "memory": self.memory, "errors": self.errors, "missing": self.missing, "building": self.building,
            "ratio": self.ratio, "bar": self.line.bar, "aim": self.line.aim,
        }  # fmt: skip


@dataclass(frozen=True)
class Prepared:
    """A contestant: a call, how its result is read, how the memory of its activations is found."""

    call: Call
    read: Callable[[Any], list[Any]]
    memory: Callable[[], int]


def measured(
    one: Subject, threads: int, budget: float, shared: bool = False, only: Iterable[str] = CONTESTANTS
) -> Measured:
    """Measure one line. budget: seconds of all timings. shared: CPU time on one thread."""
    found = Measured(one.line, threads)
    set_threads(threads)
    calls: dict[str, Call] = {}
    for name in only:
        try:
            calls[name] = _checked(name, one, threads, found)
        except Exception as why:  # missing, refused or wrong: a line of the report
            found.missing[name] = str(why) if isinstance(why, Missing) else in_words(why)
    quiet()
    clock = time.thread_time if shared and threads == 1 else None
    took = measure.interleaved(calls, budget=budget, before=quiet if threads > 1 else None, clock=clock)
    found.took = {name: stats.times(1e3) for name, stats in took.items()}
    return found


def _checked(name: str, one: Subject, threads: int, found: Measured) -> Call:
    """The call of a contestant with right results; its error and memory are noted."""
    prepared = _MAKERS[name](one, threads)
    found.errors[name] = error(prepared.read(prepared.call()), one.expected)
    if not found.errors[name] <= one.line.loose:
        raise ValueError(f"relative error {found.errors[name]:.2g}, more than {one.line.loose:g}")
    try:
        found.memory[name] = prepared.memory()
    except Missing as why:
        found.missing[f"{name}, memory"] = str(why)
    return prepared.call


def _ours(one: Subject, threads: int) -> Prepared:
    call, model = built.prepared(one, threads)
    return Prepared(call, arrays, lambda: built.activations(one, model, threads))


def _eager(one: Subject, threads: int) -> Prepared:
    call = torch_peers.eager(one, threads)
    return Prepared(call, arrays, lambda: torch_peers.activations(call))


def _compiled(one: Subject, threads: int) -> Prepared:
    call = torch_peers.compiled(one, threads)
    return Prepared(call, arrays, lambda: torch_peers.activations(call))


def _onnx(one: Subject, threads: int) -> Prepared:
    call, _ = onnx_peer.prepared(one, threads)
    return Prepared(call, onnx_peer.outputs, lambda: onnx_peer.activations(one, threads))


_MAKERS = {OURS: _ours, EAGER: _eager, COMPILED: _compiled, ONNX: _onnx}
