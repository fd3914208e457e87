"""A record: one candidate of a search, as data."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timezone
from statistics import median
from typing import Any

from tir_mlir.target import Target
from tir_mlir.tune.records.environment import machine, target_key, versions
from tir_mlir.tune.records.program_identity import ProgramIdentity, identity

OK = "ok"


def now() -> str:
    """The time of day, UTC, as records write it."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Record:
    """One candidate: what was asked, what was decided, how it ended.

    program, shape_class, sizes: see `ProgramIdentity`. target: see `target_key`. space: the name of the space that was
    searched. decisions: by name. trace: `Trace.as_json()`. text: the scheduled program as MLIR. status: "ok", or what
    went wrong, with its `reason`. seconds: of single runs. stages: seconds by stage. verified: how the result was
    checked beyond the comparison on data; "" if it was not. when: UTC, ISO 8601.
    """

    program: str
    shape_class: str
    sizes: tuple[int, ...]
    target: str
    versions: dict[str, str]
    machine: str
    space: str
    decisions: dict[str, int]
    trace: list[Any] = field(default_factory=list)
    text: str = ""
    status: str = OK
    seconds: tuple[float, ...] = ()
    stages: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    verified: str = ""
    when: str = field(default_factory=now)

    @property
    def usable(self) -> bool:
        """Whether the scheduled program ran, gave the right result, and was timed."""
        return self.status == OK and bool(self.seconds) and bool(self.text)

    @property
    def time(self) -> float:
        """The median of the seconds; infinite without any."""
        return median(self.seconds) if self.seconds else float("inf")

    def __str__(self) -> str:
        took = f"{1e3 * self.time:.4g} ms" if self.seconds else f"{self.status}: {self.reason}"
        return f"record {self.program[:8]} of {self.when[:10]}, {took}, {self.machine}"


@dataclass(frozen=True)
class Subject:
    """What the records of one search have in common: the program, the target, the versions, the machine."""

    identity: ProgramIdentity
    target: str
    versions: dict[str, str]
    machine: str

    def record(self, *, space: str, decisions: dict[str, int], **found: Any) -> Record:
        """A record about this subject; `found`: the other fields of Record."""
        about = self.identity
        return Record(
            about.program, about.shape_class, about.sizes, self.target, self.versions, self.machine, space, decisions,
            **found,
        )  # fmt: skip


def subject(program: Any, target: Target | str | None = None, threads: int | None = None) -> Subject:
    """The subject of records of a program on this machine, see `identity` and `target_key`."""
    return Subject(identity(program), target_key(target, threads), versions(), machine())
