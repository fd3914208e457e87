"""Instructions of a warp: `shfl`, `vote`, `match`, `redux`, `activemask`, `elect`, `bar.warp.sync`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx.instructions.control import apply_guard
from tir_mlir.ptx.instructions.rows import InstructionRow, types_of, words
from tir_mlir.ptx.registers import Lanes

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Read, Run

WARP = 32
Whole = Callable[[np.ndarray, np.ndarray], object]
"""(lanes of whole warps as [warp, 32], which of them take part) -> None."""


def collective(machine: Machine, ins: PtxInstruction, run: Whole, mask: str | None, size: int = WARP) -> Run:
    """An instruction that waits until all lanes of its mask (all of the warp or warpgroup without one) have come."""
    member = None if mask is None else machine.registers.read(mask, "u32", ins)

    def control(on: Lanes, position: int) -> None:
        lanes = machine.own[on]
        groups = np.unique(lanes // size)
        come = np.zeros(machine.lanes, np.bool_)
        come[lanes] = True
        waiting = machine.parked.get(position)
        if waiting is not None:
            come[waiting] = True
            groups = np.unique(np.concatenate([groups, waiting // size]))
        rows = groups[:, None] * size + np.arange(size)
        present = come[rows]
        members = machine.tid[rows] < machine.threads
        if member is not None:
            members &= _masks(machine, ins, member, rows, present)
        ready = (present | ~members).all(1)
        if ready.any():
            chosen = rows[ready]
            machine.active = chosen[members[ready]]
            run(chosen, members[ready])
            machine.parked.pop(position, None)
            machine.push(position + 1, machine.compact_lanes(chosen[members[ready]]))
        still_waiting = rows[~ready][present[~ready]]
        machine.parked.pop(position, None)
        if len(still_waiting):
            machine.park(position, still_waiting)

    return apply_guard(machine, ins, control)


def _masks(machine: Machine, ins: PtxInstruction, member: Read, rows: np.ndarray, present: np.ndarray) -> np.ndarray:
    """Which lanes of each warp the member mask names; all who come have to name the same ones, and themselves."""
    masks = member(rows.ravel()).reshape(rows.shape)
    first = masks[np.arange(len(rows)), present.argmax(1)]
    named = (first[:, None] >> np.arange(WARP, dtype=np.uint32)) & np.uint32(1) == 1
    bad = present & ((masks != first[:, None]) | ~named)
    if bad.any():
        lane = rows[bad][:1]
        text = f"thread {machine.thread(lane, 0)} has a mask that does not name it, or another one than its warp"
        machine.fault(text, "barrier", lane, 0)
    return named


def _shfl(machine: Machine, ins: PtxInstruction) -> Run:
    """`shfl.sync.mode d|p, a, b, c, mask`: the value of another lane of the segment."""
    first, _, second = ins.operands[0].partition("|")
    registers = machine.registers
    put = registers.write(first, "b32", ins)
    put_valid = registers.write(second, "pred", ins) if second else None
    a, b, c = (registers.read(o, "b32", ins) for o in ins.operands[1:4])
    mode = next(p for p in ins.parts if p in ("up", "down", "bfly", "idx"))

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        flat = rows.ravel()
        lane = np.arange(WARP)[None]
        value, delta, clamp = (g(flat).reshape(rows.shape) for g in (a, b, c))
        segment, clamp = (clamp.astype(np.int64) >> 8) & 31, clamp.astype(np.int64) & 31
        delta = (delta & np.uint32(31)).astype(np.int64)
        low = lane & segment
        top = low | (clamp & ~segment)
        source, valid = _source(mode, lane, delta, segment, top)
        source = np.where(valid, source, lane)
        active = members & valid & ~np.take_along_axis(members, source, 1)
        if active.any():
            k = rows[active][:1]
            partner = machine.thread(rows[np.nonzero(active)[0][:1], source[active][:1]], 0)
            machine.fault(
                f"thread {machine.thread(k, 0)} reads of {partner}, which does not take part", "barrier", k, 0
            )
        result = np.take_along_axis(value, source, 1)
        put(rows[members], result[members])
        if put_valid:
            put_valid(rows[members], valid[members])

    return collective(machine, ins, run, ins.operands[4])


def _source(
    mode: str, lane: np.ndarray, delta: np.ndarray, segment: np.ndarray, top: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The lane that each lane reads, and whether it is inside of the segment."""
    low = lane & segment
    if mode == "up":
        source = lane - delta
        return source, source >= top
    if mode == "down":
        source = lane + delta
    elif mode == "bfly":
        source = lane ^ delta
    else:
        source = low | (delta & ~segment)
    return source, source <= top


