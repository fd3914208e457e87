"""`te.statements`: tensors computed by the statements of a block, for what no expression of an element says."""

from __future__ import annotations

import ast
import functools
import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any, TypeAlias

from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.script import tir as T  # noqa: F401  the word of the bodies
from tir_mlir.te.expr import Expr, N, Shape, Var, rename_keys
from tir_mlir.te.source_location import refuse, set_location
from tir_mlir.te.tensor import IterVar, Tensor, checked_name, checked_shape

Constant: TypeAlias = str | float | Expr
"""What a name around a body of statements may be."""


class StatementsOp:
    """The operation of tensors that a block of statements writes, at each point of `axis`."""

    def __init__(
        self,
        name: str,
        axis: tuple[IterVar, ...],
        operands: Sequence[Tensor],
        results: Sequence[tuple[Shape, str]],
        body: Callable[..., None] | str,
    ):
        self.name, self.axis = name, axis
        self.reduce_axis: tuple[IterVar, ...] = ()
        self.attrs: dict[str, object] = {}
        self.location = set_location(ast.Pass())
        self.input_tensors = list(operands)
        several = len(results) > 1
        self.tensors = [
            Tensor(checked_shape(shape), dtype, f"{name}.v{n}" if several else name, self, n)
            for n, (shape, dtype) in enumerate(results)
        ]
        self.constants = _constants(body)
        sizes = [leaf for value in self.constants.values() for leaf in getattr(value, "leaves", {}).values()]
        self.variables = {v.key: v for v in sizes if isinstance(v, Var)}
        self.parameters, self.code = _parse_function(body)
        if len(self.parameters) != len(axis) + len(operands) + len(self.tensors):
            raise refuse(
                f"te.statements of {name}: the function takes {len(self.parameters)} parameters; it is given "
                f"{len(axis)} indices, {len(operands)} operands and {len(self.tensors)} results"
            )

    def output(self, index: int) -> Tensor:
        """The output tensor at an index."""
        return self.tensors[index]

    def block(self, values: Sequence[str], names: Mapping[str, str], fresh: Callable[[str], str]) -> list[ast.stmt]:
        """The statements with `values` for the parameters, and names of their own for the variables."""
        constants = {
            k: rename_keys(v.node, dict(names)) if isinstance(v, Expr) else ast.Constant(v)
            for k, v in self.constants.items()
        }
        value_of = dict(zip(self.parameters, values, strict=True))
        rewritten = _Rewrite(value_of, constants, fresh)
        return [new for stmt in self.code for new in rewritten.statements(stmt)]


def statements(
    shape: Shape,
    operands: Sequence[Tensor],
    results: Sequence[tuple[Shape, str]],
    body: Callable[..., None] | str,
    name: str,
) -> Any:
    """Tensors that a block writes: at each point of `shape`, which are independent, it runs `body`.

        def reversed_row(i, X, Y):
            T.reads(X[i, 0:n])
            T.writes(Y[i, 0:n])
            for j in range(n):
                Y[i, j] = X[i, n - 1 - j]

        te.statements((m,), [X], [((m, n), "float32")], reversed_row, name="reversed")

    results: shape and type of each. body: statements of TVMScript, read from its source, not run; its parameters are an
    index for each axis of `shape`, then the operands, then the results. What else it names are numbers, types and sizes
    around it; an `if` of such a number is decided here. It declares what it reads and writes where indices do not show
    it, and every result has to be written whole. It may be text, `def body(i, X, Y): ...`. Returns a tensor, or a tuple
    of several.
    """
    for what, given in (("operands", operands), ("results", results)):
        if not isinstance(given, (tuple, list)):
            raise refuse(f"te.statements takes a list of {what}, not {short_repr(given)}")
    for operand in operands:
        if not isinstance(operand, Tensor):
            raise refuse(f"te.statements takes tensors as operands, not {short_repr(operand)}")
    axis = tuple(IterVar(f"i{n}", 0, extent, False) for n, extent in enumerate(checked_shape(shape)))
    op = StatementsOp(checked_name(name), axis, operands, list(results), body)
    return tuple(op.tensors) if len(op.tensors) > 1 else op.tensors[0]


