"""A program of the encoding -> plain affine loops on memory, with nothing of ours but the names of loops.

Calls of kernels become what their intrinsics describe, blocks their bodies at their bindings; views are folded away.
Written apart from `passes/lower`: the check shares no rewrite with what it checks.
"""

from __future__ import annotations

from mlir import ir
from mlir.passmanager import PassManager

from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.ir import Block, attrs, funcs, is_block, walk
from tir_mlir.equivalence.described_kernels import describe_calls
from tir_mlir.equivalence.edits import Build
from tir_mlir.equivalence.fold_views import fold_views
from tir_mlir.passes.lower.memory import bools
from tir_mlir.passes.lower.retype import retype

CLEAN = "builtin.module(canonicalize,cse)"

_KNOWN = {
    "builtin.module", "func.func", "func.return", "affine.for", "affine.if", "affine.load", "affine.store",
    "affine.apply", "affine.min", "affine.max", "affine.yield", "memref.alloc", "memref.alloca", "memref.load",
    "memref.store", "memref.dim", "memref.dealloc", "memref.cast", "scf.if", "scf.for", "scf.while", "scf.condition",
    "scf.yield",
}  # fmt: skip


def make_plain(module: ir.Module, build: Build) -> None:
    """Rewrite a module in place. Errors: NotChecked names what cannot be run exactly."""
    everything = walk.ops(module.operation)
    retype(everything, _without_scope)
    describe_calls(module)
    for func in funcs(module):
        remove_blocks(func.op)
    bools.run(module)
    for op in walk.ops(module.operation):
        _drop(op)
    fold_views(walk.ops(module.operation), build)
    PassManager.parse(CLEAN).run(module.operation)
    for op in list(module.body.operations):
        if op.operation.name == "func.func" and not len(op.operation.regions[0].blocks):
            op.operation.erase()  # declarations of kernels; a call that is left is refused below
    check_known(module)


def _without_scope(type_: ir.Type) -> ir.Type:
    memref = ir.MemRefType(type_)
    if memref.memory_space is None:
        return type_
    return ir.MemRefType.get(memref.shape, memref.element_type, memref.layout)


def remove_blocks(func: ir.Operation) -> None:
    """Put the body of each block in its place, iters being `affine.apply` of their bindings. What came from a block is
    named after it: its location is the block's name."""
    for op in [o for o in walk.ops(func) if is_block(o)]:
        name = Block(op).name
        map_ = attrs.affine_map(op, "lowerBoundsMap")
        operands = list(op.operands)[: map_.n_inputs]
        with ir.InsertionPoint(op), op.location:
            for number, argument in enumerate(op.regions[0].blocks[0].arguments):
                own = ir.AffineMapAttr.get(map_.get_submap([number]))
                made = ir.Operation.create("affine.apply", [ir.IndexType.get()], operands, {"map": own})
                argument.replace_all_uses_with(made.results[0])
        for inner in list(op.regions[0].blocks[0].operations)[:-1]:
            if not is_block(inner.operation):
                _name(inner.operation, name)
            inner.operation.move_before(op)
        op.erase()


def _name(root: ir.Operation, name: str) -> None:
    for op in walk.ops(root, skip=is_block):
        if not is_block(op):
            op.location = ir.Location.name(name)


def _drop(op: ir.Operation) -> None:
    """Hints go."""
    if op.name in ("affine.prefetch", "memref.prefetch"):
        op.erase()
    elif op.name == "memref.assume_alignment":
        for result in op.results:
            result.replace_all_uses_with(op.operands[0])
        op.erase()


def check_known(module: ir.Module) -> None:
    """Refuse what has no meaning here. Of arith and math the conversion itself says what it knows."""
    everything = walk.ops(module.operation)
    for op in sorted(everything, key=lambda o: o.name != "func.call"):  # what made the pointers is beside the point
        name = op.name
        if name == "func.call":
            callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
            raise NotChecked(
                f'the call of "{callee}" has no exact meaning: it is not the call that the implementation of a'
                " registered intrinsic makes (TensorIntrin.register says what a kernel computes)"
            )
        if name == "llvm.intr.assume":
            raise NotChecked("T.assume on data: the check runs on arbitrary data, which does not keep it")
        if name not in _KNOWN and not name.startswith(("arith.", "math.")):
            raise NotChecked(f"{name} has no exact meaning here")
        if name in ("arith.bitcast", "arith.scaling_extf", "arith.scaling_truncf"):
            raise NotChecked(f"{name} looks at the bits of a float: it has no exact meaning")
        if any(isinstance(r.type, ir.VectorType) for r in op.results):
            raise NotChecked(f"{name} makes a vector: the check runs programs before vectors are made")
