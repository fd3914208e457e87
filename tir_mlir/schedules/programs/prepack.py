"""Weights in the layout that products and convolutions read: packed once, not in every call."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import enter_context, funcs
from tir_mlir.schedule import BlockHandle, Schedule
from tir_mlir.schedule.info import RegionInfo
from tir_mlir.schedules.block_queries import LARGE, block_info, iters
from tir_mlir.schedules.convolutions.conv2d import divide_groups
from tir_mlir.schedules.convolutions.conv_tile_sizes import conv_tiles
from tir_mlir.schedules.convolutions.convolution import convolution
from tir_mlir.schedules.products.contraction import contraction
from tir_mlir.schedules.products.gemm_amx import tile_panels, tile_unit
from tir_mlir.schedules.products.gemm_dots import dot_panels
from tir_mlir.schedules.products.gemm_panels import MANY_REGISTERS, panels
from tir_mlir.schedules.products.group_sums import group_panels, group_sums
from tir_mlir.schedules.products.packing import WeightPanels
from tir_mlir.schedules.products.tile_sizes import register_tile
from tir_mlir.schedules.programs.block_kinds import Kind, kind_of
from tir_mlir.schedules.steps import all_or_nothing, attempt
from tir_mlir.target import Target, chosen

FEWEST_ROWS = 4
"""With fewer rows, a product reads each weight once: panels are of use as one stream from memory, if they are wide."""
FEWEST_VECTORS = 4
"""Vectors of columns that hide the latency of the sums of one row."""
FLOATS = ("float32", "float64")
SHORT_FLOATS = ("float16", "bfloat16")
"""Convolutions widen them in registers, for several pixels at once."""


@all_or_nothing
def prepack(
    sch: Schedule, function: str, weights: Sequence[str], target: Target | str | None = None, threads: int | None = None
) -> dict[str, WeightPanels]:
    """Change parameters of a function to panels, as its products and convolutions read them: callers pack them once.

        def dense(X, W: [3072, 768], Y):          def dense(X, W: [64, 768, 48], Y):
            Y += X[i, k] * W[j, k]          ->        Y += X[i, k] * W[j // 48, k, j % 48]

    To be called before the function is scheduled: `schedules.auto` takes the panels as they are. The parameters keep
    their order. weights: names of parameters; those where panels are of no use remain as they are: read by no product
    or convolution, by several blocks, as rows of the result, with few rows and columns, of symbolic shape, or no
    floats. What is widened for a convolution is in panels before and after. Weights of bfloat16 that dot-product
    instructions read are in groups as well: W[j // 48, k // 2, j % 48, k % 2], and so are those of each of a batch.
    target, threads: as for `auto`.
    Returns the panels by name, whose `apply(array)` packs a weight, exactly. Raises ScheduleError for a name that is
    not a parameter of the function.
    """
    target = chosen(target)
    root = sch.get_block("root", function)
    blocks = sch.get_child_blocks(root)
    with enter_context():
        parameters = {p.name for f in funcs(sch.executor.module) if f.name == function for p in f.params}
    by_name = _panels_of_groups(sch, blocks, weights, target)
    for name in (n for n in weights if n not in by_name):
        if name not in parameters:
            raise ScheduleError(
                f'prepack: "{name}" is not a parameter of {function}; it has {", ".join(sorted(parameters))}'
            )
        readers = [b for b in blocks if name in map(str, block_info(sch, b).reads)]
        if len(readers) != 1 or any(name in map(str, block_info(sch, b).writes) for b in blocks):
            continue
        weight_panels = _panels(sch, readers[0], name, target, threads or target.cores)
        change = read_in_panels
        if weight_panels is None:
            weight_panels, change = (
                _widened_panels(sch, blocks, readers[0], name, target, threads or target.cores),
                _widen_into_panels,
            )
        if weight_panels is not None and attempt(sch, lambda b=readers[0], m=weight_panels, f=change: f(sch, b, m)):
            by_name[name] = weight_panels
    return by_name


def _panels_of_groups(
    sch: Schedule, blocks: Sequence[BlockHandle], weights: Sequence[str], target: Target
) -> dict[str, WeightPanels]:
    """The panels of the weights, and of their scales, of products that sum by group: all of them, or none."""
    by_name: dict[str, WeightPanels] = {}
    for block in blocks:
        try:
            panels = group_panels(group_sums(sch, block), target)
        except ScheduleError:
            continue
        readers = {r.name: r.block for r in panels}
        if set(readers) <= set(weights) and attempt(
            sch, lambda w=panels: [read_in_panels(sch, r.block, r.panels) for r in w]
        ):
            by_name |= {r.name: r.panels for r in panels}
    return by_name


def read_in_panels(sch: Schedule, block: BlockHandle, weight_panels: WeightPanels) -> bool:
    """Let a block read a weight in panels."""
    sch.transform_layout(block, weight_panels.name, weight_panels.layout, assume_injective_transform=True)
    return True


def _widened_panels(
    sch: Schedule, blocks: Sequence[BlockHandle], block: BlockHandle, name: str, target: Target, threads: int
) -> WeightPanels | None:
    """The panels of a weight that a block only widens, element by element, for one convolution that reads panels of it;
    None if there are none, or the last one is not full."""
    info = block_info(sch, block)
    if len(info.writes) != 1 or len(info.reads) != 1 or info.reads[0].axes != info.writes[0].axes:
        return None
    wide = str(info.writes[0])
    readers = [b for b in blocks if wide in map(str, block_info(sch, b).reads)]
    if len(readers) != 1 or info.iters != [(a[0], "S") for a in info.writes[0].axes if len(a) == 1]:
        return None
    if kind_of(sch, readers[0]) is not Kind.CONVOLUTION:  # products widen weights in registers, or while packing
        return None
    weight_panels = _panels(sch, readers[0], wide, target, threads)
    if weight_panels is None or weight_panels.source[weight_panels.along] % weight_panels.width:
        return None
    return replace(weight_panels, name=name, dtype=info.reads[0].buffer.dtype)


def _widen_into_panels(sch: Schedule, block: BlockHandle, weight_panels: WeightPanels) -> bool:
    sch.transform_layout(block, ("write", 0), weight_panels.layout, assume_injective_transform=True)
    sch.transform_block_layout(block, weight_panels.layout)
    return read_in_panels(sch, block, weight_panels)


def _panels(sch: Schedule, block: BlockHandle, name: str, target: Target, threads: int) -> WeightPanels | None:
    """The panels of a weight that a block reads; None if they are of no use."""
    info = block_info(sch, block)
    (read,) = (r for r in info.reads if str(r) == name)
    if not iters(info, "R") or any(e is None for e in read.buffer.shape):
        return None
    if read.buffer.dtype not in FLOATS:
        grouped = _grouped_panels(sch, block, read, target, threads)
        if grouped is not None or read.buffer.dtype not in SHORT_FLOATS:
            return grouped
    try:
        column, sums, width = _product_panels(sch, block, name, target, threads)
    except ScheduleError:
        try:
            column, sums, width = _convolution_panels(sch, block, name, target, threads)
        except ScheduleError:
            return None
    axes = [a[0] if len(a) == 1 else "" for a in read.axes]
    if not width or axes.count(column) != 1 or any(axes.count(a) != 1 for a in sums if a):
        return None
    along = axes.index(column)
    inner = sorted((d for d in range(len(axes)) if d != along), key=lambda d: _sum_position(axes[d], sums))
    shape = tuple(int(e) for e in read.buffer.shape if e is not None)
    return WeightPanels(name, shape, read.buffer.dtype, along, tuple(inner), min(width, shape[along]))


def _grouped_panels(
    sch: Schedule, block: BlockHandle, read: RegionInfo, target: Target, threads: int
) -> WeightPanels | None:
    """The panels of a weight that a product reads by dot-product instructions; None if they are of no use."""
    try:
        what = contraction(sch, block)
    except ScheduleError:
        return None
    axes, name = what.right.axes, str(read)
    batch = [a for a in what.batch if what.extent(a) != 1 or a in axes]
    if name != what.right.name or sorted(axes) != sorted((*batch, what.n, what.k)):
        return None
    unit = tile_unit(what, target, fewest=1)
    width, group = tile_panels(what, unit) if unit else dot_panels(what, target, threads)
    if group < 2:
        return None
    shape = tuple(int(e) for e in read.buffer.shape if e is not None)
    inner = tuple(axes.index(a) for a in (*batch, what.k))
    return WeightPanels(name, shape, read.buffer.dtype, axes.index(what.n), inner, width, group)


def _sum_position(axis: str, sums: Sequence[str]) -> int:
    return sums.index(axis) if axis in sums else -1


def _product_panels(
    sch: Schedule, block: BlockHandle, name: str, target: Target, threads: int
) -> tuple[str, Sequence[str], int]:
    """The columns of a product, its sum, and the width of panels of its right operand; 0 if they are of no use."""
    what = contraction(sch, block)
    is_weight = name == what.right.name and not what.right.panel and what.right.dtype == what.dtype
    shared = all(a not in what.right.axes for a in what.batch if what.extent(a) != 1)
    lanes = target.lanes(what.bits)
    few = (what.extent(what.m) or LARGE) < FEWEST_ROWS and (what.extent(what.n) or LARGE) < FEWEST_VECTORS * lanes
    if not is_weight or not shared or few or what.extent(what.n) == 1:
        return what.n, [what.k], 0
    if target.registers >= MANY_REGISTERS:
        return what.n, [what.k], panels(what, target, threads).nr
    return what.n, [what.k], register_tile(what.extent(what.m), what.extent(what.n), lanes, target).vectors * lanes


def _convolution_panels(
    sch: Schedule, block: BlockHandle, name: str, target: Target, threads: int
) -> tuple[str, Sequence[str], int]:
    """The output channels of a convolution, its sums in the order of the image, and the width of panels; 0 if they are
    of no use: the channels are no columns."""
    what = convolution(sch, block)
    if what.grouped is not None:
        return what.grouped[0], what.sums, _grouped_panel_width(sch, block, name, target, threads)
    if not what.is_product or what.right != name or len(what.columns) != 1:
        return "", what.sums, 0
    return what.columns[0], what.sums, conv_tiles(what, target, threads, packed=True).nr


def _grouped_panel_width(sch: Schedule, block: BlockHandle, name: str, target: Target, threads: int) -> int:
    """The width of panels of the weights of a convolution in groups, as a product for each: all channels of a group,
    where they are the columns and fit; else 0."""
    positions: list[int] = []

    def measure_columns() -> None:
        what = divide_groups(sch, block, convolution(sch, block))
        columns = what.size(what.columns) or 0
        fits = what.is_product and what.right == name and len(what.columns) == 1
        positions.append(columns if fits and columns <= conv_tiles(what, target, threads).nr else 0)
        raise ScheduleError("it is only looked at")

    attempt(sch, measure_columns)
    return positions[0] if positions else 0
