"""A random generator that records its numbers in named parts, for editing and replay.

Draws the same numbers as `random.Random` for the same seed. On replay, an exhausted part yields the lowest value: the
first of a choice, and 0.999... for a float in [0, 1), so that rare events do not happen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

LAST = 1 - 2**-53


@dataclass
class Part:
    """The numbers drawn in one part: integers below a bound, or floats in [0, 1)."""

    name: str
    drawn: list[int | float] = field(default_factory=list)

    def trimmed(self) -> Part:
        """Return the part without its trailing lowest numbers, which replay yields anyway."""
        end = len(self.drawn)
        while end and self.drawn[end - 1] in (0, LAST):
            end -= 1
        return Part(self.name, self.drawn[:end])


def parts(random: Random, name: str, count: int) -> Iterator[int]:
    """Iterate `count` times, each iteration drawing a part of its own (a stage, a step). On replay, iterate over the
    recorded parts of this name."""
    if not isinstance(random, Tape):
        yield from range(count)
        return
    for number in range(random.count(name, count)):
        random.enter(name)
        try:
            yield number
        finally:
            random.leave()


class Tape(Random):
    """Replays parts, or records those drawn from a seed. `noted`: the recorded parts; `journal`: a file that gets each
    number as it is drawn, and outlives the process."""

    def __new__(cls, *_: object, **__: object) -> Tape:
        return super().__new__(cls)  # Python 3.10 seeds from one argument here, and takes no others

    def __init__(self, seed: int | str = 0, play: Sequence[Part] | None = None, journal: str = ""):
        super().__init__()  # before the attributes: it seeds
        self._journal = open(journal, "w", buffering=1) if journal else None  # noqa: SIM115  open as long as the tape
        self._source = Random(seed)
        self._play = None if play is None else [Part(p.name, list(p.drawn)) for p in play]
        self.noted: list[Part] = []
        self._open: list[tuple[int, Iterator[int | float]]] = []  # the number of a part, the values left to replay
        self.enter("start")

    def count(self, name: str, drawn: int) -> int:
        return drawn if self._play is None else sum(p.name == name for p in self._play)

    def enter(self, name: str) -> None:
        self._write(f"part {name}")
        self._open.append((len(self.noted), iter(self._next(name))))
        self.noted.append(Part(name))

    def _next(self, name: str) -> list[int | float]:
        """Return the first part of a name that has not been replayed."""
        for number, part in enumerate(self._play or []):
            if part.name == name:
                assert self._play is not None
                return self._play.pop(number).drawn
        return []

    def leave(self) -> None:
        self._open.pop()

    # --- the primitives on which Random is built ----------------------------------------------------------------------

    def _randbelow(self, n: int) -> int:
        return self._integer(n, lambda: self._source.randrange(n))

    def getrandbits(self, k: int) -> int:
        return self._integer(1 << k, lambda: self._source.getrandbits(k))

    def random(self) -> float:
        value = self._source.random() if self._play is None else float(next(self._open[-1][1], LAST))
        return float(self._note(value if 0 <= value < 1 else LAST))

    def _integer(self, below: int, draw: Callable[[], int]) -> int:
        value = draw() if self._play is None else min(int(next(self._open[-1][1], 0)), below - 1)
        return int(self._note(value))

    def _note(self, value: int | float) -> int | float:
        part = self._open[-1][0]
        self.noted[part].drawn.append(value)
        self._write(f"{part} {value!r}")
        return value

    def _write(self, line: str) -> None:
        if self._journal:
            self._journal.write(line + "\n")


def read(journal: str) -> list[Part]:
    """Read the parts from a journal."""
    found: list[Part] = []
    for line in Path(journal).read_text().splitlines():
        word, _, value = line.partition(" ")
        if word == "part":
            found.append(Part(value))
        else:
            found[int(word)].drawn.append(int(value) if value.isdigit() else float(value))
    return found
