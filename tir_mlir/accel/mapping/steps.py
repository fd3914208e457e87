"""The steps that put a nest on a machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from tir_mlir.accel.mapping.chain_steps import StageBlock, lay_out_stages, make_behind, tensorize_stage, write_in_place
from tir_mlir.accel.mapping.join import Join, join_axes
from tir_mlir.accel.mapping.nest import CopiedOperand, Nest, TiledBuffer
from tir_mlir.accel.mapping.on_cores import CoreSplit
from tir_mlir.accel.mapping.roles import Role
from tir_mlir.accel.mapping.tiling import Tiling
from tir_mlir.schedule import BlockHandle, LoopHandle, Schedule
from tir_mlir.schedules.block_queries import loops_by_iter


def apply_tiling(sch: Schedule, nest: Nest, tiling: Tiling, split: CoreSplit | None = None) -> None:
    """Schedule a nest. split: how cores share it; the tiling is then that of the part of one core."""
    block = sch.get_block(nest.block)
    nest, copies, store = _place_buffers(sch, nest, block)
    part, around = (nest, 0) if split is None else (split.part(nest), 1)  # around: the loop over cores
    outer, inner = _tile(sch, part, tiling, block, split)
    levels = [min(level + around, len(outer) - 1) for level in tiling.levels]
    for copy, level in zip(copies, levels, strict=True):
        if level >= 0:
            sch.compute_at(copy, outer[level], preserve_unit_loops=True)
    spatial = [*range(around), *(n for n, a in enumerate(tiling.outer(part), around) if nest.axes[a].kind == "S")]
    behind: list[StageBlock] = []
    if nest.behind is not None:
        loop = outer[spatial[-1]] if spatial else None
        behind = make_behind(sch, nest.behind, store, str(sch.get(block).writes[0]), loop)
    elif spatial:
        sch.reverse_compute_at(store, outer[spatial[-1]], preserve_unit_loops=True)
    _lay_out_tiles(sch, nest, [*copies, block], behind)
    start = None
    if nest.fill is not None:
        start = sch.decompose_reduction(block, sch.get_loops(block)[len(spatial)])
        _inline_padding(sch, nest, start)
    write_in_place(sch, behind)
    first = [(level, copy) for level, copy in zip(levels, copies, strict=True) if tiling.ahead and level >= around]
    if start is not None and tiling.starts_ahead(part):
        first.append((spatial[-1], start))
    writers = [*zip(levels, copies, (c.buffer for c in nest.copies), strict=True)]
    writers += [(spatial[-1], start or block, nest.result)] if spatial else []
    if nest.moves_parts:
        _shrink_buffers(sch, tiling.outer(nest), outer, writers, first)
    _run_ahead(sch, outer, first)
    sch.tensorize(inner, str(nest.role))
    for copy, operand, level in zip(copies, nest.copies, levels, strict=True):
        _tensorize_copy(sch, copy, operand.buffer, operand.copy, operand.copy.form.output, level + 1)
    if nest.behind is None:
        _tensorize_copy(sch, store, nest.result, nest.store, nest.store.sources[0], len(spatial))
    for stage in behind:
        tensorize_stage(sch, stage, len(spatial))
    if start is not None:
        _tensorize_start(sch, nest, start)
    if split is not None:
        sch.bind(outer[0], "core")


def _lay_out_tiles(sch: Schedule, nest: Nest, writers: list[BlockHandle], behind: list[StageBlock]) -> None:
    """Give the operands, the result, and what computes with it the layouts that instructions take."""
    for writer, buffer in zip(writers, [*(c.buffer for c in nest.copies), nest.result], strict=True):
        sch.transform_layout(writer, ("write", 0), buffer.layout())
    lay_out_stages(sch, behind, nest.result.is_unit_kept)


def _tensorize_start(sch: Schedule, nest: Nest, start: BlockHandle) -> None:
    """Let an instruction set the start values of sums."""
    depth = sum(axis.kind == "S" and axis.tile > 1 for axis in nest.axes)
    sch.tensorize(sch.get_loops(start)[-depth], str(nest.fill))


def _run_ahead(sch: Schedule, outer: list[LoopHandle], first: list[tuple[int, BlockHandle]]) -> None:
    """Let blocks run an iteration ahead of the loops that they are in, by number; from the inside out."""
    for level in sorted({level for level, _ in first}, reverse=True):
        sch.double_buffer([block for at, block in first if at == level], outer[level])


def _shrink_buffers(
    sch: Schedule,
    axes: list[int],
    outer: list[LoopHandle],
    writers: list[tuple[int, BlockHandle, TiledBuffer]],
    ahead: list[tuple[int, BlockHandle]],
) -> None:
    """Let each iteration of the loops over parts use the same rows of buffers that are written in them; not of those
    that get planes there. Windows at their ends are pointers, behind which buffers remain as they are."""
    for level, block, buffer in writers:
        for number in range(level + 1):
            if axes[number] in buffer.axes and (number, block) not in ahead:
                sch.double_buffer(block, outer[number], 1)


def _place_buffers(sch: Schedule, nest: Nest, block: BlockHandle) -> tuple[Nest, list[BlockHandle], BlockHandle]:
    """Put the operands and the result into memories of the machine. Returns the nest, whose axes may have new names,
    and what copies and what stores them."""
    names = {c: c.buffer.name for c in nest.copies}
    windows = {
        c: _read_by_axes(sch, nest, block, c.buffer)
        for c in nest.copies
        if c.is_reindexed or (nest.join is not None and nest.join.inner in c.buffer.axes)
    }
    names |= {c: str(sch.get(made).writes[0]) for c, made in windows.items()}
    store = None
    if nest.join is not None:
        store = None if nest.epilogue is not None else sch.cache_write(block, 0, nest.result.memory.scope)
        nest = _join_axes(sch, nest, nest.join, block, windows)
    if nest.is_ragged:
        sch.pad_einsum(block, nest.padding)
    copies = []
    for operand in nest.copies:
        scope, name, window = operand.buffer.memory.scope, names[operand], windows.get(operand)
        padded = nest.pads(operand.buffer.axes)
        if padded and window is not None and not operand.by_cpu:
            sch.compute_inline(window)
        source = f"{name}_pad" if padded else name
        if operand.by_cpu or (padded and not operand.copy.masks):  # the CPU makes it
            copies.append(sch.cache_read(block, source, scope))
            _merge_host_copies(sch, copies[-1], window)
        elif padded or window is not None:
            copies.append(window if window is not None and not padded else sch.get_block(source))
            sch.set_scope(copies[-1], 0, scope)
        else:
            copies.append(sch.cache_read(block, source, scope))
    return nest, copies, store or _place_result(sch, nest, block)


def _join_axes(
    sch: Schedule, nest: Nest, join: Join, block: BlockHandle, windows: Mapping[CopiedOperand, BlockHandle]
) -> Nest:
    """Make two axes of a block one. Returns the nest with the new names of its axes."""
    iters = [i.name for i in sch.get(block).iter_vars]
    place = {a: iters.index(axis.name) for a, axis in enumerate(nest.axes)}
    placed = Join(place[join.outer], place[join.inner], join.count, join.size)
    joined = [c for c in windows if join.inner in c.buffer.axes]
    by_axes = {windows[c]: [place[a] for a in c.buffer.indices] for c in joined}
    join_axes(sch, block, placed, [place[a] for a in nest.result.indices], by_axes)
    names = [i.name for i in sch.get(block).iter_vars]
    return replace(nest, axes=tuple(replace(axis, name=names[place[a]]) for a, axis in enumerate(nest.axes)))


def _merge_host_copies(sch: Schedule, copy: BlockHandle, window: BlockHandle | None) -> None:
    """Make one copy on the CPU of those that pad the operand of a copy, lay it out, and pad it."""
    made = "" if window is None else sch.get(window).name
    (last,) = sch.get_producers(copy) or (None,)
    while last is not None:
        names = {sch.get(p).name: p for p in sch.get_producers(last)}
        before = [p for name, p in names.items() if name == made or name.endswith("_pad")]
        if not before or not sch.can_compute_inline(before[0]):
            break
        sch.compute_inline(before[0])


def _inline_padding(sch: Schedule, nest: Nest, start: BlockHandle) -> None:
    """Let the instruction that sets the result read an operand of the CPU without a padded copy, if it has masks."""
    for producer in sch.get_producers(start):
        if nest.fill is not None and nest.fill.masks and sch.get(producer).name.endswith("_pad"):
            sch.compute_inline(producer)


def _read_by_axes(sch: Schedule, nest: Nest, block: BlockHandle, buffer: TiledBuffer) -> BlockHandle:
    """Copy what a block reads at expressions of its axes, into a buffer whose indices are these axes."""
    iters = [i.name for i in sch.get(block).iter_vars]
    positions = [iters.index(nest.axes[axis].name) for axis in buffer.indices]

    def order_indices(*indices: int) -> tuple[int, ...]:
        return tuple(indices[n] for n in positions)

    return sch.reindex_cache_read(block, buffer.name, "global", order_indices)


def _place_result(sch: Schedule, nest: Nest, block: BlockHandle) -> BlockHandle:
    """Put the result into a memory of the machine. Returns what stores it."""
    result = nest.result
    padded = nest.pads(result.axes)
    if nest.epilogue is None and (not padded or not nest.store.masks):  # padded: the CPU takes out the result
        return sch.cache_write(block, 0, result.memory.scope)
    sch.set_scope(block, 0, result.memory.scope)
    if nest.epilogue is None:
        return sch.get_block(f"{result.name}_pad")
    if padded:
        sch.compute_inline(f"{result.name}_pad")
    return sch.get_block(nest.epilogue)


def _tile(
    sch: Schedule, nest: Nest, tiling: Tiling, block: BlockHandle, split: CoreSplit | None
) -> tuple[list[LoopHandle], LoopHandle]:
    """Split the loops of the block. Returns the loops over cores and parts, and the outermost loop of a tile."""
    outer: dict[int, LoopHandle] = {}
    middle: dict[int, LoopHandle] = {}
    inner: dict[int, LoopHandle] = {}
    loops = loops_by_iter(sch, block)
    cores = []
    if split is not None:
        name = nest.axes[split.axis].name
        core, loops[name] = sch.split(loops[name], [split.cores, None])
        cores.append(core)
    for number, axis in enumerate(nest.axes):
        part, loop = tiling.parts[number], loops[axis.name]
        kept = [(outer, None), (middle, part), (inner, axis.tile)]
        if -(-axis.tiles // part) == 1:
            kept[:2] = [(middle, None)]
        if part == 1:
            kept = [k for k in kept if k[0] is not middle] if len(kept) > 2 else [(middle, None), kept[-1]]
        if axis.tile == 1:
            kept = kept[:-1]
        kept[0] = (kept[0][0], None)
        parts = sch.split(loop, [size for _, size in kept]) if len(kept) > 1 else [loop]
        for (where, _), made in zip(kept, parts, strict=True):
            where[number] = made
    order = [*cores, *(outer[a] for a in tiling.outer(nest))]
    reduced = sorted(middle, key=lambda a: nest.axes[a].kind == "S")
    tile = [inner[a] for a in nest.pairing.axes if a in inner]
    sch.reorder(*order, *(middle[a] for a in reduced), *tile)
    return order, tile[0]


def _tensorize_copy(
    sch: Schedule, block: BlockHandle, buffer: TiledBuffer, role: Role, operand: int, skipped: int
) -> None:
    """Split the loops of a copy by the tile of its instruction. operand: its tile in the memory of the machine."""
    by_iter = loops_by_iter(sch, block, skipped)
    loops = list(by_iter.values())
    iters = sch.get(block).iter_vars
    inner = []
    for dim, size in sorted(zip(buffer.dims, role.tiles[operand].shape, strict=True)):
        if iters[dim].dom.extent == 1:  # its index is a constant: a tile of one
            continue
        loop = by_iter[iters[dim].name]
        first, second = sch.split(loop, [None, size])
        loops[loops.index(loop)] = first
        inner.append(second)
    if inner:
        sch.reorder(*loops, *inner)
    sch.tensorize(inner[0] if inner else block, str(role))
