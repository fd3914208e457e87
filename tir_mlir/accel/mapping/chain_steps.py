"""The schedule steps that put an elementwise block on a machine: one block for each instruction, all in one loop over
parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

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
    stages = _ChainStages(sch, chain)
    root, before, behind = stages.make()
    outer = _tile_outer(sch, chain, root, parts)
    if outer:
        for stage in sorted(reversed(before), key=lambda s: is_load(s.step)):
            index = _EARLIEST if is_load(stage.step) else -1
            sch.compute_at(stage.block, outer[-1], preserve_unit_loops=True, index=index)
        for stage in behind:
            sch.reverse_compute_at(stage.block, outer[-1], preserve_unit_loops=True)
    made = [*before, root, *behind]
    for stage in made:
        if stage.step.place is not None:
            buffer = tiled_buffer(str(sch.get(stage.block).writes[0]), stage.step.place, stage.axes)
            sch.transform_layout(stage.block, ("write", 0), buffer.layout())
    loads = [stage.block for stage in made if is_load(stage.step)]
    if outer and loads:
        sch.double_buffer(loads, outer[-1])
    for stage in made:
        tensorize_stage(sch, stage, len(outer))


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


@dataclass
class _ChainStages:
    """Makes the blocks of the steps of a chain."""

    sch: Schedule
    chain: Chain
    before: list[StageBlock] = field(default_factory=list)
    """Blocks that others read, each before those that do."""
    padded: set[str] = field(default_factory=set)
    """Operands that have a copy with zeros behind their ends."""

    def make(self) -> tuple[StageBlock, list[StageBlock], list[StageBlock]]:
        """The block whose loops are over parts, those that it reads, and those that read it."""
        sch, chain = self.sch, self.chain
        block, axes = sch.get_block(chain.block), self._axes_of_iters()
        store = chain.store
        ragged = chain.is_ragged
        if ragged and not store.role.masks:  # the CPU pads, and takes out the result
            sch.pad_einsum(block, [chain.axes[a].tile for a in axes])
            self.padded |= self._padded_operands()
            ragged = False
        (source,) = [s for s in store.sources if s.step is not None]
        base, moves = _without_moves(source)
        assert base.step is not None and base.step.place is not None
        root = sch.cache_value(block, list(source.path), base.step.place.memory.scope)
        if ragged:
            sch.pad_einsum(root, [chain.axes[a].tile for a in axes])
            self.padded |= self._padded_operands()
            sch.compute_inline(f"{sch.get(root).name}_pad")
        self._make_operands(root, base.step, ragged)
        behind = []
        for move in moves:
            assert move.place is not None
            name = str(sch.get(behind[-1].block if behind else root).writes[0])
            behind.append(StageBlock(sch.cache_read(block, name, move.place.memory.scope), move, axes))
        return StageBlock(root, base.step, axes), self.before, [*behind, StageBlock(block, store, axes)]

    def _axes_of_iters(self) -> tuple[int, ...]:
        """The axis of each iter of the block, in its order."""
        by_name = {axis.name: n for n, axis in enumerate(self.chain.axes)}
        return tuple(by_name[info.name] for info in self.sch.get(self.sch.get_block(self.chain.block)).iter_vars)

    def _padded_operands(self) -> set[str]:
        """The operands that an axis indexes whose end is padded."""
        ragged = {n for n, axis in enumerate(self.chain.axes) if axis.extent % axis.tile}
        form = self.chain.form
        return {
            o.buffer_name
            for n, o in enumerate(self._operands())
            if n != form.output and ragged & {a for a in o.axes if a is not None}
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
            if masked and name in self.padded and step.role.masks:
                self.sch.compute_inline(f"{name}_pad")
            return
        for source in step.sources:
            if source.step is not None:
                self._make(block, source, source.path[len(step.path) :], masked)

    def _make(self, block: BlockHandle, source: Source, path: Sequence[int], masked: bool) -> None:
        """Make the block of an operand, which is the part at a path of the value of a block."""
        base, moves = _without_moves(source)
        step = base.step
        assert step is not None and step.place is not None
        axes = self._axes_of_iters()
        leaf = self._operand_at(step.path) if is_load(step) else None
        if leaf is not None and {*step.place.axes} <= {*leaf.axes}:
            made, axes = self._load(block, step, leaf.buffer_name, masked), leaf.axes
        else:
            made = self.sch.cache_value(block, list(path), step.place.memory.scope)
            self._make_operands(made, step, masked)
        self.before.append(StageBlock(made, step, axes))
        for move in moves:
            assert move.place is not None
            name = str(self.sch.get(self.before[-1].block).writes[0])
            copy = self.sch.cache_read(block, name, move.place.memory.scope, [block])
            self.before.append(StageBlock(copy, move, axes))

    def _load(self, block: BlockHandle, step: Step, name: str, masked: bool) -> BlockHandle:
        """Copy an operand from the memory of the CPU."""
        assert step.place is not None
        scope = step.place.memory.scope
        if name not in self.padded:
            return self.sch.cache_read(block, name, scope, [block])
        if not masked or not step.role.masks:
            return self.sch.cache_read(block, f"{name}_pad", scope, [block])
        copy = self.sch.get_block(f"{name}_pad")
        self.sch.set_scope(copy, 0, scope)
        return copy

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
