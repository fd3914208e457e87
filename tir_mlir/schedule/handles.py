"""Handles: what a schedule gives out for a block or loop. A handle is an id, looked up at every use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Handle:
    """The id of a block or loop of one schedule."""

    id: int
    owner: int  # which schedule (and its copies) gave it out

    word = "handle"


@dataclass(frozen=True)
class BlockHandle(Handle):
    """A block (or the root: the function's own body)."""

    word = "block"


@dataclass(frozen=True)
class LoopHandle(Handle):
    """A loop."""

    word = "loop"


@dataclass(frozen=True)
class LoopInfo:
    """What `Schedule.get(loop)` tells: the loop as it is now. `extent` is None when symbolic."""

    name: str
    extent: int | None
    kind: str
    annotations: dict[str, Any]


@dataclass(frozen=True)
class BlockInfo:
    """What `Schedule.get(block)` tells: the block as it is now."""

    name: str
    iters: list[tuple[str, str]]
    reads: list[str]
    writes: list[str]
    annotations: dict[str, Any]
