"""Accesses that compiled code checks, and the error for one outside its buffer."""

from __future__ import annotations

from dataclasses import dataclass

from tir_mlir.dialect.diagnostics.errors import OutOfBoundsError

RECORD = "__tir_outside"
"""The global of a checked program: {site + 1 or 0, index and extent per dimension} of the first access outside."""


@dataclass(frozen=True)
class CheckedSite:
    """An access that is checked: its line, its function and block, whether it writes, its buffer and number of
    dimensions."""

    place: str
    function: str
    block: str
    writes: bool
    buffer: str
    rank: int

    def error(self, index: tuple[int, ...], shape: tuple[int, ...]) -> OutOfBoundsError:
        """The error for an access at `index` of a buffer of `shape`."""
        element = f"{self.buffer}[{', '.join(map(str, index))}]"
        where = f'block "{self.block}"' if self.block else "a statement"
        what = f"{self.function}: {where} {'writes' if self.writes else 'reads'} {element}, outside its shape {shape}"
        error = OutOfBoundsError(f"{what}\n  at {self.place}", self.buffer, index, shape)
        error.function, error.block = self.function, self.block
        path, _, line = self.place.rpartition(":")
        error.place = (path, int(line)) if line.isdigit() else None
        return error
