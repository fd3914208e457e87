"""Copies of tiles as boxes of arrays, as the TMA copies them, with the reasons why one is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod
from typing import NoReturn

from mlir import ir

from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, Index, Loop, defining_op, dtypes, is_loop, step, walk
from tir_mlir.dialect.ir.op_traits import accessed_memref
from tir_mlir.dialect.ir.op_views import AffineLoadOp, AffineStoreOp, isa
from tir_mlir.dialect.presburger import intervals
from tir_mlir.passes.lower.memory.strides import DIM_ALIGN, SWIZZLED
from tir_mlir.passes.lower.op_attrs import index_text
from tir_mlir.passes.lower.registry import location_text

MOST_ELEMENTS = 256
"""Of a box, along a dimension (CUDA driver API, cuTensorMapEncodeTiled)."""
MOST_DIMENSIONS = 5
UNIT = 16
"""Bytes: strides, starts and the rows of a box are multiples of them."""
SPANS = (128, 64, 32)
"""Bytes of the rows that the hardware permutes, in units of 16 bytes."""


@dataclass(frozen=True)
class TensorBox:
    """A tile of an array: `box` elements along each dimension from `start` on, in row-major order in shared memory, in
    `panels` one after the other along the last dimension, each in memory of `shape`. dims: of each dimension of the
    array, that of the tile. column: the dimension of the tile along which elements are adjacent. swizzle: the bytes of
    rows whose units are permuted, 0: none. guarded: some elements are not copied by the program."""

    store: ir.Operation
    tile: Buffer
    source: ir.Value
    element_bytes: int
    box: tuple[int, ...]
    start: tuple[Index, ...]
    dims: tuple[int | None, ...]
    swizzle: int
    panels: int
    shape: tuple[int, ...]
    column: int
    guarded: bool

    def ends_behind(self, load: ir.Operation) -> list[Index]:
        """For each dimension of the array, what is negative where a load of the tile reads the zero behind its end."""
        indices, sizes = walk.access_indices(load), Buffer(self.source).shape
        return [
            ((size or 0) - 1 - start - indices[dim]).simplify()
            for size, start, dim in zip(sizes, self.start, self.dims, strict=True)
            if dim is not None
        ]

    @property
    def panel_bytes(self) -> int:
        return prod(self.box) * self.element_bytes

    @property
    def bytes(self) -> int:
        """What a copy of a tile brings."""
        return self.panel_bytes * self.panels

    @property
    def alignment(self) -> int:
        """Of a panel in shared memory."""
        return _alignment(self.swizzle)

    @property
    def panel_stride(self) -> int:
        """Bytes from a panel to the next one."""
        return prod(self.shape) * self.element_bytes

    @property
    def stage_bytes(self) -> int:
        """From a tile to that of the next stage."""
        return self.panel_stride * self.panels


def read_box(store: ir.Operation, nest: ir.Operation, guarded: bool) -> TensorBox:
    """The box that a nest copies to shared memory; guarded: under a condition. Raises LoweringError with what the TMA
    does not copy, and a fix."""
    load = defining_op(AffineStoreOp(store).value, AffineLoadOp)
    tile = Buffer(accessed_memref(store))
    if load is None or not walk.is_inside(load.op, nest):
        _refuse(store, f"what {tile.name} gets is computed; the TMA copies elements", "copy first, compute later")
    source = Buffer(accessed_memref(load.op))
    loops = [Loop(op) for op in walk.parents(store) if is_loop(op) and walk.is_inside(op, nest)][::-1]
    axes = _axes(store, tile, {loop.var: loop for loop in loops})
    extents = _extents(tile)
    start, dims = _source_dimensions(store, load.op, tile, axes)
    if any(extent != 1 and number not in dims for number, extent in enumerate(extents)):
        _refuse(store, f"a tile of {tile.name} is read outside of what is copied", "copy as much as is read")
    box = [1 if dim is None else extents[dim] for dim in dims]
    swizzle, panels = _panels(store, tile, box)
    box[-1] //= panels
    size = dtypes.bits(tile.dtype) // 8
    column = max((number for number, extent in enumerate(extents) if extent != 1), default=0)
    shape = _panel_shape(extents, column, panels, size, _alignment(swizzle))
    found = TensorBox(
        store, tile, source.value, size, tuple(box), tuple(start), tuple(dims), swizzle, panels, shape, column, guarded
    )
    _check_source(found, source)
    return found


def _source_dimensions(
    store: ir.Operation, load: ir.Operation, tile: Buffer, axes: dict[ir.Value, int]
) -> tuple[list[Index], list[int | None]]:
    """Where a tile starts along each dimension of the array, and the dimension of the tile that it is."""
    source, start, dims = Buffer(accessed_memref(load)), list[Index](), list[int | None]()
    for number, index in enumerate(walk.access_indices(load)):
        mine = [var for var in axes if index.uses(var)]
        if len(mine) > 1 or any(step(index, var) != 1 for var in mine):
            _refuse(
                store,
                f"dimension {number} of {source.name} is indexed by {index_text(index)}, not by a loop of the copy "
                "plus a start",
                "cache_read the buffer itself, and copy it by loops over its dimensions",
            )
        dims.append(axes[mine[0]] if mine else None)
        start.append(index.substitute({var: Index.constant(0) for var in mine}).simplify())
    if [dim for dim in dims if dim is not None] != sorted(axes.values()):
        _refuse(
            store,
            f"the dimensions of {tile.name} are not those of {source.name} in their order; the TMA does not transpose",
            "cache_read without a layout of its own",
        )
    if tile.rank == len(dims) and all(dim in (None, number) for number, dim in enumerate(dims)):
        dims = list[int | None](range(tile.rank))  # a dimension of one element is that of the array, too
    return start, dims


def _alignment(swizzle: int) -> int:
    """Of what the TMA writes: the pattern of a swizzle repeats after 8 rows (PTX ISA, "Swizzling modes")."""
    return 8 * swizzle if swizzle else 128


def _extents(tile: Buffer) -> list[int]:
    """The elements of a tile along each dimension that the loops of its loads ask for: a condition leaves some out at
    the end of an array, and to copy them brings zeros."""
    extents = [n or 1 for n in tile.shape]
    for op in dict.fromkeys(use.owner.operation for use in tile.value.uses):
        if isa(op, AffineLoadOp):
            ranges = intervals.enclosing_ranges(op)
            for number, index in enumerate(walk.access_indices(op)):
                _, high = intervals.interval(walk.without_unit_loops(index), ranges)
                extents[number] = max(extents[number], 1 if high is None else high + 1)
    return extents


def _panel_shape(extents: Sequence[int], column: int, panels: int, size: int, alignment: int) -> tuple[int, ...]:
    """The memory of a panel: that of its elements, and rows that no one uses, so that the next one is aligned."""
    shape = list(extents)
    shape[column] //= panels
    while prod(shape) * size % alignment:
        shape[0] += 1
    return tuple(shape)


def _axes(store: ir.Operation, tile: Buffer, loops: dict[ir.Value, Loop]) -> dict[ir.Value, int]:
    """The loops over the dimensions of a tile, each with its number; dimensions of one element have none."""
    axes: dict[ir.Value, int] = {}
    for number, (index, size) in enumerate(zip(walk.access_indices(store), tile.shape, strict=True)):
        if size == 1:
            continue
        var = walk.without_unit_loops(index).is_value()
        loop = loops.get(var) if var is not None else None
        if loop is None or var in axes or loop.const_extent != size or loop.lower.as_constant() != 0:
            _refuse(
                store,
                f"dimension {number} of {tile.name}, of {size} elements, is filled by index {index_text(index)}, not "
                "by one loop",
                "leave the loops of the copy as cache_read and compute_at make them",
            )
        axes[loop.var] = number
    return axes


def _panels(store: ir.Operation, tile: Buffer, box: list[int]) -> tuple[int, int]:
    """(bytes of swizzled rows, panels of a row) of a tile."""
    alloc = tile.op
    assert alloc is not None
    if DIM_ALIGN in alloc.attributes:
        _refuse(store, f"the rows of {tile.name} are padded by storage_align", "swizzle it instead")
    size = dtypes.bits(tile.dtype) // 8
    row = box[-1] * size
    if row % UNIT:
        _refuse(
            store,
            f"a row of {tile.name} has {row} bytes; the TMA copies rows of multiples of {UNIT}",
            f"tiles of a multiple of {max(UNIT // size, 1)} elements",
        )
    if max(box[:-1], default=0) > MOST_ELEMENTS:
        _refuse(
            store,
            f"a tile of {tile.name} has {max(box[:-1])} elements along a dimension, a box at most {MOST_ELEMENTS}",
            "smaller tiles, or two copies",
        )
    if SWIZZLED in alloc.attributes:
        span = next((n for n in SPANS if row % n == 0), 0)
        if not span:
            _refuse(
                store,
                f"a row of {tile.name} has {row} bytes, and the hardware permutes rows of 32, 64 or 128 bytes only",
                "wider tiles, or no swizzle",
            )
        return span, row // span
    panels = -(-box[-1] // MOST_ELEMENTS)
    if box[-1] % panels or box[-1] // panels * size % UNIT:
        _refuse(
            store,
            f"a row of {tile.name} has {box[-1]} elements, a box at most {MOST_ELEMENTS}, and {panels} equal boxes do "
            "not make it",
            "tiles of a power of two",
        )
    return 0, panels


def _check_source(found: TensorBox, source: Buffer) -> None:
    """Refuse arrays that have no tensor map."""
    store, size = found.store, found.element_bytes
    if len(found.box) > MOST_DIMENSIONS:
        _refuse(store, f"{source.name} has {len(found.box)} dimensions, a tensor map at most 5", "reshape it")
    if not source.is_param or not source.type.has_static_shape:
        _refuse(store, f"{source.name} is not a parameter of a constant size", "declare it with its sizes")
    strides, offset = source.type.get_strides_and_offset()
    if strides[-1] != 1 or offset:
        _refuse(store, f"the rows of {source.name} are not adjacent elements", "declare it row-major")
    for number, stride in enumerate(strides[:-1]):
        if stride * size % UNIT:
            unit = UNIT // size
            _refuse(
                store,
                f"dimension {number} of {source.name} has a stride of {stride * size} bytes; the TMA takes multiples "
                f"of {UNIT}",
                f"pad the rows of {source.name} to a multiple of {unit} elements, or sch.double_buffer instead",
            )
    terms, constant = intervals.linear_terms(found.start[-1].expr)
    if any(factor * size % UNIT for factor in (*terms.values(), constant)):
        _refuse(
            store,
            f"a box of {source.name} starts at element {index_text(found.start[-1])} of a row, which may be no "
            f"multiple of {UNIT} bytes",
            f"split its loop by a multiple of {max(UNIT // size, 1)}",
        )


def _refuse(op: ir.Operation, why: str, fix: str) -> NoReturn:
    raise LoweringError(f"{location_text(op)}: tma_pipeline: {why}; fix: {fix}")
