"""Whole modules: copies."""

from __future__ import annotations

from mlir import ir


def clone(module: ir.Module) -> ir.Module:
    """A copy that shares nothing with the original."""
    copy = ir.Module.create(module.operation.location)
    for named in module.operation.attributes:
        copy.operation.attributes[named] = module.operation.attributes[named]
    end = ir.InsertionPoint(copy.body)
    for op in module.body.operations:
        op.operation.clone(ip=end)
    return copy
