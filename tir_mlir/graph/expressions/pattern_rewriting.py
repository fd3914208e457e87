"""Rewrite what matches patterns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.expressions.graph_function import Function
from tir_mlir.graph.expressions.nodes import Call, DataflowBlock, Expr, SeqExpr, Tuple, TupleGetItem, Var, VarBinding
from tir_mlir.graph.expressions.visitors import PyExprMutator, remove_all_unused
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.rewrite import CallPattern, DFPattern
from tir_mlir.graph.rewrite.pattern import Matcher

Matches: TypeAlias = dict[DFPattern, Any]
"""What each part of a pattern is."""
Rewriter: TypeAlias = Callable[[Expr, Matches], Expr]
GraphT = TypeVar("GraphT", Function, Graph)


def rewrite_call(pattern: DFPattern, rewriter: Rewriter, func: GraphT) -> GraphT:
    """The function with `rewriter(expr, found)` for each value that matches; `found`: what each part of the pattern is.

        lv = R.multiply(x, y); gv = R.add(lv, z)     ->     gv = R.ewise_fma(x, y, z)

    Operands are rewritten first; bindings that nothing uses any more are removed. Of a `Graph` the result is one, too,
    with its weights; of the function of a module, whose weights are inputs, a function. Errors: GraphError.
    """
    if isinstance(func, Graph):
        rewritten = rewrite_call(pattern, rewriter, Function.of_module(func.module, func.name))
        return Graph(rewritten.isolated_module, func.weights, func.name)
    if not isinstance(func, Function):
        raise GraphError(f"rewrite_call takes a graph, not {short_repr(func)}")
    return remove_all_unused(_CallRewriter(pattern, rewriter).visit_expr(func))


class _CallRewriter(PyExprMutator):
    def __init__(self, pattern: DFPattern, rewriter: Rewriter):
        super().__init__()
        self.pattern, self.rewriter = pattern, rewriter

    def visit_call_(self, call: Call) -> object:
        return self._rewrite(self.visit_expr_post_order(call))

    def visit_tuple_getitem_(self, op: TupleGetItem) -> object:
        return self._rewrite(self.visit_expr_post_order(op))

    def _rewrite(self, expr: object) -> object:
        if not isinstance(expr, (Call, TupleGetItem)):
            return expr
        matches = self.pattern.find_matches(expr, self.lookup_binding)
        return expr if matches is None else self.rewriter(expr, matches)


class PatternContext:
    """Patterns that are matched together: `with PatternContext() as ctx:` around the lines that make them.

    Patterns that are operands of no other one are outputs; each is another binding, and a pattern in several of them is
    one expression.
    """

    def __init__(self, incremental: bool = False):
        if incremental:
            raise GraphError("PatternContext(incremental=True) is not supported; fix: make all patterns in one context")
        self.patterns: list[DFPattern] = []

    def __enter__(self) -> PatternContext:
        DFPattern._open.append(self.patterns)
        return self

    def __exit__(self, *_: object) -> None:
        DFPattern._open.pop()

    @property
    def outputs(self) -> list[DFPattern]:
        """The patterns of calls that are operands of no other one."""
        below = {part for pattern in self.patterns for part in pattern.parts}
        return [p for p in self.patterns if isinstance(p, CallPattern) and p not in below]


def rewrite_bindings(
    ctx: PatternContext,
    rewriter: Callable[[Matches, dict[Var, Expr]], Mapping[Var, Expr]],
    func: Function,
) -> Function:
    """The function with the values of `rewriter(found, bindings)`, by variable, wherever all patterns match.

        q = R.matmul(x, wq); k = R.matmul(x, wk)  ->  q, k = R.split(R.matmul(x, R.concat((wq, wk), 1)), 2, 1)

    found: the variable of each pattern of a call, and what the others stand for. Errors: GraphError.
    """
    if not isinstance(func, Function):
        raise GraphError(f"rewrite_bindings takes a graph, not {short_repr(func)}")
    outputs = ctx.outputs
    if not outputs:
        raise GraphError(
            "the context has no pattern of a call; fix: make patterns inside `with PatternContext() as ctx`"
        )
    values, candidates = var_values(func), [b.var for b in func.body.bindings]
    replacements: dict[Var, Expr] = {}
    while (matches := _first_match(outputs, values, candidates)) is not None:
        new = rewriter(dict(matches), dict(values))
        replacements.update(new)
        candidates = [v for v in candidates if v not in {matches[p] for p in outputs}]
    return remove_all_unused(reorder_bindings(func, {**values, **replacements})) if replacements else func


def _first_match(outputs: list[DFPattern], values: Mapping[Var, Expr], among: list[Var]) -> Matches | None:
    """The first match of all output patterns on distinct bindings."""

    def go_on(number: int, matcher: Matcher, matched_vars: tuple[Var, ...]) -> Matches | None:
        if number == len(outputs):
            return matcher.matches
        for var in among:
            snapshot = dict(matcher.matches)
            if var not in matched_vars and matcher.match(outputs[number], var):
                if (matches := go_on(number + 1, matcher, (*matched_vars, var))) is not None:
                    return matches
            matcher.matches = snapshot
        return None

    return go_on(0, Matcher(values.get), ())


def reorder_bindings(func: Function, values: Mapping[Var, Expr]) -> Function:
    """The function with these values of its variables, each after what it reads."""
    return _Reordered(values).visit_expr(func)


class _Reordered(PyExprMutator):
    """Writes the bindings of a function again, with other values; an expression that occurs twice is computed once."""

    def __init__(self, values: Mapping[Var, Expr]):
        super().__init__()
        self.values = values
        self.made: dict[int, Expr] = {}
        self.kept: list[Expr] = []  # so that their ids remain theirs
        self.open: list[Expr] = []

    def visit_seq_expr_(self, seq: SeqExpr) -> SeqExpr:
        emitter = self.builder_.emitter
        emitter.begin_block(dataflow=any(isinstance(b, DataflowBlock) for b in seq.blocks))
        for binding in seq.bindings:
            self._operand(binding.var)
        emitter.in_dataflow = False
        return SeqExpr(emitter.blocks, emitter.operand(self._operand(seq.body)))

    def _operand(self, expr: Expr) -> Expr:
        """An expression in the new function, bound to a variable if it is a call."""
        if isinstance(expr, Var) and expr not in self.values:
            return expr
        if id(expr) in self.made:
            return self.made[id(expr)]
        if expr in self.open:
            raise GraphError(f"what is written for {expr!r} needs its own value")
        self.open.append(expr)
        new_value = self._bind_var(expr) if isinstance(expr, Var) else self._value(expr)
        new_value = self.builder_.emit(new_value) if isinstance(new_value, Call) else new_value
        self.open.pop()
        self.kept.append(expr)
        self.made[id(expr)] = new_value
        return new_value

    def _bind_var(self, var: Var) -> Var:
        value = self.builder_.normalize(self._value(self.values[var]))
        new_var = var if var.struct_info == value.struct_info else type(var)(var.name_hint, value.struct_info)
        return self.builder_.emit_normalized(VarBinding(new_var, value))

    def _value(self, expr: Expr) -> Expr:
        """An expression with operands of the new function."""
        if isinstance(expr, Call):
            return Call(expr.op, [self._operand(a) for a in expr.args], expr.attrs, expr.sinfo_args or None)
        if isinstance(expr, Tuple):
            return Tuple([self._operand(f) for f in expr.fields])
        if isinstance(expr, TupleGetItem):
            return TupleGetItem(self._operand(expr.tuple_value), expr.index)
        return self._operand(expr) if isinstance(expr, Var) else expr


def var_values(func: Function) -> dict[Var, Expr]:
    """What the variables of a function are bound to."""
    return {binding.var: binding.value for binding in func.body.bindings}


def variables(value: object) -> list[Var]:
    """The variables that a value reads, in order."""
    if isinstance(value, Var):
        return [value]
    return [v for part in _operands(value) for v in variables(part)]


def _operands(value: object) -> Sequence[object]:
    if isinstance(value, Call):
        return value.args
    if isinstance(value, Tuple):
        return value.fields
    return [value.tuple_value] if isinstance(value, TupleGetItem) else []
