"""Fingerprint of the installed package, Python and LLVM, for the keys of cached code."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from collections.abc import Iterator

from tir_mlir import sources
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.llvm import llvm_c

FORMAT = "1"


# sources that affect generated code, relative to the package
SOURCES = (
    *("build.py", "gpu_build.py", "moved.py", "on_demand.py", "sources.py"),
    *("code_units", "dialect", "intrin", "passes/lower", "passes/module_pass.py", "runtime", "target"),
)


def sources_changed() -> bool:
    """Whether the package was edited since it was imported; code generated now must not be cached."""
    return _sources() != _AT_START


@functools.cache
def installation() -> str:
    """The fingerprint of this package, Python, LLVM and islpy."""
    parts = [sys.version, sys.prefix, sys.base_prefix, llvm_c.identity(), _AT_START]
    spec = importlib.util.find_spec("islpy")
    if spec is not None and spec.origin:
        parts.append(stamp(spec.origin) + stamp(os.path.dirname(spec.origin)))
    return "\n".join(parts)


def _sources() -> str:
    return "\n".join(sorted(stamp for source in SOURCES for stamp in _stamps(sources.path(source))))


@functools.cache
def package() -> str:
    """The sources of the whole package when first asked."""
    return _package_stamps()


def package_unchanged() -> bool:
    """Whether no source of this package changed since `package` was first asked; else what is made is not kept."""
    return package() == _package_stamps()


def _package_stamps() -> str:
    """Path, size and time of every file of the package, byte code aside. Raises BuildError."""
    try:
        return "\n".join(sorted(stamp for folder in sources.FOLDERS for stamp in _stamps(folder)))
    except OSError as error:
        raise BuildError(f"the sources of tir_mlir cannot be read: {error}") from error


def _stamps(path: str) -> Iterator[str]:
    """Path, size and mtime of all source files under a path; cheaper than hashing their content."""
    if not os.path.isdir(path):
        yield path + stamp(path)
        return
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir():
                if entry.name != "__pycache__":
                    yield from _stamps(entry.path)
            else:
                stat = entry.stat()
                yield f"{entry.path} {stat.st_size} {stat.st_mtime_ns}"


def stamp(path: str) -> str:
    try:
        stat = os.stat(path)
    except OSError:
        return ""  # a library name that the loader resolves
    return f"{stat.st_size} {stat.st_mtime_ns}"


_AT_START = _sources()
