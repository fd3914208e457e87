"""Items: pair, graph, torch, code, kernel or input number i of a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from fuzzing.kinds import Kind
from fuzzing.tape import Part

PAIR, GRAPH, TORCH, CODE, KERNEL, INPUT = "pair", "graph", "torch", "code", "kernel", "input"


@dataclass(frozen=True)
class Item:
    """An item: its name as given to `--only` ("pair:7"), its kind, its seed.

    `play`: recorded random numbers to replay instead of the seed; `journal`: a file for the numbers as drawn; `told`:
    keep the story even if the item is fine.
    """

    name: str
    kind: str
    seed: str
    play: Sequence[Part] | None = None
    journal: str = ""
    told: bool = False

    @property
    def what(self) -> str:
        return self.name.partition(":")[0]


@dataclass
class Outcome:
    """The outcome of an item. `verdict`: fine, wrong (an error or a Fault), aborted, hung."""

    item: Item
    verdict: str
    word: str = ""
    text: str = ""
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    played: Sequence[Part] = ()
    rss: int = 0
    """Memory of its worker, in MiB."""


def item(what: str, number: int, seed: int, kinds: Mapping[str, Kind]) -> Item:
    """Return item `number` of a seed, of a kind of its sort ("pair", "input: ...") drawn by weight."""
    own = {name: k for name, k in kinds.items() if name.partition(":")[0] == what}
    text = f"{seed}/{what}/{number}"
    kind = Random(text + "/kind").choices(list(own), [k.weight for k in own.values()])[0]
    return Item(f"{what}:{number}", kind, text)
