"""Remove storage scopes and all `tir.*` attributes."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import attrs, walk
from tir_mlir.dialect.ir.op_views import FuncOp, isa
from tir_mlir.passes.lower.registry import lowering
from tir_mlir.passes.lower.retype_module import retype

SCOPED_OPS = ("func", "affine", "memref", "llvm", "builtin", "arith", "scf")


@lowering("tir-lower-scopes", "Remove storage scopes from all types, and every tir.* attribute")
def run(module: ir.Module) -> None:
    """Remove storage scopes and `tir.*` attributes.

        memref<16x16xf32, strided<[16, 1]>, "global.A_reg">   -->   memref<16x16xf32, strided<[16, 1]>>

    Applies to values, function types and declarations; layouts remain. No upstream pass does this, and the conversion
    to LLVM does not support string memory spaces.
    """
    everything = walk.ops(module.operation)
    retype(everything, without_scope)
    for op in everything:
        if op.name.split(".", 1)[0] in SCOPED_OPS:
            for name in [n for n in op.attributes if n.startswith("tir.")]:
                del op.attributes[name]
        if isa(op, FuncOp):
            for key in ("arg_attrs", "res_attrs"):
                if key in op.attributes:
                    op.attributes[key] = ir.ArrayAttr.get(
                        [_without_tir_attrs(d) for d in attrs.argument_attrs(op, key)]
                    )


def without_scope(type_: ir.Type) -> ir.Type:
    """The memref type without a string memory space."""
    if isinstance(type_, ir.MemRefType) and isinstance(type_.memory_space, ir.StringAttr):
        return ir.MemRefType.get(type_.shape, type_.element_type, type_.layout)
    return type_


def _without_tir_attrs(facts: dict[str, ir.Attribute]) -> ir.Attribute:
    return ir.DictAttr.get({n: a for n, a in facts.items() if not n.startswith("tir.")})
