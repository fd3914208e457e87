"""Type inference of expressions: parse a throw-away function, so that type errors appear at the expression."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from mlir import ir

from tir_mlir.dialect.ir import entered
from tir_mlir.script import tir
from tir_mlir.script.parser import arithmetic
from tir_mlir.script.parser.function_state import ParserState, Scope, assigned_names
from tir_mlir.script.parser.items import dtype_of
from tir_mlir.script.parser.statements import FunctionParser
from tir_mlir.te import script_ast
from tir_mlir.te.expr import Expr, named
from tir_mlir.te.source_location import TeSource, file_of, placed


class Probe(ast.Pass):
    """A pseudo-statement that holds expressions to infer the types of."""

    def __init__(self, values: Sequence[ast.expr] = ()):
        super().__init__()
        self.values = values


class _Prober(FunctionParser):
    """Parses a function with a probe and records the types of its values."""

    found: list[str]

    def _Probe(self, stmt: Probe) -> None:  # noqa: N802  the parser finds it by the name of the node
        self.found = [dtype_of(arithmetic.as_expr(self.evaluate(v))) for v in stmt.values]


def dtypes_of(exprs: Sequence[Expr]) -> list[str]:
    """The element type of each expression. Raises ScriptError at the offending subexpression."""
    leaves = {key: leaf for expr in exprs for key, leaf in expr.leaves.items()}
    sizes = {key: leaf for leaf in leaves.values() for key, leaf in script_ast.sizes_of(leaf).items()}
    names = script_ast.Names()
    for key, leaf in {**sizes, **leaves}.items():
        names.give(key, leaf.name)
    params = [script_ast.parameter(leaf, names) for leaf in {**sizes, **leaves}.values()]
    probe = placed(Probe([named(e.node, names.of) for e in exprs]))
    function = script_ast.function(params, [probe], placed(ast.Pass()))
    with entered():
        state = ParserState(TeSource(file_of(probe)), Scope({"T": tir}, assigned_names(function)), ir.Module.create())
        prober = _Prober(state)
        prober.function(function, "probe", True)
        return prober.found
