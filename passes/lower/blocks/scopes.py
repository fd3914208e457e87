"""Storage scopes and the other `tir.*` facts leave the program: memory is plain memory from here on."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir import attrs, walk
from tir_mlir.passes.lower.registry import lowering
from tir_mlir.passes.lower.retype import retype

BEARERS = ("func", "affine", "memref", "llvm", "builtin", "arith", "scf")


@lowering("tir-lower-scopes", "remove storage scopes from all types, and every tir.* attribute")
def run(module: ir.Module) -> None:
    """Make all memory one memory.

        memref<16x16xf32, strided<[16, 1]>, "global.A_reg">   -->   memref<16x16xf32, strided<[16, 1]>>

    In values, function types and declarations alike; layouts stay. No upstream pass does this, and the conversion to
    LLVM chokes on it.
    """
    everything = walk.ops(module.operation)
    retype(everything, plain)
    for op in everything:
        if op.name.split(".", 1)[0] in BEARERS:
            for name in [n for n in op.attributes if n.startswith("tir.")]:
                del op.attributes[name]
        if op.name == "func.func":
            for key in ("arg_attrs", "res_attrs"):
                if key in op.attributes:
                    op.attributes[key] = ir.ArrayAttr.get([_without_facts(d) for d in attrs.argument_attrs(op, key)])


def plain(type_: ir.Type) -> ir.Type:
    """The memref type without a string memory space."""
    if isinstance(type_, ir.MemRefType) and isinstance(type_.memory_space, ir.StringAttr):
        return ir.MemRefType.get(type_.shape, type_.element_type, type_.layout)
    return type_


def _without_facts(facts: dict[str, ir.Attribute]) -> ir.Attribute:
    return ir.DictAttr.get({n: a for n, a in facts.items() if not n.startswith("tir.")})
