"""The clocks of a machine: equal to a plain model of them, cycle for cycle, on random programs."""

from __future__ import annotations

import random
from collections import defaultdict
from dataclasses import dataclass, field, replace

import pytest

from tir_mlir import accel
from tir_mlir.accel.program import Allocate, For, Issue, MachineBuffer, MachineProgram, Node, TileAddress, When
from tir_mlir.accel.timing import Timeline, measure
from tir_mlir.dialect.symbolic import Constant, Dim, IntExpr, evaluate
from tir_mlir.errors import MachineError
from tir_mlir.script import tir as T


def machine(interlocks: str, banks: int, interleaved: bool, bandwidth: float) -> accel.Machine:
    """Three units on two memories, with waits and tokens."""
    m = accel.Machine("clocked", bandwidth=bandwidth)
    pad = m.memory("pad", rows=64, row=(8, "int8"), banks=banks, interleaved=interleaved)
    acc = m.memory("acc", rows=32, row=(8, "int32"), ports=2)
    load = m.unit("load", queue=3, interlocks=interlocks, bandwidth=16)
    work, save = m.unit("work", queue=2), m.unit("save", queue=1, interlocks=interlocks)

    @m.instruction(load, call="fetch({D}, {R.row})", latency=9)
    def fetch(D: m.host("int8"), R: pad):
        for i, j in T.grid(4, 8):
            R[i, j] = D[i, j]

    @m.instruction(work, call="add({A.row}, {B.row}, {C.row}, {rows})", cycles=lambda rows: 2 * rows, latency=3)
    def add(A: pad, B: pad, C: acc, rows: accel.upto(4)):
        for i, j in T.grid(rows, 8):
            C[i, j] = C[i, j] + T.Cast("int32", A[i, j]) * T.Cast("int32", B[i, j])

    @m.instruction(save, call="keep({C.row}, {D})", cycles=5)
    def keep(C: acc, D: m.host("int32")):
        for i, j in T.grid(4, 8):
            D[i, j] = C[i, j]

    m.wait(load, call="wait({left})", most=4)
    m.tokens(load, save, put="put()", take="take()", depth=2)
    return m


