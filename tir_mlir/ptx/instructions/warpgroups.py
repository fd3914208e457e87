"""`wgmma`: products of a warpgroup of four warps, of operands in shared memory, complete when the group is waited
for."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NoReturn, TypeAlias

import numpy as np

from tir_mlir.ptx import fragments
from tir_mlir.ptx.clocks import Clocks
from tir_mlir.ptx.instructions.matrices import gather, scatter
from tir_mlir.ptx.instructions.rows import InstructionRow, refuse, types_of, words
from tir_mlir.ptx.instructions.warps import collective
from tir_mlir.ptx.registers import immediate, vector
from tir_mlir.ptx.tensors import swizzle_address
from tir_mlir.ptx.types import UNSIGNED

if TYPE_CHECKING:
    from tir_mlir.ptx.machine import Machine
    from tir_mlir.ptx.parser import PtxInstruction
    from tir_mlir.ptx.registers import Lanes, Run

GROUP = 128
_SWIZZLES = {0: 0, 1: 128, 2: 64, 3: 32}


@dataclass
class Products:
    """The products of a warpgroup on their way: committed groups, the open one last; `done` groups are complete.

    busy: the registers that they write or read.
    fenced: there was a `wgmma.fence`.
    touched: registers that other instructions have accessed since it, and with which thread.
    shapes: the shape of the product that has each accumulator since then.
    """

    groups: list[list[Callable[[], None]]] = field(default_factory=lambda: [[]])
    done: int = 0
    busy: list[set[str]] = field(default_factory=lambda: [set()])
    fenced: bool = False
    touched: dict[str, int] = field(default_factory=dict)
    shapes: dict[str, str] = field(default_factory=dict)

    def fence(self) -> None:
        self.fenced = True
        self.touched.clear()
        self.shapes.clear()


class Warpgroups:
    """The products of all warpgroups. `registers`: accumulators and operands of products."""

    def __init__(self, machine: Machine):
        self.machine = machine
        self.all: dict[int, Products] = {}
        products = [i for i in machine.kernel.instructions if i.parts[:2] == ("wgmma", "mma_async")]
        self.registers = frozenset(n for i in products for o in i.operands[:2] if o[0] == "{" for n in vector(o))

    def products_of(self, group: int) -> Products:
        return self.all.setdefault(group, Products())

    def commit(self, group: int) -> None:
        products = self.products_of(group)
        products.groups.append([])
        products.busy.append(set())

    def wait(self, group: int, pending: int) -> None:
        """All but the last `pending` committed groups complete; the warpgroup knows it."""
        products = self.products_of(group)
        order = self.machine.order
        assert isinstance(order, Clocks)
        while len(products.groups) - 1 > pending:
            for product in products.groups.pop(0):
                product()
            products.busy.pop(0)
            products.done += 1
        lanes = np.arange(group * GROUP, group * GROUP + GROUP)
        column = order.products + group * GROUP % self.machine.width // GROUP
        order.complete(lanes, column, products.done)

    def touch(self, names: frozenset[str], on: Lanes) -> None:
        """Other instructions access registers of products. Refuses those that a product on its way writes or reads."""
        lanes = self.machine.own[on]
        groups, first = np.unique(lanes // GROUP, return_index=True)
        for group, k in zip(groups.tolist(), first.tolist(), strict=False):
            products = self.products_of(group)
            products.touched |= dict.fromkeys(names, int(lanes[k]))
            busy = set().union(*products.busy) & names
            if busy:
                mine = lanes[k : k + 1]
                self.machine.fault(
                    f"thread {self.machine.thread(mine, 0)} accesses {min(busy)}, which a wgmma may not be "
                    "done with: no `wgmma.wait_group` since", "race", mine, 0,
                )  # fmt: skip

    def start(self, lanes: np.ndarray, accumulators: list[str], operands: list[str], shape: str) -> Products:
        """The products of the warpgroup of these lanes, which starts one more. By the manual a `wgmma.fence` has to
        stand before the first one, and between any access of a register and a product that accesses it, except
        accumulators of products of one shape."""
        products = self.products_of(int(lanes[0]) // GROUP)
        if not products.fenced:
            self._report_race(int(lanes[0]), "starts its first wgmma without a `wgmma.fence` before it")
        for name in (*accumulators, *operands):
            if name in products.touched:
                text = f"accesses {name}, which a wgmma then accesses without a `wgmma.fence` in between"
                self._report_race(products.touched[name], text)
            if products.shapes.get(name, shape) != shape or (name in operands and name in products.shapes):
                text = f"starts a wgmma on {name}, an accumulator of another wgmma, without a `wgmma.fence` in between"
                self._report_race(int(lanes[0]), text)
        products.shapes |= dict.fromkeys(accumulators, shape)
        return products

    def _report_race(self, lane: int, text: str) -> NoReturn:
        lanes = np.array([lane])
        self.machine.fault(f"thread {self.machine.thread(lanes, 0)} {text}", "race", lanes, 0)

    def finish(self) -> None:
        """The launch has ended."""
        for products in self.all.values():
            for group in products.groups:
                for product in group:
                    product()


@dataclass(frozen=True)
class Descriptor:
    """A matrix in shared memory: its start, the leading and stride offsets, the swizzle, all in bytes."""

    start: int
    leading: int
    stride: int
    swizzle: int

    @staticmethod
    def decode(bits: int) -> Descriptor:
        start, leading, stride = ((bits >> shift & 0x3FFF) << 4 for shift in (0, 16, 32))
        return Descriptor(start, leading, stride, _SWIZZLES[bits >> 62 & 3])

    def element_addresses(self, rows: int, depth: int, size: int, transposed: bool) -> np.ndarray:
        """The address of each element [row, k]. K-major: groups of 8 rows by the stride; transposed (the rows
        contiguous): blocks of a swizzle's width by the leading offset, groups of 8 k by the stride."""
        i, k = np.arange(rows)[:, None], np.arange(depth)[None]
        if not transposed:
            if not self.swizzle:
                offset = i // 8 * self.stride + k * size // 16 * self.leading + i % 8 * 16 + k * size % 16
            else:
                offset = i // 8 * self.stride + i % 8 * self.swizzle + k * size
        elif not self.swizzle:
            wide = 16 // size
            offset = i // wide * self.stride + k // 8 * self.leading + k % 8 * 16 + i % wide * size
        else:
            wide = self.swizzle // size
            offset = i // wide * self.leading + k // 8 * self.stride + k % 8 * self.swizzle + i % wide * size
        return swizzle_address(self.start + offset, self.swizzle)


