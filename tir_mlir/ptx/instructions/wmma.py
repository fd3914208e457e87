"""`wmma`: matrices in fragments of a layout that the manual leaves open; here lane l holds elements l, l + 32, ...
in rows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx import fragments
from tir_mlir.ptx.instructions.loads import space_of
from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, types_of, words
from tir_mlir.ptx.instructions.warps import collective
from tir_mlir.ptx.memory import WINDOWS, Space
from tir_mlir.ptx.registers import vector
from tir_mlir.ptx.types import UNSIGNED

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Run


CHUNK = 16
"""Bytes of a row that a lane moves. The manual leaves open which lane moves what; accesses are counted as those of
`ldmatrix`: eight rows at a time, 16 bytes of each."""


@dataclass(frozen=True)
class WmmaTile:
    """The registers of a fragment of rows x columns elements of a type; a operands of f16 hold each element twice."""

    rows: int
    columns: int
    type: str

    @property
    def size(self) -> int:
        return fragments.element_bytes(self.type)

    def read(self, machine: Machine, ins: PtxInstruction, operand: str) -> Callable[[np.ndarray], np.ndarray]:
        """A function of lanes [warp, 32] -> elements [warp, rows, columns] as bits."""
        gets = [machine.registers.read(n, f"b{8 * self._width()}", ins) for n in self._names(ins, operand)]

        def elements(rows: np.ndarray) -> np.ndarray:
            bits = np.stack([g(rows.ravel()) for g in gets], 1).view(UNSIGNED[self.size])
            per_lane = bits.reshape(len(rows), 32, -1)[:, :, : self.rows * self.columns // 32]
            return per_lane.swapaxes(1, 2).reshape(len(rows), self.rows, self.columns)

        return elements

    def write(self, machine: Machine, ins: PtxInstruction, operand: str) -> Callable[[np.ndarray, np.ndarray], None]:
        """A function that stores elements [warp, rows, columns] in the registers."""
        names = self._names(ins, operand)
        puts = [machine.registers.write(n, f"b{8 * self._width()}", ins) for n in names]

        def store(rows: np.ndarray, elements: np.ndarray) -> None:
            per_lane = elements.view(UNSIGNED[self.size]).reshape(len(rows), -1, 32).swapaxes(1, 2)
            per_lane = np.concatenate([per_lane] * self._copies(names), 2)
            bits = np.ascontiguousarray(per_lane).view(UNSIGNED[self._width()]).reshape(rows.size, -1)
            for k, put in enumerate(puts):
                put(rows.ravel(), bits[:, k])

        return store

    def _width(self) -> int:
        """The bytes of a register."""
        return 8 if self.size == 8 else 4

    def _copies(self, names: list[str]) -> int:
        return len(names) * self._width() * 32 // (self.rows * self.columns * self.size)

    def _names(self, ins: PtxInstruction, operand: str) -> list[str]:
        names = vector(operand)
        if self._copies(names) not in (1, 2) or self._copies(names) * self.rows * self.columns * self.size != (
            len(names) * self._width() * 32
        ):
            refuse(ins, f"a fragment of {len(names)} registers")
        return names


def _tile(ins: PtxInstruction, part: str, type_: str) -> WmmaTile:
    m, n, k = fragments.shape_of(ins.parts)
    return WmmaTile(*{"a": (m, k), "b": (k, n), "c": (m, n), "d": (m, n)}[part], type_)


@dataclass(frozen=True)
class TileAccess:
    """A load or store of a tile by a warp. positions: of each element [rows, columns] in `space`; chunks: the addresses
    that lanes access, `CHUNK` bytes each; pitch: bytes between rows or columns."""

    space: str
    positions: np.ndarray
    chunks: np.ndarray
    pitch: int


def tile_access(machine: Machine, ins: PtxInstruction) -> Callable[[np.ndarray], TileAccess]:
    """A function of the lanes of a warp: what a `wmma.load` or `wmma.store` accesses."""
    loads = "load" in ins.parts
    tile = _tile(ins, ins.parts[2] if loads else "d", types_of(ins)[-1])
    operands = ins.operands[1:] if loads else (ins.operands[0], *ins.operands[2:])
    address = machine.registers.address(operands[0], ins)
    stride = machine.registers.read(operands[1], "u32", ins) if len(operands) > 1 else None
    layout = next(p for p in ins.parts if p in ("row", "col"))
    named = space_of(ins)
    i, j = np.arange(tile.rows)[:, None], np.arange(tile.columns)[None]

    def access(lanes: np.ndarray) -> TileAccess:
        start = int(address(lanes[:1])[0])
        is_shared = named == "shared" or (named is None and start >= WINDOWS["shared"])
        start -= WINDOWS["shared"] if is_shared and named is None else 0
        pitch = int(stride(lanes[:1])[0]) if stride else (tile.columns if layout == "row" else tile.rows)
        positions = start + (i * pitch + j if layout == "row" else j * pitch + i) * tile.size
        chunks = positions[:, :: CHUNK // tile.size].T if layout == "row" else positions[:: CHUNK // tile.size]
        return TileAccess("shared" if is_shared else "global", positions, chunks.ravel(), pitch * tile.size)

    return access


def tile_counter(machine: Machine, ins: PtxInstruction) -> Callable[[np.ndarray, TileAccess], None]:
    """A function that counts the accesses of a warp."""
    named = space_of(ins)
    count = {s: machine.report.access(ins, s, CHUNK) for s in ([named] if named else ["shared", "global"])}

    def add(lanes: np.ndarray, access: TileAccess) -> None:
        for of_warp in np.array_split(access.chunks, -(-access.chunks.size // 32)):
            count[access.space](lanes[: len(of_warp)], of_warp)

    return add


def _memory(
    machine: Machine, ins: PtxInstruction, tile: WmmaTile
) -> Callable[[np.ndarray], list[tuple[Space, np.ndarray, np.ndarray]]]:
    """A function of lanes [warp, 32] -> memory and the flat position of each element [warp, rows, columns]."""
    access_of, count = tile_access(machine, ins), tile_counter(machine, ins)
    verb = "reads" if "load" in ins.parts else "writes"

    def check_accesses(rows: np.ndarray) -> list[tuple[Space, np.ndarray, np.ndarray]]:
        accesses = []
        for lanes in rows:
            access = access_of(lanes)
            space = machine.spaces[access.space]
            machine.active = lanes
            if access.pitch % CHUNK:
                pitch = access.pitch // tile.size
                text = f"rows that are {pitch} elements of {tile.size} bytes apart, not a multiple of {CHUNK} bytes"
                machine.fault(text, "alignment", lanes, 0)
            count(lanes, access)
            every = np.tile(lanes, access.positions.size // 32)
            machine.active = every
            accesses.append((space, every, space.flat(every, access.positions.ravel(), tile.size, verb)))
        return accesses

    return check_accesses


def _load(machine: Machine, ins: PtxInstruction) -> Run:
    """`wmma.load.a.sync.aligned.row.shape.type {r...}, [address]{, stride}`."""
    tile = _tile(ins, ins.parts[2], types_of(ins)[-1])
    addresses, write = _memory(machine, ins, tile), tile.write(machine, ins, ins.operands[0])
    pc = machine.position_of(ins)

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        elements = []
        for space, lanes, positions in addresses(rows):
            space.records.read(lanes, positions, tile.size, pc)
            data = space.data[: len(space.data) // tile.size * tile.size].view(UNSIGNED[tile.size])
            elements.append(data[positions // tile.size].reshape(tile.rows, tile.columns))
        write(rows, np.stack(elements))

    return collective(machine, ins, run, None)


def _store(machine: Machine, ins: PtxInstruction) -> Run:
    """`wmma.store.d.sync.aligned.row.shape.type [address], {r...}{, stride}`."""
    tile = _tile(ins, "d", types_of(ins)[-1])
    addresses, read = _memory(machine, ins, tile), tile.read(machine, ins, ins.operands[1])
    pc = machine.position_of(ins)

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        for (space, lanes, positions), elements in zip(addresses(rows), read(rows), strict=False):
            space.records.write(lanes, positions, tile.size, pc)
            data = space.data[: len(space.data) // tile.size * tile.size].view(UNSIGNED[tile.size])
            data[positions // tile.size] = elements.ravel()

    return collective(machine, ins, run, None)


def _product(machine: Machine, ins: PtxInstruction) -> Run:
    """`wmma.mma.sync.aligned.alayout.blayout.shape.d.c d, a, b, c` (of f16), or with all four types."""
    types = types_of(ins)
    if len(types) == 2:
        td, tc, ta, tb = types[0], types[1], "f16", "f16"
    elif len(types) == 4:
        td, ta, tb, tc = types
    else:
        refuse(ins, "these types")
    d, a, b, c = ins.operands
    reads = [(_tile(ins, p, t).read(machine, ins, o), t) for p, t, o in (("a", ta, a), ("b", tb, b), ("c", tc, c))]
    write = _tile(ins, "d", td).write(machine, ins, d)

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        x, y, z = (fragments.numbers(np.ascontiguousarray(read(rows)), t) for read, t in reads)
        write(rows, fragments.rounded_sum(np.matmul(x, y) + z, td))

    return collective(machine, ins, run, None)


def _wmma(machine: Machine, ins: PtxInstruction) -> Run:
    return {"load": _load, "store": _store, "mma": _product}[ins.parts[1]](machine, ins)


_SHAPES = words("m16n16k16 m8n32k16 m32n8k16 m16n16k8 m8n8k4")
_TYPES = words("f16 bf16 tf32 f32 f64 s8 u8 s32")
WMMA_ROWS = {
    "wmma": InstructionRow(
        _wmma,
        _SHAPES | words("load store mma a b c d sync aligned row col global shared shared::cta satfinite rn"),
        _TYPES,
        control=True,
    )
}
