"""Statements on the CPU between instructions: each group becomes a function of its buffers and loop variables.

The function is what the model runs, compiled, and what C is printed from, so that both compute the same to the bit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.constants.dense import dense_array, is_dense
from tir_mlir.dialect.diagnostics import LoweringError
from tir_mlir.dialect.ir import Buffer, attrs, create, edit, is_loop, walk
from tir_mlir.dialect.ir.op_traits import WRITTEN_OPERAND, may_write
from tir_mlir.dialect.ir.op_views import (
    AllocLikeOp,
    CallOp,
    DeallocOp,
    GetGlobalOp,
    IntToPtrOp,
    ReadOp,
    ViewLikeOp,
    WriteOp,
    isa,
)
from tir_mlir.passes.lower.to_llvm import run_named

_PASSES = ("tir-lower-isinf", "tir-lower-math-polynomials", "canonicalize", "cse")
"""Functions of numbers become arithmetic: C needs no math library for them, and no two compute another digit."""


@dataclass(frozen=True)
class OutlinedCode:
    """Statements as the only function of a module, and what its arguments are: buffers, then loop variables."""

    name: str
    module: ir.Module
    buffers: tuple[ir.Value, ...]
    variables: tuple[ir.Value, ...]
    written: frozenset[ir.Value]
    """The buffers that it writes."""


def has_effect(op: ir.Operation) -> bool:
    """Whether an op, or one in it, changes memory."""
    return any(_changes_memory(inner) for inner in walk.ops(op))


def _changes_memory(op: ir.Operation) -> bool:
    return may_write(op.name) and not isa(op, AllocLikeOp, DeallocOp, IntToPtrOp)


def allocations(ops: Iterable[ir.Operation]) -> list[ir.Operation]:
    """The allocations in statements, in order."""
    return [inner for op in ops for inner in walk.ops(op) if isa(inner, AllocLikeOp)]


def outline(group: Sequence[ir.Operation], name: str, machine: str) -> OutlinedCode:
    """The function of consecutive statements of a body; what they allocate is an argument.

    Errors: LoweringError for a call, and for a value that was loaded before, with an instruction between.
    """
    _check_calls(group, machine)
    needed, inputs = _needed_ops(group)
    buffers = [v for v in inputs if isinstance(v.type, ir.MemRefType)]
    buffers += [op.results[0] for op in allocations(needed)]
    variables = [v for v in inputs if not isinstance(v.type, ir.MemRefType)]
    module = _function(name, needed, buffers, variables)
    run_named(module, _PASSES, {})
    for op in walk.ops(module.operation):
        if "fastmath" in op.attributes:  # each operation is rounded: a product and a sum are not one instruction
            op.attributes["fastmath"] = ir.Attribute.parse("#arith.fastmath<none>")
    written = {r for op in needed for r in _written_roots(op)}
    return OutlinedCode(name, module, tuple(buffers), tuple(variables), frozenset(written))


def _check_calls(group: Sequence[ir.Operation], machine: str) -> None:
    for op in group:
        for inner in walk.ops(op):
            if isa(inner, CallOp):
                callee = ir.FlatSymbolRefAttr(inner.attributes["callee"]).value
                raise LoweringError(
                    f"a call of {callee} is not an instruction of {machine}, at {inner.location}; fix: describe it as "
                    "one (m.instruction), or write what it computes as statements"
                )


def _needed_ops(group: Sequence[ir.Operation]) -> tuple[list[ir.Operation], list[ir.Value]]:
    """The ops that the statements of a group need, in order, and the values from outside: buffers, loop variables."""
    own = dict.fromkeys(group)
    outside: dict[ir.Operation, None] = {}
    inside: set[ir.Operation] = set()
    inputs: dict[ir.Value, None] = {}

    def need(op: ir.Operation) -> None:
        for value in edit.captured_values(op):
            owner = value.owner
            if isinstance(owner, ir.Block) or isa(owner.operation, AllocLikeOp, GetGlobalOp):
                inputs[value] = None
            elif owner.operation in own:
                if owner.operation not in inside:
                    inside.add(owner.operation)
                    need(owner.operation)
            elif owner.operation not in outside:
                _check_movable(owner.operation, op)
                need(owner.operation)
                outside[owner.operation] = None

    for op in group:
        if has_effect(op):
            inside.add(op)
            need(op)
    return [*outside, *(op for op in group if op in inside)], list(inputs)


def _check_movable(op: ir.Operation, user: ir.Operation) -> None:
    if isa(op, ReadOp) or len(op.regions):
        raise LoweringError(
            f"a value that is computed before an instruction, at {op.location}, is used after it, at {user.location}; "
            "fix: store it in a buffer"
        )


def _written_roots(op: ir.Operation) -> set[ir.Value]:
    """The buffers that an op, and the ops in it, write."""
    roots = set[ir.Value]()
    for inner in walk.ops(op):
        if isa(inner, WriteOp):
            roots.add(root_of(inner.operands[WRITTEN_OPERAND[inner.name]]))
    return roots


def root_of(memref: ir.Value) -> ir.Value:
    """The buffer of a view."""
    while not isinstance(memref.owner, ir.Block) and isa(memref.owner.operation, ViewLikeOp):
        memref = ViewLikeOp(memref.owner.operation).source
    return memref


def _function(
    name: str, ops: Sequence[ir.Operation], buffers: Sequence[ir.Value], variables: Sequence[ir.Value]
) -> ir.Module:
    inputs = [*buffers, *variables]
    facts: list[Mapping[str, object]] = [_facts(b) for b in buffers]
    facts += [{attrs.NAME: f"{walk.enclosing_loop_name(v)}_{n}"} for n, v in enumerate(variables)]
    module = ir.Module.create()
    with ir.InsertionPoint(module.body):
        func = create.func(name, [v.type for v in inputs], facts)
    mapping: dict[ir.Value, ir.Value] = dict(zip(inputs, func.args, strict=True))
    for op in ops:
        if isa(op, AllocLikeOp):
            continue
        made = edit.clone(op, create.at_end(func.body))
        # an allocation in it is an argument: the clone has the same ops in the same order
        for old, new in zip(list(walk.ops(op)), list(walk.ops(made)), strict=True):
            mapping.update(zip(old.results, new.results, strict=True))
            if isa(old, AllocLikeOp):
                mapping[new.results[0]] = mapping[old.results[0]] = func.args[inputs.index(old.results[0])]
        edit.replace_values(made, mapping)
        for new in [o for o in walk.ops(made) if isa(o, AllocLikeOp, DeallocOp)]:
            edit.drop(new)
    for op in walk.ops(func.op):
        if is_loop(op) and attrs.KIND in op.attributes:  # the model runs it as the C does: one iteration at a time
            del op.attributes[attrs.KIND]
    edit.renumber(func.op)
    return module


def _facts(value: ir.Value) -> Mapping[str, object]:
    buffer = Buffer(value)
    return {k: v for k, v in buffer.attributes.items() if k != attrs.ID} | {attrs.NAME: buffer.name}


def constant_values(op: ir.Operation) -> np.ndarray[Any, Any]:
    """The numbers of the constant of the module that an op reads. Errors: LoweringError for a buffer without values."""
    assert isa(op, GetGlobalOp)
    name = ir.FlatSymbolRefAttr(op.attributes["name"]).value
    found = ir.SymbolTable(walk.module_of(op))[name].operation
    if "constant" not in found.attributes or not is_dense(value := found.attributes["initial_value"]):
        raise LoweringError(f"the buffer {name} of the module is not a constant with values; fix: make it a parameter")
    return dense_array(value)
