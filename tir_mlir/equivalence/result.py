"""The result of an equivalence check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tir_mlir.equivalence.instrument import Site

Writer = tuple[Site, dict[str, int]] | None


@dataclass(frozen=True)
class Difference:
    """The first difference between two programs, or an invalid access of one."""

    function: str
    sizes: Mapping[str, int]
    text: str
    buffer: str = ""
    index: tuple[int, ...] = ()
    writers: Sequence[Writer] = ()

    def __str__(self) -> str:
        return self.text


@dataclass
class Result:
    """The result of a check; truthy if the programs are equal."""

    difference: Difference | None = None
    runs: int = 0
    functions: int = 0
    data_sets: int = 0
    orders: int = 0
    sizes: list[str] = field(default_factory=list)
    nan_runs: int = 0
    overlapping: bool = False
    seconds: float = 0.0
    domain: str = "of each program, not of machine code, over the field p = 2^61 - 1"
    notes: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        return self.difference is None

    def __bool__(self) -> bool:
        return self.equal

    def __str__(self) -> str:
        head = "equal" if self.equal else f"not equal: {self.difference}"
        what = [
            f"{self.functions} function{'s' * (self.functions != 1)}",
            f"{self.data_sets} data set{'s' * (self.data_sets != 1)}",
            f"{self.orders} order{'s' * (self.orders != 1)}",
            f"{self.runs} run{'s' * (self.runs != 1)} {self.domain}",
        ]
        if self.overlapping:
            what.append("also with overlapping arguments")
        if self.nan_runs:
            what.append("and one in floats with NaN-filled memory")
        sizes = f" at {'; '.join(dict.fromkeys(self.sizes))}" if self.sizes else ""
        lines = [head, f"checked{sizes}: {', '.join(what)}, {self.seconds:.2f} s", *self.notes]
        return "\n".join(lines)

    __repr__ = __str__


def written_by(word: str, writer: Writer, calls: bool = False) -> str:
    """The last writer of an element, as text; `calls`: what is in a function that is called is not known."""
    if writer is None:
        return f"{word}: {'written by a call, or never' if calls else 'never written'}"
    site, values = writer
    iteration = ", ".join(f"{n} = {v}" for n, v in values.items())
    return f"{word}: last written in {site.location}" + (f" at {iteration}" if iteration else "")
