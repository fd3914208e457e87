"""A database of records: a directory with one file a record, that many processes write and read without locks.

    DATABASE/records/SHAPE CLASS/PROGRAM/GRADE NANOSECONDS.TARGET.VERSIONS.MACHINE.NUMBER.json

File names sort by merit, so the best record is found by listing one directory and reading one file.
"""

from __future__ import annotations

import contextlib
import errno
import math
import os
import time
import uuid
import warnings
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import TuneError, TuneWarning, short_repr
from tir_mlir.extensions import extension_point
from tir_mlir.runtime.tools import files
from tir_mlir.target import AnyTarget
from tir_mlir.tune.records.environment import machine, same_code, target_key, versions
from tir_mlir.tune.records.program_identity import ProgramIdentity, identity
from tir_mlir.tune.records.record import Record, decode, encode

if TYPE_CHECKING:
    from tir_mlir.tune.records.program_identity import Program

_FOLDER = "records"
_LARGEST = 64 << 20  # bytes of a record
_UNFINISHED = "new-"
_ABANDONED = 60  # seconds after which an unfinished file has lost its writer
_VERIFIED, _TIMED, _FAILED = "0", "1", "9"
_FIXES = {
    errno.ENOSPC: "free space on that disk, then go on with the search: records that were added are kept",
    errno.EDQUOT: "free space in the quota, then go on with the search: records that were added are kept",
    errno.EACCES: "choose a directory that this user may write",
    errno.EPERM: "choose a directory that this user may write",
    errno.EROFS: "choose a directory on a disk that can be written",
}


@extension_point
def enter(database: Database) -> None:
    """Make `build` ask a database before those entered already."""
    ...


@extension_point
def leave() -> None:
    """Undo the last `enter`."""
    ...


class Database:
    """The records in a directory, which is created when the first record is added.

    `with Database(path): build(program)` builds the best record of a program, see `tir_mlir.build`; contexts nest, the
    inner one is asked first. threads: default the number of cores; else records of searches with that many.
    """

    def __init__(self, path: str | os.PathLike[str], *, threads: int | None = None):
        if not isinstance(path, (str, os.PathLike)) or not os.fspath(path):
            raise TuneError(f"a database is a directory, not {short_repr(path)}")
        self.path = Path(path)
        if self.path.exists() and not self.path.is_dir():
            raise TuneError(f"{self.path} is a file; fix: a database is a directory, name another path")
        target_key(None, threads)
        self.threads = threads

    # --- writing ------------------------------------------------------------------------------------------------------

    def add(self, record: Record) -> None:
        """Add a record. Other processes see all of it or nothing; when this returns, it is on the disk.

        Raises TuneError for a disk that is full or may not be written, and for a field of a wrong type.
        """
        text = encode(record)
        folder = self._folder(record.shape_class, record.program)
        unfinished = folder / f"{_UNFINISHED}{uuid.uuid4().hex}"
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with open(unfinished, "x", encoding="utf-8") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(unfinished, folder / f"{_merit(record)}.{uuid.uuid4().hex[:12]}.json")
        except OSError as error:
            with contextlib.suppress(OSError):
                unfinished.unlink()
            fix = _FIXES.get(error.errno or 0, "choose another directory")
            raise TuneError(f"a record was not kept in {self.path}: {error.strerror}; fix: {fix}") from None

    # --- reading ------------------------------------------------------------------------------------------------------

    def best(
        self, program: Program, target: AnyTarget | str | None = None, threads: int | None = None
    ) -> Record | None:
        """The best record of a program for a target and this version: verified before unverified, those of this
        machine before others, then the fastest. None without one.

        Names in the program do not matter. Unreadable records are passed over with a TuneWarning.
        """
        return next(self.candidates(identity(program), target, threads), None)

    def candidates(
        self, about: ProgramIdentity, target: AnyTarget | str | None = None, threads: int | None = None
    ) -> Iterator[Record]:
        """The usable records for a target and this version, best first; read one by one."""
        key = target_key(target, threads or self.threads)
        ending = f".{_short_digest(key)}.{_short_versions(versions())}."
        machine_key = _short_digest(machine())
        names = [n for n in self._names(self._folder(about.shape_class, about.program)) if ending in n]
        names.sort(key=lambda name: (name[0], name.split(".")[3] != machine_key, name))
        for name in names:
            if name[0] != _FAILED:
                record = self._read(self._folder(about.shape_class, about.program) / name)
                if record is not None and record.target == key and same_code(record.versions, versions()):
                    yield record

    def count(self, about: ProgramIdentity) -> int:
        """How many records there are of a program, of all targets and versions."""
        return len(self._names(self._folder(about.shape_class, about.program)))

    def records(self, program: Program | None = None, target: AnyTarget | str | None = None) -> list[Record]:
        """All records of a program, or of all programs, the failed ones too, best first; of one target, or of all."""
        if program is None:
            folders = self._subfolders(self.path / _FOLDER, 2)
        else:
            about = identity(program)
            folders = [self._folder(about.shape_class, about.program)]
        matching = [record for folder in folders for record in self._records_in_folder(folder)]
        key = None if target is None else target_key(target, self.threads)
        return sorted((r for r in matching if key in (None, r.target)), key=by_merit)

    def nearest(
        self,
        program: Program,
        target: AnyTarget | str | None = None,
        count: int = 6,
        *,
        threads: int | None = None,
        space: str | None = None,
    ) -> list[Record]:
        """The best records of the same operator at other sizes, for a target, of any version: starts for a search.

            records of gemm 512, 1024, 96  ->  at 1000: [best of 1024, best of 512, best of 96, second of 1024, ...]

        Nearness is the sum of |log2| of the ratios of the extents; no two records have the same decisions. space: only
        those of this space.
        """
        about, key = identity(program), target_key(target, threads or self.threads)
        folders = self._subfolders(self.path / _FOLDER / about.shape_class, 1)
        return choose_records(
            about.sizes, [self._usable(f, key, space) for f in folders if f.name != about.program], count
        )

    def _usable(self, folder: Path, key: str, space: str | None) -> Iterator[Record]:
        """The usable records of a program for a target key, best first."""
        for name in sorted(n for n in self._names(folder) if n.split(".")[1] == _short_digest(key) and n[0] != _FAILED):
            record = self._read(folder / name)
            if record is not None and record.target == key and space in (None, record.space):
                yield record

    def _records_in_folder(self, folder: Path) -> Iterator[Record]:
        for name in self._names(folder, warn=True):
            if (record := self._read(folder / name)) is not None:
                yield record

    def _read(self, path: Path) -> Record | None:
        """The record in a file; None, with a warning, for one that cannot be used."""
        try:
            with files.open_regular(path) as file:
                data = file.read(_LARGEST + 1)
            if len(data) > _LARGEST:
                raise TuneError(f"it is larger than {_LARGEST >> 20} MiB")
            record = decode(data.decode())
            if not path.name.startswith(_merit(record)) or path.parent.name != record.program:
                raise TuneError("its name does not fit its content")
        except (TuneError, OSError, UnicodeDecodeError) as error:
            if isinstance(error, FileNotFoundError):
                return None  # removed meanwhile
            warnings.warn(f"{path}: this record is passed over: {error}", TuneWarning, stacklevel=2)
            return None
        return record

    def _names(self, folder: Path, warn: bool = False) -> list[str]:
        """The files of records in a folder, best first. warn: also of what a process left unfinished."""
        entries = self._list_folder(folder)
        for name in entries if warn else ():
            if name.startswith(_UNFINISHED) and _age(folder / name) > _ABANDONED:
                text = f"{folder / name}: a process ended while it wrote this record, which is lost; remove the file"
                warnings.warn(text, TuneWarning, stacklevel=2)
        return sorted(name for name in entries if name.endswith(".json") and name.count(".") == 5)

    def _subfolders(self, folder: Path, depth: int) -> list[Path]:
        below = [folder / name for name in sorted(self._list_folder(folder))]
        return below if depth == 1 else [inner for parent in below for inner in self._subfolders(parent, depth - 1)]

    def _list_folder(self, folder: Path) -> list[str]:
        try:
            return os.listdir(folder)
        except (FileNotFoundError, NotADirectoryError):
            return []
        except OSError as error:
            raise TuneError(f"{folder} cannot be read: {error.strerror}; fix: choose another database") from None

    def _folder(self, shape_class: str, program: str) -> Path:
        return self.path / _FOLDER / shape_class / program

    # --- building -----------------------------------------------------------------------------------------------------

    def __enter__(self) -> Database:
        if not self._list_folder(self.path / _FOLDER):
            text = f"{self.path} has no records: programs get the library's schedules"
            warnings.warn(text, TuneWarning, stacklevel=2)
        enter(self)
        return self

    def __exit__(self, *_: object) -> None:
        leave()

    def __len__(self) -> int:
        return sum(len(self._names(folder)) for folder in self._subfolders(self.path / _FOLDER, 2))

    def __bool__(self) -> bool:
        return True

    def __repr__(self) -> str:
        return f"Database({str(self.path)!r})"


