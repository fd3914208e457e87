"""A record: one candidate of a search, as data and as JSON, whose every field is validated when it is read."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, field, fields
from datetime import datetime, timezone
from statistics import median
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.diagnostics import TuneError, short_repr
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.target import AnyTarget
from tir_mlir.tune.records.environment import FORMAT, machine, target_key, versions
from tir_mlir.tune.records.program_identity import ProgramIdentity, identity
from tir_mlir.tune.records.program_names import names_of

if TYPE_CHECKING:
    from tir_mlir.tune.records.program_identity import Program

OK = "ok"
_TEXT_FORMAT = 1
"""The format of records that held their scheduled program as text, which is passed over: their trace is replayed."""


def now() -> str:
    """The time of day, UTC, as records write it."""
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


@dataclass(frozen=True)
class Record:
    """One candidate: the task, the decisions, the outcome.

    program, shape_class, sizes: see `ProgramIdentity`.
    target: see `target_key`.
    space: the name of the space that was searched.
    decisions: by name.
    trace: `Trace.as_json()`.
    names: of the program, see `names_of`, as the trace calls its blocks by them.
    status: "ok", or what went wrong, with its `reason`.
    seconds: of single runs.
    stages: seconds by stage.
    verified: how the result was checked beyond the comparison on data; "" if it was not; a build does not believe it.
    when: UTC, ISO 8601.
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
    names: list[Any] = field(default_factory=list)
    status: str = OK
    seconds: tuple[float, ...] = ()
    stages: dict[str, float] = field(default_factory=dict)
    reason: str = ""
    verified: str = ""
    when: str = field(default_factory=now)

    @property
    def usable(self) -> bool:
        """Whether the scheduled program is known, ran, gave the right result, and was timed."""
        return self.status == OK and bool(self.seconds) and bool(self.trace)

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
    names: list[Any]

    def record(self, *, space: str, decisions: dict[str, int], **fields: Any) -> Record:
        """A record about this subject; `fields`: the other fields of Record."""
        about = self.identity
        return Record(
            about.program, about.shape_class, about.sizes, self.target, self.versions, self.machine, space, decisions,
            **{"names": self.names, **fields},
        )  # fmt: skip


def subject(program: Program, target: AnyTarget | str | None = None, threads: int | None = None) -> Subject:
    """The subject of records of a program on this machine, see `identity` and `target_key`. A PrimFunc is named main,
    as in its schedule: a record holds the trace of that."""
    program = IRModule({"main": program}) if isinstance(program, PrimFunc) else program
    return Subject(identity(program), target_key(target, threads), versions(), machine(), names_of(program))


# --- records as JSON and back. Reading validates every field; nothing of a record is executed -------------------------


def encode(record: Record) -> str:
    """A record as one JSON object. Raises TuneError for a field of a wrong type: what is kept can be read."""
    data = {"format": FORMAT, **asdict(record)}
    data["sizes"], data["seconds"] = list(record.sizes), list(record.seconds)
    try:
        text = json.dumps(data, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise TuneError(f"a record cannot be written as JSON: {error}") from None
    decode(text)
    return text


def decode(text: str) -> Record:
    """The record in a JSON text. Raises TuneError with what is wrong with it, or the version that wrote it."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise TuneError(f"it is not JSON, perhaps cut off: {error}") from None
    if not isinstance(data, dict):
        raise TuneError(f"it is not a record but {short_repr(data)}")
    version = data.pop("format", None)
    if isinstance(version, int) and version > FORMAT:
        raise TuneError(f"it is of a newer version: its format is {version}, this version reads {FORMAT}")
    if version == _TEXT_FORMAT and isinstance(data.get("trace"), list):
        data = {"names": []} | {name: value for name, value in data.items() if name != "text"}
    elif version != FORMAT:
        raise TuneError(f"it has no known format: {short_repr(version)}")
    names = {f.name for f in fields(Record)}
    if data.keys() != names:
        missing, unknown = sorted(names - data.keys()), sorted(data.keys() - names)
        raise TuneError(f"its fields are not those of a record; missing: {missing}, unknown: {unknown}")
    for name, (fits, what) in _FIELDS.items():
        if not fits(data[name]):
            raise TuneError(f"its field {name!r} is not {what}: {short_repr(data[name])}")
    return Record(**{**data, "sizes": tuple(data["sizes"]), "seconds": tuple(map(float, data["seconds"]))})


def _is_text(value: object) -> bool:
    return isinstance(value, str)


def _is_key(value: object) -> bool:
    return isinstance(value, str) and len(value) == 32 and not set(value) - set("0123456789abcdef")


def _is_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(value: object) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _is_list(check: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, list) and all(map(check, value))


def _is_map(check: Callable[[object], bool]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, dict) and all(map(check, value.values()))


_FIELDS: dict[str, tuple[Callable[[object], bool], str]] = {
    "program": (_is_key, "a hash"),
    "shape_class": (_is_key, "a hash"),
    "sizes": (_is_list(_is_number), "a list of integers"),
    "target": (_is_text, "a text"),
    "versions": (_is_map(_is_text), "texts by name"),
    "machine": (_is_text, "a text"),
    "space": (_is_text, "a text"),
    "decisions": (_is_map(_is_number), "integers by name"),
    "trace": (_is_list(lambda _: True), "a list"),
    "names": (_is_list(lambda _: True), "a list"),
    "status": (_is_text, "a text"),
    "seconds": (_is_list(_is_time), "a list of times"),
    "stages": (_is_map(_is_time), "times by name"),
    "reason": (_is_text, "a text"),
    "verified": (_is_text, "a text"),
    "when": (_is_text, "a text"),
}
