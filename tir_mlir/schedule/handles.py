"""Handles to blocks, loops and sampled integers: ids that the schedule resolves on every use."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import MutableMapping
from dataclasses import dataclass, field
from typing import Protocol
from weakref import WeakValueDictionary

from tir_mlir.dialect.index_maps import Operators

INLINE, ROOT = -2, -1  # ids of the loop handles for the special locations of sample_compute_location


def _counter() -> itertools.count[int]:
    """Numbers unique across processes, as handles can be pickled."""
    return itertools.count(secrets.randbits(44) << 18)


_serials, _numbers = _counter(), _counter()


def _fork() -> None:
    global _serials, _numbers
    _serials, _numbers = _counter(), _counter()


os.register_at_fork(after_in_child=_fork)


def new_serial() -> int:
    """A serial number for a handle, unique across processes."""
    return next(_serials)


def new_owner() -> int:
    """A number for a schedule and its copies, unique across processes."""
    return next(_numbers)


class Owner(Protocol):
    """An executor, which describes the handles that it created."""

    def describe(self, handle: Handle) -> str: ...


_owners: MutableMapping[tuple[int, int], Owner] = WeakValueDictionary()  # by (owner, serial): copies share the owner


def register(number: int, owner: Owner) -> None:
    """Register the executor of a schedule, or of a copy, for the repr of its handles."""
    _owners[number, new_serial()] = owner


@dataclass(frozen=True, repr=False)
class Handle:
    """The id of a block, loop or integer of one schedule.

    Handles with equal ids are equal; `serial` distinguishes the steps that returned them. The repr describes the op in
    the schedule (the oldest, if there are copies), or how the handle was invalidated:

        Loop 'i_0' (0..8, parallel) of main
        Loop (dead: step 3, split(loop=i, factors=[None, 16]), consumed loop i and returned loop i_0, loop i_1)
    """

    id: int
    owner: int = field(repr=False)  # the schedule (shared by its copies); -1 in a trace read from text
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
    """Handle of a block, or of the root block, which is the function body."""

    word = "block"
    letter = "b"


@dataclass(frozen=True, repr=False)
class LoopHandle(Handle):
    """Handle of a loop."""

    word = "loop"
    letter = "l"

    @property
    def is_mark(self) -> bool:
        """Whether it is not a loop: `sample_compute_location` chose to inline the block or to leave it in place."""
        return self.id in (INLINE, ROOT)


@dataclass(frozen=True, repr=False)
class ExprHandle(Operators, Handle):
    """Handle of a sampled integer. It and expressions of it (`handle * 4`) are accepted wherever an integer is;
    `sch.get(handle)` returns its value."""

    word = "integer"
    letter = "v"