@dataclass
class Plain:
    """The same model, an instruction at a time."""

    machine: accel.Machine
    placed: dict[MachineBuffer, int]
    now: int = 0
    free: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    starts: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    done: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))
    written: dict[tuple[str, int], tuple[int, str]] = field(default_factory=dict)
    read: dict[tuple[str, int], int] = field(default_factory=lambda: defaultdict(int))
    ports: dict[tuple[str, int], list[int]] = field(default_factory=dict)
    put: list[int] = field(default_factory=list)
    taken: list[int] = field(default_factory=list)
    waits: dict[tuple[str, str], int] = field(default_factory=lambda: defaultdict(int))

    def body(self, body: list[Node], values: dict[str, int]) -> None:
        for node in body:
            if isinstance(node, For):
                for value in range(number(node.low, values), min(number(h, values) for h in node.highs)):
                    self.body(node.body, {**values, node.var: value})
            elif isinstance(node, When):
                if all(number(c, values) == 0 if eq else number(c, values) >= 0 for c, eq in node.conditions):
                    self.body(node.body, values)
            elif isinstance(node, Issue):
                self.issue(node, values)

    def rows(self, issue: Issue, values: dict[str, int]) -> list[tuple[str, int, str]]:
        found = []
        for tile in issue.instruction.tiles:
            address = issue.tiles[tile.name]
            start = number(address.start, values)
            rows = number(issue.numbers["rows"], values) if "rows" in issue.numbers else 4
            if tile.memory is not None:
                found += [(tile.memory.name, self.placed[address.buffer] + start + r, tile.access) for r in range(rows)]
            else:
                (stride, _) = (int(s.value) for s in address.strides)
                name = f"host {address.buffer.name}"
                found += [(name, start + r * stride + c, tile.access) for r in range(4) for c in range(8)]
        return found

    def banks(self, issue: Issue, values: dict[str, int]) -> dict[tuple[str, int], int]:
        """How many operands use each bank."""
        used: dict[tuple[str, int], int] = defaultdict(int)
        for tile in issue.instruction.tiles:
            memory = tile.memory
            if memory is None or not memory.ports:
                continue
            first = self.placed[issue.tiles[tile.name].buffer] + number(issue.tiles[tile.name].start, values)
            rows = range(first, first + (number(issue.numbers["rows"], values) if "rows" in issue.numbers else 4))
            for bank in {r % memory.banks if memory.interleaved else r // memory.bank_rows for r in rows}:
                used[memory.name, bank] += 1
        return used

    def cycles(self, issue: Issue, values: dict[str, int], banks: dict[tuple[str, int], int]) -> int:
        name = issue.instruction.name
        ports = {m.name: m.ports for m in self.machine.spaces.values()}
        cycles = {"fetch": 2, "keep": 5}.get(name, 0)
        if name == "add":
            cycles = 2 * number(issue.numbers["rows"], values)
        return cycles * max([1, *(-(-n // ports[memory]) for (memory, _), n in banks.items())])

    def ready(self, issue: Issue, rows: list[tuple[str, int, str]]) -> tuple[int, int, int]:
        """When results, rows to be read, and tokens let it begin."""
        lane, result, read, token = issue.instruction.unit.name, 0, 0, 0
        for memory, row, access in rows:
            time, writer = self.written.get((memory, row), (0, lane))
            if writer == lane or self.machine.units[writer].interlocks == "all":
                result = max(result, time)
            if "w" in access:
                read = max(read, self.read[memory, row])
        if issue.instruction.tokens is not None and lane == "save":
            token = self.put[len(self.taken)]
        elif issue.instruction.tokens is not None and len(self.put) >= 2:
            token = self.taken[len(self.put) - 2]
        return result, read, token

    def take_ports(self, held, earliest):
        """The ports that are free first of each resource, and from when on."""
        taken: list[tuple[list[int], int, int]] = []
        start: dict[tuple[str, int], int] = {}
        for (memory, bank), (operands, hold) in held.items():
            space = self.machine.spaces.get(memory)
            ports = self.ports.setdefault((memory, bank), [0] * (space.ports if space else 1))
            for index in sorted(range(len(ports)), key=lambda p: ports[p])[: min(operands, len(ports))]:
                start[memory, bank] = max(ports[index], start.get((memory, bank), 0))
                taken.append((ports, index, hold))
        return taken, start

    def issue(self, issue: Issue, values: dict[str, int]) -> None:
        instruction, unit = issue.instruction, issue.instruction.unit
        lane = unit.name
        self.now += 1
        if instruction.waits:
            left = number(issue.numbers["left"], values)
            complete = self.done[lane][: len(self.done[lane]) - left]
            self.now = max([self.now, *complete])
            return
        if len(self.starts[lane]) >= unit.queue:
            self.now = max(self.now, self.starts[lane][-unit.queue])
        rows, banks = self.rows(issue, values), self.banks(issue, values)
        result, read, token = self.ready(issue, rows)
        cycles = self.cycles(issue, values, banks)
        moved = sum(32 * (1 if t.dtype == "int8" else 4) for t in instruction.tiles if t.memory is None)
        transfer = -(-moved // int(self.machine.bandwidth)) if self.machine.bandwidth else 0
        cycles = max(cycles, transfer)
        held = {pair: (n, cycles) for pair, n in banks.items()}
        if transfer:
            held["the memory of the CPU", 0] = (1, transfer)
        earliest = max(self.now, self.free[lane], result, read, token)
        cause = "a result" if result >= read else "rows to be read"
        cause = "a token" if token > max(result, read) else cause
        taken, start = self.take_ports(held, earliest)
        for (memory, _), time in start.items():
            if time > earliest:
                earliest, cause = time, "a bank" if memory in self.machine.spaces else memory
        if earliest > self.free[lane]:
            issued = max(0, min(earliest, self.now) - self.free[lane])
            self.waits[lane, "instructions"] += issued
            self.waits[lane, cause] += earliest - self.free[lane] - issued
        end = earliest + cycles
        for ports, index, hold in taken:
            ports[index] = earliest + hold
        for memory, row, access in rows:
            if "w" in access:
                self.written[memory, row] = (end + instruction.latency, lane)
            if "r" in access and unit.interlocks == "all":
                self.read[memory, row] = max(self.read[memory, row], end)
        if instruction.tokens is not None:
            (self.taken if lane == "save" else self.put).append(end if lane == "save" else max([end, *self.done[lane]]))
        self.starts[lane].append(earliest)
        self.free[lane] = end
        self.done[lane].append(max([end + instruction.latency, *self.done[lane][-1:]]))

    @property
    def end(self) -> int:
        return max([self.now, *self.free.values(), *(max(d) for d in self.done.values() if d)])


def number(expr: IntExpr, values: dict[str, int]) -> int:
    return int(evaluate(expr, values.__getitem__))


def random_program(m: accel.Machine, rng: random.Random) -> tuple[MachineProgram, dict[MachineBuffer, int]]:
    host = [MachineBuffer("D", (512,), "int8", None), MachineBuffer("E", (512,), "int32", None)]
    buffers = [
        MachineBuffer("P", (40, 8), "int8", m.spaces["pad"]),
        MachineBuffer("Q", (24, 8), "int8", m.spaces["pad"]),
    ]
    sums = MachineBuffer("S", (32, 8), "int32", m.spaces["acc"])

    def index(loops: list[tuple[str, int]], end: int) -> IntExpr:
        """A number from 0 to before `end` (at most)."""
        total: IntExpr = Constant(rng.randrange(4))
        room = end - 4
        for name, extent in loops:
            factor = rng.choice([0, 1, 4])
            if factor * (extent - 1) < room:
                total, room = total + Dim(name) * factor, room - factor * (extent - 1)
        return total if room > 0 else Constant(0)

    def tile(buffer: MachineBuffer, loops: list[tuple[str, int]]) -> TileAddress:
        if buffer.memory is None:
            return TileAddress(buffer, index(loops, 400), (Constant(8), Constant(1)))
        return TileAddress(buffer, index(loops, buffer.rows - 4), (Constant(8), Constant(1)))

    def issue(loops: list[tuple[str, int]]) -> list[Node]:
        one = m.instructions[rng.choice(["fetch", "add", "keep", "wait_load", "put_load_to_save"])]
        numbers: dict[str, IntExpr] = {}
        tiles: dict[str, TileAddress] = {}
        for operand in one.tiles:
            pool = [sums] if operand.memory is m.spaces["acc"] else buffers
            pool = [h for h in host if h.dtype == operand.dtype] if operand.memory is None else pool
            tiles[operand.name] = tile(rng.choice(pool), loops)
        for operand in one.numbers:
            numbers[operand.name] = Dim(loops[-1][0]) % 5 if loops else Constant(rng.randrange(5))
        made: list[Node] = [Issue(one, tiles, dict(numbers), "line")]
        if one.tokens is not None:
            made.append(Issue(m.instructions["take_load_to_save"], {}, {}, "line"))
        return made

    def body(depth: int, loops: list[tuple[str, int]]) -> list[Node]:
        made: list[Node] = []
        for _ in range(rng.randrange(1, 5)):
            if depth and rng.random() < 0.5:
                name, extent = f"i{len(loops)}_{rng.randrange(10**6)}", rng.randrange(5)
                inner = body(depth - 1, [*loops, (name, max(1, extent))])
                ends = (
                    (Constant(extent), Dim(loops[-1][0]) + 2) if loops and rng.random() < 0.3 else (Constant(extent),)
                )
                made.append(For(name, Constant(0), ends, inner))
            elif loops and rng.random() < 0.2:
                made.append(When(((Dim(loops[-1][0]) - 1, rng.random() < 0.5),), body(0, loops)))
            else:
                made += issue(loops)
        return made

    program = MachineProgram("main", m, host, [*map(Allocate, [*buffers, sums]), *body(3, [])])
    return program, {buffers[0]: 0, buffers[1]: 40, sums: 0}


@pytest.mark.parametrize("interlocks", ["all", "none"])
@pytest.mark.parametrize(("banks", "interleaved"), [(1, False), (4, False), (4, True)])
@pytest.mark.parametrize("bandwidth", [0, 8])
def test_clocks_are_those_of_the_plain_model(interlocks, banks, interleaved, bandwidth) -> None:
    m = machine(interlocks, banks, interleaved, bandwidth)
    for seed in range(25):
        program, placed = random_program(m, random.Random(seed))
        plain = Plain(m, placed)
        plain.body(program.body, {})
        timeline: Timeline = measure(program, placed)
        assert timeline.cycles == plain.end, seed
        assert dict(timeline.waits) == {key: n for key, n in plain.waits.items() if n}, seed


def banked(conflicts: str) -> tuple[accel.Machine, MachineProgram, dict[MachineBuffer, int]]:
    """A sum of two buffers, which are in one bank."""
    m = accel.Machine("banked")
    pad = m.memory("pad", rows=32, row=(8, "int8"), banks=4, conflicts=conflicts)
    alu = m.unit("alu", queue=4)

    @m.instruction(alu, call="add({A.row}, {B.row})", cycles=4)
    def add(A: pad, B: pad):
        for i, j in T.grid(4, 8):
            A[i, j] = A[i, j] + B[i, j]

    buffers = [MachineBuffer(name, (4, 8), "int8", pad) for name in "AB"]
    strides = (Constant(8), Constant(1))
    tiles = {b.name: TileAddress(b, Constant(0), strides) for b in buffers}
    program = MachineProgram("main", m, [], [For("i", Constant(0), (Constant(3),), [Issue(add, tiles, {}, "line 7")])])
    return m, program, {buffers[0]: 0, buffers[1]: 4}


def test_operands_in_one_bank_take_longer() -> None:
    _, program, placed = banked("wait")
    first, second = placed
    assert measure(program, placed).busy["alu"] == 3 * 8
    assert measure(program, {first: 0, second: 8}).busy["alu"] == 3 * 4


def test_operands_in_one_bank_are_refused_where_hardware_cannot_wait() -> None:
    _, program, placed = banked("refuse")
    first, second = placed
    text = r"add at i = 0: 2 operands are in bank 0 of pad, which has 1 port; fix: alignment=8 in m\.memory.*\n  line 7"
    with pytest.raises(MachineError, match=text):
        measure(program, placed)
    assert measure(program, {first: 0, second: 8}).busy["alu"] == 3 * 4


def test_units_that_meet_in_a_bank_are_refused_where_hardware_cannot_wait() -> None:
    m = accel.Machine("meeting")
    pad = m.memory("pad", rows=32, row=(8, "int8"), banks=2, conflicts="refuse")
    one, two = m.unit("one", queue=4), m.unit("two", queue=4)

    @m.instruction(one, call="f()", cycles=4)
    def clear(A: pad):
        for i, j in T.grid(4, 8):
            A[i, j] = 0

    first = clear
    second = Issue(replace(first, unit=two, name="fill"), {}, {}, "line 9")
    buffers = [MachineBuffer(name, (4, 8), "int8", pad) for name in "AB"]
    tiles = [{"A": TileAddress(b, Constant(0), (Constant(8), Constant(1)))} for b in buffers]
    second.tiles = tiles[1]
    program = MachineProgram("main", m, [], [Issue(first, tiles[0], {}, "line 8"), second])
    with pytest.raises(
        MachineError, match=r"fill uses a bank while another instruction does, and .* cannot wait for it"
    ):
        measure(program, {buffers[0]: 0, buffers[1]: 4})
    assert measure(program, {buffers[0]: 0, buffers[1]: 16}).cycles == 6


def test_bandwidth_gives_the_cycles() -> None:
    m = accel.Machine("wide")
    pad = m.memory("pad", rows=32, row=(8, "int8"))
    dma = m.unit("dma", bandwidth=16)

    @m.instruction(dma, call="f({rows}, {columns})")
    def load(D: m.host("int8"), R: pad, rows: accel.upto(4), columns: accel.upto(8)):
        for i, j in T.grid(4, 8):
            R[i, j] = T.if_then_else(i < rows and j < columns, D[i, j], T.int8(0))

    host, buffer = MachineBuffer("D", (64,), "int8", None), MachineBuffer("R", (4, 8), "int8", pad)
    strides = (Constant(8), Constant(1))
    tiles = {"D": TileAddress(host, Constant(0), strides), "R": TileAddress(buffer, Constant(0), strides)}
    for rows, columns, cycles in ((4, 8, 2), (3, 7, 2), (2, 8, 1), (1, 1, 1), (0, 8, 0)):
        numbers = {"rows": Constant(rows), "columns": Constant(columns)}
        program = MachineProgram("main", m, [host], [Issue(load, tiles, dict(numbers), "line")])
        assert measure(program, {buffer: 0}).busy["dma"] == cycles