Operand: TypeAlias = Callable[[np.ndarray, np.ndarray], Callable[[], np.ndarray]]
"""Of the lanes of a warpgroup and their stamps: checks the reads of a matrix, returns what reads it later."""


def _shared_operand(
    machine: Machine, ins: PtxInstruction, operand: str, rows: int, depth: int, type_: str, transposed: bool
) -> Operand:
    """A function of the lanes of a warpgroup: checks the reads of a descriptor's matrix, returns what reads it
    later."""
    get = machine.registers.read(operand, "b64", ins)
    size = fragments.element_bytes(type_)
    shared, pc = machine.spaces["shared"], machine.position_of(ins)

    def prepare(lanes: np.ndarray, stamp: np.ndarray) -> Callable[[], np.ndarray]:
        bits = get(lanes)
        if (bits != bits[0]).any():
            k = int(np.argmax(bits != bits[0]))
            machine.fault(
                f"thread {machine.thread(lanes, k)} has another descriptor than thread {machine.thread(lanes, 0)} of "
                "its warpgroup", "barrier", lanes, k,
            )  # fmt: skip
        addresses = Descriptor.decode(int(bits[0])).element_addresses(rows, depth, size, transposed)
        chunks = np.unique(addresses.ravel() & -16)
        first = np.repeat(lanes[:1], len(chunks))
        machine.active = first
        positions = shared.flat(first, chunks, 16, "reads")
        for lane in (lanes[0], lanes[-1]):
            machine.active = np.repeat(lane, len(chunks))
            shared.records.check_visibility(machine.active, positions, 16)
            shared.records.read(machine.active, positions, 16, pc, stamp)
        base = 0 if shared.base is None else int(shared.base[lanes[0]])
        index = (addresses + base) // size

        def read() -> np.ndarray:
            data = shared.data[: len(shared.data) // size * size].view(UNSIGNED[size])
            return fragments.numbers(data[index], type_)

        return read

    return prepare


def _register_operand(machine: Machine, ins: PtxInstruction, operand: str, depth: int, type_: str) -> Operand:
    """The same for the first operand in registers: each warp has 16 rows."""
    size = fragments.element_bytes(type_)
    read = gather(machine, ins, operand, fragments.operand_a(16, depth, size), type_, (16, depth))

    def prepare(lanes: np.ndarray, stamp: np.ndarray) -> Callable[[], np.ndarray]:
        values = read(lanes.reshape(4, 32)).reshape(64, depth)
        return lambda: values

    return prepare


def _immediates(ins: PtxInstruction, accumulator: str) -> tuple[int, bool, bool]:
    """The sign of the product, and which operands are transposed."""
    immediates = [immediate(ins, o) for o in ins.operands[4:]]
    sign = immediates.pop(0) * immediates.pop(0) if accumulator != "s32" else 1
    flags = [x == 1 for x in immediates]
    if len(flags) == 1:
        return sign, False, flags[0]
    return (sign, flags[0], flags[1]) if flags else (sign, False, False)


def _product(machine: Machine, ins: PtxInstruction) -> Run:
    """`wgmma.mma_async.sync.aligned.shape.d.a.b {d...}, a, b, scale-d, imm-scale-a, imm-scale-b, trans-a, trans-b`."""
    m, n, k = fragments.shape_of(ins.parts)
    td, ta, tb = types_of(ins)
    size = fragments.element_bytes(ta)
    if k * size != 32 or m != 64 or n % 8 or n > 256:
        refuse(ins, "this shape")
    d, a, b, scale, *_ = ins.operands
    sign, trans_a, trans_b = _immediates(ins, td)
    if a.startswith("{"):
        read_first = _register_operand(machine, ins, a, k, ta)
    else:
        read_first = _shared_operand(machine, ins, a, 64, k, ta, trans_a)
    read_second = _shared_operand(machine, ins, b, n, k, tb, trans_b)
    add = machine.registers.read(scale, "pred", ins)
    fragment = _accumulator(n, fragments.element_bytes(td))
    read_d = gather(machine, ins, d, fragment, td, (16, n))
    write_d = scatter(machine, ins, d, fragment, td)
    accumulators, operands = vector(d), vector(a) if a.startswith("{") else []
    shape = next(p for p in ins.parts if re.match(r"m\d+n", p))
    pc, order = machine.position_of(ins), machine.order
    assert isinstance(order, Clocks)

    def start(lanes: np.ndarray) -> None:
        products = machine.warpgroups.start(lanes, accumulators, operands, shape)
        column = order.products + int(lanes[0]) % machine.width // GROUP
        stamp = order.agent_stamps(lanes[:1], column, products.done + len(products.groups), pc)
        read_a, read_b = read_first(lanes, stamp), read_second(lanes, stamp)
        rows, keeps = lanes.reshape(4, 32), bool(add(lanes)[0])

        def complete() -> None:
            total = sign * np.matmul(read_a(), read_b().T).reshape(4, 16, n)
            if keeps:
                total = total + read_d(rows)
            write_d(rows, fragments.rounded_sum(total, td))

        products.groups[-1].append(complete)
        products.busy[-1] |= {*accumulators, *operands}

    return _warpgroup_collective(machine, ins, start)


def _accumulator(n: int, size: int) -> fragments.Fragment:
    """16 rows of a warp by n columns: two columns, row g + 8, then the next 8 columns."""
    lane, i = np.arange(32)[:, None], np.arange(n // 2)[None]
    row = (lane >> 2) + 8 * (i >> 1 & 1)
    column = (lane & 3) * 2 + (i & 1) + 8 * (i >> 2)
    per = 2 if size == 2 else 1
    return fragments.Fragment(row, column, n // 2 // per, per)


def _warpgroup_collective(machine: Machine, ins: PtxInstruction, run: Callable[[np.ndarray], None]) -> Run:
    """An instruction of whole warpgroups: `run` gets the lanes of each."""

    def groups(rows: np.ndarray, members: np.ndarray) -> None:
        for lanes, present in zip(rows, members, strict=False):
            if not present.all():
                machine.fault(f"a warpgroup of {present.sum()} threads: it has {GROUP}", "barrier", lanes, 0)
            machine.active = lanes
            run(lanes)

    return collective(machine, ins, groups, None, GROUP)


def _wgmma(machine: Machine, ins: PtxInstruction) -> Run:
    form = ins.parts[1]
    if form == "mma_async":
        if "sp" in ins.parts:
            refuse(ins, "sparse operands")
        return _product(machine, ins)
    warpgroups = machine.warpgroups
    if form == "fence":
        return _warpgroup_collective(machine, ins, lambda lanes: warpgroups.products_of(int(lanes[0]) // GROUP).fence())
    if form == "commit_group":
        return _warpgroup_collective(machine, ins, lambda lanes: warpgroups.commit(int(lanes[0]) // GROUP))
    pending = immediate(ins, ins.operands[0])
    return _warpgroup_collective(machine, ins, lambda lanes: warpgroups.wait(int(lanes[0]) // GROUP, pending))


_SHAPES = frozenset(f"m64n{n}k{k}" for n in range(8, 257, 8) for k in (8, 16, 32))
WARPGROUP_ROWS = {
    "wgmma": InstructionRow(_wgmma,
                            _SHAPES | words("mma_async fence commit_group wait_group sync aligned sp satfinite"),
                            words("f16 bf16 tf32 f32 s8 u8 s32 e4m3 e5m2"), control=True),
}  # fmt: skip
