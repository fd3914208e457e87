"""Files that others wrote: which may be opened, and which of their bytes may be read, before any is."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from tir_mlir.dialect.diagnostics import ArgumentError, short_repr

Json: TypeAlias = "str | bool | int | float | Sequence[Json] | Mapping[str, Json] | None"
"""A value in JSON."""
TEXT = 1 << 25
"""The most bytes of a text that describes other data."""
_LONGEST = 4096
"""The most characters of the name of a file."""
_AGAIN = "fix: copy the file again"


def file_inside(folder: Path, name: object) -> Path:
    """The path of a regular file that a text in a folder names. A link may lead to the folder itself, or to the blobs
    of the snapshot of Hugging Face's cache that the folder is in. Raises ArgumentError for names and links that lead
    to another position, for what is not a regular file, and for files that do not exist."""
    if not isinstance(name, str) or not 0 < len(name) <= _LONGEST or "\0" in name:
        raise ArgumentError(f"{folder}: {short_repr(name)} is not the name of a file; fix: copy its files again")
    path = folder / name
    try:
        whole, real = folder.resolve(), path.resolve()
    except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
        raise ArgumentError(f"{path}: no such file: {error}") from error
    if Path(name).is_absolute() or ".." in Path(name).parts or not _is_reachable(whole, real):
        raise ArgumentError(f"{folder}: {short_repr(name)} lies outside of the folder; fix: put the file itself there")
    return regular_file(path)


def regular_file(path: Path) -> Path:
    """The same path. Raises ArgumentError for what is not a regular file, or does not exist."""
    try:
        exists = path.exists()
    except OSError as error:
        raise ArgumentError(f"{short_repr(str(path))}: no such file: {error.strerror}") from error
    if not exists:
        raise ArgumentError(f"{path}: no such file")
    if not path.is_file():
        raise ArgumentError(f"{path}: it is not a regular file")
    return path


def check_inside(path: Path, name: str, size: int, start: int, length: int) -> None:
    """Raises ArgumentError where bytes `start` to `start + length` of what is called `name` are not all in a file of
    `size` bytes."""
    if start < 0 or length < 0:
        raise ArgumentError(f"{path}: {name} starts at byte {start} and has {length}; {_AGAIN}")
    if start + length > size:
        raise ArgumentError(f"{path}: it is cut short, {name} ends at byte {start + length} of {size}; {_AGAIN}")


def check_disjoint(path: Path, parts: Iterable[tuple[int, int, str]]) -> None:
    """parts: of a file, (start, end, name). Raises ArgumentError for two that have bytes in common."""
    last, whose = 0, ""
    for start, end, name in sorted(parts):
        if start < last and end > start:
            raise ArgumentError(f"{path}: {name} lies over {whose}; fix: write the file again")
        if end > last:
            last, whose = end, name


def read_text(path: Path) -> bytes:
    """The bytes of a file that is a text. Raises ArgumentError for one that is not a regular file, or too long."""
    size = regular_file(path).stat().st_size
    if size > TEXT:
        raise ArgumentError(f"{path}: {size} bytes are more than the {TEXT} that a text may have; {_AGAIN}")
    return path.read_bytes()


def object_of(text: bytes, path: Path) -> dict[str, Any]:
    """A JSON object. Raises ArgumentError for other texts, names that come twice, and lists nested too deep."""

    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        found: dict[str, object] = {}
        for name, value in pairs:
            if name in found:
                raise ArgumentError(f"{path}: {short_repr(name)} comes twice; fix: write the file again")
            found[name] = value
        return found

    try:
        found = json.loads(text.decode(), object_pairs_hook=unique)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise ArgumentError(f"{path}: it is not a JSON object; fix: the file as it was written")
    return found


def _is_reachable(folder: Path, real: Path) -> bool:
    snapshots = (each.parents[1] for each in (folder, *folder.parents) if each.parent.name == "snapshots")
    return real.is_relative_to(folder) or any(real.is_relative_to(each / "blobs") for each in snapshots)
