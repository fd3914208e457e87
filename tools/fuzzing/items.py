"""Items: the pair or input number i of a seed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random

from fuzzing.kinds import Kind
from fuzzing.tape import Part

PAIR, INPUT = "pair", "input"


@dataclass(frozen=True)
class Item:
    """An item: its name as `--only` takes it ("pair:7"), its kind, its seed.

    `play`: the numbers to make it of in place of those of the seed; `journal`: a file that gets the numbers as drawn;
    `told`: with its story also when it is fine.
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
    """What came of an item. `verdict`: fine, wrong (an error or a Fault), aborted, hung."""

    item: Item
    verdict: str
    word: str = ""
    text: str = ""
    counts: Counter[tuple[str, str]] = field(default_factory=Counter)
    played: Sequence[Part] = ()
    rss: int = 0
    """MiB that its worker holds."""


def item(what: str, number: int, seed: int, kinds: Mapping[str, Kind]) -> Item:
    """Item `number` of a seed; of the kinds of its sort ("pair", "input: ...") by their weights."""
    own = {name: k for name, k in kinds.items() if name.partition(":")[0] == what}
    text = f"{seed}/{what}/{number}"
    kind = Random(text + "/kind").choices(list(own), [k.weight for k in own.values()])[0]
    return Item(f"{what}:{number}", kind, text)
