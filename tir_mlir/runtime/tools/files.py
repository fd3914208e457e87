"""Files of folders that others may write too, atomic writing, and temporary files.

`open_regular` and `create` open the files of the cache and of databases: a link, a pipe or a device that somebody put
there is neither followed nor waited for.
"""

from __future__ import annotations

import contextlib
import errno
import grp
import os
import pwd
import stat
import tempfile
import uuid
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from tir_mlir.dialect.diagnostics import BuildError, ToolError

_PREFIX = "tir_mlir-"


def open_regular(path: str | os.PathLike[str]) -> BinaryIO:
    """A regular file, to read. Raises OSError, also for a link, a pipe, a device or a folder."""
    number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)  # a pipe would be waited for
    if not stat.S_ISREG(os.fstat(number).st_mode):
        os.close(number)
        raise OSError(errno.EINVAL, "not a regular file", os.fspath(path))
    return os.fdopen(number, "rb")


def create(path: str | os.PathLike[str], mode: int = 0o600) -> BinaryIO:
    """A new file, to write and read, by default of this user alone. Raises OSError, also if the name is taken, by a
    link as well."""
    flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(path, flags, mode), "w+b")


def replace(path: Path, data: bytes) -> None:
    """Write a file atomically; what had the name, a link or a file, is replaced and not written to. Raises OSError."""
    new = path.with_name(f"new-{uuid.uuid4().hex}")
    try:
        with create(new) as file:
            file.write(data)
        os.replace(new, path)
    except OSError:
        with contextlib.suppress(OSError):
            new.unlink()
        raise


def other_writers(folder: str | os.PathLike[str]) -> str:
    """Who may write to a folder, besides this user and root, in words; "" if nobody. Raises OSError.

    A group that has the name of its only member, as many systems give each user one, is that user.
    """
    facts = os.stat(folder)
    if facts.st_uid not in (os.geteuid(), 0):
        return f"the user {facts.st_uid}, whom it belongs to,"
    if facts.st_mode & stat.S_IWOTH:
        return "every user"
    return f"the group {facts.st_gid}" if facts.st_mode & stat.S_IWGRP and not _is_own_group(facts.st_gid) else ""


def _is_own_group(number: int) -> bool:
    try:
        user, group = pwd.getpwuid(os.geteuid()).pw_name, grp.getgrgid(number)
    except KeyError:
        return False
    return group.gr_name == user and set(group.gr_mem) <= {user}


def write_whole(contents: Mapping[Path, bytes | Iterable[bytes | memoryview]]) -> None:
    """Write files atomically; existing files remain until all new ones are written. A large one is given in pieces.

    Raises ToolError if a folder or file cannot be created; nothing is changed then.
    """
    written: dict[Path, Path] = {}
    try:
        for path, data in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            new = path.with_name(f".{path.name}.{uuid.uuid4().hex[:8]}")
            written[new] = path
            with create(new, 0o666) as file:
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
    with _explain_errors():
        return tempfile.TemporaryDirectory(prefix=_PREFIX)


@contextlib.contextmanager
def temporary_file(data: bytes, suffix: str) -> Iterator[str]:
    """The path of a temporary file with this content. Raises ToolError."""
    with contextlib.ExitStack() as stack:
        with _explain_errors():
            file = stack.enter_context(tempfile.NamedTemporaryFile(prefix=_PREFIX, suffix=suffix))
            file.write(data)
            file.flush()
        yield file.name


@contextlib.contextmanager
def _explain_errors() -> Iterator[None]:
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
