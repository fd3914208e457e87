"""`ld`, `st`: parameters, and the memories with their checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, types_of, words
from tir_mlir.ptx.memory import WINDOWS, load, store
from tir_mlir.ptx.registers import Lanes, vector
from tir_mlir.ptx.types import size_of

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction

_SPACES = {"global": "global", "const": "global", "shared": "shared", "shared::cta": "shared", "local": "local"}
_CACHE = words(
    "ca cg cs lu cv wb wt nc weak relaxed acquire release volatile cta cluster gpu sys v2 v4 v8 param param::entry "
    "L1::evict_normal L1::evict_unchanged L1::evict_first L1::evict_last L1::no_allocate L2::64B L2::128B L2::256B "
    "L2::cache_hint L2::evict_first L2::evict_last"
) | frozenset(_SPACES)


def space_of(ins: PtxInstruction) -> str | None:
    """The memory that an instruction names; None: a generic address."""
    return next((_SPACES[p] for p in ins.parts[1:] if p in _SPACES), None)


def _ld(machine: Machine, ins: PtxInstruction) -> Any:
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


def _st(machine: Machine, ins: PtxInstruction) -> Any:
    type_ = types_of(ins)[-1]
    values = vector(ins.operands[1])
    space = space_of(ins)
    if space is None:
        return dispatch_by_window(
            machine, ins, lambda s: store(machine, ins, s, type_, ins.operands[0], values), ins.operands[0]
        )
    return store(machine, ins, machine.spaces[space], type_, ins.operands[0], values)


def _parameter(machine: Machine, ins: PtxInstruction, type_: str, outs: list[str]) -> Any:
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


def dispatch_by_window(machine: Machine, ins: PtxInstruction, compile_: Any, address: str) -> Any:
    """An access by generic addresses: each lane's memory is the window that its address lies in."""
    read = machine.registers.address(address, ins)
    if "[" not in address:
        refuse(ins, "the address")
    runs = {name: compile_(_Generic(machine.spaces[name], name)) for name in ("global", "shared", "local")}

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


class _Generic:
    """A memory whose addresses are generic ones."""

    def __init__(self, space: Any, name: str):
        self.space, self.name = space, space.name
        self.data, self.shadow = space.data, space.shadow
        self.window = 0 if name == "global" else WINDOWS[name]

    def flat(self, lanes: Lanes, address: np.ndarray, size: int, verb: str) -> np.ndarray:
        return self.space.flat(lanes, address - self.window, size, verb)


LOAD_ROWS = {"ld": InstructionRow(_ld, _CACHE), "ldu": InstructionRow(_ld, _CACHE), "st": InstructionRow(_st, _CACHE)}
