"""Handles to blocks, loops and sampled integers: ids that the schedule resolves on every use."""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeGuard, TypeVar
from weakref import WeakValueDictionary

from tir_mlir.dialect.diagnostics import HandleError, short_repr
from tir_mlir.dialect.index_maps import IndexMap
from tir_mlir.dialect.symbolic import Formula, Sampled

T = TypeVar("T")
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
    """An executor, which knows the handles that it created: names of blocks and loops, values of sampled integers."""

    def describe(self, handle: Handle) -> str: ...

    def name(self, handle: Handle) -> str: ...

    def integer(self, handle: ExprHandle) -> int: ...


_owners: MutableMapping[tuple[int, int], Owner] = WeakValueDictionary()  # by (owner, serial): copies share the owner


def register(number: int, owner: Owner) -> None:
    """Register the executor of a schedule, or of a copy, for the repr and the values of its handles."""
    _owners[number, new_serial()] = owner


def _owners_of(handle: Handle) -> list[Owner]:
    """The schedule of a handle and its copies, the oldest first."""
    owners = [_owners.get(key) for key in sorted(key for key in list(_owners) if key[0] == handle.owner)]
    return [owner for owner in owners if owner is not None]


@dataclass(frozen=True, repr=False, eq=False)
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
        owners = _owners_of(self)
        return owners[0].describe(self) if owners else f"{self.word.capitalize()} {self.id} (its schedule is gone)"

    def _ask(self, question: Callable[[Owner], T]) -> T:
        """The answer of the schedule, or of a copy that knows the handle. Errors: HandleError."""
        why = "its schedule is gone, or it comes from the text of a trace"
        for owner in _owners_of(self):
            try:
                return question(owner)
            except (HandleError, IndexError) as error:
                why = str(error)
        raise HandleError(f"nothing is known of this {self.word}: {why}", fix="use the handle that the step returned")

    @property
    def key(self) -> tuple[int, int]:
        """What identifies the object behind the handle: a key of dictionaries."""
        return self.id, self.owner


@dataclass(frozen=True, repr=False, eq=False)
class OpHandle(Handle):
    """Handle of a block or loop. It equals its own name, as functions that take blocks accept either; comparing it with
    a number is an error, as it would always be false.
    """

    def __eq__(self, rhs: object) -> bool:
        if isinstance(rhs, str):
            return self._ask(lambda owner: owner.name(self)) == rhs
        if isinstance(rhs, (int, float)):
            raise TypeError(f"a {self.word} is compared with {short_repr(rhs)}; compare a property of sch.get(handle)")
        return isinstance(rhs, Handle) and type(self) is type(rhs) and self.key == rhs.key

    def __hash__(self) -> int:
        return hash(self.key)


@dataclass(frozen=True, repr=False, eq=False)
class BlockHandle(OpHandle):
    """Handle of a block, or of the root block, which is the function body."""

    word = "block"
    letter = "b"


@dataclass(frozen=True, repr=False, eq=False)
class LoopHandle(OpHandle):
    """Handle of a loop."""

    word = "loop"
    letter = "l"

    @property
    def is_mark(self) -> bool:
        """Whether it is not a loop: `sample_compute_location` chose to inline the block or to leave it in place."""
        return self.id in (INLINE, ROOT)


@dataclass(frozen=True, repr=False, eq=False)
class ExprHandle(Sampled, Handle):
    """Handle of a sampled integer. It and expressions of it (`handle * 4`) are accepted wherever an integer is;
    `sch.get(handle)` returns its value. Comparisons (`handle == 8`) and `bool(handle)` are those of its value."""

    word = "integer"
    letter = "v"

    def known_value(self) -> int:
        """The value, as known to its schedule or a copy. Errors: HandleError."""
        return self._ask(lambda owner: owner.integer(self))

    def __eq__(self, rhs: object) -> Any:
        same = isinstance(rhs, ExprHandle) and self.key == rhs.key
        return same or Sampled.__eq__(self, rhs)

    def __ne__(self, rhs: object) -> Any:
        equal = self == rhs
        return equal if equal is NotImplemented else not equal

    __hash__ = Sampled.__hash__


def is_list(value: object) -> TypeGuard[list[object] | tuple[object, ...]]:
    """Whether an argument or a result is a list or a tuple."""
    return isinstance(value, (list, tuple))


def is_dict(value: object) -> TypeGuard[dict[object, object]]:
    """Whether an argument is a dictionary."""
    return isinstance(value, dict)


def is_other(value: object, *kinds: type) -> bool:
    """Whether a user passed what is of none of these types, whatever the annotation says."""
    return not isinstance(value, kinds)


def handles_in(value: object) -> Iterator[Handle]:
    """The handles in a value, including those in lists, dictionaries and formulas."""
    if isinstance(value, Handle):
        yield value
    elif is_list(value):
        for item in value:
            yield from handles_in(item)
    elif isinstance(value, (Formula, IndexMap)):
        for side in value.sides():
            yield from handles_in(side)
    elif is_dict(value):
        for item in value.values():
            yield from handles_in(item)
