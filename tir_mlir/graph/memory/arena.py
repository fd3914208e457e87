"""Where the buffers of a graph lie in one arena: placed by lifetimes, aligned to cache lines.

Sizes known: offsets are numbers, found greedily, largest buffer first. A symbolic size: buffers share slots whose sizes
and offsets are expressions of the sizes, so that a program computes them in each call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tir_mlir.dialect.calls import first_fit
from tir_mlir.graph import size_code
from tir_mlir.graph.size_code import Size

LINE = 64
"""Bytes that offsets are multiples of: a cache line, and the widest vector."""
GUESS = 256
"""What a symbolic size is taken for, to decide which buffers share a slot; any value gives a correct plan."""


@dataclass(frozen=True)
class ArenaRequest:
    """A buffer: its bytes, and the numbers of the first and the last call that use it."""

    size: Size
    first: int
    last: int

    def meets(self, request: ArenaRequest) -> bool:
        """Whether two buffers are alive in one call."""
        return self.first <= request.last and request.first <= self.last


@dataclass(frozen=True)
class Arena:
    """A plan: `slots[i]` is where request i lies, `members[s]` are the sizes of the requests in slot s.

    offsets: of the slots, if all sizes are numbers.
    """

    requests: tuple[ArenaRequest, ...]
    slots: tuple[int, ...]
    members: tuple[tuple[Size, ...], ...]
    offsets: tuple[int, ...] | None
    total: int = 0

    def layout(self, size_values: Mapping[str, int]) -> tuple[list[int], int]:
        """The offsets of the slots, and the bytes of the arena, where the sizes have these values."""
        if self.offsets is not None:
            return list(self.offsets), self.total
        offsets, end = [], 0
        for sizes in self.members:
            offsets.append(end)
            end += max(_align_up(size_code.value(size, size_values)) for size in sizes)
        return offsets, end

    @property
    def guess(self) -> int:
        """Its bytes, where symbolic sizes are what they are taken for."""
        guesses = {s: GUESS for sizes in self.members for size in sizes for s in size_code.symbols(size)}
        return self.layout(guesses)[1]

    @property
    def unshared_bytes(self) -> int:
        """The bytes that all buffers would take side by side, for sizes known."""
        return sum(_align_up(r.size) for r in self.requests if isinstance(r.size, int))


def plan(requests: Sequence[ArenaRequest]) -> Arena:
    """Place buffers such that no two that are alive in the same call overlap."""
    if all(isinstance(r.size, int) for r in requests):
        orders = [
            sorted(range(len(requests)), key=lambda i: (-_bytes(requests[i]), requests[i].first)),
            sorted(range(len(requests)), key=lambda i: (requests[i].first, -_bytes(requests[i]))),
        ]
        offsets, total = min((place_in_order(requests, order) for order in orders), key=lambda placement: placement[1])
        slot_ids = tuple(range(len(requests)))
        return Arena(tuple(requests), slot_ids, tuple((r.size,) for r in requests), tuple(offsets), total)
    slots, members = _shared_slots(requests)
    return Arena(tuple(requests), tuple(slots), tuple(tuple(dict.fromkeys(m)) for m in members), None)


def _bytes(request: ArenaRequest) -> int:
    guesses = dict.fromkeys(size_code.symbols(request.size), GUESS)
    return size_code.value(request.size, guesses)


def _align_up(size: int, alignment: int = LINE) -> int:
    return -(-size // alignment) * alignment


def place_in_order(
    requests: Sequence[ArenaRequest], order: Sequence[int], alignment: int = LINE
) -> tuple[list[int], int]:
    """Each buffer, in order, at the lowest offset where it overlaps none that lives at the same time; and the end."""
    sizes = [_align_up(_bytes(request), alignment) for request in requests]
    return first_fit(sizes, [alignment] * len(sizes), lambda i, j: requests[i].meets(requests[j]), order)


def _shared_slots(requests: Sequence[ArenaRequest]) -> tuple[list[int], list[list[Size]]]:
    """Each buffer, in order of its first call, in the free slot whose size is nearest, or in a new one."""
    slots = [0] * len(requests)
    members: list[list[Size]] = []
    ends: list[int] = []
    widths: list[int] = []
    for i in sorted(range(len(requests)), key=lambda i: (requests[i].first, -_bytes(requests[i]))):
        size = _bytes(requests[i])
        free = [s for s, end in enumerate(ends) if end < requests[i].first]
        if free:
            slot = min(free, key=lambda s: (abs(widths[s] - size), s))
        else:
            slot = len(ends)
            members.append([])
            ends.append(-1)
            widths.append(0)
        slots[i] = slot
        members[slot].append(requests[i].size)
        ends[slot] = requests[i].last
        widths[slot] = max(widths[slot], size)
    return slots, members
