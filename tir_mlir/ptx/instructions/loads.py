"""`ld`, `st`: parameters, and the memories with their checks; `atom`, `red`: changes lane by lane, in their order."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

from tir_mlir.ptx import floats
from tir_mlir.ptx.instructions.integers import unsigned_bits
from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, types_of, words
from tir_mlir.ptx.memory import WINDOWS, load, store
from tir_mlir.ptx.registers import Lanes, vector
from tir_mlir.ptx.types import size_of

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.memory import Space
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Run


_SPACES = {"global": "global", "const": "global", "shared": "shared", "shared::cta": "shared", "local": "local"}
_CACHE = words(
    "ca cg cs lu cv wb wt nc weak relaxed acquire release volatile cta cluster gpu sys v2 v4 v8 param param::entry "
    "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::64B L2::128B L2::256B "
    "L2::cache_hint L2::evict_first L2::evict_last"
) | frozenset(_SPACES)


def space_of(ins: PtxInstruction) -> str | None:
    """The memory that an instruction names; None: a generic address."""
    return next((_SPACES[p] for p in ins.parts[1:] if p in _SPACES), None)


def _ld(machine: Machine, ins: PtxInstruction) -> Run:
    type_ = types_of(ins)[-1]
    outs = vector(ins.operands[0])
    if "param" in ins.parts or "param::entry" in ins.parts:
        return _parameter(machine, ins, type_, outs)
    space = space_of(ins)
    if space is None:
        return dispatch_by_window(
            machine, ins, lambda s: load(machine, ins, s, type_, outs, ins.operands[1]), ins.operands[1]
        )
    return load(machine, ins, machine.spaces[space], type_, outs, ins.operands[1])


def _st(machine: Machine, ins: PtxInstruction) -> Run:
    type_ = types_of(ins)[-1]
    values = vector(ins.operands[1])
    space = space_of(ins)
    if space is None:
        return dispatch_by_window(
            machine, ins, lambda s: store(machine, ins, s, type_, ins.operands[0], values), ins.operands[0]
        )
    return store(machine, ins, machine.spaces[space], type_, ins.operands[0], values)


def _parameter(machine: Machine, ins: PtxInstruction, type_: str, outs: list[str]) -> Run:
    """`ld.param`: the same value for all lanes if the address is a symbol."""
    size, dtype = size_of(type_), machine.dtype(type_)
    read = machine.registers.address(ins.operands[1], ins)
    puts = [machine.registers.write(o, type_, ins) for o in outs]
    memory = np.frombuffer(machine.parameters, np.uint8)

    def run(on: Lanes) -> None:
        addresses = read(on) - WINDOWS["param"]
        if (addresses < 0).any() or (addresses + size * len(outs) > len(memory)).any():
            machine.fault(f"thread {machine.thread(on, 0)} reads outside of the parameters", "bounds", on, 0)
        for k, put in enumerate(puts):
            first = int(addresses[0]) + k * size
            if (addresses == addresses[0]).all():
                put(on, memory[first : first + size].view(dtype)[0])
            else:
                rows = memory[addresses[:, None] + np.arange(k * size, k * size + size)]
                put(on, rows.view(dtype)[:, 0])

    return run


def dispatch_by_window(machine: Machine, ins: PtxInstruction, compile_: Callable[[Memory], Run], address: str) -> Run:
    """An access by generic addresses: each lane's memory is the window that its address lies in."""
    read = machine.registers.address(address, ins)
    if "[" not in address:
        refuse(ins, "the address")
    runs = {name: compile_(GenericMemory(machine.spaces[name], name)) for name in ("global", "shared", "local")}

    def run(on: Lanes) -> None:
        addresses = read(on)
        shared = (addresses >= WINDOWS["shared"]) & (addresses < WINDOWS["local"])
        local = (addresses >= WINDOWS["local"]) & (addresses < WINDOWS["param"])
        for name, mask in (("global", ~shared & ~local), ("shared", shared), ("local", local)):
            lanes = machine.select_lanes(on, mask)
            if lanes is not None:
                machine.active = lanes
                runs[name](lanes)

    return run


class GenericMemory:
    """A memory whose addresses are generic ones."""

    def __init__(self, space: Space, name: str):
        self.space, self.name = space, space.name
        self.data, self.shadow = space.data, space.shadow
        self.window = 0 if name == "global" else WINDOWS[name]

    def flat(self, lanes: Lanes, address: np.ndarray, size: int, verb: str, needed: int = 0) -> np.ndarray:
        return self.space.flat(lanes, address - self.window, size, verb, needed)


Memory: TypeAlias = "Space | GenericMemory"

