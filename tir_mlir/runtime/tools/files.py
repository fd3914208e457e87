"""Atomic writing of files, and temporary files; errors of the file system become ToolErrors."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

from tir_mlir.dialect.diagnostics import BuildError, ToolError

_PREFIX = "tir_mlir-"


def write_whole(contents: Mapping[Path, bytes | Iterable[bytes | memoryview]]) -> None:
    """Write files atomically; existing files stay until all new ones are written. A large one is given in pieces.

    Raises ToolError if a folder or file cannot be created; nothing is changed then.
    """
    written: dict[Path, Path] = {}
    try:
        for path, data in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_name(f".{path.name}.{os.getpid()}")
            written[new] = path
            with new.open("wb") as file:
                file.writelines([data] if isinstance(data, bytes) else data)
            if path.suffix == ".so":
                new.chmod(0o755)
        for new, path in written.items():
            new.replace(path)
    except OSError as error:
        names = ", ".join(map(str, contents))
        raise ToolError(f"{names}: cannot be written: {error.strerror or error}; existing files are kept") from error
    finally:
        for new in written:
            with contextlib.suppress(OSError):
                new.unlink()


def folder() -> tempfile.TemporaryDirectory[str]:
    """A temporary folder. Raises ToolError."""
    with _explained():
        return tempfile.TemporaryDirectory(prefix=_PREFIX)


@contextlib.contextmanager
def holding(data: bytes, suffix: str) -> Iterator[str]:
    """The path of a temporary file with this content. Raises ToolError."""
    with contextlib.ExitStack() as stack:
        with _explained():
            file = stack.enter_context(tempfile.NamedTemporaryFile(prefix=_PREFIX, suffix=suffix))
            file.write(data)
            file.flush()
        yield file.name


@contextlib.contextmanager
def _explained() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise ToolError(
            f"cannot create a temporary file: {error.strerror or error}; free disk space, or set TMPDIR to a "
            "writable folder"
        ) from error


def text_of(path: str) -> str | None:
    """The text of a file; None if it does not exist. Raises BuildError if it is not text."""
    if not os.path.isfile(path):  # Path.is_file raises for names that are too long
        return None
    try:
        return Path(path).read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise BuildError(f"{path} cannot be read as text: {error}") from None