def _vote(machine: Machine, ins: PtxInstruction) -> Run:
    """`vote.sync.all/any/uni/ballot`: of a predicate over the lanes of the mask."""
    mode = next(p for p in ins.parts if p in ("all", "any", "uni", "ballot"))
    registers = machine.registers
    put = registers.write(ins.operands[0], "b32" if mode == "ballot" else "pred", ins)
    get = registers.read(ins.operands[1], "pred", ins)

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        value = get(rows.ravel()).reshape(rows.shape)
        every, some = np.all(value | ~members, 1), np.any(value & members, 1)
        if mode == "ballot":
            bits = ((value & members).astype(np.uint64) << np.arange(WARP, dtype=np.uint64)).sum(1).astype(np.uint32)
        else:
            bits = {"all": every, "any": some, "uni": every | ~some}[mode]
        put(rows[members], np.repeat(bits, WARP).reshape(rows.shape)[members])

    return collective(machine, ins, run, ins.operands[2])


def _match(machine: Machine, ins: PtxInstruction) -> Run:
    """`match.any/all.sync d|p, a, mask`: the lanes with the same value."""
    first, _, second = ins.operands[0].partition("|")
    registers = machine.registers
    put = registers.write(first, "b32", ins)
    put_all = registers.write(second, "pred", ins) if second else None
    get = registers.read(ins.operands[1], types_of(ins)[-1], ins)

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        value = get(rows.ravel()).reshape(rows.shape)
        equal = (value[:, :, None] == value[:, None, :]) & members[:, None, :]
        bits = (equal.astype(np.uint64) << np.arange(WARP, dtype=np.uint64)).sum(2).astype(np.uint32)
        if "all" in ins.parts:
            alike = equal.sum(2) == members.sum(1)[:, None]
            bits = np.where(alike, bits, np.uint32(0))
            if put_all:
                put_all(rows[members], alike[members])
        put(rows[members], bits[members])

    return collective(machine, ins, run, ins.operands[2])


_REDUCE: dict[str, np.ufunc] = {
    "add": np.add, "min": np.minimum, "max": np.maximum,
    "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
}  # fmt: skip


def _redux(machine: Machine, ins: PtxInstruction) -> Run:
    """`redux.sync.op.type d, a, mask`: one value of all lanes of the mask."""
    name = next(p for p in ins.parts if p in _REDUCE)
    operation, type_ = _REDUCE[name], types_of(ins)[-1]
    put, get = machine.registers.write(ins.operands[0], type_, ins), machine.registers.read(ins.operands[1], type_, ins)

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        value = get(rows.ravel()).reshape(rows.shape)
        for row, some, lanes in zip(value, members, rows, strict=False):
            total = operation.reduce(row[some], dtype=row.dtype)
            put(lanes[some], total)

    return collective(machine, ins, run, ins.operands[2])


def _elect(machine: Machine, ins: PtxInstruction) -> Run:
    """`elect.sync d|p, mask`: the predicate holds for the first lane of the mask."""
    first, _, second = ins.operands[0].partition("|")
    put, leader = machine.registers.write(first, "b32", ins), machine.registers.write(second, "pred", ins)

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        chosen = members.argmax(1)
        put(rows[members], np.repeat(chosen[:, None].astype(np.uint32), WARP, 1)[members])
        leader(rows[members], (np.arange(WARP)[None] == chosen[:, None])[members])

    return collective(machine, ins, run, ins.operands[1])


def _activemask(machine: Machine, ins: PtxInstruction) -> Run:
    put = machine.registers.write(ins.operands[0], "b32", ins)

    def run(on: Lanes) -> None:
        lanes = machine.own[on]
        bits = np.zeros(machine.lanes // WARP, np.uint32)
        np.bitwise_or.at(bits, lanes // WARP, np.uint32(1) << (lanes % WARP).astype(np.uint32))
        put(on, bits[lanes // WARP])

    return run


WARP_ROWS = {
    "shfl": InstructionRow(_shfl, words("sync up down bfly idx"), words("b32"), control=True),
    "vote": InstructionRow(_vote, words("sync all any uni ballot"), words("pred b32"), control=True),
    "match": InstructionRow(_match, words("sync any all"), words("b32 b64"), control=True),
    "redux": InstructionRow(_redux, words("sync add min max and or xor"), words("u32 s32 b32"), control=True),
    "elect": InstructionRow(_elect, words("sync"), control=True),
    "activemask": InstructionRow(_activemask, frozenset(), words("b32")),
}
