"""A block, what it reads and what stores its result, as instructions of a machine compute and move them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import dataclass, field, replace
from itertools import product
from math import prod

from tir_mlir.accel.machine import Machine
from tir_mlir.accel.mapping.axes import NestAxis
from tir_mlir.accel.mapping.behind import chains_behind, copy_form
from tir_mlir.accel.mapping.chain import Chain
from tir_mlir.accel.mapping.cover import TilePlace
from tir_mlir.accel.mapping.join import Join, rank_joins
from tir_mlir.accel.mapping.pairing import Pairing, difference, pairings
from tir_mlir.accel.mapping.roles import Role
from tir_mlir.accel.mapping.sizes import sized_for, sized_pairings
from tir_mlir.accel.operands import Field, MemorySpace, Tile
from tir_mlir.dialect.computation import Form, Leaf, NotRaisable, Operand, raise_form
from tir_mlir.dialect.computation.scalar_tree import OpNode, Tree, is_parameter, structure_text
from tir_mlir.dialect.diagnostics import MachineError, ScheduleError
from tir_mlir.dialect.ir import Loop, enter_context
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import loops_by_iter

GUESSED_TILES = 64
"""Tiles of an axis whose extent a call decides, for the costs of tilings."""


@dataclass(frozen=True)
class TiledBuffer:
    """A buffer in a memory of the machine: the axis that is each of its indices, and of a tile the shape, how many of
    its dimensions count rows, and the dimension of the buffer for each."""

    name: str
    memory: MemorySpace
    indices: tuple[int, ...]
    shape: tuple[int, ...]
    grid: int
    dims: tuple[int, ...]
    is_unit_kept: bool = False
    """Whether the number of tiles along a row, which is 1, is an index between those of the rows and of their elements:
    for instructions that have a dimension there, of size 1."""

    @property
    def axes(self) -> set[int]:
        """The axes on which its element depends."""
        return {*self.indices}

    def reorder(self, indices: Sequence[int]) -> TiledBuffer:
        """The same with its indices in another order."""
        return replace(self, indices=(*indices,), dims=tuple(indices.index(self.indices[d]) for d in self.dims))

    def rows(self, sizes: Sequence[int]) -> int:
        """The rows that it takes with so many elements in each dimension."""
        count = 1
        for dim, size in enumerate(sizes):
            tile = self.dims.index(dim) if dim in self.dims else None
            if tile is None or (tile == 0 and self.grid):
                count *= size
            else:
                count *= -(-size // self.shape[tile]) * (self.shape[tile] if tile < self.grid else 1)
        return count

    def layout(self) -> Callable[..., tuple[object, ...]]:
        """Tiles outside, and inside the rows of a tile, one after the other."""
        first, rest = self.dims[: min(self.grid, 1)], self.dims[min(self.grid, 1) :]
        sizes = dict(zip(self.dims, self.shape, strict=True))

        def tile_indices(*indices: int) -> tuple[object, ...]:
            others = [i for d, i in enumerate(indices) if d not in self.dims]
            tiles = [indices[d] // sizes[d] for d in rest]
            if self.is_unit_kept:
                return (*others, *(indices[d] for d in first), *tiles, *(indices[d] % sizes[d] for d in rest))
            return (*others, *tiles, *(indices[d] for d in first), *(indices[d] % sizes[d] for d in rest))

        return tile_indices


@dataclass(frozen=True)
class CopiedOperand:
    """An operand that a copy brings into a memory."""

    buffer: TiledBuffer
    copy: Role
    cycles: float
    """Those of an instruction, in the mean."""
    is_reindexed: bool
    """Whether its indices are expressions of axes, such as those of a convolution: the copy has an element for each
    value of the axes."""
    by_cpu: bool = False
    """Whether the elements of a row are not adjacent, or rows have steps: the CPU makes that copy first."""
    join: Join | None = None
    """Where it reads rows and their elements, of which the block has one axis."""
    group: int | None = None
    """The axis of which there is one group of rows at a time: tiles end behind a group, where the next one would be."""

    def count(self, dim: int, size: int, tile: int) -> int:
        """The tiles in a dimension."""
        if self.join is not None and self.buffer.indices[dim] == self.join.inner:
            return self.join.count * -(-self.join.size // tile)
        return -(-size // tile)


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
    behind: Chain | None = None
    """What computes with the result, and copies it, before `store`; None: `store` alone."""
    behind_axes: tuple[int, ...] = ()
    """The axis of the nest for each axis of what is behind."""
    rivals: tuple[str, ...] = ()
    """Other instructions that compute the same and take as many cycles, or more."""
    join: Join | None = None
    """Axes that are one."""
    other_fills: tuple[Role, ...] = ()
    """Those of other units."""

    @property
    def role(self) -> Role:
        return self.pairing.role

    @property
    def moves_parts(self) -> bool:
        """Whether instructions access parts of tiles in the memories of the machine."""
        return self.join is not None or any(axis.is_limited for axis in self.axes)

    @property
    def padding(self) -> list[int]:
        return [1 if axis.is_limited else axis.tile for axis in self.axes]

    @property
    def is_ragged(self) -> bool:
        return self.pads(range(len(self.axes)))

    @property
    def copies_ahead(self) -> bool:
        """Whether copies may run an iteration ahead, in rows that change from one to the next."""
        return not any(copy.buffer.memory.immediate for copy in self.copies)

    def pads(self, axes: Iterable[int]) -> bool:
        """Whether one of these axes is padded to whole tiles."""
        return any(self.axes[a].is_padded for a in axes)


@dataclass(frozen=True)
class RaisedBlock:
    """The form of a block, the iters that its axes are, and the form of its init where that reads an operand."""

    form: Form
    iters: list[str]
    start: Form | None = None
    keep: Schedule | None = field(default=None, repr=False)
    """What the forms are of, if it is not the schedule."""


def raise_block(sch: Schedule, block: BlockHandle) -> RaisedBlock:
    """The form of a block. Errors: MachineError."""
    name = sch.get(block).name
    try:
        iters = list(loops_by_iter(sch, block))
        loops = sch.get_loops(block)
        try:
            return RaisedBlock(_form(sch, loops[0]), iters)
        except NotRaisable:
            trial = sch.copy()
            if not trial.can_decompose_reduction(block, loops[0]):
                raise
            start = trial.get_loops(trial.decompose_reduction(block, loops[0]))[0]
            return RaisedBlock(_form(trial, trial.get_loops(block)[0]), iters, _form(trial, start), trial)
    except (NotRaisable, ScheduleError, IndexError) as error:
        raise MachineError(f"block {name} cannot be mapped: {error}") from error


def _form(sch: Schedule, loop: LoopHandle) -> Form:
    with enter_context():
        view = sch.executor.view(loop, sch.executor.version)
        assert isinstance(view, Loop)
        return raise_form(view, guarded=True)


def plan_nests(
    sch: Schedule, machine: Machine, roles: Sequence[Role], block: BlockHandle, last: str | None
) -> list[Nest]:
    """The instructions for a block, at each of the sizes that they may have, and with the ways to divide its axes into
    tiles. last: the block that computes with its result. Errors: MachineError that names the block, and the nearest
    instruction with its differences."""
    name = sch.get(block).name
    raised = raise_block(sch, block)
    form = raised.form
    refused, incomplete = list[str](), list[str]()
    if empty := [axis.name for axis in form.axes if axis.extent.as_constant() == 0]:
        raise MachineError(f"block {name} computes nothing: {', '.join(empty)} has size 0; fix: leave it out")
    ranked = sorted(roles, key=lambda r: (-len(r.read), r.cycles / prod(r.extents)))  # the cheapest of equal ones first
    for role in [r for r in ranked if not (r.moves or r.fills)]:
        ways = pairings(form, role)
        if not ways:
            refused.append(f"{role}: {difference(form, role)}")
        for pairing in ways:
            plans: list[Nest] = []
            for sized in sized_pairings(form, pairing):
                try:
                    plans += _plan_ways(sch, sized_for(roles, sized.role), name, raised, sized, last)
                except MachineError as error:
                    incomplete.append(f"{role}: {error}")
            if plans:
                later = [r for r in ranked[ranked.index(role) + 1 :] if len(r.read) == len(role.read)]
                rivals = tuple(str(r) for r in later if r != role and pairings(form, r))
                return [replace(plan, rivals=rivals) for plan in plans]
    nearest = min(incomplete or refused, key=len, default="the machine has no instruction that computes")
    raise MachineError(f"no instruction of {machine} computes block {name}; nearest is {nearest}")


def _plan_ways(
    sch: Schedule, roles: Sequence[Role], name: str, raised: RaisedBlock, pairing: Pairing, last: str | None
) -> list[Nest]:
    """The ways to divide the axes of a block into tiles. Errors: MachineError if there is none."""
    plan = _plan(sch, roles, name, raised, pairing, last)
    plans = [_plan_limited(sch, roles, name, raised, pairing, last) or plan]
    for join in rank_joins(raised.form, pairing, [0 if axis.is_symbolic else axis.extent for axis in plan.axes]):
        joined = _plan_limited(sch, roles, name, raised, pairing, last, join)
        plans += [joined] if joined is not None else []
    return [way for p in plans for way in (p, *(replace(p, fill=fill) for fill in p.other_fills))]


def _plan_limited(
    sch: Schedule,
    roles: Sequence[Role],
    name: str,
    raised: RaisedBlock,
    pairing: Pairing,
    last: str | None,
    join: Join | None = None,
) -> Nest | None:
    """The plan in which rows at an edge are not padded, or axes are joined; None where that is not possible, or is of
    no use."""
    role = pairing.role
    limited = {pairing.axes[i] for i in role.limits if role.stores_part and role.form.axes[i].kind == "S"}
    try:
        plan = _plan(sch, roles, name, raised, pairing, last, frozenset(limited), join)
    except MachineError:
        return None
    if join is not None:
        able = not plan.axes[join.inner].is_padded and (last is not None or not plan.pads(plan.result.axes))
        limited |= {join.inner}
    else:
        able = any(axis.is_limited for axis in plan.axes)
    able &= all(c.by_cpu or not plan.pads(c.buffer.axes) for c in plan.copies if c.buffer.axes & limited)
    return plan if able else None


def _plan(
    sch: Schedule,
    roles: Sequence[Role],
    name: str,
    raised: RaisedBlock,
    pairing: Pairing,
    last: str | None,
    limited: frozenset[int] = frozenset(),
    join: Join | None = None,
) -> Nest:
    """The plan for a way to compute the block. limited: axes of which instructions take the part that there is; join:
    axes that are one."""
    role, form = pairing.role, raised.form
    tiles = dict(zip(pairing.axes, role.extents, strict=True))
    axes = []
    for number, (axis, iter_name) in enumerate(zip(form.axes, raised.iters, strict=True)):
        extent, tile = axis.extent.as_constant(), tiles.get(number, 1)
        known = GUESSED_TILES * tile if extent is None else extent
        is_limited, part = number in limited and extent is not None and extent % tile > 0, None
        if join is not None and number in (join.outer, join.inner):
            known = join.rows if number == join.inner else known // join.count
            part = -(-known // tile) if number == join.inner else 1
            is_limited = number in limited and known % tile > 0
        has_part = extent is None and _has_part(sch, name, number, len(form.axes), tile)
        axes.append(NestAxis(iter_name, axis.kind, known, tile, extent is None, is_limited, part, has_part))
    copies: list[CopiedOperand] = []
    for number in role.sources:
        buffer = _buffer(form, pairing, number)
        if buffer is not None:
            taken = {field for copy in copies for field in copy.copy.changing_fields}
            copy = _plan_copy(roles, form, pairing, number, buffer, axes, join, taken)
            group = join.outer if join is not None and join.inner in buffer.axes else None
            copies.append(replace(copy, group=group))
    result = _buffer(form, pairing, role.form.output)
    if result is None:
        raise MachineError("its result is not in a memory of the machine")
    if not _is_plain(form.operands[form.output]):
        raise MachineError("an index of its result is not an iter")
    limited_rows = _limited_dims(axes, result)
    fills = _fills(roles, raised, pairing, limited_rows)
    fill = fills[0] if fills else None
    try:
        store = _store(sch, roles, form, pairing, result, last)
    except MachineError:
        behind = _chain_behind(sch, roles, form, pairing, result, axes, last)
        if behind is None or limited_rows or join is not None:
            raise
        return Nest(name, tuple(axes), pairing, tuple(copies), result, fill, behind[0].store.role, last, *behind)
    if (stored := _limited_dims(axes, result, join)) and not _limits(store, store.sources[0], stored):
        raise MachineError(f"{store} does not store the first rows of a tile")
    others = tuple(fills[1:])
    return Nest(name, tuple(axes), pairing, tuple(copies), result, fill, store, last, join=join, other_fills=others)


def _chain_behind(
    sch: Schedule,
    roles: Sequence[Role],
    form: Form,
    pairing: Pairing,
    result: TiledBuffer,
    axes: Sequence[NestAxis],
    last: str | None,
) -> tuple[Chain, tuple[int, ...]] | None:
    """A chain of instructions that computes with the result, and the axes of the nest that its axes are."""
    stored = copy_form(form) if last is None else raise_block(sch, sch.get_block(last)).form
    names = [o.buffer.name for o in stored.operands]
    held = names.index(result.name)
    if not _is_plain(stored.operands[held]):
        return None
    own = [row.index(1) for row in stored.operands[held].rows]
    if {*own} != {*range(len(stored.axes))}:
        return None
    by_axis = tuple(result.indices[own.index(n)] for n in range(len(own)))
    tile = pairing.role.written
    place = TilePlace(result.memory, tile.dtype, tile.row, tuple(own[d] for d in result.dims), result.shape[1:])
    tiles = [axes[a].tile for a in by_axis]
    chains = chains_behind(roles, last or result.name, stored, held, place, tiles, last is None)
    chain = next(chains, None)
    return None if chain is None else (chain, by_axis)


def _limited_dims(axes: Sequence[NestAxis], buffer: TiledBuffer, join: Join | None = None) -> set[int]:
    """The dimensions of a tile whose part at an edge is not padded. join: for what moves single rows of a joined axis.
    Errors: MachineError for one that is in a row."""
    limited = {n for n, dim in enumerate(buffer.dims) if axes[buffer.indices[dim]].is_limited}
    if join is not None and join.inner in (moved := [buffer.indices[dim] for dim in buffer.dims]):
        number = moved.index(join.inner)
        limited = limited | {number} if join.size % axes[join.inner].tile else limited - {number}
    if limited - {*range(min(buffer.grid, 1))}:
        raise MachineError(f"rows of {buffer.name} are padded")
    return limited


def _limits(role: Role, number: int, dims: Iterable[int]) -> bool:
    """Whether an instruction accesses an operand up to numbers in these dimensions, and nothing behind."""
    return role.stores_part and all(role.dims[number][d] in role.limits for d in dims)


def _has_part(sch: Schedule, name: str, number: int, count: int, tile: int) -> bool:
    """Whether padding to whole tiles changes an iter of a block, by number, at some sizes."""
    trial = sch.copy()
    try:
        trial.pad_einsum(trial.get_block(name), [tile if n == number else 1 for n in range(count)])
    except ScheduleError:
        return True
    return trial.mod.script() != sch.mod.script()


def _buffer(form: Form, pairing: Pairing, number: int) -> TiledBuffer | None:
    """The buffer of an operand of the instruction in a memory of the machine."""
    tile, operand = pairing.role.tiles[number], form.operands[pairing.operands[number]]
    if tile.memory is None:
        return None
    indices = tuple(axis for row in operand.rows for axis, factor in enumerate(row) if factor)
    iterators = pairing.role.dims[number]
    if None in iterators or len({*iterators}) < len(iterators):
        raise MachineError(f"operand {tile.name} has indices that are not single iterators")
    dims = tuple(indices.index(pairing.axes[n]) for n in iterators if n is not None)
    sizes = [form.axes[indices[d]].extent.as_constant() for d in dims]
    is_unit_kept = bool(pairing.role.numbers) and sizes[1:] == [*tile.shape[1:]]
    return TiledBuffer(operand.buffer.name, tile.memory, indices, tile.shape, len(tile.grid), dims, is_unit_kept)


def _is_plain(operand: Operand) -> bool:
    """Whether each index is an axis."""
    plain = all(sorted(row)[-1:] == [1] and sum(map(bool, row)) == 1 for row in operand.rows)
    return plain and all(b.as_constant() == 0 for b in operand.base)


def _plan_copy(
    roles: Sequence[Role],
    form: Form,
    pairing: Pairing,
    number: int,
    buffer: TiledBuffer,
    axes: Sequence[NestAxis],
    join: Join | None,
    taken: Set[Field],
) -> CopiedOperand:
    """An operand with the cheapest instruction that copies it from the memory of the CPU; for tiles at edges one with
    masks, if there is one. Of equal ones, that which shares the fewest registers with the copies of other operands,
    which `taken` are of: those would be set again and again. Where none reads its layout, the CPU changes that first.
    """
    tile, operand = pairing.role.tiles[number], form.operands[pairing.operands[number]]
    strided = any(row[buffer.indices[d]] > 1 for row in operand.rows for d in buffer.dims)
    join = join if join is not None and join.inner in buffer.axes and not strided else None
    is_ragged, limited = any(axes[a].is_padded for a in buffer.axes), _limited_dims(axes, buffer, join)
    able = [
        r
        for r in roles
        if r.moves and r.written.memory == tile.memory and r.tiles[r.sources[0]].memory is None
        if (r.written.row, r.written.dtype) == (tile.row, tile.dtype)
    ]
    if not able:
        raise MachineError(f"no instruction copies from the memory of the CPU into {_memory_name(tile.memory)}")
    able = [r for r in able if not limited or _limits(r, r.form.output, limited)] or able
    able.sort(
        key=lambda r: (
            is_ragged and not r.masks,
            r.cycles / r.rows,
            len(r.changing_fields & taken),
            not limited and r.stores_part,
        )
    )
    if limited and not _limits(able[0], able[0].form.output, limited):
        raise MachineError(f"no instruction copies the first rows of a tile into {_memory_name(tile.memory)}")
    reasons = {role: _copy_difference(form, pairing, number, role) for role in able}
    fitting = next((role for role, reason in reasons.items() if reason is None), None)
    if fitting is not None:
        is_window = join is not None or not _is_plain(operand)
        if (
            is_window and join is None and (strided or (is_ragged and not fitting.masks))
        ):  # the CPU lays out rows of tiles
            rows = [buffer.indices[d] for d in buffer.dims]
            buffer = buffer.reorder([*(a for a in sorted(buffer.indices) if a not in rows), *rows])
        elif is_window:  # as the iters of what copies windows
            buffer = buffer.reorder(sorted(buffer.indices))
        return CopiedOperand(buffer, fitting, _mean_cycles(fitting, buffer, axes, join), is_window, strided, join)
    for role in able:
        if (order := _source_order(pairing, number, role)) is not None:
            buffer = buffer.reorder([*(a for a in buffer.indices if a not in order), *order])
            return CopiedOperand(buffer, role, _mean_cycles(role, buffer, axes), True, True)
    raise MachineError(f"operand {tile.name}: {'; '.join(f'{role} {why}' for role, why in reasons.items())}")


def _mean_cycles(copy: Role, buffer: TiledBuffer, axes: Sequence[NestAxis], join: Join | None = None) -> float:
    """The cycles of one of the copies of a whole buffer, in the mean: those at edges are smaller."""
    sizes: list[dict[int, float]] = []
    iterators = copy.dims[copy.form.output]
    for tile, dim in zip(copy.written.shape, buffer.dims, strict=True):
        axis = buffer.indices[dim]
        extent = join.size if join is not None and axis == join.inner else axes[axis].extent
        whole, rest = divmod(extent, tile)
        sizes.append({tile: whole / -(-extent // tile)} | ({rest: 1 / -(-extent // tile)} if rest else {}))
    mean = 0.0
    for chosen in product(*(s.items() for s in sizes)):
        limits = {i: size for i, (size, _) in zip(iterators, chosen, strict=True) if i is not None}
        mean += prod(share for _, share in chosen) * copy.cycles_of(limits)
    return mean


def _source_order(pairing: Pairing, number: int, copy: Role) -> list[int] | None:
    """The axes of a tile in the order in which a copy reads them; None if it does not read them all."""
    own, written = pairing.role.dims[number], copy.dims[copy.form.output]
    if len(own) != len(written) or not _same_rows(pairing.role.tiles[number], copy.written):
        return None
    axes = {w: pairing.axes[n] for w, n in zip(written, own, strict=True) if w is not None and n is not None}
    read = copy.dims[copy.sources[0]]
    return [axes[n] for n in read if n is not None] if {*read} == {*axes} and len(read) == len(axes) else None


def _same_rows(tile: Tile, other: Tile) -> bool:
    """Whether two tiles have the same dimensions but for the number of rows."""
    shapes = tile.shape[1:], other.shape[1:]
    return len(tile.shape) == len(other.shape) and all(a % b == 0 for a, b in zip(*shapes, strict=True))


def _copy_difference(form: Form, pairing: Pairing, number: int, copy: Role) -> str | None:
    """Why an instruction does not copy an operand; None if it does."""
    tile, operand = pairing.role.tiles[number], form.operands[pairing.operands[number]]
    name, written = operand.buffer.name, copy.dims[copy.form.output]
    if not _same_rows(tile, copy.written):
        return f"writes tiles of {' x '.join(map(str, copy.written.shape))}"
    dims = []
    for iterator in copy.dims[copy.sources[0]]:
        if iterator is None or iterator not in written:
            return "reads at an index that is not an iterator"
        own = pairing.role.dims[number][written.index(iterator)]
        axis = None if own is None else pairing.axes[own]
        dims.append(next(d for d, row in enumerate(operand.rows) if axis is not None and row[axis]))
    if len(dims) != len(tile.shape):
        return f"reads a tile of {len(dims)} dimensions"
    if dims != sorted(dims) or dims[-1] != len(operand.rows) - 1:
        return f"reads rows of adjacent elements; dimension {dims[-1]} of {name} is not its last one"
    return None


def _memory_name(memory: MemorySpace | None) -> str:
    return "the memory of the CPU" if memory is None else memory.name


def _fills(roles: Sequence[Role], raised: RaisedBlock, pairing: Pairing, limited: set[int]) -> list[Role]:
    """The instructions that set the result before a sum, the cheapest of each unit: to a number, or to what an operand
    has there; best ones of another unit first. limited: dimensions of which they set the first part."""
    role, form, start = pairing.role, raised.form, raised.start
    if (form.init is None and start is None) or role.form.init is not None:
        return []
    same = [r for r in roles if r.written.memory == role.written.memory and r.written.shape == role.written.shape]
    if start is not None:
        fills = [r for r in same if r.moves and _starts_from(form, start, pairing, r)]
    else:
        fills = [r for r in same if r.form.payload == form.init or _takes_number(r, form.init)]
    if not fills:
        memory = _memory_name(role.written.memory)
        raise MachineError(f"no instruction sets a tile of {memory} to its start value, {_start_text(form, start)}")
    fills = [r for r in fills if not limited or _limits(r, r.form.output, limited)]
    if not fills:
        raise MachineError(f"no instruction sets the first rows of a tile of {_memory_name(role.written.memory)}")
    fills.sort(key=lambda r: (r.instruction.unit == role.instruction.unit, r.cycles))
    return list({r.instruction.unit: r for r in reversed(fills)}.values())[::-1]


def _takes_number(fill: Role, number: Tree | None) -> bool:
    """Whether an instruction sets a tile to any number of a type."""
    payload = fill.form.payload
    return isinstance(number, OpNode) and is_parameter(payload) and payload.type == number.type


def _start_text(form: Form, start: Form | None) -> str:
    """What a sum starts from: `0`, or `a row of D` where that is a bias."""
    if start is None:
        assert form.init is not None
        return structure_text(form.init, full=False)
    if not isinstance(start.payload, Leaf):
        return structure_text(start.payload, full=False)
    operand = start.operands[start.payload.operand]
    kind = "a row" if len(operand.rows) == 1 else "a tile"
    return f"{kind} of {operand.buffer.name}, {operand.buffer.dtype} in the memory of the CPU"


def _starts_from(form: Form, start: Form, pairing: Pairing, fill: Role) -> bool:
    """Whether an instruction sets a tile of the result to the elements of an operand in the memory of the CPU."""
    source, out = fill.sources[0], pairing.role.dims[pairing.role.form.output]
    if not isinstance(start.payload, Leaf) or fill.tiles[source].memory is not None:
        return False
    operand = start.operands[start.payload.operand]
    spatial = [n for n, axis in enumerate(form.axes) if axis.kind == "S"]
    written, wanted = fill.dims[fill.form.output], []
    for row in operand.rows:
        axes = [spatial[a] for a, factor in enumerate(row) if factor]
        found = [d for d, n in enumerate(out) if n is not None and [pairing.axes[n]] == axes]
        if not found and len(axes) == 1 and axes[0] not in pairing.axes:
            continue  # one index for all of a tile
        if len(found) != 1:
            return False
        wanted.append(written[found[0]])
    return wanted == [*fill.dims[source]] and fill.tiles[source].dtype == operand.buffer.dtype


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
    epilogue = raise_block(sch, sch.get_block(last)).form
    fitting = [r for r in able if pairings(epilogue, r)]
    if not fitting:
        raise MachineError(f"block {last} is not what {able[0]} stores: {difference(epilogue, able[0])}")
    return min(fitting, key=lambda r: r.cycles)
