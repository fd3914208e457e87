"""Evaluation of expressions: Python AST to constants, affine indices and SSA values, in program order."""

from __future__ import annotations

import ast
import difflib
import operator
from collections.abc import Callable

import numpy as np
from mlir import ir
from mlir.dialects import memref

from tir_mlir.dialect import symbolic
from tir_mlir.dialect.diagnostics import ScriptError, TirError
from tir_mlir.dialect.ir import Index, create
from tir_mlir.script.language.words import REFUSED
from tir_mlir.script.parser import arithmetic, module_calls, pointers, vector_expressions
from tir_mlir.script.parser.calls import call
from tir_mlir.script.parser.conditions import conditional
from tir_mlir.script.parser.function_state import ParserState
from tir_mlir.script.parser.inlined_calls import LocalLambda
from tir_mlir.script.parser.items import (
    BufferProperty,
    BufferRef,
    Ramp,
    RegionRef,
    ScriptValue,
    Slice,
    UnboundVar,
    as_index,
    describe,
    is_expr,
)
from tir_mlir.script.parser.source import ParseError

_PYTHON: dict[str, Callable[..., object]] = {
    **symbolic.APPLY, "/": operator.truediv, "**": operator.pow, "<<": operator.lshift, ">>": operator.rshift,
    "&": operator.and_, "|": operator.or_, "^": operator.xor, "==": operator.eq, "!=": operator.ne, "<": operator.lt,
    "<=": operator.le, ">": operator.gt, ">=": operator.ge, "[]": operator.getitem,
}  # fmt: skip
_COMPARE = {ast.Eq: "==", ast.NotEq: "!=", ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">="}

_IDENTITY: dict[type, Callable[[object, object], bool]] = {ast.Is: operator.is_, ast.IsNot: operator.is_not}
_MEMBERSHIP: dict[type, Callable[..., bool]] = {ast.In: lambda a, b: a in b, ast.NotIn: lambda a, b: a not in b}


