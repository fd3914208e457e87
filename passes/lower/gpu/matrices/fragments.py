"""Fragments as registers of each lane, and matrix functions as the instructions of tensor cores."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

from mlir import ir
from mlir.dialects import llvm, vector

from tir_mlir.dialect.analysis.pointers import address, base_of
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import (
    Buffer,
    Func,
    Index,
    Loop,
    MatrixCallOp,
    attrs,
    constant_integer,
    create,
    dtypes,
    edit,
    is_fragment,
    is_loop,
    matrix_function,
    owner_op,
    read_apply,
    walk,
)
from tir_mlir.dialect.ir.op_views import (
    AffineIfOp,
    AllocLikeOp,
    ApplyOp,
    StridedMetadataOp,
    SubviewOp,
    defining_op,
    isa,
)
from tir_mlir.dialect.presburger import dim_factors
from tir_mlir.passes.lower.memory.strides import is_padded, strides_of
from tir_mlir.passes.lower.registry import location_text, lowering, programs

SIDE = 16
ROW_BITS = 128
"""Rows in memory begin at multiples of so many bits."""
DYNAMIC = ir.ShapedType.get_dynamic_size()
DYNAMIC_STRIDE = ir.ShapedType.get_dynamic_stride_or_offset()
_KINDS = {"wmma.matrix_a": "AOp", "wmma.matrix_b": "BOp", "wmma.accumulator": "COp"}
_REGISTERS = {("AOp", "float16"): 8, ("BOp", "float16"): 8, ("COp", "float16"): 4, ("COp", "float32"): 8}
"""The registers of a lane for a fragment: of two float16, or of one float32."""


@lowering("tir-lower-gpu-fragments", "Make fragments registers of each lane, and matrix functions tensor core ops")
def run(module: ir.Module, warp: int | str = 32) -> None:
    """Make each fragment of 16 x 16 elements registers, in a `local` buffer, and each matrix function an op on them.

        %F = memref.alloc : memref<32x16xf32, "wmma.accumulator">      %F = memref.alloc : memref<2x8xf32, "local">
        if %t == 0 {                                               --> %m = gpu.subgroup_mma_load_matrix ..
          call @tvm_load_matrix_sync(%F, .., %A, 64)                   store the registers of %m in %F[0, ..]
        }

    The condition that the first lane stands for its warp is gone: all lanes run the op, between two `bar.warp.sync` if
    it accesses memory. warp: the lanes of a warp, 1 without matrix functions. Requires the form after
    `tir-lower-gpu-barriers`. Errors: LoweringError for other shapes, types and layouts than those of 16 x 16 x 16 wmma.
    """
    for func in programs(module):
        calls = [op for op in walk.ops(func.op) if matrix_function(op)]
        if calls and int(warp) != 32:
            where = "for NVIDIA's GPUs from sm_70 on only"
            raise LoweringError(f'{_location_prefix(calls[0])} has code {where}; fix: build for CUDA("sm_80")')
        if calls:
            _lower(func, calls)


def _lower(func: Func, calls: Sequence[ir.Operation]) -> None:
    for op in calls:
        _for_all_lanes(op)
    allocs = [op for op in walk.ops(func.op) if isa(op, AllocLikeOp) and is_fragment(Buffer(op.results[0]))]
    fragments: dict[ir.Value, _Fragments] = {}
    for op in allocs:
        fragments[op.results[0]] = _Fragments.allocate(op)
    for op in calls:
        if matrix_function(op) == "tvm_load_matrix_sync":
            _MatrixCall(op, fragments).note_layout()
    for op in calls:
        with ir.InsertionPoint(op), op.location:
            _MatrixCall(op, fragments).lower()
        edit.drop(op)
    for fragment in fragments.values():
        _drop_views(fragment.alloc)


def _for_all_lanes(op: ir.Operation) -> None:
    """Take a call out of the condition of the first lane."""
    guard = next((p for p in walk.parents(op) if isa(p, AffineIfOp)), None)
    axis = _first_of(guard)
    if guard is None or axis is None or axis.kind != "threadIdx.x":
        raise LoweringError(
            f"{_location_prefix(op)} is not under the condition of a first lane; run tir-lower-gpu-warps"
        )
    if (axis.const_extent or 1) % 32:
        raise LoweringError(
            f"{_location_prefix(op)} is run by whole warps, and a block has {axis.const_extent} threads along "
            "threadIdx.x; fix: "
            "make the loops over threadIdx.x run multiples of 32 iterations"
        )
    for outer in walk.parents(guard):
        alone = _first_of(outer)
        if alone is not None and matrix_function(op) != "tvm_store_matrix_sync":
            raise LoweringError(
                f"{_location_prefix(op)} is outside of the loop over {alone.kind}: other warps have no value in "
                "their fragments; "
                f"fix: compute_at it inside of loop {alone.name}"
            )
    for inner in [o.operation for o in guard.regions[0].blocks[0].operations][:-1]:
        edit.move_before(inner, guard)
    edit.drop(guard)


def _first_of(op: ir.Operation | None) -> Loop | None:
    """The axis whose first index an `affine.if` asks for."""
    if op is None or not isa(op, AffineIfOp):
        return None
    for constraint in walk.constraints(op):
        value = constraint.index.simplify().is_value()
        if constraint.is_eq and value is not None and is_loop(owner_op(value)):
            return Loop(owner_op(value))
    return None


def _location_prefix(op: ir.Operation) -> str:
    return f"{location_text(op)}: {matrix_function(op)}"


@dataclass
class _Fragments:
    """A buffer of fragments: the memory of their registers."""

    alloc: ir.Operation
    kind: str
    dtype: str
    registers: ir.Value
    shape: list[int]
    layout: str = ""

    @classmethod
    def allocate(cls, op: ir.Operation) -> _Fragments:
        buffer = Buffer(op.results[0])
        kind, shape = _KINDS.get(buffer.scope, ""), [n or 0 for n in buffer.shape]
        if (kind, buffer.dtype) not in _REGISTERS:
            raise LoweringError(
                f'{location_text(op)}: buffer "{buffer.name}" of {buffer.dtype} in scope {buffer.scope} has no code '
                "for a GPU; there are wmma.matrix_a, wmma.matrix_b of float16, wmma.accumulator of float16, float32"
            )
        if len(shape) < 2 or shape[-1] % SIDE or shape[-2] % SIDE or not prod(shape):
            raise LoweringError(
                f'{location_text(op)}: buffer "{buffer.name}" of scope {buffer.scope} has shape {tuple(shape)}; fix: '
                "make its last two dimensions constant multiples of 16"
            )
        count = prod(shape) // SIDE**2
        with ir.InsertionPoint(op), op.location:
            size = _REGISTERS[kind, buffer.dtype] * (2 if buffer.dtype == "float16" else 1)
            registers = create.alloc(buffer.name, [count, size], buffer.dtype, "local")
        return cls(op, kind, buffer.dtype, registers, shape)

    @property
    def element(self) -> ir.Type:
        return ir.MemRefType(self.registers.type).element_type

    @property
    def type(self) -> ir.Type:
        return ir.Type.parse(f'!gpu.mma_matrix<16x16x{self.element}, "{self.kind}">')

    @property
    def _struct(self) -> tuple[ir.Type, int, int]:
        """The registers as a struct, their number, and the elements of each."""
        count, lanes = _REGISTERS[self.kind, self.dtype], 2 if self.dtype == "float16" else 1
        part = f"vector<2x{self.element}>" if lanes == 2 else str(self.element)
        return ir.Type.parse(f"!llvm.struct<({', '.join([part] * count)})>"), count, lanes

    def put(self, matrix: ir.Value, number: Index) -> None:
        """Store the registers of a matrix."""
        struct, count, lanes = self._struct
        parts = _cast(matrix, struct)
        for n in range(count):
            part_type = ir.VectorType.get([2], self.element) if lanes == 2 else self.element
            part = llvm.extractvalue(part_type, parts, [n])
            for lane in range(lanes):
                value = vector.extract(part, [], [lane]) if lanes == 2 else part
                create.store(value, self.registers, [number, n * lanes + lane])

    def get(self, number: Index) -> ir.Value:
        """The matrix in some registers."""
        struct, count, lanes = self._struct
        parts = llvm.mlir_undef(struct)
        for n in range(count):
            values = [create.load(self.registers, [number, n * lanes + lane]) for lane in range(lanes)]
            pair = ir.VectorType.get([2], self.element)
            part = vector.from_elements(pair, values) if lanes == 2 else values[0]
            parts = llvm.insertvalue(parts, part, [n])
        return _cast(parts, self.type)


def _cast(value: ir.Value, type_: ir.Type) -> ir.Value:
    return ir.Operation.create("builtin.unrealized_conversion_cast", [type_], [value]).results[0]


@dataclass
class _MatrixCall:
    """A call of a matrix function."""

    op: ir.Operation
    fragments: dict[ir.Value, _Fragments]

    def note_layout(self) -> None:
        """All loads of a buffer have one layout, which the product takes."""
        fragment, layout = self._fragment(0)[0], attrs.get(self.op, attrs.LAYOUT, "row_major")
        if layout not in ("row_major", "col_major") or fragment.layout not in ("", layout):
            others = f"the others of its buffer have {fragment.layout}"
            choices = others if fragment.layout else "there are row_major and col_major"
            raise LoweringError(f"{_location_prefix(self.op)} has the layout {layout}; {choices}")
        fragment.layout = layout

    def lower(self) -> None:
        name = matrix_function(self.op)
        if name == "tvm_mma_sync":
            self._product()
            return
        fragment, number = self._fragment(0)
        if [constant_integer(self.op.operands[n]) for n in (1, 2, 3)] != [SIDE] * 3:
            raise LoweringError(
                f"{_location_prefix(self.op)} has another shape than 16, 16, 16, which there is code for"
            )
        if name == "tvm_fill_fragment":
            fragment.put(self._constant_fragment(fragment), number)
            return
        _sync_warp()
        source, indices = self._memory()
        operands = [source, *(create.apply(i) for i in indices)]
        stride = self._stride()
        if stride * dtypes.bits(fragment.dtype) % ROW_BITS:
            unit = ROW_BITS // dtypes.bits(fragment.dtype)
            raise LoweringError(
                f"{_location_prefix(self.op)} takes rows of {Buffer(source).name} that are {stride} elements "
                "apart; the hardware "
                f"takes multiples of {unit}; fix: storage_align of {Buffer(source).name} with a factor and an offset "
                f"that are multiples of {unit}"
            )
        facts: dict[str, ir.Attribute] = {"leadDimension": ir.IntegerAttr.get(ir.IndexType.get(), stride)}
        if attrs.get(self.op, attrs.LAYOUT, "row_major") == "col_major":
            facts["transpose"] = ir.UnitAttr.get()
        if name == "tvm_load_matrix_sync":
            load = ir.Operation.create("gpu.subgroup_mma_load_matrix", [fragment.type], operands, facts)
            fragment.put(load.results[0], number)
        else:
            operands.insert(0, fragment.get(number))
            ir.Operation.create("gpu.subgroup_mma_store_matrix", [], operands, facts)
        _sync_warp()

    def _constant_fragment(self, fragment: _Fragments) -> ir.Value:
        value = MatrixCallOp(self.op).value
        if value.type != fragment.element:
            value = ir.Operation.create("arith.truncf", [fragment.element], [value]).results[0]
        return ir.Operation.create("gpu.subgroup_mma_constant_matrix", [fragment.type], [value]).results[0]

    def _product(self) -> None:
        (d, to), (a, i), (b, j), (c, k) = (self._fragment(n) for n in (0, 2, 4, 6))
        if (a.kind, b.kind, c.kind, d.kind) != ("AOp", "BOp", "COp", "COp") or c.dtype != d.dtype:
            raise LoweringError(
                f"{_location_prefix(self.op)} takes d, c in wmma.accumulator, of one type, a in wmma.matrix_a, b "
                "in wmma.matrix_b"
            )
        facts = {
            key: ir.UnitAttr.get()
            for key, operand in (("a_transpose", a), ("b_transpose", b))
            if operand.layout == "col_major"
        }
        operands = [a.get(i), b.get(j), c.get(k)]
        product = ir.Operation.create("gpu.subgroup_mma_compute", [c.type], operands, facts)
        d.put(product.results[0], to)

    def _fragment(self, number: int) -> tuple[_Fragments, Index]:
        """The buffer of an operand, and which fragment of it."""
        view = base_of(owner_op(self.op.operands[number]))
        if view is None:
            raise LoweringError(f"{_location_prefix(self.op)} takes a pointer that is not the data of a fragment")
        root, offsets = _resolve_view(view)
        if root not in self.fragments:
            raise LoweringError(
                f"{_location_prefix(self.op)} takes {Buffer(root).name}, which is allocated in no fragment scope"
            )
        fragment = self.fragments[root]
        tiles = [n if d < len(fragment.shape) - 2 else n // SIDE for d, n in enumerate(fragment.shape)]
        index = Index.constant(0)
        for d, (offset, tile) in enumerate(zip(offsets, tiles, strict=True)):
            index = index * tile + (offset if d < len(tiles) - 2 else self._tile_at(offset))
        position = 4 if matrix_function(self.op) != "tvm_mma_sync" else number + 1
        named = constant_integer(self.op.operands[position]) or 0
        if prod(n or 0 for n in Buffer(view).shape) != SIDE**2 or named:
            raise LoweringError(
                f"{_location_prefix(self.op)} takes fragment {named} of {Buffer(view).name}, "
                f"{tuple(Buffer(view).shape)}; fix: "
                "T.match_buffer of its 16 x 16 elements"
            )
        return fragment, index.simplify()

    def _tile_at(self, offset: Index) -> Index:
        """The number of the tile that begins at an offset."""
        tile = (offset // SIDE).simplify()
        if (offset - tile * SIDE).simplify().as_constant() != 0:
            factors = dim_factors(offset.expr)
            aligned = factors is not None and not factors[1] % SIDE and not any(f % SIDE for f in factors[0].values())
            if not aligned:
                raise LoweringError(
                    f"{_location_prefix(self.op)} takes a fragment at {offset}, which is not a multiple of 16"
                )
        return tile

    def _memory(self) -> tuple[ir.Value, list[Index]]:
        """The buffer in memory and the first element, of a load or store."""
        pointed = address(owner_op(MatrixCallOp(self.op).pointer))
        if pointed is None or not isa(owner_op(pointed[1]), StridedMetadataOp):
            raise LoweringError(
                f"{_location_prefix(self.op)} takes a pointer with an offset; fix: T.match_buffer of the tile"
            )
        return _resolve_view(pointed[0].value)

    def _stride(self) -> int:
        """The elements from one row to the next."""
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
            raise LoweringError(f"{_location_prefix(self.op)} takes rows with a stride that is not a constant")
        return number


def _sync_warp() -> None:
    """Order an access of a warp with those of its first lane alone, for which barriers are proved."""
    i32 = ir.IntegerType.get_signless(32)
    all_lanes = ir.Operation.create("arith.constant", [i32], [], {"value": ir.IntegerAttr.get(i32, -1)})
    ir.Operation.create("nvvm.bar.warp.sync", [], all_lanes.results)


def _stride_in_memory(view: ir.Value, axis: int) -> int | None:
    """The stride of an axis of a view, that of the padded rows of `storage_align` if there are some; None: it is not a
    constant."""
    if is_padded(view) and not isinstance(view.owner, ir.Block):
        op = view.owner.operation
        if isa(op, SubviewOp):
            sizes = list(ir.DenseI64ArrayAttr(op.attributes["static_sizes"]))
            kept = [d for d, n in enumerate(sizes) if n != 1 or len(sizes) == Buffer(view).rank]
            return _stride_in_memory(SubviewOp(op).source, kept[axis])
        stride = strides_of(op)[axis]
    else:
        stride = ir.MemRefType(view.type).get_strides_and_offset()[0][axis]
    return None if stride == DYNAMIC_STRIDE else stride


def _resolve_view(view: ir.Value) -> tuple[ir.Value, list[Index]]:
    """The buffer behind a view, and where in it the view begins."""
    if defining_op(view, SubviewOp) is None:
        return view, [Index.constant(0)] * Buffer(view).rank
    op = view.owner.operation
    root, outer = _resolve_view(SubviewOp(op).source)
    static, dynamic = list(ir.DenseI64ArrayAttr(op.attributes["static_offsets"])), list(op.operands)[1:]
    offsets = []
    for number in static:
        value = dynamic.pop(0) if number == DYNAMIC else None
        offsets.append(Index.constant(number) if value is None else _index(value))
    return root, [(a + b).simplify() for a, b in zip(outer, offsets, strict=True)]


def _index(value: ir.Value) -> Index:
    if defining_op(value, ApplyOp) is not None:
        return read_apply(value)
    return Index.from_value(value)


def _drop_views(alloc: ir.Operation) -> None:
    """Drop a buffer and what is computed from it, which no op uses."""

    def drop(op: ir.Operation) -> None:
        for user in [use.owner.operation for result in op.results for use in result.uses]:
            drop(user)
        edit.drop(op)

    drop(alloc)
