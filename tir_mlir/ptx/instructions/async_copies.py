"""`cp.async` of threads, bulk copies, tensor copies, and their groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx.copies import ArriveOn, BulkCopy, ThreadCopies
from tir_mlir.ptx.instructions.mbarriers import groups, shared_address
from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, types_of, words
from tir_mlir.ptx.registers import Lanes, immediate, vector

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Read, Run
    from tir_mlir.ptx.tensors import TensorMap


def _sizes(machine: Machine, ins: PtxInstruction) -> tuple[int, Read | None]:
    """The bytes that a `cp.async` writes, and how many of them it reads (None: all)."""
    size = immediate(ins, ins.operands[2])
    if size not in (4, 8, 16) or ("cg" in ins.parts and size != 16):
        refuse(ins, f"the size {size}")
    optional = ins.operands[3:] if "L2::cache_hint" not in ins.parts else ()
    return size, machine.registers.read(optional[0], "u32", ins) if optional else None


def _copy(machine: Machine, ins: PtxInstruction) -> Run:
    """`cp.async.ca/cg.shared.global [to], [from], size{, bytes read}`."""
    target, source = shared_address(machine, ins, ins.operands[0]), machine.registers.address(ins.operands[1], ins)
    size, length = _sizes(machine, ins)
    pc = machine.position_of(ins)
    shared, memory = machine.spaces["shared"], machine.spaces["global"]
    count_shared, count_global = (machine.report.access(ins, s, size) for s in ("shared", "global"))
    order = machine.copies.order

    def run(on: Lanes) -> None:
        lanes = machine.own[on]
        to, start = target(on), source(on)
        positions = shared.flat(on, to, size, "copies to")
        lengths = np.full(len(lanes), size) if length is None else length(on).astype(np.int64)
        reads = lengths > 0
        read_from = np.zeros(len(lanes), np.int64)
        if reads.any():
            machine.active = lanes[reads]
            read_from[reads] = memory.flat(lanes[reads], start[reads], size, "copies")
            memory.records.read(lanes[reads], read_from[reads], size, pc)
            count_global(lanes[reads], start[reads])
        machine.active = on
        group = machine.copies.open[lanes]
        stamps = order.agent_stamps(lanes, order.copies + order.thread_of[lanes], group + 1, pc)
        shared.records.write(on, positions, size, pc, stamps)
        count_shared(on, to)
        state = {"at": positions, "from": read_from, "taken": lengths}

        def land(ready: np.ndarray) -> None:
            byte = np.arange(size)
            rows = memory.data[np.minimum(state["from"][ready][:, None] + byte, len(memory.data) - 1)]
            shared.data[state["at"][ready][:, None] + byte] = np.where(byte < state["taken"][ready][:, None], rows, 0)
            for name, values in state.items():
                state[name] = values[~ready]

        machine.copies.threads.append(ThreadCopies(lanes, group, land))

    return run


def _commit(machine: Machine, ins: PtxInstruction) -> Run:
    def run(on: Lanes) -> None:
        machine.copies.open[on] += 1

    return run


def _wait(machine: Machine, ins: PtxInstruction) -> Run:
    """`cp.async.wait_group n`: all but the last n groups have landed; `wait_all`: everything."""
    keep = 0 if "wait_all" in ins.parts else immediate(ins, ins.operands[0])
    everything = "wait_all" in ins.parts

    def run(on: Lanes) -> None:
        if everything:
            machine.copies.open[on] += 1
        machine.copies.land_groups(machine.own[on], machine.copies.open[on] - keep)

    return run


def _arrive(machine: Machine, ins: PtxInstruction) -> Run:
    """`cp.async.mbarrier.arrive{.noinc}`: the thread arrives when its copies so far have landed."""
    address = shared_address(machine, ins, ins.operands[0])
    counted = "noinc" in ins.parts

    def run(on: Lanes) -> None:
        machine.copies.open[on] += 1
        where = address(on)
        for lanes, positions in groups(machine, on, where):
            barrier = machine.mbarriers.get(lanes, int(where[positions[0]]))
            if not counted:
                barrier.pending += len(lanes)
            machine.copies.arrivals.append(ArriveOn(lanes, machine.copies.open[lanes], barrier, True))

    return run


# --- bulk copies ---


def _each_lane(machine: Machine, action: Callable[[int], None]) -> Run:
    """An instruction that acts lane by lane."""

    def run(on: Lanes) -> None:
        for lane in machine.own[on].tolist():
            action(lane)

    return run


def _bulk(machine: Machine, ins: PtxInstruction) -> Run:
    if "commit_group" in ins.parts:
        return _each_lane(machine, machine.copies.commit_bulk)
    if "wait_group" in ins.parts:
        keep = immediate(ins, ins.operands[0])
        return _each_lane(machine, lambda lane: machine.copies.wait_bulk(lane, keep))
    if "prefetch" in ins.parts:
        return lambda on: None
    spaces = [p.split("::")[0] for p in ins.parts if p.split("::")[0] in ("shared", "global")]
    if "tensor" in ins.parts:
        return _tensor_in(machine, ins) if spaces[0] == "shared" else _tensor_out(machine, ins)
    return _bulk_in(machine, ins) if spaces[0] == "shared" else _bulk_out(machine, ins)


def _into_shared(
    machine: Machine,
    ins: PtxInstruction,
    lane: np.ndarray,
    mbarrier: int,
    positions: np.ndarray,
    source: np.ndarray,
    in_bounds: np.ndarray,
    unit: int,
) -> None:
    """A copy of elements of `unit` bytes from flat global positions (zeros unless inside) to flat shared ones."""
    copies, order, pc = machine.copies, machine.copies.order, machine.position_of(ins)
    shared, memory = machine.spaces["shared"], machine.spaces["global"]
    barrier = machine.mbarriers.get(lane, mbarrier)
    barrier.issued += 1
    stamp = order.agent_stamps(lane, barrier.column, barrier.issued, pc)
    machine.active = np.repeat(lane, in_bounds.sum())
    if in_bounds.any():
        memory.records.read(machine.active, source[in_bounds], unit, pc)
    first = positions[np.arange(0, len(positions), max(1, 16 // unit))] & -16
    machine.active = np.repeat(lane, len(first))
    shared.records.write(machine.active, first, 16, pc, stamp)
    byte = np.arange(unit)

    def land() -> None:
        rows = memory.data[np.where(in_bounds, source, 0)[:, None] + byte]
        shared.data[positions[:, None] + byte] = np.where(in_bounds[:, None], rows, 0)

    copies.bulk.append(BulkCopy(barrier, len(positions) * unit, land, ins.text, ins.line))


def _tile_of(machine: Machine, lane: Lanes, tensor: TensorMap, at: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """The offsets of a tile in its array, and what is inside. Its rows start at a multiple of 16 bytes: an H200 takes
    another copy for an illegal instruction, with swizzles too."""
    size = tensor.array.itemsize
    if at[0] * size % 16:
        machine.fault(
            f"thread {machine.thread(lane, 0)} copies a tile whose rows start at element {at[0]} of {size} bytes, which"
            " is not a multiple of 16 bytes",
            "alignment", lane, 0,
        )  # fmt: skip
    return tensor.tile(at)


def _check_alignment(machine: Machine, lane: np.ndarray, address: int, unit: int, what: str) -> None:
    if address % unit:
        machine.fault(
            f"thread {machine.thread(lane, 0)} copies {what} {machine.spaces['shared'].where(address)}, which is not "
            f"aligned to {unit} bytes", "alignment", lane, 0,
        )  # fmt: skip


def _tensor_operand(operand: str) -> tuple[str, list[str]]:
    """`[map, {x, y}]` -> the address `[map]` and the coordinates."""
    match = re.match(r"\[\s*([^,\s]+)\s*,\s*(\{.*?\})\s*\]$", operand)
    assert match is not None, operand
    return f"[{match.group(1)}]", vector(match.group(2))


def _map(machine: Machine, lane: np.ndarray, address: int, rank: int) -> tuple[TensorMap, int]:
    entry = machine.tensor_maps.get(address)
    if entry is None:
        machine.fault(
            f"thread {machine.thread(lane, 0)} copies by the tensor map at {address:#x}; the arguments have none there",
            "bounds", lane, 0,
        )  # fmt: skip
    if len(entry[0].box) != rank:
        machine.fault(f"the tensor map has {len(entry[0].box)} dimensions, the copy {rank}", "instruction", lane, 0)
    return entry


def _tensor_in(machine: Machine, ins: PtxInstruction) -> Run:
    """`cp.async.bulk.tensor.2d.shared.global.mbarrier [to], [map, {x, y}], [mbarrier]`."""
    if {"im2col", "gather4", "multicast::cluster"} & set(ins.parts):
        refuse(ins, "this mode")
    target, mbarrier = (shared_address(machine, ins, ins.operands[i]) for i in (0, 2))
    name, names = _tensor_operand(ins.operands[1])
    where = machine.registers.address(name, ins)
    coordinates = [machine.registers.read(c, "s32", ins) for c in names]

    def run(on: Lanes) -> None:
        lanes, to, bars, maps = machine.own[on], target(on), mbarrier(on), where(on)
        indices = [c(on) for c in coordinates]
        for k in range(len(lanes)):
            lane = lanes[k : k + 1]
            tensor, start = _map(machine, lane, int(maps[k]), len(names))
            _check_alignment(machine, lane, int(to[k]), 128, "a tile to")
            offset, in_bounds = _tile_of(machine, lane, tensor, [int(c[k]) for c in indices])
            every = tensor.element_addresses(int(to[k]))
            positions = machine.spaces["shared"].flat(
                np.repeat(lane, len(every)), every, tensor.array.itemsize, "copies to"
            )
            _into_shared(machine, ins, lane, int(bars[k]), positions, start + offset, in_bounds, tensor.array.itemsize)

    return run


def _bulk_in(machine: Machine, ins: PtxInstruction) -> Run:
    """`cp.async.bulk.shared.global.mbarrier [to], [from], bytes, [mbarrier]`."""
    target, mbarrier = (shared_address(machine, ins, ins.operands[i]) for i in (0, 3))
    source = machine.registers.address(ins.operands[1], ins)
    size = machine.registers.read(ins.operands[2], "u32", ins)

    def run(on: Lanes) -> None:
        lanes, to, start, count, bars = machine.own[on], target(on), source(on), size(on), mbarrier(on)
        for k in range(len(lanes)):
            lane, n = lanes[k : k + 1], int(count[k])
            _check_size(machine, lane, n)
            every = np.repeat(lane, n // 16)
            step = np.arange(0, n, 16)
            positions = machine.spaces["shared"].flat(every, int(to[k]) + step, 16, "copies to")
            read = machine.spaces["global"].flat(every, int(start[k]) + step, 16, "copies")
            _into_shared(machine, ins, lane, int(bars[k]), positions, read, np.ones(len(positions), np.bool_), 16)

    return run


def _check_size(machine: Machine, lane: np.ndarray, size: int) -> None:
    if size % 16 or size <= 0:
        machine.fault(f"a bulk copy of {size} bytes: it has to be a multiple of 16", "alignment", lane, 0)


def _combine(ins: PtxInstruction, dtype: np.dtype) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
    """What `cp.reduce` does with old and new bytes; None: the copy replaces them."""
    if ins.parts[1] == "async":
        return None
    functions: dict[str, Callable[..., np.ndarray]] = {"add": np.add, "min": np.minimum, "max": np.maximum}
    function = functions[next(p for p in ins.parts if p in functions)]
    return lambda old, new: function(old.view(dtype), new.view(dtype)).view(np.uint8)


def _out_of_shared(
    machine: Machine,
    ins: PtxInstruction,
    lane: np.ndarray,
    positions: np.ndarray,
    target: np.ndarray,
    in_bounds: np.ndarray,
    dtype: np.dtype,
) -> None:
    """A copy from flat shared positions to flat global ones, which joins the bulk group of the thread."""
    copies, order, pc, unit = machine.copies, machine.copies.order, machine.position_of(ins), dtype.itemsize
    shared, memory = machine.spaces["shared"], machine.spaces["global"]
    byte = np.arange(unit)
    combine = _combine(ins, dtype)

    def land() -> None:
        rows = shared.data[positions[in_bounds][:, None] + byte]
        where = target[in_bounds][:, None] + byte
        memory.data[where] = rows if combine is None else combine(memory.data[where], rows)

    group = copies.issue_bulk(int(lane[0]), land)
    column = order.groups + int(order.thread_of[lane[0]])
    stamp = order.agent_stamps(lane, column, group, pc)
    first = positions[np.arange(0, len(positions), max(1, 16 // unit))] & -16
    machine.active = np.repeat(lane, len(first))
    shared.records.check_visibility(machine.active, first, 16)
    shared.records.read(machine.active, first, 16, pc, stamp)
    machine.active = np.repeat(lane, int(in_bounds.sum()))
    if combine:
        memory.records.change(machine.active, target[in_bounds], unit, pc)
    else:
        memory.records.write(machine.active, target[in_bounds], unit, pc, stamp)


def _tensor_out(machine: Machine, ins: PtxInstruction) -> Run:
    """`cp.async.bulk.tensor.2d.global.shared.bulk_group [map, {x, y}], [from]`."""
    name, names = _tensor_operand(ins.operands[0])
    where, source = machine.registers.address(name, ins), shared_address(machine, ins, ins.operands[1])
    coordinates = [machine.registers.read(c, "s32", ins) for c in names]

    def run(on: Lanes) -> None:
        lanes, start, maps = machine.own[on], source(on), where(on)
        indices = [c(on) for c in coordinates]
        for k in range(len(lanes)):
            lane = lanes[k : k + 1]
            tensor, begin = _map(machine, lane, int(maps[k]), len(names))
            _check_alignment(machine, lane, int(start[k]), 128, "a tile from")
            offset, in_bounds = _tile_of(machine, lane, tensor, [int(c[k]) for c in indices])
            every = tensor.element_addresses(int(start[k]))
            positions = machine.spaces["shared"].flat(
                np.repeat(lane, len(every)), every, tensor.array.itemsize, "copies"
            )
            _out_of_shared(machine, ins, lane, positions, begin + offset, in_bounds, tensor.array.dtype)

    return run


def _bulk_out(machine: Machine, ins: PtxInstruction) -> Run:
    """`cp.async.bulk.global.shared.bulk_group [to], [from], bytes`."""
    target, source = machine.registers.address(ins.operands[0], ins), shared_address(machine, ins, ins.operands[1])
    size = machine.registers.read(ins.operands[2], "u32", ins)
    dtype = machine.dtype(types_of(ins)[-1]) if types_of(ins) else np.dtype((np.void, 16))
    unit = dtype.itemsize

    def run(on: Lanes) -> None:
        lanes, to, start, count = machine.own[on], target(on), source(on), size(on)
        for k in range(len(lanes)):
            lane, n = lanes[k : k + 1], int(count[k])
            _check_size(machine, lane, n)
            step = np.arange(0, n, unit)
            every = np.repeat(lane, len(step))
            positions = machine.spaces["shared"].flat(every, int(start[k]) + step, unit, "copies")
            write = machine.spaces["global"].flat(every, int(to[k]) + step, unit, "copies to")
            _out_of_shared(machine, ins, lane, positions, write, np.ones(len(positions), np.bool_), dtype)

    return run


def _cp(machine: Machine, ins: PtxInstruction) -> Run:
    if "bulk" in ins.parts:
        return _bulk(machine, ins)
    if "mbarrier" in ins.parts:
        return _arrive(machine, ins)
    if "commit_group" in ins.parts:
        return _commit(machine, ins)
    if "wait_group" in ins.parts or "wait_all" in ins.parts:
        return _wait(machine, ins)
    return _copy(machine, ins)


ASYNC_COPY_ROWS = {
    "cp": InstructionRow(
        _cp,
        words(
            "async reduce bulk tensor prefetch 1d 2d 3d 4d 5d tile ca cg shared shared::cta shared::cluster "
            "global mbarrier mbarrier::complete_tx::bytes bulk_group commit_group wait_group wait_all read arrive "
            "noinc add min max L2::cache_hint L2::64B L2::128B L2::256B im2col gather4 multicast::cluster"
        ),
    )
}
