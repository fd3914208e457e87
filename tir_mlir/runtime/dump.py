"""The module after each stage and pass of a build, as files: `00-input.mlir`, `01-NAME.mlir`, ..."""

from __future__ import annotations

import fcntl
import itertools
import os
import re
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from types import TracebackType

from mlir import ir

from tir_mlir.dialect.diagnostics import BuildError, short_repr, variables

VARIABLE = "TIR_DUMP"
"""The environment variable with a folder in which each build has one of its own."""
_STATE = re.compile(r"\d{2,}-.*\.(mlir|txt)")
_BUILDS = itertools.count(1)


class Dump:
    """The states of one build in a folder; those of an earlier build there are removed.

    As a context it writes an error of the build to `NN-error.txt`, behind the last state. A folder is of one build at
    a time, in all threads and processes. Raises BuildError for a folder that is in use or cannot be written.
    """

    def __init__(self, folder: Path):
        self._folder, self._count = folder, 0
        with self._explain_errors():
            folder.mkdir(parents=True, exist_ok=True)
            self._lock = os.open(folder, os.O_RDONLY)
        try:
            with self._explain_errors():
                fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                for path in folder.iterdir():
                    if _STATE.fullmatch(path.name):
                        path.unlink()
        except BuildError:
            os.close(self._lock)
            raise

    def __enter__(self) -> Dump:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        try:
            if error is not None:
                with suppress(BuildError):  # it may be what the error is of
                    self._write("error.txt", f"{type(error).__name__}: {error}\n")
        finally:
            os.close(self._lock)

    def write(self, name: str, module: ir.Module) -> None:
        """Write the state after a stage or pass, without its options, with the next number."""
        self._write(f"{name.partition('{')[0]}.mlir", str(module))

    def part(self, name: str) -> Dump:
        """That of a build within this one, in a folder below."""
        return Dump(self._folder / name)

    def _write(self, name: str, text: str) -> None:
        with self._explain_errors():
            Path(self._folder, f"{self._count:02}-{name}").write_text(text)
        self._count += 1

    @contextmanager
    def _explain_errors(self) -> Iterator[None]:
        try:
            yield
        except BlockingIOError:
            problem = f"dump: another build writes its states to {self._folder}"
            raise BuildError(f"{problem}; fix: a folder for each build") from None
        except OSError as error:
            raise BuildError(f"dump: {self._folder} cannot be written: {error.strerror or error}") from None


def open_dump(dump: str | Path | Dump | None, name: str) -> AbstractContextManager[Dump | None]:
    """The dump of a build of `name`: to a folder, else to one of its own below that of the environment, else None. One
    that is open already remains open. Raises BuildError."""
    if isinstance(dump, Dump):
        return nullcontext(dump)
    if dump is not None and not (isinstance(dump, (str, Path)) and str(dump)):
        raise BuildError(f"dump is the path of a folder, not {short_repr(dump)}")
    if dump is not None:
        return Dump(Path(dump))
    if parent := variables.text(VARIABLE):
        return Dump(Path(parent, f"{name}-{os.getpid()}-{next(_BUILDS)}"))
    return nullcontext()
