"""What calls of matrix functions take: fragments of a buffer, and matrices in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import prod

from mlir import ir

from tir_mlir.dialect.analysis.pointers import address, base_of
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import (
    Buffer,
    Index,
    Loop,
    MatrixCallOp,
    attrs,
    constant_integer,
    dtypes,
    matrix_function,
    matrix_pointer,
    owner_op,
    read_apply,
)
from tir_mlir.dialect.ir.op_views import ApplyOp, StridedMetadataOp, SubviewOp, defining_op, isa
from tir_mlir.dialect.presburger import dim_factors
from tir_mlir.passes.lower.gpu.matrices.registers import FragmentRegisters
from tir_mlir.passes.lower.memory.strides import is_padded, strides_of
from tir_mlir.passes.lower.registry import location_text

ROW_BITS = 128
"""Rows in memory begin at multiples of so many bits."""
DYNAMIC = ir.ShapedType.get_dynamic_size()
DYNAMIC_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()


def location_prefix(op: ir.Operation) -> str:
    """`file.py:3: tvm_mma_sync`, for messages."""
    return f"{location_text(op)}: {matrix_function(op)}"


@dataclass
class TakenFragment:
    """The part of a buffer of fragments that a call takes: tiles, from `first` on, of which `rows` are below and
    `columns` beside each other. first: one number a dimension."""

    of: FragmentRegisters
    first: list[Index]
    rows: int
    columns: int

    def place_of(self, register: int) -> int:
        """The tile of those taken, row by row, that a register of a lane is in."""
        assert self.of.layout is not None
        return register // self.of.layout.registers

    def place(self, register: int) -> tuple[Index, int]:
        """The tile of the buffer, and the register in it."""
        assert self.of.layout is not None
        return self.number(*divmod(self.place_of(register), self.columns)), register % self.of.layout.registers

    def number(self, row: int = 0, column: int = 0) -> Index:
        """The number of a tile in the buffer, row-major."""
        places = [*self.first[:-2], self.first[-2] + row, self.first[-1] + column]
        total = Index.constant(0)
        for place, count in zip(places, self.of.grid, strict=True):
            total = total * count + place
        return total.simplify()


@dataclass
class TakenMemory:
    """The matrix in memory that a call loads or stores. axes: the dimensions of rows and columns; start: the indices
    of its first element; shape: rows and columns; stride: elements from one row to the next."""

    buffer: Buffer
    axes: tuple[int, int]
    start: list[Index]
    shape: tuple[int, int]
    stride: int

    def indices_at(self, row: Index | int, column: Index | int) -> list[Index]:
        """The indices of an element."""
        indices = list(self.start)
        for axis, number in zip(self.axes, (row, column), strict=True):
            indices[axis] = (indices[axis] + number).simplify()
        return indices


@dataclass
class MatrixCall:
    """A call of a matrix function. lanes: the loop over `threadIdx.x` that runs it."""

    op: ir.Operation
    fragments: Mapping[ir.Value, FragmentRegisters]
    lanes: Loop

    @property
    def name(self) -> str:
        return matrix_function(self.op) or ""

    @property
    def layout(self) -> str:
        return attrs.get(self.op, attrs.LAYOUT, "row_major")

    def register(self, number: int) -> int:
        """The first register of a fragment, which an operand says."""
        register = constant_integer(self.op.operands[number])
        if register is None or register < 0:
            raise self.refusal("takes a register that is not a constant from 0 on")
        return register

    def refusal(self, text: str) -> LoweringError:
        return LoweringError(f"{location_prefix(self.op)} {text}")

    def fragment(self, number: int) -> TakenFragment:
        """The fragments that an operand names. Raises LoweringError for what is none."""
        view = base_of(owner_op(self.op.operands[number]))
        if view is None:
            raise self.refusal("takes a pointer that is not the data of a fragment")
        root, offsets = resolve_view(view)
        if root not in self.fragments:
            raise self.refusal(f"takes {Buffer(root).name}, which is allocated in no fragment scope")
        of = self.fragments[root]
        taken = self._window(number, view, of)
        first = [
            offset if d < len(of.shape) - 2 else self._tile_at(offset, of.tile[d - len(of.shape) + 2])
            for d, offset in enumerate(offsets)
        ]
        return TakenFragment(of, first, *taken)

    def _window(self, number: int, view: ir.Value, of: FragmentRegisters) -> tuple[int, int]:
        """The tiles of a view, below and beside each other."""
        shape = [n or 0 for n in Buffer(view).shape]
        position = 4 if self.name != "tvm_mma_sync" else number + 1
        is_ptx = self.name.startswith("ptx_")
        named = 0 if is_ptx else constant_integer(self.op.operands[position]) or 0
        rows, columns = of.tile
        fits = len(shape) >= 2 and prod(shape) == shape[-2] * shape[-1]
        whole = fits and not shape[-2] % rows and not shape[-1] % columns
        if named or not whole or (of.layout is None and prod(shape) != rows * columns):
            raise self.refusal(
                f"takes fragment {named} of {Buffer(view).name}, {tuple(shape)}; fix: T.match_buffer of its "
                f"{rows} x {columns} elements"
            )
        return shape[-2] // rows, shape[-1] // columns

    def _tile_at(self, offset: Index, side: int) -> Index:
        """The number of the tile that begins at an offset."""
        tile = (offset // side).simplify()
        if (offset - tile * side).simplify().as_constant() != 0:
            factors = dim_factors(offset.expr)
            if factors is None or factors[1] % side or any(f % side for f in factors[0].values()):
                raise self.refusal(f"takes a fragment at {offset}, which is not a multiple of {side}")
        return tile

    def memory(self) -> TakenMemory:
        """The matrix in memory of a load or store."""
        pointer = matrix_pointer(self.op)
        assert pointer is not None
        pointed = address(owner_op(pointer))
        if pointed is None or not isa(owner_op(pointed[1]), StridedMetadataOp):
            raise self.refusal("takes a pointer with an offset; fix: T.match_buffer of the tile")
        view = pointed[0].value
        root, start = resolve_view(view)
        shape = [n or 0 for n in Buffer(view).shape]
        axes = _axes_in_root(view)
        matrix = [d for d in range(len(shape)) if d >= len(shape) - 2]
        if len(shape) < 2:
            raise self.refusal(f"takes {Buffer(view).name}, which has no rows and columns")
        return TakenMemory(
            Buffer(root), (axes[matrix[0]], axes[matrix[1]]), start, (shape[-2], shape[-1]), self._stride(view)
        )

    def _stride(self, view: ir.Value) -> int:
        """The elements from one row to the next."""
        if self.name == "ptx_ldmatrix":
            return _stride_in_memory(view, Buffer(view).rank - 2) or 0
        value = MatrixCallOp(self.op).stride
        while not isinstance(value.owner, ir.Block) and value.owner.name.startswith("arith.") and value.owner.operands:
            value = value.owner.operands[0]
        number = constant_integer(value)
        if number is None and (metadata := defining_op(value, StridedMetadataOp)):
            strides, _ = ir.MemRefType(metadata.source.type).get_strides_and_offset()
            results: list[ir.Value] = list(metadata.op.results)
            axis = results.index(value) - 2 - len(strides)
            number = _stride_in_memory(metadata.source, axis) if 0 <= axis < len(strides) else None
        if number is None:
            raise self.refusal("takes rows with a stride that is not a constant")
        return number

    def check_rows(self, memory: TakenMemory) -> None:
        """Refuse rows that do not begin at multiples of 16 bytes."""
        bits = dtypes.bits(memory.buffer.dtype)
        if memory.stride * bits % ROW_BITS:
            unit = ROW_BITS // bits
            raise self.refusal(
                f"takes rows of {memory.buffer.name} that are {memory.stride} elements apart; the hardware takes "
                f"multiples of {unit}; fix: storage_align of {memory.buffer.name} with a factor and an offset that "
                f"are multiples of {unit}"
            )


def _stride_in_memory(view: ir.Value, axis: int) -> int | None:
    """The stride of an axis of a view, that of the padded rows of `storage_align` if there are some; None: it is not a
    constant."""
    if is_padded(view) and not isinstance(view.owner, ir.Block):
        op = view.owner.operation
        if isa(op, SubviewOp):
            return _stride_in_memory(SubviewOp(op).source, _kept_axes(view)[axis])
        stride = strides_of(op)[axis]
    else:
        stride = ir.MemRefType(view.type).get_strides_and_offset()[0][axis]
    return None if stride == DYNAMIC_STRIDE else stride


def _kept_axes(view: ir.Value) -> list[int]:
    """The dimensions of the source of a view that the view has."""
    sizes = list(ir.DenseI64ArrayAttr(owner_op(view).attributes["static_sizes"]))
    return [d for d, n in enumerate(sizes) if n != 1 or len(sizes) == Buffer(view).rank]


def _axes_in_root(view: ir.Value) -> list[int]:
    """For each dimension of a view, which one it is of the buffer behind it."""
    if (subview := defining_op(view, SubviewOp)) is None:
        return list(range(Buffer(view).rank))
    outer = _axes_in_root(subview.source)
    return [outer[d] for d in _kept_axes(view)]


def resolve_view(view: ir.Value) -> tuple[ir.Value, list[Index]]:
    """The buffer behind a view, and where in it the view begins."""
    if (subview := defining_op(view, SubviewOp)) is None:
        return view, [Index.constant(0)] * Buffer(view).rank
    op = subview.op
    root, outer = resolve_view(subview.source)
    static, dynamic = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"])), list(op.operands)[1:]
    offsets = []
    for number in static:
        value = dynamic.pop(0) if number == DYNAMIC else None
        offsets.append(Index.constant(number) if value is None else _index(value))
    inner = dict(zip(_axes_in_root(subview.source), offsets, strict=True))
    return root, [(start + inner.get(d, Index.constant(0))).simplify() for d, start in enumerate(outer)]


def _index(value: ir.Value) -> Index:
    if defining_op(value, ApplyOp) is not None:
        return read_apply(value)
    return Index.from_value(value)
