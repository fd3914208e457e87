"""Loads of matrices by a warp as instructions."""

from __future__ import annotations

from mlir import ir
from mlir.dialects import llvm

from tir_mlir.dialect.ir import defining_op, edit, walk
from tir_mlir.dialect.ir.lowering_op_views import LLVMLoadOp, LLVMStoreOp
from tir_mlir.passes.lower.registry import lowering

LDMATRIX = "tir.ldmatrix"
"""On a conversion of the row that a lane loads to the registers that it gets: whether matrices are transposed."""
ROW_BYTES = 16
"""Bytes of a row of a matrix."""


@lowering("tir-lower-gpu-ldmatrix", "Make `ldmatrix` and `stmatrix` of rows that lanes load, store and exchange")
def run(module: ir.Module) -> None:
    """Replace each marked conversion, and the load of what it converts.

        %r = llvm.load %p : !llvm.ptr<3> -> vector<8xf16>
        %m = unrealized_conversion_cast %r : .. to struct<(i32, i32, i32, i32)> {tir.ldmatrix = true}
            -->
        %m = nvvm.ldmatrix %p {num = 4, layout = col, shape = 8 x 8, eltType = b16}

    Until then a load of 16 bytes by each lane stands for what the instruction reads: for addresses, for strides and
    for conflicts of banks. A store of what is converted from registers is `nvvm.stmatrix`, the inverse.
    `tir-lower-gpu-fragments` marks them.
    """
    for op in [op for op in walk.ops(module.operation) if LDMATRIX in op.attributes]:
        if not isinstance(op.results[0].type, ir.VectorType):
            continue
        stores = [use.owner.operation for use in op.results[0].uses]
        count = str(op.operands[0].type).count("i32")
        with ir.InsertionPoint(stores[0]), stores[0].location:
            registers = [llvm.extractvalue(_i32(), op.operands[0], [n]) for n in range(count)]
            operands = [LLVMStoreOp(stores[0]).memref, *registers]
            ir.Operation.create("nvvm.stmatrix", [], operands, _facts(op))
        edit.drop(stores[0])
        edit.drop(op)
    for op in [op for op in walk.ops(module.operation) if LDMATRIX in op.attributes]:
        load = defining_op(op.operands[0], LLVMLoadOp)
        assert load is not None, "the mark is on conversions of what is loaded beside them"
        struct = op.results[0].type
        count = str(struct).count("i32")
        with ir.InsertionPoint(op), op.location:
            facts = {"num": ir.IntegerAttr.get(_i32(), count), **_facts(op)}
            result = struct if count > 1 else _i32()
            matrices = ir.Operation.create("nvvm.ldmatrix", [result], [load.memref], facts).results[0]
            if count == 1:
                matrices = llvm.insertvalue(llvm.mlir_undef(struct), matrices, [0])
        edit.replace_uses(op.results[0], matrices)
        edit.drop(op)
        if not list(load.op.results[0].uses):
            edit.drop(load.op)


def _i32() -> ir.Type:
    return ir.IntegerType.get_signless(32)


def _facts(op: ir.Operation) -> dict[str, ir.Attribute]:
    """The attributes of the instruction that a conversion is marked for."""
    trans = ir.BoolAttr(op.attributes[LDMATRIX]).value
    return {
        "layout": ir.Attribute.parse(f"#nvvm.mma_layout<{'col' if trans else 'row'}>"),
        "shape": ir.Attribute.parse("#nvvm.ld_st_matrix_shape<m = 8, n = 8>"),
        "eltType": ir.Attribute.parse("#nvvm.ld_st_matrix_elt_type<b16>"),
    }
