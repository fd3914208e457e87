"""Constant buffers (`memref.get_global`) as fills, or as parameters whose values come with the program."""

from __future__ import annotations

import re

import numpy as np
from mlir import ir
from mlir.dialects import arith, linalg, memref

from tir_mlir.dialect.constants.dense import array_dtype, dense_array, is_dense, splat_of
from tir_mlir.dialect.diagnostics import LinalgError
from tir_mlir.dialect.ir import Func, direct_ops, walk
from tir_mlir.dialect.ir.op_views import CopyOp, GetGlobalOp, GlobalOp, isa

_FIX = "fix: make it a parameter"


def constants_to_params(module: ir.Module, func: Func) -> dict[int, np.ndarray]:
    """Append a parameter for each constant that a function reads; one number everywhere is a fill instead.

        %w = memref.get_global @w : memref<2xf32>      -->   func.func @main(..., %w: memref<2xf32>)
        %z = memref.get_global @z  (of dense<0.0>)     -->   %z = memref.alloc(); linalg.fill ins(%c0) outs(%z)

    Returns the values by the number of the parameter. Errors: LinalgError for a constant without values.
    """
    arrays: dict[int, np.ndarray] = {}
    params: dict[str, ir.Value] = {}
    for op in [o for o in walk.ops(func.op) if isa(o, GetGlobalOp)]:
        name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
        value = _initial_value(module, name, op)
        if (number := splat_of(value)) is not None:
            _fill(op, number)
        else:
            if name not in params:
                params[name] = func.body.add_argument(op.results[0].type, op.location)
                type_ = ir.MemRefType(op.results[0].type)
                arrays[len(func.args) - 1] = constant_array(module, value, type_, op.location)
            op.results[0].replace_all_uses_with(params[name])
        op.erase()
    return arrays


def erase_globals(module: ir.Module) -> None:
    """Erase the constants of a module, which no function reads any more."""
    for op in direct_ops(module.operation):
        if isa(op, GlobalOp):
            op.erase()


def _initial_value(module: ir.Module, name: str, op: ir.Operation) -> ir.Attribute:
    global_op = ir.SymbolTable(module.operation)[name].operation
    if "constant" not in global_op.attributes:
        raise LinalgError(f"the global buffer {name} is not a constant: {_FIX}", op.location)
    if isinstance(global_op.attributes.get("initial_value"), (type(None), ir.UnitAttr)):
        raise LinalgError(f"the constant {name} has no value: {_FIX}", op.location)
    return global_op.attributes["initial_value"].maybe_downcast()


def _fill(op: ir.Operation, number: ir.Attribute) -> None:
    """A copy of the constant becomes a fill of its target, other uses read a buffer that is filled."""
    buffer = op.results[0]
    type_ = ir.MemRefType(buffer.type)
    named = ir.Location.name("fill", op.location)
    copies = [u.owner.operation for u in buffer.uses if isa(u.owner, CopyOp) and u.operand_number == 0]
    for copy in copies:
        with ir.InsertionPoint(copy), named:
            linalg.fill(arith.constant(type_.element_type, number), outs=[CopyOp(copy).memref])
        copy.erase()
    if any(True for _ in buffer.uses):
        with ir.InsertionPoint(op), named:
            filled = memref.alloc(type_, [], [])
            ir.OpResult(filled).owner.operation.location = op.location  # its name in the text
            linalg.fill(arith.constant(type_.element_type, number), outs=[filled])
        buffer.replace_all_uses_with(filled)


def constant_array(module: ir.Module, value: ir.Attribute, type_: ir.ShapedType, location: ir.Location) -> np.ndarray:
    """The values of a constant as an array; bfloat16 as its bits. Errors: LinalgError if the text has none."""
    shape, element = tuple(type_.shape), type_.element_type
    if is_dense(value):
        return dense_array(value)
    name = re.match(r"dense_resource<([\w.$-]+)>", str(value))
    if name is None or array_dtype(element) == "bool":  # whose bytes may be bits
        raise LinalgError(f"the constant {str(value)[:40]} of {type_} is not dense<...>: {_FIX}", location)
    blob = _resource(module, name[1])
    dtype, count = array_dtype(element), int(np.prod(shape))
    if blob is None or len(blob) != count * np.dtype(dtype).itemsize:
        raise LinalgError(f"the text has no values for the constant dense_resource<{name[1]}>: {_FIX}", location)
    return np.frombuffer(blob, dtype).reshape(shape).copy()


def _resource(module: ir.Module, name: str) -> bytes | None:
    """The bytes of a resource: as text, the alignment in four bytes and then the data, in hexadecimal digits."""
    match = re.search(rf'\b{re.escape(name)}: "0x([0-9A-Fa-f]*)"', str(module).rpartition("{-#")[2])
    return bytes.fromhex(match[1])[4:] if match is not None else None
