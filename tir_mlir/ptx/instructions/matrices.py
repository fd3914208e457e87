"""Matrix instructions of a warp: `ldmatrix`, `stmatrix`, `movmatrix`, `mma.sync`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir.ptx import fragments
from tir_mlir.ptx.instructions.mbarriers import shared_address
from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, types_of, words
from tir_mlir.ptx.instructions.warps import collective
from tir_mlir.ptx.registers import vector
from tir_mlir.ptx.types import UNSIGNED

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Read, Run


def gather(
    machine: Machine,
    ins: PtxInstruction,
    operand: str,
    fragment: fragments.Fragment,
    type_: str,
    shape: tuple[int, int],
) -> Callable[[np.ndarray], np.ndarray]:
    """A function of rows of lanes [warp, 32] that gives the matrices of an operand as f64."""
    size = fragments.element_bytes(type_)
    names = vector(operand)
    if len(names) != fragment.registers:
        refuse(ins, f"an operand of {len(names)} registers where {fragment.registers} are")
    holder = "b64" if size == 8 else "b32" if fragment.elements * size == 4 else f"b{8 * size}"
    gets = [machine.registers.read(n, holder, ins) for n in names]

    def matrices(rows: np.ndarray) -> np.ndarray:
        bits = np.stack([g(rows.ravel()) for g in gets], 1)
        elements = np.ascontiguousarray(bits).view(UNSIGNED[size]).reshape(*rows.shape, -1)
        result = np.zeros((len(rows), *shape))
        result[:, fragment.row, fragment.column] = fragments.numbers(elements, type_)
        return result

    return matrices


def scatter(
    machine: Machine, ins: PtxInstruction, operand: str, fragment: fragments.Fragment, type_: str
) -> Callable[[np.ndarray, np.ndarray], None]:
    """A function that stores matrices [warp, m, n] in the registers of an operand."""
    names = vector(operand)
    if len(names) != fragment.registers:
        refuse(ins, f"a result of {len(names)} registers where {fragment.registers} are")
    size = fragments.element_bytes(type_)
    width = size * fragment.elements
    puts = [machine.registers.write(n, f"b{8 * width}", ins) for n in names]

    def store(rows: np.ndarray, matrices: np.ndarray) -> None:
        values = np.ascontiguousarray(matrices[:, fragment.row, fragment.column])
        bits = values.view(UNSIGNED[size]).reshape(rows.size, -1).view(UNSIGNED[width])
        for k, put in enumerate(puts):
            put(rows.ravel(), bits[:, k])

    return store


def _mma(machine: Machine, ins: PtxInstruction) -> Run:
    """`mma.sync.aligned.shape.row.col.d.a.b.c d, a, b, c`: d := a * b + c."""
    m, n, k = fragments.shape_of(ins.parts)
    types = types_of(ins)
    if len(types) != 4 or not {"row", "col"} <= set(ins.parts):
        refuse(ins, "this form")
    td, ta, tb, tc = types
    size = fragments.element_bytes(ta)
    if (m, n) != ((8, 8) if size == 8 else (16, 8)):
        refuse(ins, "this shape")
    d, a, b, c = ins.operands
    read_a = gather(machine, ins, a, fragments.operand_a(m, k, size), ta, (m, k))
    read_b = gather(machine, ins, b, fragments.operand_b(n, k, size), tb, (k, n))
    read_c = gather(machine, ins, c, fragments.accumulator(m, n, fragments.element_bytes(tc)), tc, (m, n))
    write = scatter(machine, ins, d, fragments.accumulator(m, n, fragments.element_bytes(td)), td)
    clamp = "satfinite" in ins.parts

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        total = np.matmul(read_a(rows), read_b(rows)) + read_c(rows)
        if clamp:
            total = np.clip(total, -(2**31), 2**31 - 1)
        write(rows, fragments.rounded_sum(total, td))

    return collective(machine, ins, run, None)


def _count(ins: PtxInstruction) -> int:
    return int(next(p for p in ins.parts if p in ("x1", "x2", "x4"))[1:])


def _rows_of(machine: Machine, ins: PtxInstruction, address: Read, verb: str) -> Callable[[np.ndarray], np.ndarray]:
    """The 16 bytes of each row of the matrices: flat positions [warp, matrix, row]; checked and counted."""
    count = _count(ins)
    shared, pc = machine.spaces["shared"], machine.position_of(ins)
    count_access = machine.report.access(ins, "shared", 16)

    def positions(rows: np.ndarray) -> np.ndarray:
        lanes = rows[:, : 8 * count].ravel()
        where = address(lanes)
        machine.active = lanes
        starts = shared.flat(lanes, where, 16, verb)
        (shared.records.read if verb == "reads" else shared.records.write)(lanes, starts, 16, pc)
        count_access(lanes, where)
        return starts.reshape(len(rows), count, 8)

    return positions


def _ldmatrix(machine: Machine, ins: PtxInstruction) -> Run:
    """`ldmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 {d...}, [row]`: lane 8 i + r gives the address of row r of
    matrix i."""
    positions = _rows_of(machine, ins, shared_address(machine, ins, ins.operands[1]), "reads")
    names = vector(ins.operands[0])
    if len(names) != _count(ins):
        refuse(ins, f"{len(names)} registers")
    puts = [machine.registers.write(n, "b32", ins) for n in names]
    lane = np.arange(32)

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        starts = positions(rows)
        data = machine.spaces["shared"].data[starts[..., None] + np.arange(16)]
        matrices = np.ascontiguousarray(data).view(np.uint16)
        if "trans" in ins.parts:
            matrices = matrices.swapaxes(2, 3)
        for k, put in enumerate(puts):
            pair = np.stack([matrices[:, k, lane >> 2, (lane & 3) * 2 + e] for e in (0, 1)], -1)
            put(rows.ravel(), np.ascontiguousarray(pair).view(np.uint32).ravel())

    return collective(machine, ins, run, None)


def _stmatrix(machine: Machine, ins: PtxInstruction) -> Run:
    """`stmatrix.sync.aligned.m8n8.x4{.trans}.shared.b16 [row], {d...}`: the inverse of `ldmatrix`."""
    positions = _rows_of(machine, ins, shared_address(machine, ins, ins.operands[0]), "writes")
    gets = [machine.registers.read(n, "b32", ins) for n in vector(ins.operands[1])]
    lane = np.arange(32)

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        starts = positions(rows)
        matrices = np.zeros((len(rows), len(gets), 8, 8), np.uint16)
        for k, get in enumerate(gets):
            pair = np.ascontiguousarray(get(rows.ravel())).view(np.uint16).reshape(len(rows), 32, 2)
            for e in (0, 1):
                matrices[:, k, lane >> 2, (lane & 3) * 2 + e] = pair[..., e]
        if "trans" in ins.parts:
            matrices = matrices.swapaxes(2, 3)
        raw = np.ascontiguousarray(matrices).view(np.uint8)
        machine.spaces["shared"].data[starts[..., None] + np.arange(16)] = raw

    return collective(machine, ins, run, None)


def _movmatrix(machine: Machine, ins: PtxInstruction) -> Run:
    """`movmatrix.sync.aligned.m8n8.trans.b16 d, a`: a transposed 8 x 8 matrix of 16-bit elements."""
    put = machine.registers.write(ins.operands[0], "b32", ins)
    get = machine.registers.read(ins.operands[1], "b32", ins)
    lane = np.arange(32)

    def run(rows: np.ndarray, members: np.ndarray) -> None:
        pair = np.ascontiguousarray(get(rows.ravel())).view(np.uint16).reshape(len(rows), 32, 2)
        matrix = np.zeros((len(rows), 8, 8), np.uint16)
        for e in (0, 1):
            matrix[:, (lane & 3) * 2 + e, lane >> 2] = pair[..., e]
        moved = np.stack([matrix[:, lane >> 2, (lane & 3) * 2 + e] for e in (0, 1)], -1)
        put(rows.ravel(), np.ascontiguousarray(moved).view(np.uint32).ravel())

    return collective(machine, ins, run, None)


_SHAPES = words("m16n8k4 m16n8k8 m16n8k16 m16n8k32 m8n8k4")
_MOVES = words("sync aligned m8n8 x1 x2 x4 trans shared shared::cta")
_TYPES = words("f16 bf16 tf32 f32 f64 s8 u8 s32 e4m3 e5m2")
MATRIX_ROWS = {
    "mma": InstructionRow(_mma, _SHAPES | words("sync aligned row col satfinite"), _TYPES, control=True),
    "ldmatrix": InstructionRow(_ldmatrix, _MOVES, words("b16"), control=True),
    "stmatrix": InstructionRow(_stmatrix, _MOVES, words("b16"), control=True),
    "movmatrix": InstructionRow(_movmatrix, words("sync aligned m8n8 trans"), words("b16"), control=True),
}
