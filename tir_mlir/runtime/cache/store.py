"""A content-addressed file store for compiled code and kernels.

Safe for concurrent processes: entries are written atomically. A damaged entry, or one of another user, is ignored.
The total size is limited by TIR_CACHE_SIZE (MiB) with least-recently-used eviction.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from tir_mlir.dialect.diagnostics import ToolError, variables
from tir_mlir.extensions import extension_point
from tir_mlir.runtime.tools import files
from tir_mlir.runtime.tools.toolchain import cache_folder

KINDS = (
    *("c", "ll", "code", "cubin", "entry", "intrinsics", "graphs", "imports", "functions", "languages", "contents"),
    "records",
)
"""Folders: C as LLVM IR, LLVM IR as MLIR, compiled programs, kernels as a GPU's driver compiled them, entry.c, calls of
intrinsics that a CPU supports, compiled graphs, imported models, what is found about one function of a graph,
what language models compute,
fingerprints of the contents of files, programs as records of searches schedule them."""
LOCAL = ("contents",)
"""Kinds that say something about this machine only."""
OF_PACKAGE = ("graphs", "imports", "functions", "languages", "records")
"""Kinds whose entries depend on all sources of the package, and not only on those that generate code."""
_SIZE = "TIR_CACHE_SIZE"
_DEFAULT = 512
_MARK = b"tir_mlir"
_STALE = 3600  # seconds after which an unfinished temporary file is removed
_room: dict[tuple[Path, int], tuple[int, int]] = {}
"""Of a folder and a bound, the bytes and the entries that this process stores before it looks for what to evict: the
folder of a busy machine has thousands of entries."""


def digest(*parts: str | bytes) -> str:
    """A hash of the parts, as an entry name."""
    hasher = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        hasher.update(b"%d:" % len(data))
        hasher.update(data)
    return hasher.hexdigest()[:32]


def limit() -> int:
    """The size limit in bytes; 0 if the cache is off."""
    return variables.mebibytes(_SIZE, _DEFAULT, "turns the cache off")


def load(kind: str, name: str) -> bytes | None:
    """The content of an entry; None if it is missing, damaged, or of another user."""
    if not limit():
        return None
    try:
        path = cache_folder() / kind / name
        entry = read(path, kind, name)
        if entry is not None:
            os.utime(path)  # mark as recently used
    except (OSError, ToolError):
        return None
    return None if entry is None else entry[1]


def read(path: Path, kind: str, name: str) -> tuple[str, bytes] | None:
    """Who made an entry, see `fingerprint.maker`, and its content; None if it is damaged, larger than a cache,
    or of another user. Raises OSError, also for what is not a regular file."""
    with files.open_regular(path) as file:
        facts = os.fstat(file.fileno())
        if facts.st_uid not in (os.geteuid(), 0) or facts.st_size > max(limit(), _DEFAULT * 2**20):
            return None
        head, _, data = file.read().partition(b"\n")
    maker = head.rpartition(b" ")[2]
    return (maker.decode(), data) if head == _head(kind, name, maker, data) else None


@extension_point
def maker_of(kind: str) -> str:
    """Who makes entries of a kind, see `fingerprint`, which keeps its own in the store."""
    ...


def save(kind: str, name: str, data: bytes) -> None:
    """Store an entry and evict old ones. Errors of the file system are ignored."""
    if limit():
        put(kind, name, "" if kind in LOCAL else maker_of(kind), data)


def put(kind: str, name: str, maker: str, data: bytes) -> bool:
    """`save` an entry that someone else made. Returns whether it is stored."""
    bound, content = limit(), _head(kind, name, maker.encode(), data) + b"\n" + data
    try:
        path = cache_folder() / kind / name
        try:
            files.replace(path, content)  # atomic: another process sees the old entry or the whole new one
        except FileNotFoundError:
            path.parent.mkdir(parents=True, exist_ok=True)
            files.replace(path, content)
    except (OSError, ToolError):
        return False
    _trim_when_due(bound, len(data))
    return True


def cached_text(kind: str, key: Sequence[str], make: Callable[[], str]) -> str:
    """The cached text for `key`, or the result of `make()`, which is then stored."""
    name = digest(kind, *key)
    data = load(kind, name)
    if data is not None:
        with contextlib.suppress(UnicodeDecodeError):
            return data.decode()
    text = make()
    save(kind, name, text.encode())
    return text


def _trim_when_due(bound: int, size: int) -> None:
    """Trim after the first entry that this process stores, then when half of the room is used up, or after 64."""
    room, count = _room.get((cache_folder(), bound), (0, 0))
    if room > size and count:
        _room[cache_folder(), bound] = room - size, count - 1
    else:
        _room[cache_folder(), bound] = (bound - trim(KINDS, bound, 0.8 * bound)) // 2, 64


def trim(kinds: Iterable[str], bound: int, target: float, keep: str = "") -> int:
    """Where entries of these kinds take more than the bound, remove least recently used ones down to the target, but
    not `keep`; and temporary files that nobody finishes. The bytes that remain."""
    entries: list[tuple[float, int, str]] = []
    for kind in kinds:
        with contextlib.suppress(OSError), os.scandir(Path(cache_folder(), kind)) as listing:
            for file in listing:
                with contextlib.suppress(OSError):
                    stat = file.stat()
                    entries.append((stat.st_mtime, stat.st_size, file.path))
    clock, total = time.time(), sum(size for _, size, _ in entries)
    too_much = total > bound
    for mtime, size, path in sorted(entries):
        name = os.path.basename(path)
        removed = clock - mtime > _STALE if name.startswith("new-") else too_much and total > target and name != keep
        if removed:
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size
    return total


def _head(kind: str, name: str, maker: bytes, data: bytes) -> bytes:
    """The first line of an entry. Its checksum covers the name, so that a renamed file is not accepted."""
    return b" ".join((_MARK, _sum(kind, name, maker + b"\n" + data), maker))


def _sum(kind: str, name: str, data: bytes) -> bytes:
    return hashlib.sha256(f"{kind}/{name}\n".encode() + data).hexdigest().encode()
