"""Matrix functions on fragments of `wmma`, whose layout nobody tells, as ops of 16 x 16 x 16."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import llvm, vector

from tir_mlir.dialect.ir import Index, MatrixCallOp, constant_integer, create
from tir_mlir.passes.lower.gpu.matrices.calls import MatrixCall
from tir_mlir.passes.lower.gpu.matrices.registers import WMMA_KINDS, WMMA_REGISTERS, WMMA_SIDE, FragmentRegisters


def lower_wmma(call: MatrixCall) -> None:
    """Emit the op of a call. Raises LoweringError for other shapes, types and layouts."""
    if call.name == "tvm_mma_sync":
        _product(call)
        return
    taken = call.fragment(0)
    fragment, number = taken.of, taken.number()
    if [constant_integer(call.op.operands[n]) for n in (1, 2, 3)] != [WMMA_SIDE] * 3:
        raise call.refusal("has another shape than 16, 16, 16, which there is code for")
    if call.name == "tvm_fill_fragment":
        _put(fragment, _constant_fragment(call, fragment), number)
        return
    memory = call.memory()
    call.check_rows(memory)
    operands = [memory.buffer.value, *(create.apply(i) for i in memory.start)]
    facts: dict[str, ir.Attribute] = {"leadDimension": ir.IntegerAttr.get(ir.IndexType.get(), memory.stride)}
    if call.layout == "col_major":
        facts["transpose"] = ir.UnitAttr.get()
    if call.name == "tvm_load_matrix_sync":
        load = ir.Operation.create("gpu.subgroup_mma_load_matrix", [_matrix_type(fragment)], operands, facts)
        _put(fragment, load.results[0], number)
    else:
        operands.insert(0, _get(fragment, number))
        ir.Operation.create("gpu.subgroup_mma_store_matrix", [], operands, facts)


def _constant_fragment(call: MatrixCall, fragment: FragmentRegisters) -> ir.Value:
    value = MatrixCallOp(call.op).value
    if value.type != fragment.element:
        value = ir.Operation.create("arith.truncf", [fragment.element], [value]).results[0]
    return ir.Operation.create("gpu.subgroup_mma_constant_matrix", [_matrix_type(fragment)], [value]).results[0]


def _product(call: MatrixCall) -> None:
    d, a, b, c = (call.fragment(n) for n in (0, 2, 4, 6))
    kinds = tuple(WMMA_KINDS.get(part.of.scope) for part in (a, b, c, d))
    if kinds != ("AOp", "BOp", "COp", "COp") or c.of.dtype != d.of.dtype:
        raise call.refusal("takes d, c in wmma.accumulator, of one type, a in wmma.matrix_a, b in wmma.matrix_b")
    facts = {
        key: ir.UnitAttr.get()
        for key, operand in (("a_transpose", a), ("b_transpose", b))
        if operand.of.loaded == "col_major"
    }
    operands = [_get(part.of, part.number()) for part in (a, b, c)]
    product = ir.Operation.create("gpu.subgroup_mma_compute", [_matrix_type(c.of)], operands, facts)
    _put(d.of, product.results[0], d.number())


def _matrix_type(fragment: FragmentRegisters) -> ir.Type:
    return ir.Type.parse(f'!gpu.mma_matrix<16x16x{fragment.element}, "{WMMA_KINDS[fragment.scope]}">')


def _struct(fragment: FragmentRegisters) -> tuple[ir.Type, int, int]:
    """The registers as a struct, their number, and the elements of each."""
    count = WMMA_REGISTERS[WMMA_KINDS[fragment.scope], fragment.dtype]
    lanes = 2 if fragment.dtype == "float16" else 1
    part = f"vector<2x{fragment.element}>" if lanes == 2 else str(fragment.element)
    return ir.Type.parse(f"!llvm.struct<({', '.join([part] * count)})>"), count, lanes


def _put(fragment: FragmentRegisters, matrix: ir.Value, number: Index) -> None:
    """Store the registers of a matrix."""
    struct, count, lanes = _struct(fragment)
    parts = _cast(matrix, struct)
    for n in range(count):
        part_type = ir.VectorType.get([2], fragment.element) if lanes == 2 else fragment.element
        part = llvm.extractvalue(part_type, parts, [n])
        for lane in range(lanes):
            value = vector.extract(part, [], [lane]) if lanes == 2 else part
            create.store(value, fragment.registers, [number, n * lanes + lane])


def _get(fragment: FragmentRegisters, number: Index) -> ir.Value:
    """The matrix in some registers."""
    struct, count, lanes = _struct(fragment)
    parts = llvm.mlir_undef(struct)
    for n in range(count):
        values = [create.load(fragment.registers, [number, n * lanes + lane]) for lane in range(lanes)]
        pair = ir.VectorType.get([2], fragment.element)
        part = vector.from_elements(pair, values) if lanes == 2 else values[0]
        parts = llvm.insertvalue(parts, part, [n])
    return _cast(parts, _matrix_type(fragment))


def _cast(value: ir.Value, type_: ir.Type) -> ir.Value:
    return ir.Operation.create("builtin.unrealized_conversion_cast", [type_], [value]).results[0]