class Evaluator:
    """Evaluates expression nodes in a parser state. A ParseError is reported at the innermost node."""

    def __init__(self, state: ParserState):
        self.state = state

    def __call__(self, node: ast.expr) -> object:
        """Evaluate an expression node."""
        method = getattr(self, "_" + type(node).__name__, None)
        try:
            return _native(method(node) if method is not None else self._python(node))
        except ParseError as refused:
            raise self.state.error(node, str(refused)) from None
        except ScriptError as error:
            if error.lineno is None:
                raise self.state.error(node, error.message) from None
            raise
        except TirError as error:
            raise self.state.error(node, str(error)) from None

    def index(self, node: ast.expr, what: str) -> Index:
        """The affine expression of a node; `what` names its role in the error."""
        item = self(node)
        index = as_index(item)
        if index is None:
            raise self.state.error(
                node, f"{what} must be an affine expression of loops, iters and sizes, not {describe(item)}"
            )
        return index

    def python(self, node: ast.expr, what: str) -> object:
        """The parse-time Python value of a node (a string, a number, a dictionary of attributes)."""
        return pointers.python_value(self(node), what)

    # ---- leaves

    def _Constant(self, node: ast.Constant) -> object:
        return node.value

    def _Name(self, node: ast.Name) -> object:
        if (function := module_calls.plain_function(self.state, node.id)) is not None:
            return function
        return self.state.scope.lookup(node.id)

    def _Tuple(self, node: ast.Tuple) -> object:
        return tuple(self(e) for e in node.elts)

    def _List(self, node: ast.List) -> object:
        return [self(e) for e in node.elts]

    def _Dict(self, node: ast.Dict) -> object:
        if None in node.keys:
            return self._python(node)
        entries: dict[object, object] = {}
        for key_node, value in zip(node.keys, node.values, strict=True):
            assert key_node is not None
            key, item = self(key_node), self(value)
            try:
                entries[key] = item
            except TypeError:
                raise ParseError(f"{describe(key)} cannot be a dictionary key; keys are strings") from None
        return entries

    def _Attribute(self, node: ast.Attribute) -> object:
        if isinstance(node.value, ast.Name):
            function = module_calls.function_of(self.state, node.value.id, node.attr)
            if function is not None:
                return function
        base = self(node.value)
        if isinstance(base, BufferRef):
            return pointers.attribute(base, node.attr)
        try:
            return getattr(base, node.attr)
        except AttributeError:
            name = ast.unparse(node.value)
            if node.attr in REFUSED and getattr(base, "__name__", "") == "tir_mlir.script.tir":
                raise ParseError(f"{name}.{node.attr} is not supported: {REFUSED[node.attr]}") from None
            near = difflib.get_close_matches(node.attr, dir(base), 1)
            hint = f"; did you mean {name}.{near[0]}?" if near else ""
            raise ParseError(f"{name} has no {node.attr}{hint}") from None

    # ---- accesses

    def _Subscript(self, node: ast.Subscript) -> object:
        base = self(node.value)
        if isinstance(base, BufferRef):
            return self.load(base, self.subscripts(node), node)
        key = self._python_slice(node.slice) if isinstance(node.slice, ast.Slice) else self(node.slice)
        if isinstance(base, BufferProperty):
            return pointers.stride(base, key)
        try:
            return _PYTHON["[]"](base, key)
        except (TypeError, KeyError, IndexError) as error:
            raise ParseError(f"{ast.unparse(node.value)} cannot be indexed like this: {error}") from None

    def _python_slice(self, node: ast.Slice) -> slice:
        """`1:` of a Python sequence."""
        parts = (node.lower, node.upper, node.step)
        return slice(*[None if p is None else self.python(p, "the bound of a slice") for p in parts])

    def _Slice(self, node: ast.Slice) -> object:
        return Slice(*[part and self(part) for part in (node.lower, node.upper, node.step)])

    def subscripts(self, node: ast.Subscript) -> list[object]:
        """The evaluated subscripts of `A[i, 0:16]`."""
        inner = node.slice
        return [self(e) for e in inner.elts] if isinstance(inner, ast.Tuple) else [self(inner)]

    def load(self, buffer: BufferRef, items: list[object], node: ast.AST) -> ScriptValue:
        """One element of a buffer: affine.load, or memref.load when an index is computed. Or several, as a vector."""
        if (lanes := vector_expressions.lanes_of(buffer, items)) is not None:
            with self.state.source.location(node):
                return vector_expressions.load(lanes)
        indices = checked_indices(buffer, items)
        with self.state.source.location(node):
            if all(isinstance(i, Index) for i in indices):
                return ScriptValue(create.load(buffer.ssa, indices), buffer.dtype)  # type: ignore[arg-type]
            return ScriptValue(memref.load(buffer.ssa, [to_ssa(i) for i in indices]), buffer.dtype)

    def store(self, buffer: BufferRef, items: list[object], value: object, node: ast.AST) -> None:
        """Store an expression; its type must be that of the buffer."""
        with self.state.source.location(node):
            if (lanes := vector_expressions.lanes_of(buffer, items)) is not None:
                return vector_expressions.store(lanes, value)
            fitted = arithmetic.convert_for_store(value, buffer.dtype, f"buffer {buffer.name}")
            indices = checked_indices(buffer, items)
            if all(isinstance(i, Index) for i in indices):
                create.store(fitted, buffer.ssa, indices)  # type: ignore[arg-type]
            else:
                memref.store(fitted, buffer.ssa, [to_ssa(i) for i in indices])

    def region(self, node: ast.expr, widen: bool = False) -> RegionRef:
        """`A[0:16, vi]` or the whole buffer `A`, as a region. `widen`: all of an axis where an index is computed."""
        base = self(node.value) if isinstance(node, ast.Subscript) else self(node)
        if not isinstance(base, BufferRef):
            raise self.state.error(node, f"a region is a part of a buffer, such as A[0:16, vi], not {describe(base)}")
        if not isinstance(node, ast.Subscript):
            return RegionRef(base, [Index.constant(0)] * base.rank, list(base.shape))
        items = self.subscripts(node)
        try:
            return pointers.region(base, items, widen)
        except ParseError as refused:
            raise self.state.error(node, str(refused)) from None

    # ---- operators

    def _BinOp(self, node: ast.BinOp) -> object:
        op = arithmetic.BINARY.get(type(node.op))
        if op is None:
            raise ParseError(f"the operator {type(node.op).__name__} is not supported")
        return self.binary(op, self(node.left), self(node.right), node)

    def binary(self, op: str, lhs: object, rhs: object, node: ast.AST) -> object:
        if is_expr(lhs) or is_expr(rhs) or not _are_python(lhs, rhs):
            if isinstance(lhs, Ramp) or isinstance(rhs, Ramp):
                ramp = vector_expressions.fold_ramp(op, lhs, rhs)
                if ramp is not None:
                    return ramp
            with self.state.source.location(node):
                return arithmetic.binary(op, lhs, rhs)
        return _try(_PYTHON[op], lhs, rhs)

    def _UnaryOp(self, node: ast.UnaryOp) -> object:
        item = self(node.operand)
        if not is_expr(item) and isinstance(item, bool | int | float):
            table: dict[type, Callable[..., object]] = {ast.USub: operator.neg, ast.Not: operator.not_}
            function = table.get(type(node.op), operator.pos if isinstance(node.op, ast.UAdd) else operator.invert)
            return _try(function, item)
        with self.state.source.location(node):
            if isinstance(node.op, ast.USub):
                return arithmetic.negative(item)
            if isinstance(node.op, ast.Not):
                return arithmetic.negation(item)
            if isinstance(node.op, ast.Invert):
                return arithmetic.invert_bits(item)
            return arithmetic.as_expr(item)

    def _Compare(self, node: ast.Compare) -> object:
        lhs = self(node.left)
        result: object = None
        for op_node, right_node in zip(node.ops, node.comparators, strict=True):
            op = _COMPARE.get(type(op_node))
            rhs = self(right_node)
            if type(op_node) in _IDENTITY or (type(op_node) in _MEMBERSHIP and not is_expr(lhs)):
                term = _try({**_IDENTITY, **_MEMBERSHIP}[type(op_node)], lhs, rhs)
                result, lhs = term if result is None else arithmetic.logical("and", result, term), rhs
                continue
            if op is None:
                raise ParseError("unsupported comparison; use ==, !=, <, <=, > or >=")
            with self.state.source.location(node):
                plain = not (is_expr(lhs) or is_expr(rhs)) and _are_python(lhs, rhs)
                term = _try(_PYTHON[op], lhs, rhs) if plain else arithmetic.compare(op, lhs, rhs)
                result = term if result is None else arithmetic.logical("and", result, term)
            lhs = rhs
        return result

    def _BoolOp(self, node: ast.BoolOp) -> object:
        op = "and" if isinstance(node.op, ast.And) else "or"
        result = self(node.values[0])
        for operand in node.values[1:]:
            item = self(operand)
            with self.state.source.location(node):
                result = arithmetic.logical(op, result, item)
        return result

    def _IfExp(self, node: ast.IfExp) -> object:
        return conditional(self, node.test, node.body, node.orelse, node)

    def _Lambda(self, node: ast.Lambda) -> LocalLambda:
        return LocalLambda(node, self.state, self._python)

    def _Call(self, node: ast.Call) -> object:
        return call(self, node)

    # ---- Python around the program

    def _python(self, node: ast.expr) -> object:
        """Any other node (a comprehension, an f-string) over names of the surrounding Python program: run Python."""
        if any(isinstance(n, ast.NamedExpr) for n in ast.walk(node)):
            raise ParseError(":= is not supported; bind the name in a statement before this one")
        local = {}
        for name in {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}:
            binding = self.state.scope.find(name)
            if binding is not None:
                if is_expr(binding.item) or isinstance(binding.item, BufferRef):
                    raise ParseError(f"{type(node).__name__} runs at parse time; it cannot use {name} of the program")
                local[name] = binding.item
        expression = ast.fix_missing_locations(ast.Expression(node))
        code = _try(compile, expression, self.state.source.filename, "eval")
        return _try(eval, code, dict(self.state.scope.python) | local)  # the user's own program


def _native(item: object) -> object:
    """A NumPy scalar as a Python number."""
    return item.item() if isinstance(item, np.generic) else item


def _are_python(lhs: object, rhs: object) -> bool:
    odd = (BufferRef, RegionRef, BufferProperty, Slice, Ramp, UnboundVar)
    return not isinstance(lhs, odd) and not isinstance(rhs, odd)


def _try(function: Callable[..., object], *args: object) -> object:
    """Run the user's Python; an exception becomes a ParseError at this node."""
    try:
        return function(*args)
    except Exception as error:
        raise ParseError(f"{type(error).__name__}: {error}") from None


def checked_indices(buffer: BufferRef, items: list[object]) -> list[Index | ir.Value]:
    """The indices of an access, one per axis."""
    items = [] if items == [()] else items
    if len(items) != buffer.rank:
        raise ParseError(f"buffer {buffer.name} has {buffer.rank} axes but {len(items)} indices are given")
    return [arithmetic.to_index(i) for i in items]


def to_ssa(index: Index | ir.Value) -> ir.Value:
    return create.apply(index) if isinstance(index, Index) else index
