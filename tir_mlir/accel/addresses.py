"""Addresses of the buffers of a program in the memories of its machine: by lifetimes, no two at the same rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import permutations
from math import ceil, prod

from tir_mlir.accel.operands import MemorySpace
from tir_mlir.accel.program import Allocate, For, HostCode, Issue, MachineBuffer, MachineProgram, Node, When
from tir_mlir.dialect.diagnostics import MachineError
from tir_mlir.dialect.ir import dtypes
from tir_mlir.graph.memory.arena import ArenaRequest, place_in_order, plan

_EXACT = 7
"""Of at most so many buffers every order is tried."""


@dataclass(frozen=True)
class PlacedProgram:
    """A program, the first row of each of its buffers, and the instructions between which each is alive, by their
    positions in the text. Its text is a table of the addresses.

    temporaries: of its buffers in the memory of the CPU, the first element among all of their type.
    """

    program: MachineProgram
    rows: dict[MachineBuffer, int]
    lives: dict[MachineBuffer, tuple[int, int]]
    temporaries: dict[MachineBuffer, int] = field(default_factory=dict)

    def temporary_elements(self) -> dict[str, int]:
        """The elements that all temporaries of a type take, by type."""
        ends: dict[str, int] = {}
        for buffer, start in self.temporaries.items():
            ends[buffer.dtype] = max(ends.get(buffer.dtype, 0), start + prod(buffer.shape))
        return ends

    def __str__(self) -> str:
        lines: list[str] = []
        for buffer, row in self.rows.items():
            assert buffer.memory is not None
            share = f"of {buffer.memory.rows}"
            lines.append(f"{buffer.memory.name:8} {row:6} .. {row + buffer.rows - 1:<6} {share:9} {buffer.name}")
        return "\n".join(lines)

    __repr__ = __str__


def place_buffers(program: MachineProgram) -> PlacedProgram:
    """Place the buffers of each memory, the largest first, or in the order in which all fit.

    A buffer is alive from the first to the last statement of its body that uses it, loops included. Errors:
    MachineError for buffers that are alive at once and exceed a memory.
    """
    lives = {b: life for b, life in _lives(program).items() if b.memory is not None}
    rows: dict[MachineBuffer, int] = {}
    for memory in program.machine.spaces.values():
        buffers = [b for b in lives if b.memory is memory]
        for buffer in buffers:
            _check_rows(buffer, memory)
        requests = [ArenaRequest(b.rows, *lives[b]) for b in buffers]
        offsets = _fit(requests, memory)
        if offsets is None:
            raise MachineError(_too_large(program, memory, buffers, lives))
        rows |= dict(zip(buffers, offsets, strict=True))
    return PlacedProgram(program, rows, lives, place_temporaries(program))


def check_clears(placed: PlacedProgram) -> PlacedProgram:
    """The program, in which no buffer is alive in a memory when an instruction loses the contents of that.

    Errors: MachineError with the instruction and the buffer.
    """
    spans: dict[int, tuple[int, int]] = {}
    _number(placed.program.body, 0, spans)
    for issue in [n for n in placed.program.nodes() if isinstance(n, Issue) and n.instruction.clears]:
        at, _ = spans[id(issue)]
        for buffer, (first, last) in placed.lives.items():
            if buffer.memory in issue.instruction.clears and first <= at <= last:
                registers = ", ".join(str(f) for f in issue.instruction.sets)
                raise MachineError(
                    f"{issue.instruction} sets {registers} and loses the contents of memory {_name(buffer)}, where "
                    f"{buffer.name} is alive; fix: instructions that need the same values of {registers} while it is"
                    f"\n  {issue.line}"
                )
    return placed


def _name(buffer: MachineBuffer) -> str:
    """The name of the memory of a buffer."""
    return "of the CPU" if buffer.memory is None else buffer.memory.name


def place_temporaries(program: MachineProgram) -> dict[MachineBuffer, int]:
    """Places of the buffers in the memory of the CPU, those of each type in an array of their own: C has no other way
    to let arrays of several types share memory. One that an instruction uses shares its elements with none, as the
    instruction may use it later than the CPU issues it."""
    lives = _lives(program)
    used_later = {t.buffer for n in program.nodes() if isinstance(n, Issue) for t in n.tiles.values()}
    always = (0, max((last for _, last in lives.values()), default=0))
    places: dict[MachineBuffer, int] = {}
    buffers = [b for b in lives if b.memory is None]
    for dtype in dict.fromkeys(b.dtype for b in buffers):
        own = [b for b in buffers if b.dtype == dtype]
        size = max(1, dtypes.bits(dtype) // 8)
        arena = plan([ArenaRequest(prod(b.shape) * size, *(always if b in used_later else lives[b])) for b in own])
        assert arena.offsets is not None
        places |= {b: arena.offsets[slot] // size for b, slot in zip(own, arena.slots, strict=True)}
    return places


def _fit(requests: Sequence[ArenaRequest], memory: MemorySpace) -> list[int] | None:
    count = len(requests)
    orders: Iterator[Sequence[int]] = iter(
        [
            sorted(range(count), key=lambda i: (-int(requests[i].size), requests[i].first)),
            sorted(range(count), key=lambda i: (requests[i].first, -int(requests[i].size))),
        ]
    )
    for order in orders if count > _EXACT else permutations(next(orders)):
        offsets, end = place_in_order(requests, order, memory.alignment)
        if end <= ceil(memory.rows / memory.alignment) * memory.alignment:
            return offsets
    return None


def _check_rows(buffer: MachineBuffer, memory: MemorySpace) -> None:
    if not any(prod(buffer.shape[at:]) == buffer.width for at in range(len(buffer.shape))):
        row = f"{memory.width} x {memory.dtype}"
        raise MachineError(
            f"buffer {buffer.name} of shape {buffer.shape} and type {buffer.dtype} is not made of rows of {row}, of "
            f"which {memory.name} consists; fix: transform_layout gives it a last dimension of {buffer.width}"
        )


def _lives(program: MachineProgram) -> dict[MachineBuffer, tuple[int, int]]:
    """The first and the last instruction between which each buffer is alive."""
    spans: dict[int, tuple[int, int]] = {}
    _number(program.body, 0, spans)
    lives: dict[MachineBuffer, tuple[int, int]] = {}
    for body in _bodies(program.body):
        for allocate in [n for n in body if isinstance(n, Allocate)]:
            users = [spans[id(n)] for n in body if _uses(n, allocate.buffer)]
            if users:
                lives[allocate.buffer] = (min(first for first, _ in users), max(last for _, last in users))
    return lives


def _number(body: Sequence[Node], at: int, spans: dict[int, tuple[int, int]]) -> int:
    """Number the instructions, and the spans of the loops around them. Returns the next number."""
    for node in body:
        start = at
        at = _number(node.body, at, spans) if isinstance(node, For | When) else at + isinstance(node, Issue | HostCode)
        spans[id(node)] = (start, max(start, at - 1))
    return at


def _bodies(body: Sequence[Node]) -> Iterator[Sequence[Node]]:
    yield body
    for node in body:
        if isinstance(node, For | When):
            yield from _bodies(node.body)


def _uses(node: Node, buffer: MachineBuffer) -> bool:
    if isinstance(node, Issue):
        return any(t.buffer is buffer for t in node.tiles.values())
    if isinstance(node, HostCode):
        return buffer in node.buffers
    return isinstance(node, For | When) and any(_uses(n, buffer) for n in node.body)


def _too_large(
    program: MachineProgram,
    memory: MemorySpace,
    buffers: Sequence[MachineBuffer],
    lives: dict[MachineBuffer, tuple[int, int]],
) -> str:
    """Why buffers do not fit: the largest sum at one instruction, and the way out."""
    busiest = max((lives[b][0] for b in buffers), key=lambda t: sum(b.rows for b in _alive_buffers(buffers, lives, t)))
    alive = sorted(_alive_buffers(buffers, lives, busiest), key=lambda b: -b.rows)
    total, largest = sum(b.rows for b in alive), alive[0]
    parts = ", ".join(f"{b.name} {b.rows}" for b in alive)
    text = f"memory {memory.name} has {memory.rows} rows; {total} are in use at once: {parts}"
    if total <= memory.rows:
        return f"{text}; no order in which they are placed leaves room for all; fix: smaller tiles"
    spare = memory.rows - (total - largest.rows)
    if spare <= 0:
        return f"{text}; fix: smaller tiles, or copies inside of inner loops (compute_at)"
    return (
        f"{text}; fix: {largest.name} of shape {largest.shape} may have {spare}: split its loops by factors "
        f"that are {ceil(largest.rows / spare)} times smaller, or move the copy into an inner loop (compute_at)"
    )


def _alive_buffers(
    buffers: Sequence[MachineBuffer], lives: dict[MachineBuffer, tuple[int, int]], at: int
) -> list[MachineBuffer]:
    return [b for b in buffers if lives[b][0] <= at <= lives[b][1]]
