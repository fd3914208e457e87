"""`tvm.contrib.utils`: a folder that goes away with its object."""

from __future__ import annotations

import os
import tempfile
from typing import Any


class TempDirectory:
    """A folder for scratch files, removed when the object is, or at the end of a `with`."""

    def __init__(self) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="tir_mlir-")
        self.path = self._folder.name

    def relpath(self, name: str) -> str:
        """The path of a file in the folder."""
        return os.path.join(self.path, name)

    def listdir(self) -> list[str]:
        """The names in the folder."""
        return os.listdir(self.path)

    def remove(self) -> None:
        """Delete the folder now."""
        self._folder.cleanup()

    def __enter__(self) -> TempDirectory:
        return self

    def __exit__(self, *_: Any) -> None:
        self.remove()


def tempdir() -> TempDirectory:
    """A new folder for scratch files."""
    return TempDirectory()
