"""Copies of buffers as loops."""

from __future__ import annotations

from contextlib import ExitStack

from mlir import ir

from tir_mlir.dialect.ir import walk
from tir_mlir.equivalence.edits import OpBuilder
from tir_mlir.equivalence.instrument import ARENA, size_of


def expand_copies(module: ir.Module, build: OpBuilder) -> None:
    """Rewrite each `memref.copy %a, %b` as loops that load and store each element."""
    for op in walk.ops(module.operation):
        if op.name == "memref.copy":
            with ir.InsertionPoint(op), op.location:
                _copy(op.operands[0], op.operands[1], build)
            op.erase()


def _copy(source: ir.Value, target: ir.Value, build: OpBuilder) -> None:
    zero, step, variables = build.index(0), build.index(1), []
    type_ = ir.MemRefType(source.type)
    with ExitStack() as stack:
        for axis in range(type_.rank):
            ends = [zero, size_of(source, axis, build), step]
            loop = ir.Operation.create("scf.for", [], ends, {ARENA: ir.UnitAttr.get()}, regions=1)
            body = loop.regions[0].blocks.append(ir.IndexType.get())
            with ir.InsertionPoint(body):
                end = ir.Operation.create("scf.yield")
            stack.enter_context(ir.InsertionPoint(end))
            variables.append(body.arguments[0])
        value = ir.Operation.create("memref.load", [type_.element_type], [source, *variables]).results[0]
        ir.Operation.create("memref.store", [], [value, target, *variables])