@functools.cache
def _source(code: CodeType) -> ast.FunctionDef:
    lines, first = inspect.getsourcelines(code)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, first - 1)
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    for node in ast.walk(function):
        if "lineno" in node._attributes:
            vars(node)["file"] = code.co_filename
    return function


def _parse_function(body: Callable[..., None] | str) -> tuple[list[str], list[ast.stmt]]:
    """The parameters and the statements of a function."""
    try:
        function = ast.parse(body).body[0] if isinstance(body, str) else _source(getattr(body, "__code__", None))
        assert isinstance(function, ast.FunctionDef)
    except (OSError, TypeError, SyntaxError, AssertionError, IndexError):
        raise refuse(f"te.statements takes a function with source text, not {short_repr(body)}") from None
    return [a.arg for a in function.args.args], function.body


def _constants(body: Callable[..., None] | str) -> dict[str, Constant]:
    """The captured constants of a function: numbers, texts, sizes; a text has none."""
    if isinstance(body, str):
        return {}
    variables = inspect.getclosurevars(body)
    by_name = {**variables.globals, **variables.nonlocals}
    constants: dict[str, Constant] = {}
    for key, value in by_name.items():
        if isinstance(value, (bool, int, float, str, Expr)):
            constants[key] = value
    return constants


class _Rewrite(ast.NodeTransformer):
    """A copy of statements: parameters and variables renamed, constants put in, what they decide decided."""

    def __init__(self, known: dict[str, str], constants: Mapping[str, ast.expr], fresh: Callable[[str], str]):
        self.known, self.constants, self.fresh = known, constants, fresh

    def statements(self, stmt: ast.stmt) -> list[ast.stmt]:
        result = self.visit(stmt)
        return result if isinstance(result, list) else [result]

    def generic_visit(self, node: N) -> N:
        copy = _locate(type(node)(**dict(ast.iter_fields(node))), node)
        for key, value in ast.iter_fields(node):
            if isinstance(value, ast.AST):
                setattr(copy, key, self.visit(value))
            elif isinstance(value, list):
                parts: list[object] = []
                for item in value:
                    new = self.visit(item) if isinstance(item, ast.AST) else item
                    parts += new if isinstance(new, list) else [new]
                setattr(copy, key, parts)
        return copy

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id == "T" or node.id in ("range",):
            return node
        if isinstance(node.ctx, ast.Load) and node.id in self.constants and node.id not in self.known:
            return self.constants[node.id]
        if isinstance(node.ctx, ast.Store) and node.id not in self.known:
            self.known[node.id] = self.fresh(node.id)
        return _locate(ast.Name(self.known.get(node.id, node.id), node.ctx), node)

    def _constant_condition(self, test: ast.expr) -> bool | None:
        """Whether a condition is one of numbers, and true."""
        test = self.visit(test)
        if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not) and isinstance(test.operand, ast.Constant):
            return not test.operand.value
        return bool(test.value) if isinstance(test, ast.Constant) else None

    def visit_If(self, node: ast.If) -> ast.If | list[ast.stmt]:
        decided = self._constant_condition(node.test)
        if decided is None:
            return self.generic_visit(node)
        return [s for stmt in (node.body if decided else node.orelse) for s in self.statements(stmt)]

    def visit_IfExp(self, node: ast.IfExp) -> ast.expr:
        decided = self._constant_condition(node.test)
        return self.generic_visit(node) if decided is None else self.visit(node.body if decided else node.orelse)

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        """The value is read before the name is given."""
        value = self.visit(node.value)
        copy = self.generic_visit(_locate(ast.Assign(node.targets, ast.Constant(0)), node))
        copy.value = value
        return copy


def _locate(new: N, node: ast.AST) -> N:
    """Give a new node the location of another."""
    vars(ast.copy_location(new, node))["file"] = getattr(node, "file", "")
    return new
