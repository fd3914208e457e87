"""Calling convention of functions: symbols, C interface, linkage, noalias arguments."""

from __future__ import annotations

from collections.abc import Collection

from mlir import ir

from tir_mlir.dialect.analysis import has_distinct_buffers
from tir_mlir.dialect.calls import C_INTERFACE, body_symbol, function_name
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Func, attrs, funcs, walk
from tir_mlir.dialect.ir.lowering_op_views import LLVMFuncOp
from tir_mlir.dialect.ir.op_views import CallOp, ModuleOp, isa
from tir_mlir.passes.lower.registry import is_private, lowering


@lowering("tir-lower-abi", "Emit C interfaces for public functions, and give private ones internal linkage")
def run(module: ir.Module) -> None:
    """Set the symbol and the linkage of each function.

    func.func @main(...) {...}             -->   func.func @tir.main(...) attributes {llvm.emit_c_interface} {...}
    func.func private @kernel(...) {...}   -->   ... @tir.kernel ... {llvm.linkage = #llvm.linkage<internal>}
    """
    symbols = {func.name: body_symbol(func.name) for func in funcs(module)}
    for name, symbol in symbols.items():
        if symbol != name and symbol in symbols:
            raise LoweringError(f"the module defines {name} and {symbol}, the symbol of the code of {name}; rename one")
    for func in funcs(module):
        func.op.attributes["sym_name"] = ir.StringAttr.get(symbols[func.name])
        if attrs.UNIT in func.op.attributes:
            func.op.attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<external>")
        elif is_private(func.op):
            func.op.attributes["llvm.linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")
        else:
            func.op.attributes["llvm.emit_c_interface"] = ir.UnitAttr.get()
    for op in walk.ops(module.operation) if len(symbols) > 1 else ():  # one that is alone is not called
        if isa(op, CallOp) and (callee := ir.FlatSymbolRefAttr(op.attributes["callee"]).value) in symbols:
            op.attributes["callee"] = ir.FlatSymbolRefAttr.get(symbols[callee])


@lowering("tir-lower-abi-c-interfaces", "Name the C interface of a function after it, not after its symbol")
def name_interfaces(module: ir.Module) -> None:
    """Rename the functions that upstream made for `llvm.emit_c_interface`.

    llvm.func @_mlir_ciface_tir.main(...)   -->   llvm.func @_mlir_ciface_main(...)
    """
    for op in module.body.operations:
        if isa(op, LLVMFuncOp) and (symbol := symbol_of(op)).startswith(C_INTERFACE):
            op.attributes["sym_name"] = ir.StringAttr.get(C_INTERFACE + function_name(symbol))


def symbol_of(op: ir.OpView | ir.Operation) -> str:
    """The name of a function."""
    return ir.StringAttr(op.attributes["sym_name"]).value


def noalias_functions(module: ir.Module) -> dict[str, list[int]]:
    """The symbols of functions whose buffers are distinct, with the ranks of their arguments (-1: a scalar).

    Call before lowering.
    """
    ranks: dict[str, list[int]] = {}
    for func in funcs(module):
        if has_distinct_buffers(func.op):
            ranks[body_symbol(func.name)] = [argument_rank(a) for a in Func(func.op).args]
    return ranks


def argument_rank(value: ir.Value) -> int:
    """The rank of a buffer; -1 of a scalar."""
    return ir.MemRefType(value.type).rank if isinstance(value.type, ir.MemRefType) else -1


def set_noalias(module: ir.Module, promised: dict[str, list[int]]) -> None:
    """Set `noalias` on the data pointers of these functions in the LLVM dialect.

    A memref argument has become allocated pointer, aligned pointer, offset, sizes, strides. All accesses go through the
    aligned pointer, so the attribute belongs there.
    """
    for op in [o.operation for o in module.body.operations]:
        if not isa(op, LLVMFuncOp) or (ranks := promised.get(symbol_of(op))) is None:
            continue
        count = len(op.regions[0].blocks[0].arguments)
        facts: list[dict[str, ir.Attribute]] = [{} for _ in range(count)]
        if "arg_attrs" in op.attributes:
            facts = attrs.argument_attrs(op, "arg_attrs")
        position = 0
        for rank in ranks:
            if rank >= 0:
                facts[position + 1]["llvm.noalias"] = ir.UnitAttr.get()
            position += 1 if rank < 0 else 3 + 2 * rank
        if position == count:
            op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(f) for f in facts])


def forbid_inlining(module: ir.Module, names: Collection[str]) -> None:
    """Make these functions internal and never inlined, so that LLVM can drop arguments they ignore.

    Call in the LLVM dialect.
    """
    symbols = {body_symbol(name) for name in names}
    for op in module.body.operations:
        if isa(op, LLVMFuncOp) and symbol_of(op) in symbols:
            op.attributes["no_inline"] = ir.UnitAttr.get()
            op.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<internal>")


def unconverted_ops(module: ir.Module) -> list[ir.Operation]:
    """Ops that cannot be translated to LLVM IR: unresolved casts and unconverted ops."""
    converted = ("llvm.", "omp.")  # OpenMP ops remain: mlir-translate lowers them to runtime calls
    return [op for op in walk.ops(module.operation) if not op.name.startswith(converted) and not isa(op, ModuleOp)]
