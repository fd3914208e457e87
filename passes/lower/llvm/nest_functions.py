"""Give each nest of a large function a function of its own: LLVM's passes take more than linear time in its size."""

from __future__ import annotations

import re
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import Func, at_end, attrs, create, defining_op, edit
from tir_mlir.dialect.ir.op_views import AllocLikeOp, ConstantOp, isa
from tir_mlir.passes.lower.llvm.abi import argument_rank
from tir_mlir.passes.lower.registry import lowering, programs

MAX_NESTS = 24
"""Nests that remain in one function."""


@dataclass(frozen=True)
class NestFunction:
    """The function of a nest: the name of the one that calls it, and the ranks of its arguments (-1: a scalar)."""

    caller: str
    ranks: list[int]


@lowering(
    "tir-lower-nest-functions", f"Move the nests of functions of more than {MAX_NESTS} into functions of their own"
)
def run(module: ir.Module) -> dict[str, NestFunction]:
    """Outline the nests at the top of functions that have many.

        func.func @main(%A, %B, ...) {             func.func private @main.nest0(%A, %B) { for ... }
          for ... {A, B}                           ...
          for ... {B, C}                -->        func.func @main(%A, %B, ...) {
          for ... {C, D}                             call @main.nest0(%A, %B)
          ...                                        call @main.nest1(%B, %C)
        }                                            call @main.nest1(%C, %D) ...

    Equal nests share a function. A nest that uses a view remains: its buffers would not be distinct arguments. Returns
    the new functions by name.
    """
    outlined: dict[str, NestFunction] = {}
    for func in programs(module):
        nests = [op for op in func.body_ops() if len(op.regions) and not len(op.results)]
        if len(nests) > MAX_NESTS:
            _outline_all(func, nests, outlined)
    return outlined


def _outline_all(func: Func, nests: list[ir.Operation], outlined: dict[str, NestFunction]) -> None:
    name_of_text: dict[str, str] = {}
    for nest in nests:
        outer_values = edit.captured_values(nest)
        constants = [v for v in outer_values if (op := defining_op(v)) is not None and isa(op, ConstantOp)]
        arguments = [v for v in outer_values if v not in constants]
        if not all(_can_be_passed(v) for v in arguments):
            continue
        name = f"{func.name}{attrs.NEST_MARK}{len(outlined)}"
        with nest.location, ir.InsertionPoint(nest):
            callee = {"callee": ir.FlatSymbolRefAttr.get(name)}
            call = ir.Operation.create("func.call", operands=arguments, attributes=callee)
        function = _function(func, nest, name, arguments, constants)
        same = name_of_text.setdefault(_text(function, name), name)
        if same == name:
            outlined[name] = NestFunction(func.name, [argument_rank(v) for v in arguments])
        else:
            call.attributes["callee"] = ir.FlatSymbolRefAttr.get(same)
            function.op.erase()


def _function(func: Func, nest: ir.Operation, name: str, arguments: list[ir.Value], constants: list[ir.Value]) -> Func:
    """A function of the arguments whose body is the nest, which is moved there, with copies of the constants."""
    with nest.location, ir.InsertionPoint(func.op):
        function = create.func(name, [v.type for v in arguments], private=True)
    mapping = dict(zip(arguments, function.args, strict=True))
    for value in constants:
        mapping[value] = edit.clone(value.owner.operation, at_end(function.body)).results[0]
    nest.move_before(list(function.body.operations)[-1])
    edit.replace_values(nest, mapping)
    return function


_NAMES = re.compile(r'tir\.(id = \d+ : i64|(loop|name) = "[^"]*")')


def _text(func: Func, name: str) -> str:
    """A function without the names and ids in it: equal texts compute the same."""
    text = str(func.op.get_asm(use_local_scope=True, assume_verified=True))
    return _NAMES.sub("", text.replace(f"@{name}", "", 1))


def _can_be_passed(value: ir.Value) -> bool:
    """Whether a value is a number or a whole buffer."""
    if not isinstance(value.type, ir.MemRefType):
        return isinstance(value.type, ir.IndexType | ir.IntegerType | ir.FloatType)
    return isinstance(value.owner, ir.Block) or isa(value.owner, AllocLikeOp)
