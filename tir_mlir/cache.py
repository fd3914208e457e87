"""The cache of compiled code as a folder that is shipped: built on one machine, found by every machine like it.

tir_mlir.cache.export("cache-of-my-model")   # where the model was built
tir_mlir.cache.load("cache-of-my-model")     # where it is to start fast
"""

from __future__ import annotations

import os
import shutil
import warnings
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tir_mlir.dialect.diagnostics import BuildError, BuildWarning, ToolError
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.tools.toolchain import cache_folder

OTHER_CPU = "made for another kind of CPU"
OTHER_VERSION = "made by other versions of tir_mlir, LLVM, islpy or Python"
DAMAGED = "damaged, cut short, or of another user"
NOT_STORED = "not stored: the folder of the cache cannot be written, or is full"


@dataclass(frozen=True)
class Transfer:
    """What `export` or `load` did.

    entries: that are now in the folder or in the cache.
    size: their bytes.
    passed_over: of the others, how many for which reason.
    """

    entries: int = 0
    size: int = 0
    passed_over: dict[str, int] = field(default_factory=dict)

    def __str__(self) -> str:
        others = "; ".join(f"{count} passed over: {reason}" for reason, count in sorted(self.passed_over.items()))
        return f"{self.entries} entries, {self.size / 2**20:.1f} MiB" + (f"; {others}" if others else "")


def export(path: str | Path) -> Transfer:
    """Copy to a folder all entries of the cache that this installation made on this kind of CPU; it is made if it is
    not there, and keeps what it has.

    Errors: BuildError if the cache is turned off or the folder cannot be written.
    """
    _require_cache()
    entries, reasons = _select_entries(cache_folder())
    size = 0
    try:
        for file in entries:
            target = Path(path, file.parent.name, file.name)
            target.parent.mkdir(parents=True, exist_ok=True)
            new = target.with_name(f"new-{os.getpid()}-{target.name}")
            shutil.copyfile(file, new)
            new.replace(target)
            size += target.stat().st_size
    except OSError as error:
        raise BuildError(f"{path}: the cache cannot be exported there: {error.strerror or error}") from error
    return Transfer(len(entries), size, dict(reasons))


def load(path: str | Path) -> Transfer:
    """Add the entries of an exported folder to the cache. Those that do not fit this installation and CPU, and those
    that are damaged, are passed over, with a BuildWarning that tells how many and why.

    Entries are machine code that builds run: load folders only of whom you would run a program. Errors: BuildError if
    the cache is turned off, if the folder has no entries, or if it is larger than the cache may be.
    """
    _require_cache()
    if not any(Path(path, kind).is_dir() for kind in store.KINDS):
        raise BuildError(f"{path}: no folder that tir_mlir.cache.export wrote")
    entries, reasons = _select_entries(Path(path))
    needed = sum(file.stat().st_size for file in entries)
    if needed > store.limit():
        mib = needed / 2**20
        fix = f"TIR_CACHE_SIZE={2 * mib:.0f}"
        raise BuildError(f"{path}: its entries take {mib:.0f} MiB, more than the cache may have; fix: {fix}")
    stored = size = 0
    for file in entries:
        kind, name = file.parent.name, file.name
        entry = store.read(file, kind, name)
        if entry is not None and store.put(kind, name, *entry):
            stored, size = stored + 1, size + file.stat().st_size
        else:
            reasons[NOT_STORED] += 1
    done = Transfer(stored, size, dict(reasons))
    if reasons:
        warnings.warn(f"{path}: {done}", BuildWarning, stacklevel=2)
    return done


def _require_cache() -> None:
    if not store.limit():
        raise BuildError("the cache is turned off: TIR_CACHE_SIZE=0; fix: unset it")


def _select_entries(folder: Path) -> tuple[list[Path], Counter[str]]:
    """The entries of a folder that fit this installation and CPU, and of the others, how many for which reason."""
    fitting, reasons = [], Counter[str]()
    for file in _entries(folder):
        versions, _, cpu = fingerprint.maker(file.parent.name).partition(".")
        entry = _read(file)
        of_versions, _, of_cpu = ("", "", "") if entry is None else entry[0].partition(".")
        if entry is None:
            reasons[DAMAGED] += 1
        elif of_versions != versions:
            reasons[OTHER_VERSION] += 1
        elif of_cpu != cpu:
            reasons[OTHER_CPU] += 1
        else:
            fitting.append(file)
    return fitting, reasons


def _entries(folder: Path) -> Iterator[Path]:
    """The files of entries, those that are being written left out."""
    for kind in store.KINDS:
        if kind not in store.LOCAL and (folder / kind).is_dir():
            yield from sorted(file for file in (folder / kind).iterdir() if not file.name.startswith("new-"))


def _read(file: Path) -> tuple[str, bytes] | None:
    try:
        return store.read(file, file.parent.name, file.name)
    except (OSError, ToolError):
        return None
