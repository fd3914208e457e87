"""Shape variables that occur only inside extents: `n` of a buffer of shape `(n * 16 + 3,)`."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import Any

from mlir import ir
from mlir.dialects import arith, memref

from tir_mlir.dialect.ir import Index, attrs, create
from tir_mlir.dialect.presburger import dim_factors
from tir_mlir.script.parser.expressions import Evaluator
from tir_mlir.script.parser.items import UnboundVar, as_index
from tir_mlir.script.parser.parameters import BufferSpec
from tir_mlir.script.parser.source import ParseError


def solve(evaluate: Evaluator, buffers: Sequence[tuple[BufferSpec, ir.Value]], names: dict[str, Any]) -> None:
    """Bind the remaining variables: for an extent `n * 16 + 3`, n is `(extent - 3) // 16`.

    The call signature checks that extents have this form, so proofs may rely on it.
    """
    for spec, arg in buffers:
        for axis, dim in enumerate(spec.dims):
            if isinstance(dim, ast.expr) and (name := _open(evaluate, dim, names)) is not None:
                _solve_one(evaluate, arg, axis, dim, name, names)


def _open(evaluate: Evaluator, dim: ast.expr, names: dict[str, Any]) -> str | None:
    """The only unbound variable of an extent, or None."""
    variables = {n.id for n in ast.walk(dim) if isinstance(n, ast.Name)} - set(names)
    bindings = {n: evaluate.state.scope.find(n) for n in variables}
    unbound = [n for n, b in bindings.items() if b is not None and isinstance(b.item, UnboundVar)]
    return unbound[0] if len(unbound) == 1 else None


def _solve_one(evaluate: Evaluator, arg: ir.Value, axis: int, dim: ast.expr, name: str, names: dict[str, Any]) -> None:
    extent = memref.dim(arg, arith.constant(ir.IndexType.get(), axis))
    with evaluate.state.scope.frame():
        for symbol, item in {**names, name: Index.of(extent)}.items():
            evaluate.state.scope.define(symbol, item, dim, "size")
        try:
            index = as_index(evaluate(dim))
        except ParseError:
            index = None
    factors = None if index is None else dim_factors(index.expr)
    factor = 0 if factors is None or index is None else factors[0].get(index.values.index(extent), 0)
    if index is None or factor <= 0:
        if not any(True for _ in extent.uses):  # if it has uses, the shape is rejected and the module dropped
            extent.owner.erase()
        return
    remainder = (Index.of(extent) - (index - Index.of(extent) * factor)).simplified()
    divisor = arith.constant(ir.IndexType.get(), factor)
    value = arith.floordivsi(create.apply(remainder), divisor)
    value.owner.attributes[attrs.NAME] = ir.StringAttr.get(name)
    names[name] = Index.of(value)
