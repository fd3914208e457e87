"""The stages of a search: each block alone, the others fixed at their best, then all together."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tir_mlir.tune.search.suggestions import SpaceChoice

TOGETHER = 0.25
"""The part of the trials that all blocks have together."""
LEAST = 2
"""Trials of a block that takes next to no time."""


@dataclass(frozen=True)
class SearchStage:
    """The search looks for the decisions that start with `prefix`, until so many trials are under way or done."""

    prefix: str
    until: int


def stages(choices: Sequence[SpaceChoice], work: Callable[[str], float], trials: int, first: int) -> list[SearchStage]:
    """The stages of a search: blocks in the order of their work, which is what they have trials by.

        C.rows C.depth D.rows, 64 trials, 4 first  ->  C until 43, D until 49, all until 64

    choices: those of the defaults, named after blocks: `C.rows`. work: of a block. first: trials that are known before.
    With the decisions of a single block there is one stage.
    """
    blocks = list(dict.fromkeys(prefix_of(c.name) for c in choices if c.count > 1))
    together = [SearchStage("", trials)]
    alone = int((trials - first) * (1 - TOGETHER))
    if len(blocks) < 2 or "" in blocks or alone < LEAST * len(blocks):
        return together
    amounts = {block: max(work(block[:-1]), 0.0) for block in blocks}
    total = sum(amounts.values()) or 1.0
    spread = alone - LEAST * len(blocks)
    separate, until = [], float(first)
    for block in sorted(blocks, key=lambda b: -amounts[b]):
        until += LEAST + spread * amounts[block] / total
        separate.append(SearchStage(block, round(until)))
    return separate + together


def prefix_of(name: str) -> str:
    """The start of the names of the decisions of a block: `C.` of `C.rows`; "" of a name without a block."""
    block, dot, _ = name.partition(".")
    return block + dot if dot else ""
