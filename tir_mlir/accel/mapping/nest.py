"""A block, what it reads and what stores its result, as instructions of a machine compute and move them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tir_mlir.accel.machine import Machine
from tir_mlir.accel.mapping.pairing import Pairing, difference, pairings
from tir_mlir.accel.mapping.roles import Role
from tir_mlir.accel.operands import MemorySpace
from tir_mlir.dialect.computation import Form, NotRaisable, OpNode, leaves, raise_form
from tir_mlir.dialect.diagnostics import MachineError, ScheduleError
from tir_mlir.dialect.ir import Loop, enter_context
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedules.block_queries import loops_by_iter


@dataclass(frozen=True)
class NestAxis:
    """An iter of the block: its extent, and how much of it one instruction computes."""

    name: str
    kind: str
    extent: int
    tile: int

    @property
    def tiles(self) -> int:
        return -(-self.extent // self.tile)


@dataclass(frozen=True)
class TiledBuffer:
    """A buffer in a memory of the machine, as the block uses it: the axes in each of its dimensions with their factors,
    and the dimensions of a tile: that of the rows, if there is one, and that of the elements of a row."""

    name: str
    memory: MemorySpace
    indices: tuple[dict[int, int], ...]
    row: int | None
    column: int

    @property
    def axes(self) -> set[int]:
        """The axes on which its element depends."""
        return {axis for index in self.indices for axis in index}

    def layout(self) -> Callable[..., tuple[object, ...]]:
        """Tiles of columns outside, rows inside: the rows of a tile are adjacent."""
        width, row, column = self.memory.width, self.row, self.column

        def tiled(*indices: int) -> tuple[object, ...]:
            others = [i for d, i in enumerate(indices) if d not in (row, column)]
            rows = [] if row is None else [indices[row]]
            return (*others, indices[column] // width, *rows, indices[column] % width)

        return tiled


@dataclass(frozen=True)
class CopiedOperand:
    """An operand that a copy brings into a memory."""

    buffer: TiledBuffer
    position: int
    """Among what the block reads."""
    copy: Role


@dataclass(frozen=True)
class Nest:
    """A block of a program, with the instructions that compute it."""

    block: str
    axes: tuple[NestAxis, ...]
    pairing: Pairing
    copies: tuple[CopiedOperand, ...]
    result: TiledBuffer
    fill: Role | None
    """What sets the result before the first term of a sum."""
    store: Role
    epilogue: str | None
    """The block that computes with the result and stores that; None: the result is stored as it is."""

    @property
    def role(self) -> Role:
        return self.pairing.role

    @property
    def padding(self) -> list[int]:
        return [axis.tile for axis in self.axes]

    @property
    def is_ragged(self) -> bool:
        return any(axis.extent % axis.tile for axis in self.axes)


def form_of(sch: Schedule, block: BlockHandle) -> tuple[Form, list[str]]:
    """The form of a block, and the iters that its axes are. Errors: MachineError."""
    name = sch.get(block).name
    try:
        iters = list(loops_by_iter(sch, block))
        outermost = sch.get_loops(block)[0]
        with enter_context():
            loop = sch.executor.view(outermost, sch.executor.version)
            assert isinstance(loop, Loop)
            return raise_form(loop, guarded=True), iters
    except (NotRaisable, ScheduleError, IndexError) as error:
        raise MachineError(f"block {name} cannot be mapped: {error}") from error


def plan_nest(sch: Schedule, machine: Machine, roles: Sequence[Role], block: BlockHandle, last: str | None) -> Nest:
    """The instructions for a block. last: the block that computes with its result. Errors: MachineError that names the
    block, and the nearest instruction with its differences."""
    name = sch.get(block).name
    form, iters = form_of(sch, block)
    refused: list[str] = []
    for role in sorted(roles, key=lambda r: -len(r.read)):
        if role.moves or role.fills:
            continue
        ways = pairings(form, role)
        if not ways:
            refused.append(f"{role}: {difference(form, role)}")
        for pairing in ways:
            try:
                return _plan(sch, roles, name, form, iters, pairing, last)
            except MachineError as error:
                refused.append(f"{role}: {error}")
    nearest = min(refused, key=len, default="the machine has no instruction that computes")
    raise MachineError(f"no instruction of {machine} computes block {name}; nearest is {nearest}")


def _plan(
    sch: Schedule,
    roles: Sequence[Role],
    name: str,
    form: Form,
    iters: Sequence[str],
    pairing: Pairing,
    last: str | None,
) -> Nest:
    role = pairing.role
    tiles = dict(zip(pairing.axes, role.extents, strict=True))
    axes = []
    for number, (axis, iter_name) in enumerate(zip(form.axes, iters, strict=True)):
        extent = axis.extent.as_constant()
        if extent is None:
            raise MachineError(f"iter {iter_name} has a size that a call decides; the program of a machine has numbers")
        axes.append(NestAxis(iter_name, axis.kind, extent, tiles.get(number, 1)))
    reads = [n for n in dict.fromkeys(leaves(form.payload)) if n != form.output]
    copies = []
    for number in role.sources:
        buffer = _buffer(form, pairing, number)
        if buffer is not None:
            copies.append(
                CopiedOperand(buffer, reads.index(pairing.operands[number]), _copy(roles, form, pairing, number))
            )
    result = _buffer(form, pairing, role.form.output)
    if result is None:
        raise MachineError("its result is not in a memory of the machine")
    store = _store(sch, roles, form, pairing, result, last)
    return Nest(name, tuple(axes), pairing, tuple(copies), result, _fill(roles, form, role), store, last)


def _buffer(form: Form, pairing: Pairing, number: int) -> TiledBuffer | None:
    """The buffer of an operand of the instruction in a memory of the machine."""
    tile, operand = pairing.role.tiles[number], form.operands[pairing.operands[number]]
    if tile.memory is None:
        return None
    indices = tuple({a: f for a, f in enumerate(row) if f} for row in operand.rows)
    dims = [_dimension(form, pairing, number, n) for n in range(len(tile.shape))]
    if len(dims) not in (1, 2) or None in dims:
        raise MachineError(f"operand {tile.name} is not made of rows")
    column = dims[-1]
    assert column is not None
    return TiledBuffer(operand.buffer.name, tile.memory, indices, dims[0] if len(dims) == 2 else None, column)


def _dimension(form: Form, pairing: Pairing, number: int, dimension: int) -> int | None:
    """The dimension of the block's buffer for a dimension of a tile."""
    iterator = pairing.role.dims[number][dimension]
    if iterator is None:
        return None
    rows = form.operands[pairing.operands[number]].rows
    return next(d for d, row in enumerate(rows) if row[pairing.axes[iterator]])