LOAD_ROWS = {"ld": InstructionRow(_ld, _CACHE), "ldu": InstructionRow(_ld, _CACHE), "st": InstructionRow(_st, _CACHE)}


def _increase(old: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Wraps to 0 after `most`."""
    return np.where(old >= most, old.dtype.type(0), old + old.dtype.type(1))


def _decrease(old: np.ndarray, most: np.ndarray) -> np.ndarray:
    """Wraps to `most` below 0."""
    return np.where((old == 0) | (old > most), most, old - old.dtype.type(1))


_CHANGES: dict[str, Callable[..., np.ndarray]] = {
    "add": np.add, "min": np.fmin, "max": np.fmax, "and": np.bitwise_and, "or": np.bitwise_or, "xor": np.bitwise_xor,
    "exch": lambda old, new: new, "inc": _increase, "dec": _decrease,
    "cas": lambda old, expected, new: np.where(unsigned_bits(old) == unsigned_bits(expected), new, old),
}  # fmt: skip


def _function(ins: PtxInstruction, name: str, type_: str) -> Callable[..., np.ndarray]:
    """The new value from the old one and the operands, as arrays of elements."""
    change = _CHANGES[name]
    if type_ in ("f16x2", "bf16x2"):
        part = np.float16 if type_ == "f16x2" else np.uint16
        inner = _function(ins, name, type_[:-2])
        return lambda old, new: inner(old.view(part), new.view(part)).view(np.uint32)
    if type_ == "bf16":
        return lambda old, new: floats.to_bf16(change(floats.from_bf16(old), floats.from_bf16(new)))
    return change


def _atomic(machine: Machine, ins: PtxInstruction) -> Run:
    name = next(p for p in ins.parts[1:] if p in _CHANGES)
    type_ = types_of(ins)[-1]
    returns = ins.parts[0] == "atom"
    address = ins.operands[1 if returns else 0]
    space = space_of(ins)
    if "v2" in ins.parts or "v4" in ins.parts:
        refuse(ins, "the vector")

    def compile_(memory: Memory) -> Run:
        return _change(machine, ins, memory, _function(ins, name, type_), type_, address, returns)

    if space is None:
        return dispatch_by_window(machine, ins, compile_, address)
    return compile_(machine.spaces[space])


def _change(
    machine: Machine,
    ins: PtxInstruction,
    space: Memory,
    function: Callable[..., np.ndarray],
    type_: str,
    address: str,
    returns: bool,
) -> Callable[[Lanes], None]:
    dtype = machine.dtype(type_)
    read = machine.registers.address(address, ins)
    put = machine.registers.write(vector(ins.operands[0])[0], type_, ins) if returns else None
    gets = [
        machine.registers.read(o, type_, ins) for o in ins.operands[2 if returns else 1 :] if not o.startswith("%cc")
    ]
    data = space.data[: len(space.data) // dtype.itemsize * dtype.itemsize].view(dtype)
    pc, shadow = machine.position_of(ins), space.shadow
    count_access = machine.report.access(ins, space.name, dtype.itemsize)

    def run(on: Lanes) -> None:
        where = read(on)
        positions = space.flat(on, where, dtype.itemsize, "changes")
        if shadow is not None:
            shadow.change(on, positions, dtype.itemsize, pc)
            count_access(on, where)
        values = [np.asarray(g(on)) for g in gets]
        index = positions // dtype.itemsize
        old = np.empty(len(index), dtype)
        for group in _distinct_groups(index):
            old[group] = data[index[group]]
            data[index[group]] = function(old[group], *[v[group] for v in values])
        if put is not None:
            put(on, old)

    return run


def _distinct_groups(index: np.ndarray) -> list[np.ndarray]:
    """Positions in groups in which no element occurs twice; the k-th occurrence of an element is in group k."""
    order = np.argsort(index, kind="stable")
    sorted_index = index[order]
    starts = np.concatenate([[True], sorted_index[1:] != sorted_index[:-1]])
    first = np.maximum.accumulate(np.where(starts, np.arange(len(index)), 0))
    rank = np.empty(len(index), np.int64)
    rank[order] = np.arange(len(index)) - first
    return [np.nonzero(rank == k)[0] for k in range(int(rank.max()) + 1)]


_MODIFIERS = frozenset([*_CHANGES]) | words(
    "global shared shared::cta relaxed acquire release acq_rel cta cluster gpu sys noftz v2 v4 L2::cache_hint"
)
ATOMIC_ROWS = {"atom": InstructionRow(_atomic, _MODIFIERS), "red": InstructionRow(_atomic, _MODIFIERS | words("async"))}
