"""Handles: what a schedule gives out for a block, a loop or an integer. A handle is an id, looked up at every use."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakValueDictionary

from tir_mlir.dialect.index_maps import Operators

INLINE, ROOT = -2, -1  # ids of the loop handles that sample_compute_location gives for "inline it", "leave it"


def _counter() -> itertools.count[int]:
    """Numbers that no other process counts: handles are pickled, and must not be mistaken for others there."""
    return itertools.count(secrets.randbits(44) << 18)


_serials, _numbers = _counter(), _counter()


def _fork() -> None:
    global _serials, _numbers
    _serials, _numbers = _counter(), _counter()


os.register_at_fork(after_in_child=_fork)


def new_serial() -> int:
    """A number that no other handle has, of this process or another."""
    return next(_serials)


def new_owner() -> int:
    """A number that no other schedule has, of this process or another; its copies share it."""
    return next(_numbers)


class Owner(Protocol):
    """What gives out handles and knows what each stands for."""

    def describe(self, handle: Handle) -> str: ...


_owners: MutableMapping[tuple[int, int], Owner] = WeakValueDictionary()  # by owner and age: copies share the owner


def register(number: int, owner: Owner) -> None:
    """Let handles with this owner ask a schedule, or a copy of it, what they stand for."""
    _owners[number, new_serial()] = owner


@dataclass(frozen=True, repr=False)
class Handle:
    """The id of a block, loop or integer of one schedule.

    Two handles are equal when they stand for the same thing; `serial` tells apart the steps that gave them out. Its
    repr says what it stands for now in that schedule (of copies, in the oldest), or what became of it:

        Loop 'i_0' (0..8, parallel) of main
        Loop (dead: step 3, split(loop=i, factors=[None, 16]), consumed loop i, which left loop i_0, loop i_1)
    """

    id: int
    owner: int = field(repr=False)  # which schedule (and its copies) gave it out; -1 in a trace read from text
    serial: int = field(default=-1, compare=False, repr=False)

    word = "handle"
    letter = "h"

    def __repr__(self) -> str:
        oldest = min((key for key in list(_owners) if key[0] == self.owner), default=None)
        owner = None if oldest is None else _owners.get(oldest)
        if owner is None:
            return f"{self.word.capitalize()} {self.id} (its schedule is gone)"
        return owner.describe(self)


@dataclass(frozen=True, repr=False)
class BlockHandle(Handle):
    """A block (or the root: the function's own body)."""

    word = "block"
    letter = "b"


@dataclass(frozen=True, repr=False)
class LoopHandle(Handle):
    """A loop."""

    word = "loop"
    letter = "l"

    @property
    def is_mark(self) -> bool:
        """Whether it stands for no loop: `sample_compute_location` chose to inline the block or to leave it."""
        return self.id in (INLINE, ROOT)


@dataclass(frozen=True, repr=False)
class ExprHandle(Operators, Handle):
    """An integer that a sampling step chose. It goes wherever an integer goes, and so does
    `handle * 4`; `sch.get(handle)` is the integer."""

    word = "integer"
    letter = "v"
