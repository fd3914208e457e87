"""Calls between modules: a buffer of constant shape is passed as one pointer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate

import numpy as np
from mlir import ir

from tir_mlir.dialect.calls import body_symbol
from tir_mlir.dialect.ir import attrs, direct_ops, walk
from tir_mlir.dialect.ir.lowering_op_views import LLVMCallOp, LLVMFuncOp
from tir_mlir.dialect.ir.op_views import FuncOp, isa
from tir_mlir.passes.lower.llvm.abi import symbol_of
from tir_mlir.passes.lower.op_attrs import is_row_major


def unit_parameters(module: ir.Module) -> dict[str, list[ir.Type]]:
    """The types of the parameters of functions that are compiled in modules of their own, by symbol; these modules, and
    those that call them, have them. Call before lowering."""
    functions = [op for op in direct_ops(module.operation) if isa(op, FuncOp) and attrs.UNIT in op.attributes]
    return {
        body_symbol(symbol_of(op)): list(ir.FunctionType(ir.TypeAttr(op.attributes["function_type"]).value).inputs)
        for op in functions
    }


def pass_bare_pointers(module: ir.Module, parameters: Mapping[str, Sequence[ir.Type]]) -> None:
    """Pass buffers of constant shape without their descriptors to and from these functions, which become external.

    llvm.func internal @f(%allocated, %aligned, %offset, %size, %stride) {..}   -->   llvm.func @f(%aligned) {..}
    llvm.call @f(%p, %q, %c0, %c8, %c1)                                         -->   llvm.call @f(%q)

    Call in the LLVM dialect, once `noalias` is set.
    """
    if not parameters:
        return
    for op in direct_ops(module.operation):
        if isa(op, LLVMFuncOp) and (types := parameters.get(symbol_of(op))) is not None:
            _change_function(op, types)
    calls = [op for op in walk.ops(module.operation) if isa(op, LLVMCallOp) and "callee" in op.attributes]
    for call in calls:
        types = parameters.get(ir.FlatSymbolRefAttr(call.attributes["callee"]).value)
        if types is not None:
            _change_call(call, _kept_arguments(types))


def _is_bare(type_: ir.Type) -> bool:
    """Whether a parameter is a buffer whose pointer tells all: of constant shape, row-major."""
    return isinstance(type_, ir.MemRefType) and type_.has_static_shape and is_row_major(type_)


def _words(type_: ir.Type) -> int:
    """In how many arguments the LLVM dialect passes a value."""
    return 3 + 2 * ir.MemRefType(type_).rank if isinstance(type_, ir.MemRefType) else 1


def _kept_arguments(types: Sequence[ir.Type]) -> list[int]:
    """The arguments of the LLVM dialect that remain, by number."""
    starts = [0, *accumulate(map(_words, types))]
    spans = [([start + 1] if _is_bare(t) else range(start, start + _words(t))) for start, t in zip(starts, types)]  # noqa: B905 - the last start is the end
    return [number for span in spans for number in span]


def _change_function(op: ir.Operation, types: Sequence[ir.Type]) -> None:
    arguments = _kept_arguments(types)
    op.attributes["linkage"] = ir.Attribute.parse("#llvm.linkage<external>")
    text = str(ir.TypeAttr(op.attributes["function_type"]).value)
    head, _, listed = text.partition("(")
    llvm_types = listed.rpartition(")")[0].split(", ")
    new_type = f"{head}({', '.join(llvm_types[n] for n in arguments)})>"
    if len(op.regions[0].blocks):
        _replace_arguments(op, types, arguments)
    if "arg_attrs" in op.attributes:
        facts = attrs.argument_attrs(op)
        op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(facts[n]) for n in arguments])
    op.attributes["function_type"] = ir.TypeAttr.get(ir.Type.parse(new_type))


def _replace_arguments(op: ir.Operation, types: Sequence[ir.Type], kept: Sequence[int]) -> None:
    """Replace the words of descriptors in the body: both pointers are one, the others are constants."""
    block = op.regions[0].blocks[0]
    arguments = list(block.arguments)
    with ir.InsertionPoint.at_block_begin(block), op.location:
        for start, type_ in zip([0, *accumulate(map(_words, types))], types):  # noqa: B905 - the last start is the end
            if _is_bare(type_):
                shape = ir.MemRefType(type_).shape
                strides = [int(np.prod(shape[axis + 1 :])) for axis in range(len(shape))]
                arguments[start].replace_all_uses_with(arguments[start + 1])
                for number, value in enumerate([0, *shape, *strides], start + 2):
                    _replace_by_constant(arguments[number], value)
    for number in sorted(set(range(len(arguments))) - set(kept), reverse=True):
        block.erase_argument(number)


def _replace_by_constant(argument: ir.Value, value: int) -> None:
    if any(True for _ in argument.uses):
        facts = {"value": ir.IntegerAttr.get(argument.type, value)}
        argument.replace_all_uses_with(
            ir.Operation.create("llvm.mlir.constant", [argument.type], attributes=facts).results[0]
        )


def _change_call(call: ir.Operation, kept: Sequence[int]) -> None:
    operands = [call.operands[number] for number in kept]
    facts = {name: call.attributes[name] for name in call.attributes if name not in _OPERAND_ATTRIBUTES}
    facts["operandSegmentSizes"] = ir.DenseI32ArrayAttr.get([len(operands), 0])
    with ir.InsertionPoint(call), call.location:
        ir.Operation.create("llvm.call", [], operands, {**facts, "op_bundle_sizes": ir.DenseI32ArrayAttr.get([])})
    call.erase()


_OPERAND_ATTRIBUTES = ("operandSegmentSizes", "op_bundle_sizes", "arg_attrs")
