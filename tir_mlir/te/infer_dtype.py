"""Type inference of expressions: parse a throw-away function, so that type errors appear at the expression."""

from __future__ import annotations

import ast
from collections.abc import Hashable, Sequence
from typing import Any

from mlir import ir

from tir_mlir.dialect.ir import cache_by_structure, enter_context
from tir_mlir.extensions import implement
from tir_mlir.script import tir
from tir_mlir.script.parser import arithmetic
from tir_mlir.script.parser.function_state import ParserState, Scope, assigned_names
from tir_mlir.script.parser.items import dtype_of
from tir_mlir.script.parser.statements import FunctionParser
from tir_mlir.te import expr, script_ast
from tir_mlir.te.expr import Expr, rename_keys
from tir_mlir.te.source_location import TeSource, file_of, set_location


class Probe(ast.Pass):
    """A pseudo-statement that holds expressions to infer the types of."""

    def __init__(self, values: Sequence[ast.expr] = ()):
        super().__init__()
        self.values = values


class _Prober(FunctionParser):
    """Parses a function with a probe and records the types of its values."""

    found: list[str]

    def _Probe(self, stmt: Probe) -> None:
        self.found = [dtype_of(arithmetic.as_expr(self.evaluate(v))) for v in stmt.values]


def _structure(exprs: Sequence[Expr]) -> Hashable:
    """What the types of expressions depend on: their operations and constants, the element types and ranks of what they
    read, and named sizes; not names, positions, or sizes that are numbers."""
    numbers: dict[str, int] = {}
    leaves = _leaves(exprs)

    def structure_of(part: Any) -> Hashable:
        if isinstance(part, ast.Name):
            leaf = leaves.get(part.id)
            return part.id if leaf is None else (numbers.setdefault(part.id, len(numbers)), *facts(leaf))
        if isinstance(part, ast.expr_context):
            return None
        if isinstance(part, ast.AST):
            return (type(part), *[structure_of(getattr(part, name, None)) for name in part._fields])
        return tuple(map(structure_of, part)) if isinstance(part, list) else (type(part), repr(part))

    def facts(leaf: Any) -> tuple[Hashable, ...]:
        sizes = getattr(leaf, "shape", None)
        if sizes is None:
            return (leaf.dtype,)
        return leaf.dtype, len(sizes), *[structure_of(size.node) for size in sizes if isinstance(size, Expr)]

    return tuple(structure_of(expr.node) for expr in exprs)


@implement(expr.dtypes_of)
@cache_by_structure(_structure)
def dtypes_of(exprs: Sequence[Expr]) -> list[str]:
    """The element type of each expression. Raises ScriptError at the offending subexpression.

    Expressions of equal structure have equal types: they are parsed once.
    """
    leaves, names = _leaves(exprs), script_ast.KeyNames()
    for key, leaf in leaves.items():
        names.give(key, leaf.name)
    params = [script_ast.parameter(leaf, names) for leaf in leaves.values()]
    probe = set_location(Probe([rename_keys(e.node, names.of) for e in exprs]))
    function = script_ast.function(params, [probe], set_location(ast.Pass()))
    with enter_context():
        state = ParserState(TeSource(file_of(probe)), Scope({"T": tir}, assigned_names(function)), ir.Module.create())
        prober = _Prober(state)
        prober.function(function, "probe", True)
        return prober.found


def _leaves(exprs: Sequence[Expr]) -> dict[str, Any]:
    """What expressions read, by key, after the named sizes of its shape."""
    read = {key: leaf for expr in exprs for key, leaf in expr.leaves.items()}
    return {key: size for leaf in read.values() for key, size in script_ast.sizes_of(leaf).items()} | read
