"""What was made at some cost, kept between runs in files named by what it was made from.

Safe under concurrent processes: an entry appears whole or not at all. One that is damaged, or somebody else's, is not
used and made again. Together the entries stay below TIR_CACHE_SIZE; those not used for the longest time go.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tir_mlir.dialect.diagnostics import BuildError, ToolError
from tir_mlir.runtime.tools.toolchain import cache_folder

KINDS = ("c", "ll", "code", "entry")  # folders: C as LLVM IR, LLVM IR as MLIR, compiled programs, entry.c
_SIZE = "TIR_CACHE_SIZE"
_DEFAULT = 512
_MARK = b"tir_mlir "
_STALE = 3600  # seconds after which a file that was never finished is removed


def digest(*parts: str | bytes) -> str:
    """A name for what these parts determine."""
    found = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        found.update(b"%d:" % len(data))
        found.update(data)
    return found.hexdigest()[:32]


def limit() -> int:
    """Bytes that the entries may take; 0 when nothing is to be kept."""
    given = os.environ.get(_SIZE, "")
    try:
        return int(float(given or _DEFAULT) * 2**20)
    except (ValueError, OverflowError):
        raise BuildError(f"{_SIZE}={given}: a number of MiB is needed; 0 turns the cache off") from None


def load(kind: str, name: str) -> bytes | None:
    """The content of an entry, None when there is none that is whole and ours."""
    if not limit():
        return None
    try:
        path = cache_folder() / kind / name
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_uid not in (os.geteuid(), 0):
                return None
            head, _, data = file.read().partition(b"\n")
        if head != _MARK + _sum(kind, name, data):
            return None
        os.utime(path)  # used now: others go before it
    except (OSError, ToolError):
        return None
    return data


def save(kind: str, name: str, data: bytes) -> None:
    """Keep an entry. A cache that cannot be written is no reason to fail."""
    bound = limit()
    if not bound:
        return
    temporary = None
    try:
        folder = cache_folder() / kind
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=folder, prefix="new-", delete=False) as file:
            temporary = file.name
            file.write(_MARK + _sum(kind, name, data) + b"\n" + data)
        os.replace(temporary, folder / name)  # atomic: another process sees the old entry or the whole new one
    except (OSError, ToolError):
        if temporary is not None:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        return
    _trim(bound)


def cached(kind: str, key: Sequence[str], make: Callable[[], str]) -> str:
    """The text `make()` gives for `key`, from the user's cache when it is there and whole."""
    name = digest(kind, *key)
    data = load(kind, name)
    if data is not None:
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode()
    text = make()
    save(kind, name, text.encode())
    return text


def _trim(bound: int) -> None:
    """Remove what was used longest ago until the rest is clearly below the bound; also what was left unfinished."""
    entries: list[tuple[float, int, str]] = []
    for kind in KINDS:
        with contextlib.suppress(OSError), os.scandir(Path(cache_folder(), kind)) as found:
            for file in found:
                with contextlib.suppress(OSError):
                    stat = file.stat()
                    entries.append((stat.st_mtime, stat.st_size, file.path))
    now, total = time.time(), sum(size for _, size, _ in entries)
    too_much = total > bound
    for used, size, path in sorted(entries):
        unfinished = Path(path).name.startswith("new-") and now - used > _STALE
        if unfinished or (too_much and total > bound * 0.8):
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size


def _sum(kind: str, name: str, data: bytes) -> bytes:
    """The name counts: an entry that was moved to where another one belongs is none."""
    return hashlib.sha256(f"{kind}/{name}\n".encode() + data).hexdigest().encode()
