"""`tvm.contrib.utils`: temporary directories."""

from __future__ import annotations

import os
import tempfile


class TempDirectory:
    """A temporary directory, removed with the object or at the end of a `with`."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tir_mlir-")
        self.path = self._folder.name

    def relpath(self, name: str) -> str:
        """The path of a file in the directory."""
        return os.path.join(self.path, name)

    def listdir(self) -> list[str]:
        """The file names in the directory."""
        return os.listdir(self.path)

    def remove(self) -> None:
        """Delete the directory."""
        self._folder.cleanup()

    def __enter__(self) -> TempDirectory:
        return self

    def __exit__(self, *_: object) -> None:
        self.remove()


def tempdir() -> TempDirectory:
    """Create a temporary directory."""
    return TempDirectory()
