"""Records as JSON and back. Reading validates every field; nothing of a record is executed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, fields
from typing import Any

from tir_mlir.dialect.diagnostics import TuneError, short_repr
from tir_mlir.tune.records.environment import FORMAT
from tir_mlir.tune.records.record import Record


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
    if version != FORMAT:
        raise TuneError(f"it has no known format: {short_repr(version)}")
    names = {f.name for f in fields(Record)}
    if data.keys() != names:
        missing, unknown = sorted(names - data.keys()), sorted(data.keys() - names)
        raise TuneError(f"its fields are not those of a record; missing: {missing}, unknown: {unknown}")
    for name, (fits, what) in _FIELDS.items():
        if not fits(data[name]):
            raise TuneError(f"its field {name!r} is not {what}: {short_repr(data[name])}")
    return Record(**{**data, "sizes": tuple(data["sizes"]), "seconds": tuple(map(float, data["seconds"]))})


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_key(value: Any) -> bool:
    return isinstance(value, str) and len(value) == 32 and not set(value) - set("0123456789abcdef")


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_time(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value) and value >= 0


def _is_list(each: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, list) and all(map(each, value))


def _is_map(each: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and all(map(each, value.values()))


_FIELDS: dict[str, tuple[Callable[[Any], bool], str]] = {
    "program": (_is_key, "a hash"),
    "shape_class": (_is_key, "a hash"),
    "sizes": (_is_list(_is_number), "a list of integers"),
    "target": (_is_text, "a text"),
    "versions": (_is_map(_is_text), "texts by name"),
    "machine": (_is_text, "a text"),
    "space": (_is_text, "a text"),
    "decisions": (_is_map(_is_number), "integers by name"),
    "trace": (_is_list(lambda _: True), "a list"),
    "text": (_is_text, "a text"),
    "status": (_is_text, "a text"),
    "seconds": (_is_list(_is_time), "a list of times"),
    "stages": (_is_map(_is_time), "times by name"),
    "reason": (_is_text, "a text"),
    "verified": (_is_text, "a text"),
    "when": (_is_text, "a text"),
}
