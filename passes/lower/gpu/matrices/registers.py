"""Fragments in memory of a lane: what becomes its registers."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

from mlir import ir

from tir_mlir.dialect.analysis.fragment_layouts import FragmentLayout, fragment_layout, vector_layout
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, create
from tir_mlir.passes.lower.registry import location_text

VECTOR_AXES = {"mma.row": 0, "mma.column": 1}
"""Scopes of vectors with one value a row, or a column, of a matrix in fragments."""
WMMA_SIDE = 16
WMMA_KINDS = {"wmma.matrix_a": "AOp", "wmma.matrix_b": "BOp", "wmma.accumulator": "COp"}
WMMA_REGISTERS = {("AOp", "float16"): 8, ("BOp", "float16"): 8, ("COp", "float16"): 4, ("COp", "float32"): 8}
"""The registers of a lane for a fragment of `wmma`: of two float16, or of one float32."""


@dataclass
class FragmentRegisters:
    """A buffer of fragments, and its registers: a `local` buffer [tiles, elements of a tile that a lane holds].

    tile: rows and columns of a fragment; layout: of a tile, None for `wmma`, whose layout nobody tells; loaded: the
    layout in which `wmma` has loaded it.
    """

    alloc: ir.Operation
    scope: str
    dtype: str
    shape: list[int]
    tile: tuple[int, int]
    registers: ir.Value
    layout: FragmentLayout | None = None
    loaded: str = field(default="")

    @classmethod
    def allocate(cls, op: ir.Operation) -> FragmentRegisters:
        """The registers of a buffer in a fragment scope. Raises LoweringError for types and shapes without any."""
        buffer = Buffer(op.results[0])
        shape = [n or 0 for n in buffer.shape]
        if buffer.scope.startswith("mma."):
            layout = (_vector_layout if buffer.scope in VECTOR_AXES else _layout)(op, buffer, shape)
            tile, size = layout.tile, layout.registers
        else:
            layout, tile, size = None, (WMMA_SIDE, WMMA_SIDE), _wmma_size(op, buffer, shape)
        with ir.InsertionPoint(op), op.location:
            registers = create.alloc(buffer.name, [prod(shape) // prod(tile), size], buffer.dtype, "local")
        return cls(op, buffer.scope, buffer.dtype, shape, tile, registers, layout)

    @property
    def element(self) -> ir.Type:
        return ir.MemRefType(self.registers.type).element_type

    @property
    def dims(self) -> tuple[int, int]:
        """The dimensions of rows and columns; -1 for that which a vector does not have."""
        if self.scope not in VECTOR_AXES:
            return len(self.shape) - 2, len(self.shape) - 1
        long = next((d for d, n in enumerate(self.shape) if n != 1), 0)
        return (long, -1) if VECTOR_AXES[self.scope] == 0 else (-1, long)

    @property
    def grid(self) -> list[int]:
        """The tiles along each dimension."""
        return [*self.shape[:-2], *(n // side for n, side in zip(self.shape[-2:], self.tile, strict=True))]


def _vector_layout(op: ir.Operation, buffer: Buffer, shape: list[int]) -> FragmentLayout:
    """The layout of a tile of one value a row, or a column."""
    layout = vector_layout(buffer.dtype, VECTOR_AXES[buffer.scope])
    side = max(layout.tile)
    if sum(n != 1 for n in shape) != 1 or prod(shape) % side:
        raise LoweringError(
            f'{location_text(op)}: buffer "{buffer.name}" of scope {buffer.scope} has shape {tuple(shape)}; fix: one '
            f"dimension, a multiple of {side}"
        )
    return layout


def _layout(op: ir.Operation, buffer: Buffer, shape: list[int]) -> FragmentLayout:
    """The layout of a tile of a buffer of `mma.sync`."""
    try:
        if len(shape) < 2:
            raise ValueError(f"a fragment has rows and columns, and its shape is {tuple(shape)}")
        whole = fragment_layout(buffer.scope, buffer.dtype, shape[-2:])
        return whole.tile_to(whole.tile)
    except ValueError as error:
        raise LoweringError(f'{location_text(op)}: buffer "{buffer.name}": {error}') from None


def _wmma_size(op: ir.Operation, buffer: Buffer, shape: list[int]) -> int:
    kind = WMMA_KINDS.get(buffer.scope, "")
    if (kind, buffer.dtype) not in WMMA_REGISTERS:
        raise LoweringError(
            f'{location_text(op)}: buffer "{buffer.name}" of {buffer.dtype} in scope {buffer.scope} has no code '
            "for a GPU; there are wmma.matrix_a, wmma.matrix_b of float16, wmma.accumulator of float16, float32"
        )
    if len(shape) < 2 or shape[-1] % WMMA_SIDE or shape[-2] % WMMA_SIDE or not prod(shape):
        raise LoweringError(
            f'{location_text(op)}: buffer "{buffer.name}" of scope {buffer.scope} has shape {tuple(shape)}; fix: '
            "make its last two dimensions constant multiples of 16"
        )
    return WMMA_REGISTERS[kind, buffer.dtype] * (2 if buffer.dtype == "float16" else 1)
