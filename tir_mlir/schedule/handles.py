"""Handles: what a schedule gives out for a block, a loop or an integer. A handle is an id, looked up at every use."""

from __future__ import annotations

import itertools
import os
import secrets
from dataclasses import dataclass, field

from .formulas import Operators

INLINE, ROOT = -2, -1  # ids of the loop handles that sample_compute_location gives for "inline it", "leave it"


def _counter() -> itertools.count[int]:
    """Numbers that no other process counts: handles are pickled, and must not be mistaken for others there."""
    return itertools.count(secrets.randbits(44) << 18)


_serials, _owners = _counter(), _counter()


def _fork() -> None:
    global _serials, _owners
    _serials, _owners = _counter(), _counter()


os.register_at_fork(after_in_child=_fork)


def new_serial() -> int:
    """A number that no other handle has, of this process or another."""
    return next(_serials)


def new_owner() -> int:
    """A number that no other schedule has, of this process or another; its copies share it."""
    return next(_owners)


@dataclass(frozen=True)
class Handle:
    """The id of a block, loop or integer of one schedule.

    Two handles are equal when they stand for the same thing; `serial` tells apart the steps that gave them out.
    """

    id: int
    owner: int = field(repr=False)  # which schedule (and its copies) gave it out; -1 in a trace read from text
    serial: int = field(default=-1, compare=False, repr=False)

    word = "handle"
    letter = "h"


@dataclass(frozen=True)
class BlockHandle(Handle):
    """A block (or the root: the function's own body)."""

    word = "block"
    letter = "b"


@dataclass(frozen=True)
class LoopHandle(Handle):
    """A loop."""

    word = "loop"
    letter = "l"

    @property
    def is_mark(self) -> bool:
        """Whether it stands for no loop: `sample_compute_location` chose to inline the block or to leave it."""
        return self.id in (INLINE, ROOT)


@dataclass(frozen=True)
class ExprHandle(Operators, Handle):
    """An integer that a sampling step chose. It goes wherever an integer goes, and so does
    `handle * 4`; `sch.get(handle)` is the integer."""

    word = "integer"
    letter = "v"
