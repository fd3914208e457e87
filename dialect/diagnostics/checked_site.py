"""What compiled code checks: accesses and bindings of iters; and the error for one outside."""

from __future__ import annotations

from dataclasses import dataclass

from tir_mlir.dialect.diagnostics.errors import OutOfBoundsError

RECORD = "__tir_outside"
"""The global of a checked program: {site + 1 or 0, index and extent per dimension} of the first check that fails."""


@dataclass(frozen=True)
class CheckedSite:
    """An access that is checked: its line, its function and block, whether it writes, its buffer and number of
    dimensions. Or the binding of an iter, `buffer`: then the record holds its value, and the end and start of its
    domain.
    """

    location: str
    function: str
    block: str
    writes: bool
    buffer: str
    rank: int
    is_binding: bool = False

    @property
    def text(self) -> str:
        """What is checked, in a few words: `read of A in b`."""
        what = "binding" if self.is_binding else "write" if self.writes else "read"
        return f"{what} of {self.buffer} in {self.block or self.function}"

    def error(self, index: tuple[int, ...], shape: tuple[int, ...]) -> OutOfBoundsError:
        """The error for an access at `index` of a buffer of `shape`; for an iter: (value, start) and (end, end)."""
        where = f'block "{self.block}"' if self.block else "a statement"
        if self.is_binding:
            value, low, high = index[0], index[1], shape[0]
            what = f"{where} binds {self.buffer} = {value}, outside its domain [{low}, {high})"
            index, shape = (value,), (high,)
        else:
            element = f"{self.buffer}[{', '.join(map(str, index))}]"
            what = f"{where} {'writes' if self.writes else 'reads'} {element}, outside its shape {shape}"
        error = OutOfBoundsError(f"{self.function}: {what}\n  at {self.location}", self.buffer, index, shape)
        error.function, error.block = self.function, self.block
        path, _, line = self.location.rpartition(":")
        error.place = (path, int(line)) if line.isdigit() else None
        return error
