"""Run items through the pool; print and shrink failures."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import replace

from rich.console import Console
from rich.progress import Progress

from fuzzing.items import Item, Outcome
from fuzzing.kinds import Kind
from fuzzing.pool import Pool
from fuzzing.report import Tally
from fuzzing.shrink import shrunk

MOST = 12
"""Maximum failures to shrink, one of each sort."""
QUIET = 60
"""Seconds between progress lines without a terminal."""


class Run:
    """Settings of a run. `limit`: seconds per item; `shrink`: seconds to shrink a failure; `options`: of the command,
    that repeat a failure."""

    def __init__(self, kinds: Mapping[str, Kind], jobs: int, limit: float, shrink: float, seed: int, options: str = ""):
        self.kinds, self.jobs, self.limit, self.shrink, self.seed = kinds, jobs, limit, shrink, seed
        self.options = options
        self.console = Console(stderr=True)

    def all(self, items: Iterable[Item], count: int) -> Tally:
        """Run items; after an interrupt, report the items finished so far."""
        tally, said = Tally(), time.monotonic()
        with Progress(console=self.console, disable=not self.console.is_terminal, transient=True) as progress:
            task = progress.add_task("", total=count)
            try:
                with Pool(self.kinds, self.jobs, self.limit) as pool:
                    for outcome in pool.run(items):
                        tally.add(outcome)
                        progress.update(task, advance=1, description=tally.line)
                        if progress.disable and time.monotonic() - said > QUIET:
                            said = time.monotonic()
                            self.say(tally.line)
                        if outcome.verdict != "fine":
                            self.say(f"{outcome.item.name} {outcome.verdict}: {outcome.word}")
                self.smaller(tally)
            except KeyboardInterrupt:
                self.say("interrupted")
        for failure in tally.failures:
            self.tell(failure)
        return tally

    def smaller(self, tally: Tally) -> None:
        """Replace the first failure of each sort by its smallest reproducer."""
        first: dict[tuple[str, str, str], int] = {}
        for number, failure in enumerate(tally.failures):
            first.setdefault((failure.item.kind, failure.verdict, failure.word), number)
        for number in list(first.values())[: MOST if self.shrink else 0]:
            failure = tally.failures[number]
            self.say(f"making {failure.item.name} smaller")
            limit = self.limit if failure.verdict != "hung" else min(self.limit, self.shrink / 6)
            tally.failures[number] = shrunk(failure, self.kinds, limit, self.shrink)

    def tell(self, failure: Outcome) -> None:
        print(f"\n--- {failure.item.name} ({failure.item.kind}) {failure.verdict}: {failure.word}")
        print(f"    python tools/fuzz.py --seed {self.seed} --only {failure.item.name}{self.options}")
        print(failure.text.rstrip())

    def only(self, item: Item) -> int:
        """Run one item in its own process and print its story."""
        with Pool(self.kinds, 1, self.limit) as pool:
            (outcome,) = pool.run([replace(item, told=True)])
        print(outcome.text.rstrip())
        for (what, of), count in sorted(outcome.counts.items()):
            print(f"{what} {of}: {count}")
        print(f"{item.name} ({item.kind}) {outcome.verdict}: {outcome.word}")
        return int(outcome.verdict != "fine")

    def say(self, text: str) -> None:
        """Print to the terminal only, not to the report."""
        sys.stdout.flush()
        self.console.print(text, markup=False, highlight=False)
