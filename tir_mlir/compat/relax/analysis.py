"""`tvm.relax.analysis`: questions about graphs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import GraphError, TirError, short_repr
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.expressions import Function, PyExprVisitor
from tir_mlir.script.module import IRModule, verify_module

if TYPE_CHECKING:
    from tir_mlir.graph.expressions import Expr


def well_formed(obj: IRModule | Function, check_struct_info: bool = True, **_: object) -> bool:
    """Whether the calls of a module, or of a graph, fit what they call. Errors: GraphError for something else."""
    if not isinstance(obj, (IRModule, Function)):
        raise GraphError(f"well_formed takes a module or a graph, not {short_repr(obj)}")
    try:
        with enter_context():
            verify_module((obj if isinstance(obj, IRModule) else obj.isolated_module).mlir)
    except TirError:
        return False
    return True


def post_order_visit(expr: Expr | Function, fvisit: Callable[[Expr | Function], object]) -> None:
    """Call a function with each expression of a graph, operands first."""
    _PostOrder(fvisit).visit_expr(expr)


class _PostOrder(PyExprVisitor):
    def __init__(self, fvisit: Callable[[Expr | Function], object]):
        self.fvisit = fvisit

    def visit_expr(self, expr: Expr | Function) -> None:
        super().visit_expr(expr)
        self.fvisit(expr)
