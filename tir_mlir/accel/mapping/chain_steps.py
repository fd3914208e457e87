"""The schedule steps that put an elementwise block on a machine: one block for each instruction, all in one loop over
parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from tir_mlir.accel.mapping.behind import reads_held
from tir_mlir.accel.mapping.chain import Chain, is_load
from tir_mlir.accel.mapping.cover import Source, Step, TilePlace
from tir_mlir.accel.mapping.nest import TiledBuffer
from tir_mlir.dialect.computation import Leaf
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import loops_by_iter

_EARLIEST = -2
"""The index of compute_at for a place before all other statements of the loop."""


@dataclass(frozen=True)
class StageBlock:
    """A block that a step became, and the axis that each of its iters is; None: it runs once."""

    block: BlockHandle
    step: Step
    axes: tuple[int | None, ...]


def apply_chain(sch: Schedule, chain: Chain, parts: Sequence[int]) -> None:
    """Schedule an elementwise block: an iteration over its parts loads operands ahead, computes, and stores."""
    block = sch.get_block(chain.block)
    before, root, behind = _ChainStages(sch, chain, _axes_of_iters(sch, chain, block)).make(block)
    assert root is not None
    outer = _tile_outer(sch, chain, root, parts)
    if outer:
        for stage in sorted(reversed(before), key=lambda s: is_load(s.step)):
            index = _EARLIEST if is_load(stage.step) else -1
            sch.compute_at(stage.block, outer[-1], preserve_unit_loops=True, index=index)
        for stage in behind:
            sch.reverse_compute_at(stage.block, outer[-1], preserve_unit_loops=True)
    stages = [*before, root, *behind]
    lay_out_stages(sch, stages)
    overwritten = write_in_place(sch, stages)
    loads = [s.block for s in stages if is_load(s.step) and str(sch.get(s.block).writes[0]) not in overwritten]
    if outer and loads:
        sch.double_buffer(loads, outer[-1])
    for stage in stages:
        tensorize_stage(sch, stage, len(outer))


def make_behind(
    sch: Schedule, chain: Chain, block: BlockHandle, held: str, loop: LoopHandle | None
) -> list[StageBlock]:
    """Make the blocks of what computes with the result of a sum, in the loop that computes it; None: it is in none.

    block: what stores. held: the buffer of the result.
    """
    stages = _ChainStages(sch, chain, _axes_of_iters(sch, chain, block), held)
    before, root, behind = stages.make(block)
    made = [*before, *([] if root is None else [root]), *behind]
    if loop is not None:
        for stage in made:
            sch.reverse_compute_at(stage.block, loop, preserve_unit_loops=True)
    others = stages.make_others()
    if loop is not None:
        for stage in reversed(others):
            sch.compute_at(stage.block, loop, preserve_unit_loops=True)
    return [*others, *made]


def write_in_place(sch: Schedule, stages: Sequence[StageBlock]) -> set[str]:
    """Let the blocks of instructions that overwrite what they read do so. Returns the buffers."""
    overwritten = set[str]()
    for stage in stages:
        if stage.step.is_in_place:
            overwritten.add(str(sch.get(stage.block).reads[0]))
            sch.write_in_place(stage.block, 0)
    return overwritten


def lay_out_stages(sch: Schedule, stages: Sequence[StageBlock], is_unit_kept: bool = False) -> None:
    """Give what stages make in memories of the machine the layout of their tiles. is_unit_kept: see `TiledBuffer`."""
    for stage in stages:
        if stage.step.place is not None:
            name = str(sch.get(stage.block).writes[0])
            buffer = replace(tiled_buffer(name, stage.step.place, stage.axes), is_unit_kept=is_unit_kept)
            sch.transform_layout(stage.block, ("write", 0), buffer.layout())


def tiled_buffer(name: str, place: TilePlace, axes: Sequence[int | None]) -> TiledBuffer:
    """The buffer of a place, whose dimensions are these axes."""
    dims = tuple(axes.index(a) for a in place.axes)
    indices = tuple(-1 if a is None else a for a in axes)
    return TiledBuffer(name, place.memory, indices, (1, *place.tail), len(dims) - len(place.row), dims)


def tensorize_stage(sch: Schedule, stage: StageBlock, skipped: int) -> None:
    """Split the loops of a stage by the tile of its instruction. skipped: loops over parts."""
    by_iter = loops_by_iter(sch, stage.block, skipped)
    loops, inner = list(by_iter.values()), []
    for axis, info in zip(stage.axes, sch.get(stage.block).iter_vars, strict=True):
        size = None if axis is None else stage.step.tile_by_axis.get(axis)
        if size is None or info.dom.extent == 1:  # its index is a constant: a tile of one
            continue
        loop = by_iter[info.name]
        first, second = sch.split(loop, [None, size])
        loops[loops.index(loop)] = first
        inner.append(second)
    if inner:
        sch.reorder(*loops, *inner)
    sch.tensorize(inner[0] if inner else stage.block, str(stage.step.role))


def _tile_outer(sch: Schedule, chain: Chain, root: StageBlock, parts: Sequence[int]) -> list[LoopHandle]:
    """Split the loops of a block by parts. Returns the loops over parts, which become the outer ones."""
    outer: list[tuple[int, LoopHandle]] = []
    rest: list[LoopHandle] = []
    by_iter, infos = loops_by_iter(sch, root.block), sch.get(root.block).iter_vars
    axis_of = {info.name: axis for info, axis in zip(infos, root.axes, strict=True)}
    trips = chain.trips(parts)
    for name, loop in by_iter.items():
        axis = axis_of[name]
        if axis is not None and trips[axis] > 1:
            first, loop = sch.split(loop, [None, parts[axis] * chain.axes[axis].tile])
            outer.append((trips[axis], first))
        rest.append(loop)
    ordered = [loop for _, loop in sorted(outer, key=lambda o: o[0])]  # copies run ahead in the innermost one
    if ordered:
        sch.reorder(*ordered, *rest)
    return ordered


def _axes_of_iters(sch: Schedule, chain: Chain, block: BlockHandle) -> tuple[int, ...]:
    """The axis of each iter of a block, in its order; of a copy, the dimensions are in the order of the axes."""
    names, by_name = [i.name for i in sch.get(block).iter_vars], {axis.name: n for n, axis in enumerate(chain.axes)}
    return tuple(by_name[name] for name in names) if {*names} == {*by_name} else tuple(range(len(names)))


@dataclass
class _ChainStages:
    """Makes the blocks of the steps of a chain."""

    sch: Schedule
    chain: Chain
    axes: tuple[int, ...]
    """The axis of each iter of the blocks."""
    held: str = ""
    """The buffer of the result of the sum before; "" if there is none."""
    before: list[StageBlock] = field(default_factory=list)
    """Blocks that others read, each before those that do."""
    padded: set[str] = field(default_factory=set)
    """Operands that have a copy with zeros behind their ends."""

    others: list[tuple[BlockHandle, Source, Sequence[int]]] = field(default_factory=list)
    """Operands that do not depend on the sum before: their blocks are made when those that do are in its loops."""
    are_others_made: bool = False

    def make(self, block: BlockHandle) -> tuple[list[StageBlock], StageBlock | None, list[StageBlock]]:
        """Make a block for each step, of the block that stores. Returns the blocks that others read, in order, the one
        that computes the last value, if that is not the result of a sum, and those that copy and store it."""
        store, ragged = self.chain.store, self.chain.is_ragged
        if ragged and not store.role.masks:  # the CPU pads, and takes out the result
            self._pad(block)
            ragged = False
        (source,) = [s for s in store.sources if s.step is not None]
        base, moves = _without_moves(source)
        root = None
        if base.step is not None:
            assert base.step.place is not None
            made = self.sch.cache_value(block, list(source.path), base.step.place.memory.scope)
            if ragged:
                self._pad(made)
                self.sch.compute_inline(f"{self.sch.get(made).name}_pad")
                for name in sorted(self.padded) if self.held else ():
                    self.sch.compute_inline(f"{name}_pad")
            self._make_operands(made, base.step, ragged)
            root = StageBlock(made, base.step, self.axes)
        name = self.held if root is None else str(self.sch.get(root.block).writes[0])
        behind = self._move(block, name, moves, self.axes)
        return self.before, root, [*behind, StageBlock(block, store, self.axes)]

    def make_others(self) -> list[StageBlock]:
        """Make the blocks of operands that do not depend on the sum before. Returns them, in order."""
        self.before, self.are_others_made = [], True
        for block, source, path in self.others:
            self._make(block, source, path, masked=True)
        return self.before

    def _move(
        self, block: BlockHandle, name: str, moves: Sequence[Step], axes: tuple[int | None, ...]
    ) -> list[StageBlock]:
        """Copy a buffer that a block reads from one memory to the next one."""
        made: list[StageBlock] = []
        for move in moves:
            assert move.place is not None
            copy = self.sch.cache_read(block, name, move.place.memory.scope, [block])
            made.append(StageBlock(copy, move, axes))
            name = str(self.sch.get(copy).writes[0])
        return made

    def _pad(self, block: BlockHandle) -> None:
        """Pad the axes of a block to whole tiles."""
        self.sch.pad_einsum(block, [self.chain.axes[a].tile for a in self.axes])
        self.padded |= self._padded_operands()

    def _padded_operands(self) -> set[str]:
        """The operands that an axis indexes whose end is padded."""
        ragged = {n for n, axis in enumerate(self.chain.axes) if axis.extent % axis.tile}
        form = self.chain.form
        return {
            o.buffer_name
            for n, o in enumerate(self._operands())
            if n not in (form.output, self.chain.held) and ragged & {a for a in o.axes if a is not None}
        }

    def _operands(self) -> list[_Operand]:
        found = []
        for operand in self.chain.form.operands:
            axes = tuple(next((a for a, factor in enumerate(row) if factor), None) for row in operand.rows)
            found.append(_Operand(operand.buffer.name, axes))
        return found

    def _make_operands(self, block: BlockHandle, step: Step, masked: bool) -> None:
        """Make the blocks that compute the operands of a step, which is a block. masked: copies mask what is padded."""
        if is_load(step):
            name = self._operand_at(step.path).buffer_name
            if masked and name in self.padded and step.role.masks and not self.held:
                self.sch.compute_inline(f"{name}_pad")
            return
        for source in step.sources:
            path = source.path[len(step.path) :]
            waits = self.held and not self.are_others_made
            if source.step is not None and waits and not reads_held(self.chain, source.step):
                self.others.append((block, source, path))
            elif source.step is not None:  # else it is the result of a sum
                self._make(block, source, path, masked)

    def _make(self, block: BlockHandle, source: Source, path: Sequence[int], masked: bool) -> None:
        """Make the block of an operand, which is the part at a path of the value of a block."""
        base, moves = _without_moves(source)
        step, name = base.step, self.held
        axes: tuple[int | None, ...] = self.axes
        if step is not None:
            assert step.place is not None
            leaf = self._operand_at(step.path) if is_load(step) else None
            if leaf is not None and {*step.place.axes} <= {*leaf.axes}:
                made, axes = self._load(block, step, leaf, path, masked)
            else:
                made = self.sch.cache_value(block, list(path), step.place.memory.scope)
                self._make_operands(made, step, masked)
            self.before.append(StageBlock(made, step, axes))
            name = str(self.sch.get(made).writes[0])
        self.before += self._move(block, name, moves, axes)

    def _load(
        self, block: BlockHandle, step: Step, leaf: _Operand, path: Sequence[int], masked: bool
    ) -> tuple[BlockHandle, tuple[int | None, ...]]:
        """Copy an operand from the memory of the CPU. Returns the block, and the axes of its iters."""
        assert step.place is not None
        scope, name = step.place.memory.scope, leaf.buffer_name
        if name not in self.padded:
            return self.sch.cache_read(block, name, scope, [block]), leaf.axes
        if not masked or not step.role.masks:
            return self.sch.cache_read(block, f"{name}_pad", scope, [block]), leaf.axes
        if self.held:  # its zeros are in the block
            return self.sch.cache_value(block, list(path), scope), self.axes
        copy = self.sch.get_block(f"{name}_pad")
        self.sch.set_scope(copy, 0, scope)
        return copy, leaf.axes

    def _operand_at(self, path: Sequence[int]) -> _Operand:
        tree = self.chain.part(path)
        assert isinstance(tree, Leaf)
        return self._operands()[tree.operand]


@dataclass(frozen=True)
class _Operand:
    """An operand of the block in the memory of the CPU, and the axis that each of its indices is."""

    buffer_name: str
    axes: tuple[int | None, ...]


def _without_moves(source: Source) -> tuple[Source, list[Step]]:
    """What computes or loads an operand, and the copies from one memory of the machine to another behind it."""
    moves: list[Step] = []
    step = source.step
    while step is not None and step.role.moves and not is_load(step):
        moves.insert(0, step)
        (source,) = step.sources
        step = source.step
    return source, moves