def _copy(roles: Sequence[Role], form: Form, pairing: Pairing, number: int) -> Role:
    """The cheapest instruction that copies an operand from the memory of the CPU."""
    tile, rows = pairing.role.tiles[number], form.operands[pairing.operands[number]].rows
    able = [r for r in roles if r.moves and r.written.memory == tile.memory and r.tiles[r.sources[0]].memory is None]
    if not able:
        raise MachineError(f"no instruction copies from the memory of the CPU into {_memory_name(tile.memory)}")
    reasons = []
    for role in sorted(able, key=lambda r: r.cycles / r.tiles[r.form.output].shape[0]):
        source = role.sources[0]
        dims = []
        for iterator in role.dims[source]:
            own = next((d for d, n in enumerate(role.dims[role.form.output]) if n == iterator), None)
            dims.append(None if own is None else _dimension(form, pairing, number, own))
        if None in dims or len(dims) != len(tile.shape):
            reasons.append(f"{role} reads a tile of {len(dims)} dimensions")
        elif dims != sorted(d for d in dims if d is not None) or dims[-1] != len(rows) - 1:
            name = form.operands[pairing.operands[number]].buffer.name
            reasons.append(
                f"{role} reads rows of adjacent elements; dimension {dims[-1]} of {name} is not its last one"
            )
        else:
            return role
    raise MachineError(f"operand {tile.name}: {'; '.join(reasons)}")


def _memory_name(memory: MemorySpace | None) -> str:
    return "the memory of the CPU" if memory is None else memory.name


def _fill(roles: Sequence[Role], form: Form, role: Role) -> Role | None:
    """The instruction that sets the result before a sum."""
    if form.init is None or role.form.init is not None:
        return None
    same = [r for r in roles if r.written.memory == role.written.memory and r.written.shape == role.written.shape]
    fills = [r for r in same if r.form.payload == form.init]
    if not fills and isinstance(form.init, OpNode):
        raise MachineError(f"no instruction sets a tile of {_memory_name(role.written.memory)} to its start value")
    return min(fills, key=lambda r: r.cycles) if fills else None


def _store(
    sch: Schedule, roles: Sequence[Role], form: Form, pairing: Pairing, result: TiledBuffer, last: str | None
) -> Role:
    """The instruction that moves the result to the memory of the CPU, with the computation of the block `last`."""
    able = [r for r in roles if r.written.memory is None and [r.tiles[n].memory for n in r.sources] == [result.memory]]
    if not able:
        raise MachineError(f"no instruction stores a tile of {result.memory.name} in the memory of the CPU")
    if last is None:
        dtype = form.operands[form.output].buffer.dtype
        moving = [r for r in able if r.moves and r.written.dtype == dtype]
        if not moving:
            raise MachineError(f"no instruction stores a tile of {result.memory.name} as it is, in {dtype}")
        return min(moving, key=lambda r: r.cycles)
    epilogue, _ = form_of(sch, sch.get_block(last))
    fitting = [r for r in able if pairings(epilogue, r)]
    if not fitting:
        raise MachineError(f"block {last} is not what {able[0]} stores: {difference(epilogue, able[0])}")
    return min(fitting, key=lambda r: r.cycles)