def _merit(record: Record) -> str:
    """The start of a file name: sorts by merit, names the target, the versions and the machine."""
    grade = (_VERIFIED if record.verified else _TIMED) if record.usable else _FAILED
    nanoseconds = min(round(1e9 * record.time), 10**15) if record.usable else 0
    parts = (
        f"{grade}{nanoseconds:016d}",
        _short_digest(record.target),
        _short_versions(record.versions),
        _short_digest(record.machine),
    )
    return ".".join(parts)


def _short_digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()[:8]


def _short_versions(packages: dict[str, str]) -> str:
    return _short_digest(" ".join(".".join(packages.get(name, "").split(".")[:2]) for name in ("tir_mlir", "llvm")))


def _age(path: Path) -> float:
    try:
        return time.time() - path.stat().st_mtime
    except OSError:
        return 0.0


# --- records of the same operator at other sizes, nearest first: where a search starts --------------------------------


def by_merit(record: Record) -> tuple[bool, bool, float]:
    """The sort key of records: usable, then verified, then the fastest."""
    return not record.usable, not record.verified, record.time


def distance(sizes: Sequence[int], others: Sequence[int]) -> float:
    """The sum of |log2| of the ratios of extents; infinite where their number differs."""
    if len(sizes) != len(others):
        return math.inf
    return sum(abs(math.log2(max(1, a) / max(1, b))) for a, b in zip(sizes, others, strict=True))


def choose_records(sizes: Sequence[int], programs: Iterable[Iterator[Record]], count: int) -> list[Record]:
    """At most `count` records of other programs, no two with the same decisions; each program: its records, best first.

        [a1 a2 a3], [b1 b2], with b nearer to `sizes`  ->  [b1, a1, b2, a2, a3]

    Only what is needed is read of each program.
    """
    heads = [(distance(sizes, first.sizes), first, tail) for tail in programs if (first := next(tail, None))]
    rows = [chain([first], tail) for _, first, tail in sorted(heads, key=lambda head: head[0])]
    records: list[Record] = []
    while rows and len(records) < count:
        for row in list(rows):
            fresh = next((r for r in row if all(r.decisions != record.decisions for record in records)), None)
            if fresh is None:
                rows.remove(row)
            elif len(records) < count:
                records.append(fresh)
    return records
