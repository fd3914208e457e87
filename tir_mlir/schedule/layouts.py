"""Where the elements of buffers are: lanes and registers of fragments, banks of shared memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import prod
from typing import cast

import numpy as np
from mlir import ir

from tir_mlir.dialect.analysis import accessed_regions
from tir_mlir.dialect.analysis.fragment_layouts import FragmentLayout, fragment_layout
from tir_mlir.dialect.analysis.shared_banks import BANK_BYTES, BANKS
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.dialect.ir import Block, Buffer, attrs, create, dtypes, enter_context, walk
from tir_mlir.dialect.ir.op_views import AllocLikeOp, ViewLikeOp, isa
from tir_mlir.extensions import implement
from tir_mlir.passes.lower import pipeline
from tir_mlir.passes.lower.gpu.swizzles import ADDRESS_XORS, ROWS, AddressXor
from tir_mlir.passes.lower.registry import LOWERINGS
from tir_mlir.schedule.primitives import BlockLike
from tir_mlir.schedule.schedule import Schedule
from tir_mlir.target import AnyTarget, resolved
from tir_mlir.targets.kernels import device_options

SHOWN_ROWS = 16
"""Rows of a table."""
UNIT_BYTES = 16
"""Bytes of a column of a table of banks: what a lane loads at once, if it loads most."""
_PLACED = pipeline.GPU_PASSES[: pipeline.GPU_PASSES.index("tir-lower-gpu-swizzles") + 1]


@dataclass(frozen=True)
class Layouts:
    """The layouts of buffers, as text."""

    text: str

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__


@implement(Schedule.show_layout)
def show_layout(sch: Schedule, buffer: str | BlockLike, target: str | AnyTarget = "sm_80") -> Layouts:
    """Print the layouts of buffers. See `Schedule.show_layout`."""
    with enter_context():
        buffers = _buffers(sch, buffer)
        layouts = Layouts("\n\n".join(_text(sch, one, target) for one in buffers))
    print(layouts)
    return layouts


def _buffers(sch: Schedule, what: str | BlockLike) -> list[Buffer]:
    executor = sch.executor.twin()
    if not isinstance(what, str):
        block = executor.view(what, executor.version)
        assert isinstance(block, Block)
        found = [region.buffer.root for regions in accessed_regions(block) for region in regions]
        placed = [one for one in dict.fromkeys(found) if _is_placed(one)]
        if not placed:
            raise ScheduleError(f"block {block.name} accesses no buffer in a scope mma.* or shared")
        return placed
    allocs = [Buffer(op.results[0]) for op in walk.ops(executor.module.operation) if isa(op, AllocLikeOp)]
    named = [one for one in allocs if one.name == what]
    if not named:
        there = ", ".join(one.name for one in allocs if _is_placed(one)) or "none"
        raise ScheduleError(f'the program allocates no buffer "{what}"; in scopes with layouts there are: {there}')
    if not _is_placed(named[0]):
        raise ScheduleError(f'buffer "{what}" is of scope {named[0].scope}; mma.* and shared have layouts to show')
    return named[:1]


def _is_placed(buffer: Buffer) -> bool:
    return buffer.scope.startswith(("mma.", "shared"))


def _text(sch: Schedule, buffer: Buffer, target: str | AnyTarget) -> str:
    if buffer.scope.startswith("shared"):
        return _banks(sch, buffer, target)
    try:
        rows, columns = (n or 0 for n in buffer.shape[-2:])
        layout = fragment_layout(buffer.scope, buffer.dtype, (rows, columns))
    except ValueError as error:
        raise ScheduleError(f'buffer "{buffer.name}": {error}') from None
    return "\n".join([f"{buffer.name}, {buffer.scope} of {buffer.dtype}: {layout_title(layout)}", *lane_table(layout)])


# --- fragments --------------------------------------------------------------------------------------------------------


def layout_title(layout: FragmentLayout) -> str:
    """`32 x 32, 2 x 2 tiles of 16 x 16; row: l2 l3 l4 r1, column: r0 l0 l1 r2`."""
    (m, n), (rows, columns) = layout.tile, layout.shape
    tiles = f", {layout.tiles[0]} x {layout.tiles[1]} tiles of {m} x {n}" if layout.tiles != (1, 1) else ""
    return f"{rows} x {columns}{tiles}; {layout.text}"


def lane_table(layout: FragmentLayout) -> Iterator[str]:
    """A line for each row of a tile: `lane:register` of each element, `lane:first-last` of adjacent registers."""
    tile = layout.tile_to(layout.tile)
    rows, columns = tile.elements
    held = {(int(rows[i, r]), int(columns[i, r])): (i, r) for i in range(tile.lanes) for r in range(tile.registers)}
    for row in range(tile.tile[0]):
        runs: list[list[int]] = []
        for column in range(tile.tile[1]):
            lane, register = held[row, column]
            if runs and runs[-1][0] == lane and runs[-1][2] == register - 1:
                runs[-1][2] = register
            else:
                runs.append([lane, register, register])
        cells = [f"{lane}:{first}" + (f"-{last}" if last > first else "") for lane, first, last in runs]
        yield f"{row:3} | " + " ".join(f"{cell:>6}" for cell in cells)


# --- shared memory ----------------------------------------------------------------------------------------------------


def _banks(sch: Schedule, buffer: Buffer, target: str | AnyTarget) -> str:
    """The first bank of each 16 bytes of the rows of a shared buffer, as a kernel has it."""
    gpu = resolved(target).as_gpu()
    if gpu is None:
        raise ScheduleError(f"{target} is not a GPU, and has no banks")
    module = create.clone_module(sch.executor.module)
    options = device_options(gpu)
    for name in _PLACED:
        LOWERINGS[name].run(module, **options.get(name, {}))
    alloc = next((op for op in walk.ops(module.operation) if isa(op, AllocLikeOp) and _name(op) == buffer.name), None)
    if alloc is None:
        raise ScheduleError(f'no kernel has the buffer "{buffer.name}"')
    fields = [AddressXor(*numbers) for numbers in attrs.get(alloc, ADDRESS_XORS, [])]
    shape, strides = _shape(alloc)
    size = dtypes.bits(buffer.dtype) // 8
    unit = max(UNIT_BYTES // size, 1)
    rows = np.arange(min(prod(shape[:-1]), SHOWN_ROWS))
    columns = np.arange(0, shape[-1], unit)
    address = rows[:, None] * strides[-2] + columns
    for field in fields:
        address = field.permute(address)
    banks = address * size // BANK_BYTES % BANKS
    how = " then ".join(f"bits {f.low} to {f.low + f.width - 1} ^ those {f.distance} above" for f in fields)
    title = f"{buffer.name}, {buffer.scope} of {buffer.dtype}, {' x '.join(map(str, shape))} in a block"
    lines = [f"{title}; {f'element addresses: {how}' if how else 'plain addresses'}; banks of {UNIT_BYTES} bytes:"]
    lines += [f"{row:3} | " + " ".join(f"{bank:>2}" for bank in line) for row, line in enumerate(banks)]
    return "\n".join(lines)


def _name(op: ir.Operation) -> str:
    return cast(str, attrs.get(op, attrs.NAME, ""))


def _shape(alloc: ir.Operation) -> tuple[list[int], Sequence[int]]:
    """The shape and the strides of a buffer that may be a view of its memory. A buffer of one dimension, as those of
    fused loops are, has rows of all banks."""
    type_ = ir.MemRefType(alloc.results[0].type)
    users = [use.owner.operation for use in alloc.results[0].uses]
    views = [user for user in users if isa(user, ViewLikeOp)]  # with padded rows
    if views and ROWS not in alloc.attributes:
        type_ = ir.MemRefType(views[0].results[0].type)
        return list(type_.shape), type_.get_strides_and_offset()[0]
    shape = cast("list[int]", attrs.get(alloc, ROWS, list(type_.shape)))
    line = BANKS * BANK_BYTES * 8 // dtypes.bits(Buffer(alloc.results[0]).dtype)
    shape = [-(-shape[0] // line), min(line, shape[0])] if len(shape) == 1 else shape
    return shape, [prod(shape[d + 1 :]) for d in range(len(shape))]
