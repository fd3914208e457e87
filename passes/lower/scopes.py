"""Storage scopes and the other `tir.*` facts leave the program: memory is plain memory from here on."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect import walk
from tir_mlir.passes.lower.registry import lowering


@lowering("tir-lower-scopes", "remove storage scopes from all types, and every tir.* attribute")
def run(module: ir.Module) -> None:
    """Make all memory one memory.

        memref<16x16xf32, strided<[16, 1]>, "global.A_reg">   -->   memref<16x16xf32, strided<[16, 1]>>

    In values, function types and declarations alike; layouts stay. No upstream pass does this, and the conversion to
    LLVM chokes on it.
    """
    for op in walk.ops(module.operation):
        for result in op.results:
            _strip(result)
        for region in op.regions:
            for body in region.blocks:
                for argument in body.arguments:
                    _strip(argument)
        if op.name == "func.func":
            _strip_function(op)
        if op.name.split(".", 1)[0] in ("func", "affine", "memref", "llvm", "builtin", "arith", "scf"):
            for name in [n for n in op.attributes if n.startswith("tir.")]:
                del op.attributes[name]


def plain(type_: ir.Type) -> ir.Type:
    """The type without a string memory space."""
    if isinstance(type_, ir.MemRefType) and isinstance(type_.memory_space, ir.StringAttr):
        return ir.MemRefType.get(type_.shape, type_.element_type, type_.layout)
    return type_


def _strip(value: ir.Value) -> None:
    if isinstance(value.type, ir.MemRefType) and (new := plain(value.type)) != value.type:
        value.set_type(new)


def _strip_function(op: ir.Operation) -> None:
    type_ = ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value)
    new = ir.FunctionType.get([plain(t) for t in type_.inputs], [plain(t) for t in type_.results])
    op.attributes["function_type"] = ir.TypeAttr.get(new)
    for key in ("arg_attrs", "res_attrs"):
        if key in op.attributes:
            op.attributes[key] = ir.ArrayAttr.get([_without_facts(d) for d in op.attributes[key]])


def _without_facts(facts: ir.DictAttr) -> ir.DictAttr:
    return ir.DictAttr.get({n.name: n.attr for n in facts if not n.name.startswith("tir.")})
