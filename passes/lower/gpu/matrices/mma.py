"""Matrix functions on fragments of `mma.sync`, by the table of their layouts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import TypeAlias

from mlir import ir
from mlir.dialects import arith, llvm, vector

from tir_mlir.dialect.analysis.fragment_layouts import FragmentLayout, ldmatrix_layout
from tir_mlir.dialect.computation.fragment_maps import LdmatrixForm, NotComposed, element_index
from tir_mlir.dialect.ir import MATRIX_PRODUCTS, Index, MatrixCallOp, apply, create, dtypes
from tir_mlir.passes.lower.gpu.matrices.calls import MatrixCall, TakenFragment, TakenMemory
from tir_mlir.passes.lower.gpu.nvvm.ldmatrix import LDMATRIX, ROW_BYTES
from tir_mlir.passes.lower.gpu.thread_tags import is_shared

MATRIX_ROWS = 8
"""Rows of a matrix of `ldmatrix`."""
AccessElement: TypeAlias = Callable[[TakenFragment, TakenMemory, list[Index], list[Index]], None]
"""Moves the element at indices in memory from or to a place in registers."""
_PTX_TYPES = {
    "float16": "f16", "bfloat16": "bf16", "float32": "tf32", "float64": "f64", "int8": "s8", "uint8": "u8",
}  # fmt: skip
_SUMS = {
    "float16": ("float32", "float16"), "bfloat16": ("float32",), "float32": ("float32",), "float64": ("float64",),
    "int8": ("int32",), "uint8": ("int32",),
}  # fmt: skip


def lower_mma(call: MatrixCall, features: frozenset[str]) -> None:
    """Emit the instructions of a call. Raises LoweringError for what has none, on the chip or at all."""
    if call.name in MATRIX_PRODUCTS:
        _MmaProduct(call).emit(features)
    elif call.name == "ptx_ldmatrix":
        _load_by_form(call, features)
    elif call.name == "tvm_fill_fragment":
        _fill(call)
    else:
        if call.layout != "row_major":
            scope = call.fragment(0).of.scope
            raise call.refusal(
                f'has the layout {call.layout}: memory and fragments have one order of axes; fix: "row_major", and '
                f"{scope}_trans for an operand with rows and columns exchanged"
            )
        taken, memory = call.fragment(0), call.memory()
        shape = tuple(n * side for n, side in zip((taken.rows, taken.columns), taken.of.tile, strict=True))
        if memory.shape != shape:
            raise call.refusal(f"takes {memory.shape} elements of {memory.buffer.name} for {shape} of a fragment")
        if call.name == "tvm_load_matrix_sync":
            _load(call, taken, memory, features)
        else:
            _store(call, taken, memory, features)


def _fill(call: MatrixCall) -> None:
    taken = call.fragment(0)
    value = create.convert(MatrixCallOp(call.op).value, taken.of.dtype)
    for row, column, register in _all_registers(taken):
        create.store(value, taken.of.registers, [taken.number(row, column), register])


def _all_registers(taken: TakenFragment) -> Iterator[tuple[int, int, int]]:
    assert taken.of.layout is not None
    return product(range(taken.rows), range(taken.columns), range(taken.of.layout.registers))


# --- loads and stores of each lane ------------------------------------------------------------------------------------


def lane_index(call: MatrixCall) -> Index:
    """The number of a lane in its warp."""
    lane = Index.from_value(call.lanes.var)
    return lane if call.lanes.const_extent == 32 else lane % 32


def _move(call: MatrixCall, taken: TakenFragment, memory: TakenMemory, one: AccessElement) -> None:
    """Access each element of a fragment in memory by the lane that holds it, adjacent ones by a vectorized loop."""
    layout = taken.of.layout
    assert layout is not None
    lane, (height, width) = lane_index(call), layout.tile
    run = _adjacent(layout)
    for row, column, register in _all_registers(taken):
        if register % run:
            continue
        number = taken.number(row, column)
        at = memory.indices_at(
            element_index(layout.row, lane, register) + row * height,
            element_index(layout.column, lane, register) + column * width,
        )
        if run == 1:
            one(taken, memory, at, [number, Index.constant(register)])
            continue
        loop = create.loop("v", 0, run, "vectorized")
        var = Index.from_value(loop.var)
        at[memory.axes[1]] = at[memory.axes[1]] + var
        with create.at_end(loop.body):
            one(taken, memory, at, [number, var + register])


def _adjacent(layout: FragmentLayout) -> int:
    """The registers of a lane that are adjacent in a row: the lowest bits of both are equal."""
    bits = 0
    while layout.column[bits : bits + 1] == (f"r{bits}",):
        bits += 1
    return 1 << bits


def _store_element(taken: TakenFragment, memory: TakenMemory, at: list[Index], place: list[Index]) -> None:
    value = create.load(taken.of.registers, place)
    create.store(create.convert(value, memory.buffer.dtype, taken.of.dtype), memory.buffer.value, at)


def _load_element(taken: TakenFragment, memory: TakenMemory, at: list[Index], place: list[Index]) -> None:
    value = create.load(memory.buffer.value, at)
    create.store(_round_to_tf32(value, taken.of.dtype, taken.of.scope), taken.of.registers, place)


def _round_to_tf32(value: ir.Value, dtype: str, scope: str) -> ir.Value:
    """float32 of an operand as tf32, to nearest, ties away from zero."""
    if dtype != "float32" or "accumulator" in scope:
        return value
    i32 = ir.IntegerType.get_signless(32)
    facts = {"rnd": ir.Attribute.parse("#nvvm.fp_rnd_mode<rna>")}
    bits = ir.Operation.create("nvvm.convert.float.to.tf32", [i32], [value], facts).results[0]
    return arith.bitcast(value.type, bits)


# --- ldmatrix, stmatrix -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Matrix:
    """A matrix of 8 rows of 16 bytes: where it begins in memory, and the registers that it fills."""

    row: int
    column: int
    number: Index
    register: int


def _load(call: MatrixCall, taken: TakenFragment, memory: TakenMemory, features: frozenset[str]) -> None:
    order = _ldmatrix_order(taken.of.layout, taken.of.dtype)
    if memory.buffer.dtype != taken.of.dtype:
        raise call.refusal(f"takes {memory.buffer.dtype} of {memory.buffer.name} for fragments of {taken.of.dtype}")
    if order is None or not is_shared(memory.buffer) or "accumulator" in taken.of.scope or "ldmatrix" not in features:
        _move(call, taken, memory, _load_element)
        return
    call.check_rows(memory)
    matrices = list(_matrices(taken, order[0], taken.of.dtype))
    while matrices:
        count = next(n for n in (4, 2, 1) if n <= len(matrices) and _is_linear(matrices[:n]))
        _emit_ldmatrix(call, taken, memory, matrices[:count], order[1])
        matrices = matrices[count:]


def _ldmatrix_order(layout: FragmentLayout | None, dtype: str) -> tuple[tuple[int, ...], bool] | None:
    """Which matrix, row by row, fills which registers of a tile, and whether `.trans` is needed; None: `ldmatrix` does
    not deliver this layout."""
    assert layout is not None
    for trans in (False, True):
        moved = ldmatrix_layout(dtypes.bits(dtype), trans)
        if moved is None or any(a % b for a, b in zip(layout.tile, moved.tile, strict=True)):
            continue
        order = moved.tile_to(layout.tile).register_order(layout)
        if isinstance(order, tuple):
            unit = moved.registers
            return tuple(order[n] // unit for n in range(0, len(order), unit)), trans
    return None


def _matrices(taken: TakenFragment, order: tuple[int, ...], dtype: str) -> Iterator[_Matrix]:
    """The matrices of all tiles, in the order of registers. dtype: of the elements in memory."""
    height, width = taken.of.tile
    columns = ROW_BYTES * 8 // dtypes.bits(dtype)
    across, unit = width // columns, 32 // dtypes.bits(dtype)
    for row, column in product(range(taken.rows), range(taken.columns)):
        for place, matrix in enumerate(order):
            down, beside = divmod(matrix, across)
            yield _Matrix(
                row * height + down * MATRIX_ROWS, column * width + beside * columns,
                taken.number(row, column), place * unit,
            )  # fmt: skip


def _is_linear(matrices: Sequence[_Matrix]) -> bool:
    """Whether the place of a matrix is an affine function of the bits of its number."""
    if len(matrices) < 4:
        return True
    a, b, c, d = ((m.row, m.column) for m in matrices)
    return all(d[n] - c[n] == b[n] - a[n] for n in (0, 1))


def _store(call: MatrixCall, taken: TakenFragment, memory: TakenMemory, features: frozenset[str]) -> None:
    """Store sums: as halves to shared memory by `stmatrix`, where there is one, else by each lane."""
    bits, shared = dtypes.bits(memory.buffer.dtype), is_shared(memory.buffer)
    order = _ldmatrix_order(taken.of.layout, memory.buffer.dtype) if bits == 16 else None
    if order is None or not shared or "stmatrix" not in features or memory.stride * bits % (ROW_BYTES * 8):
        _move(call, taken, memory, _store_element)
        return
    matrices = list(_matrices(taken, order[0], memory.buffer.dtype))
    while matrices:
        count = next(n for n in (4, 2, 1) if n <= len(matrices) and _is_linear(matrices[:n]))
        _emit_stmatrix(call, taken, memory, matrices[:count])
        matrices = matrices[count:]


def _emit_stmatrix(call: MatrixCall, taken: TakenFragment, memory: TakenMemory, matrices: Sequence[_Matrix]) -> None:
    """One `stmatrix`: a conversion stands for the exchange of rows that lanes store."""
    i32, dtype = ir.IntegerType.get_signless(32), memory.buffer.dtype
    parts = llvm.mlir_undef(ir.Type.parse(f"!llvm.struct<({', '.join(['i32'] * len(matrices))})>"))
    for n, matrix in enumerate(matrices):
        values = [create.load(taken.of.registers, [matrix.number, matrix.register + e]) for e in range(2)]
        halves = [create.convert(value, dtype, taken.of.dtype) for value in values]
        pair = vector.from_elements(ir.VectorType.get([2], dtypes.to_mlir(dtype)), halves)
        parts = llvm.insertvalue(parts, llvm.bitcast(i32, pair), [n])
    row = ir.VectorType.get([ROW_BYTES // 2], dtypes.to_mlir(dtype))
    mark = {LDMATRIX: ir.BoolAttr.get(False)}
    line = ir.Operation.create("builtin.unrealized_conversion_cast", [row], [parts], mark).results[0]
    facts = {"alignment": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ROW_BYTES)}
    places = [apply(index) for index in memory.indices_at(*_row_of_lane(call, matrices))]
    ir.Operation.create("vector.store", [], [line, memory.buffer.value, *places], facts)


def _emit_ldmatrix(
    call: MatrixCall, taken: TakenFragment, memory: TakenMemory, matrices: Sequence[_Matrix], trans: bool
) -> None:
    """One `ldmatrix` of matrices whose places are affine in the bits of their numbers."""
    registers = [(matrix.number, matrix.register) for matrix in matrices]
    _exchange_rows(taken, memory, memory.indices_at(*_row_of_lane(call, matrices)), registers, trans)


def _row_of_lane(call: MatrixCall, matrices: Sequence[_Matrix]) -> tuple[Index, Index]:
    """Where the row begins whose address a lane gives."""
    lane, first = lane_index(call), matrices[0]
    row, column = lane % MATRIX_ROWS + first.row, Index.constant(first.column)
    for bit in range(len(matrices).bit_length() - 1):
        other = matrices[1 << bit]
        field = lane // (MATRIX_ROWS << bit)
        field = field if bit == 1 else field % 2
        row, column = row + field * (other.row - first.row), column + field * (other.column - first.column)
    return row, column


def _exchange_rows(
    taken: TakenFragment, memory: TakenMemory, at: Sequence[Index], registers: list[tuple[Index, int]], trans: bool
) -> None:
    """Each lane loads a row, and a conversion stands for their exchange (`tir-lower-gpu-ldmatrix`). registers: the tile
    and the first register in it that each matrix fills."""
    size = dtypes.bits(taken.of.dtype)
    loaded = ir.VectorType.get([ROW_BYTES * 8 // size], taken.of.element)
    facts = {"alignment": ir.IntegerAttr.get(ir.IntegerType.get_signless(64), ROW_BYTES)}
    places = [apply(index) for index in at]
    line = ir.Operation.create("vector.load", [loaded], [memory.buffer.value, *places], facts).results[0]
    result = ir.Type.parse(f"!llvm.struct<({', '.join(['i32'] * len(registers))})>")
    mark = {LDMATRIX: ir.BoolAttr.get(trans)}
    parts = ir.Operation.create("builtin.unrealized_conversion_cast", [result], [line], mark).results[0]
    for n, (number, first) in enumerate(registers):
        part = llvm.extractvalue(ir.IntegerType.get_signless(32), parts, [n])
        for e, value in enumerate(_unpack(part, taken.of.element, 32 // size)):
            create.store(_round_to_tf32(value, taken.of.dtype, taken.of.scope), taken.of.registers, [number, first + e])


def _load_by_form(call: MatrixCall, features: frozenset[str]) -> None:
    """A `ldmatrix` that the program writes."""
    taken, memory = call.fragment(0), call.memory()
    if not is_shared(memory.buffer) or "ldmatrix" not in features:
        raise call.refusal(
            f"loads {memory.buffer.name} of scope {memory.buffer.scope}; ldmatrix is of shared memory, from sm_75 on; "
            "fix: T.tvm_load_matrix_sync, which loads any memory"
        )
    call.check_rows(memory)
    try:
        form = LdmatrixForm.parse(call.layout)
    except NotComposed as error:
        raise call.refusal(str(error)) from None
    unit = 32 // dtypes.bits(taken.of.dtype)
    registers = [taken.place(call.register(1) + n * unit) for n in range(form.count)]
    _exchange_rows(taken, memory, memory.indices_at(*form.place(lane_index(call))), registers, form.trans)


def _unpack(part: ir.Value, element: ir.Type, count: int) -> list[ir.Value]:
    """The elements in a register."""
    if count == 1:
        return [llvm.bitcast(element, part)]
    elements = llvm.bitcast(ir.VectorType.get([count], element), part)
    return [vector.extract(elements, [], [n]) for n in range(count)]


# --- products ---------------------------------------------------------------------------------------------------------


class _MmaProduct:
    """d = a * b + c of fragments of several tiles."""

    def __init__(self, call: MatrixCall):
        self.call = call
        self.sizes = (1, 1, 1)
        self.d, self.a, self.b, self.c = (call.fragment(n) for n in (0, 2, 4, 6))
        self._check()

    def _check(self) -> None:
        scopes = [part.of.scope.removesuffix("_trans") for part in (self.a, self.b, self.c, self.d)]
        if scopes != ["mma.matrix_a", "mma.matrix_b", "mma.accumulator", "mma.accumulator"]:
            names = ", ".join(part.of.scope for part in (self.d, self.a, self.b, self.c))
            raise self.call.refusal(
                f"takes d, a, b, c in {names}; the hardware takes them in mma.accumulator, mma.matrix_a, "
                "mma.matrix_b, mma.accumulator"
            )
        dtype, sums = self.a.of.dtype, self.d.of.dtype
        if dtype != self.b.of.dtype and {dtype, self.b.of.dtype} != {"int8", "uint8"}:
            raise self.call.refusal(f"multiplies {dtype} by {self.b.of.dtype}; the hardware takes one type")
        if sums not in _SUMS[dtype] or sums != self.c.of.dtype:
            there = " or ".join(_SUMS[dtype])
            raise self.call.refusal(f"adds products of {dtype} in {sums}; the hardware adds them in {there}")
        if self.call.name == "ptx_mma":
            return
        (m, k), (depth, n) = self._grid(self.a), self._grid(self.b)
        grids = {(part.rows, part.columns) for part in (self.c, self.d)}
        if k != depth or grids != {(m, n)}:
            texts = [f"{g[0]} x {g[1]}" for g in ((m, k), (depth, n), *sorted(grids))]
            raise self.call.refusal(f"multiplies fragments of {' by '.join(texts[:2])} tiles to {texts[2]}")
        self.sizes = m, n, k

    @staticmethod
    def _grid(part: TakenFragment) -> tuple[int, int]:
        """The tiles of an operand as the hardware has it, below and beside each other."""
        return (part.columns, part.rows) if part.of.scope.endswith("_trans") else (part.rows, part.columns)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of one instruction."""
        a, d = self.a.of.tile, self.d.of.tile
        return d[0], d[1], a[0] if self.a.of.scope.endswith("_trans") else a[1]

    def emit(self, features: frozenset[str]) -> None:
        m, n, k = self.shape
        if "mma" not in features:
            raise self.call.refusal(
                f"multiplies {self.a.of.dtype} by mma.m{m}n{n}k{k}, which GPUs have from sm_80 on; this one has wmma "
                'of 16 x 16 x 16 float16; fix: build for CUDA("sm_80"), or use tir_mlir.intrin.wmma'
            )
        if self.call.name == "ptx_mma":
            self._emit_one()
            return
        rows, columns, depth = self.sizes
        a = {(i, q): self._operand(self.a, i, q) for i in range(rows) for q in range(depth)}
        b = {(q, j): self._operand(self.b, q, j) for q in range(depth) for j in range(columns)}
        for i, j in product(range(rows), range(columns)):
            sums = self._registers(self.c, i, j)
            for q in range(depth):
                sums = self._multiply(a[i, q], b[q, j], sums)
            self._put(sums, i, j)

    def _emit_one(self) -> None:
        """The instruction of a `ptx_mma`, whose operands begin at registers that it names."""
        parts = zip((self.d, self.a, self.b, self.c), (1, 3, 5, 7), strict=True)
        places = [divmod(part.place_of(self.call.register(n)), part.columns) for part, n in parts]
        a, b, c = (self._registers(p, *at) for p, at in zip((self.a, self.b, self.c), places[1:], strict=True))
        self._put(self._multiply(a, b, c), *places[0])

    def _operand(self, part: TakenFragment, row: int, column: int) -> list[ir.Value]:
        place = (column, row) if part.of.scope.endswith("_trans") else (row, column)
        return self._registers(part, *place)

    def _registers(self, part: TakenFragment, row: int, column: int) -> list[ir.Value]:
        """The 32-bit registers of a tile (64 bits of float64), as the instruction takes them."""
        number = part.number(row, column)
        assert part.of.layout is not None
        values = [create.load(part.of.registers, [number, n]) for n in range(part.of.layout.registers)]
        unit = max(32 // dtypes.bits(part.of.dtype), 1)
        if unit == 1:
            is_tf32 = part.of.dtype == "float32" and "accumulator" not in part.of.scope
            return [llvm.bitcast(ir.IntegerType.get_signless(32), v) for v in values] if is_tf32 else values
        packed = ir.VectorType.get([unit], part.of.element)
        groups: list[ir.Value] = [
            vector.from_elements(packed, values[n : n + unit]) for n in range(0, len(values), unit)
        ]
        if part.of.dtype == "float16":
            return groups
        return [llvm.bitcast(ir.IntegerType.get_signless(32), group) for group in groups]

    def _multiply(self, a: list[ir.Value], b: list[ir.Value], c: list[ir.Value]) -> list[ir.Value]:
        """One `mma.sync`."""
        m, n, k = self.shape
        types = [_PTX_TYPES[part.of.dtype] for part in (self.a, self.b)]
        facts = {
            "layoutA": ir.Attribute.parse("#nvvm.mma_layout<row>"),
            "layoutB": ir.Attribute.parse("#nvvm.mma_layout<col>"),
            "shape": ir.Attribute.parse(f"#nvvm.shape<m = {m}, n = {n}, k = {k}>"),
            "multiplicandAPtxType": ir.Attribute.parse(f"#nvvm.mma_type<{types[0]}>"),
            "multiplicandBPtxType": ir.Attribute.parse(f"#nvvm.mma_type<{types[1]}>"),
            "operandSegmentSizes": ir.DenseI32ArrayAttr.get([len(a), len(b), len(c)]),
        }
        if self.d.of.dtype == "int32":
            facts["intOverflowBehavior"] = ir.Attribute.parse("#nvvm.mma_int_overflow<wrapped>")
        result = ir.Type.parse(f"!llvm.struct<({', '.join(str(v.type) for v in c)})>")
        struct = ir.Operation.create("nvvm.mma.sync", [result], [*a, *b, *c], facts).results[0]
        return [llvm.extractvalue(v.type, struct, [n]) for n, v in enumerate(c)]

    def _put(self, sums: list[ir.Value], row: int, column: int) -> None:
        """Store the sums of a tile."""
        number, unit = self.d.number(row, column), 2 if self.d.of.dtype == "float16" else 1
        for n, part in enumerate(sums):
            values = [part] if unit == 1 else [vector.extract(part, [], [e]) for e in range(unit)]
            for e, value in enumerate(values):
                create.store(value, self.d.of.registers, [number, n * unit + e])
