"""Expressions over tensor elements, represented by the Python AST of the equivalent TVMScript expression.

`A[i, k] * B[k, j]` builds the AST that it has in TVMScript, so the TVMScript parser defines its types, its operations
and its errors.
"""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, NoReturn, Protocol, TypeAlias, TypeVar

import numpy as np

from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.dialect.symbolic import IntExpr, from_ast
from tir_mlir.extensions import extension_point
from tir_mlir.te.source_location import refuse, set_location

if TYPE_CHECKING:
    from tir_mlir.te.tensor import Tensor

    Leaf: TypeAlias = "Var | Tensor"
    """What the names in the AST of an expression stand for."""

N = TypeVar("N", bound=ast.AST)
_keys = itertools.count()


@extension_point
def dtypes_of(exprs: Sequence[Expr]) -> list[str]:
    """The element type of each expression. Raises ScriptError at the offending subexpression."""
    ...


class Expr:
    """A scalar expression. Operators, comparisons and functions of `T` build larger ones."""

    __hash__ = object.__hash__

    def __init__(self, node: ast.expr, leaves: dict[str, Leaf] | None = None):
        self.node = node
        self.leaves = leaves or {}  # key of a name in the AST -> its variable or tensor

    @property
    def dtype(self) -> str:
        """The element type of the value."""
        return dtypes_of([self])[0]

    def astype(self, dtype: str) -> Expr:
        """Cast to another type."""
        return t_call("cast", self, dtype)

    def __add__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.Add, self, rhs)

    def __radd__(self, lhs: ExprLike) -> Expr:
        return _binary(ast.Add, lhs, self)

    def __sub__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.Sub, self, rhs)

    def __rsub__(self, lhs: ExprLike) -> Expr:
        return _binary(ast.Sub, lhs, self)

    def __mul__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.Mult, self, rhs)

    def __rmul__(self, lhs: ExprLike) -> Expr:
        return _binary(ast.Mult, lhs, self)

    def __truediv__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.Div, self, rhs)

    def __rtruediv__(self, lhs: ExprLike) -> Expr:
        return _binary(ast.Div, lhs, self)

    def __floordiv__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.FloorDiv, self, rhs)

    def __rfloordiv__(self, lhs: ExprLike) -> Expr:
        return _binary(ast.FloorDiv, lhs, self)

    def __mod__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.Mod, self, rhs)

    def __rmod__(self, lhs: ExprLike) -> Expr:
        return _binary(ast.Mod, lhs, self)

    def __lshift__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.LShift, self, rhs)

    def __rshift__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.RShift, self, rhs)

    def __and__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.BitAnd, self, rhs)

    def __or__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.BitOr, self, rhs)

    def __xor__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.BitXor, self, rhs)

    def __pow__(self, rhs: ExprLike) -> Expr:
        return _binary(ast.Pow, self, rhs)

    def __rpow__(self, lhs: ExprLike) -> Expr:
        return _binary(ast.Pow, lhs, self)

    def __neg__(self) -> Expr:
        return Expr(set_location(ast.UnaryOp(ast.USub(), self.node)), self.leaves)

    def __invert__(self) -> Expr:
        return Expr(set_location(ast.UnaryOp(ast.Invert(), self.node)), self.leaves)

    def __lt__(self, rhs: ExprLike) -> Expr:
        return _compare(ast.Lt, self, rhs)

    def __le__(self, rhs: ExprLike) -> Expr:
        return _compare(ast.LtE, self, rhs)

    def __gt__(self, rhs: ExprLike) -> Expr:
        return _compare(ast.Gt, self, rhs)

    def __ge__(self, rhs: ExprLike) -> Expr:
        return _compare(ast.GtE, self, rhs)

    def __eq__(self, rhs: object) -> Expr:  # type: ignore[override]
        return _Equality(ast.Eq, self, rhs)

    def __ne__(self, rhs: object) -> Expr:  # type: ignore[override]
        return _Equality(ast.NotEq, self, rhs)

    def __bool__(self) -> bool:
        raise refuse(
            "a tensor expression has no truth value in Python: select with te.if_then_else(condition, x, y), combine "
            "conditions with te.all and te.any, take a maximum with te.max(x, y)"
        )

    def __iter__(self) -> NoReturn:
        raise refuse("a tensor expression is a scalar: it cannot be iterated over")

    def tir_call(self, name: str, args: tuple[ExprLike | str, ...], keywords: Mapping[str, ExprLike | str]) -> Expr:
        """`T.exp(x)` with an expression for `x`."""
        return t_call(name, *args, **keywords)

    def __repr__(self) -> str:
        return ast.unparse(rename_keys(self.node, {k: leaf.name for k, leaf in self.leaves.items()}))


class _Equality(Expr):
    """`a == b`: an expression; `bool()` of it is object identity, as needed by Python containers."""

    def __init__(self, op: type[ast.cmpop], lhs: Expr, rhs: object):
        if not isinstance(rhs, (Expr, bool, int, float, np.generic)):
            super().__init__(
                set_location(ast.Constant(op is ast.NotEq))
            )  # an expression never equals a list or a string
        else:
            comparison = _compare(op, lhs, rhs)
            super().__init__(comparison.node, comparison.leaves)
        self._same = lhs is rhs
        self._negated = op is ast.NotEq

    __hash__ = object.__hash__

    def __bool__(self) -> bool:
        return self._same != self._negated


class Var(Expr):
    """A variable of an expression: a size (`te.var("n")` in a shape), a scalar parameter (elsewhere), or the axis of an
    operation. Two variables of one name are two variables: they differ by the object, not by its name.
    """

    def __init__(self, name: str, dtype: str = "int32"):
        for what, argument in (("name", name), ("dtype", dtype)):
            if not isinstance(argument, str):
                raise refuse(f"the {what} of a variable is a string, not {short_repr(argument)}")
        self.name = name
        self.key = fresh_key()
        self._dtype = dtype
        super().__init__(set_location(ast.Name(self.key, ast.Load())), {self.key: self})

    @property
    def dtype(self) -> str:
        return self._dtype


class Element(Protocol):
    """A tensor without axes, or one with all its indices: it stands for its only element."""

    def element(self) -> Expr: ...


ExprLike: TypeAlias = Expr | float | np.generic | Element
"""An operand of an expression: an expression, a number, or a tensor without axes."""
Size: TypeAlias = int | Expr
"""A size of a shape, or an index: a number, or an expression of variables."""
Shape: TypeAlias = Size | Sequence[Size]
"""A shape: its sizes, or the one that it has."""


def var(name: str = "tindex", dtype: str = "int32") -> Var:
    """A variable. In a shape it is a size, known at the call from the arrays: `te.placeholder((te.var("n"), 8))`.
    Elsewhere it is a scalar parameter of type `dtype`, which the call passes.
    """
    return Var(name, dtype)


def size_var(name: str = "size", dtype: str = "int32") -> Var:
    """A variable for a size in shapes: `te.placeholder((te.size_var("n"), 8))`. The same as `te.var`, whose sizes are
    never taken to be negative either.
    """
    return Var(name, dtype)


def fresh_key() -> str:
    """A unique name for a leaf in the AST, not a valid identifier; replaced by a readable name in the program."""
    return f"<{next(_keys)}>"


def lift(value: object) -> Expr:
    """Convert a Python number, an expression or a 0-d tensor to an expression."""
    if isinstance(value, Expr):
        return value
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int, float)):
        dtype = getattr(value, "dtype", None)  # an IntImm, a FloatImm
        plain = ast.Constant(type(value).__mro__[1](value) if dtype else value)
        return Expr(_call(dtype, [set_location(plain)]) if dtype else set_location(plain))
    if (element := getattr(value, "element", None)) is not None:
        return element()
    raise refuse(f"expected a tensor element, a variable or a number in an expression, not {short_repr(value)}")


def t_call(name: str, *args: object, **keywords: object) -> Expr:
    """Build `T.name(args)`. Strings (dtypes) are passed through."""
    parts = [a if isinstance(a, str) else lift(a) for a in args]
    named_parts = {k: a if isinstance(a, str) else lift(a) for k, a in keywords.items()}
    nodes = [_node(p) for p in parts]
    pairs = [ast.keyword(k, _node(p)) for k, p in named_parts.items()]
    return Expr(_call(name, nodes, pairs), _leaves(*parts, *named_parts.values()))


def boolean(op: type[ast.boolop], args: tuple[ExprLike, ...]) -> Expr:
    """`a and b and c`."""
    parts = [lift(a) for a in args]
    if len(parts) == 1:
        return parts[0]
    return Expr(set_location(ast.BoolOp(op(), [p.node for p in parts])), _leaves(*parts))


def subscript(key: str, owner: Tensor, indices: Sequence[ExprLike]) -> Expr:
    """One element of a tensor."""
    parts = [lift(i) for i in indices]
    index = parts[0].node if len(parts) == 1 else set_location(ast.Tuple([p.node for p in parts], ast.Load()))
    base = set_location(ast.Name(key, ast.Load()))
    return Expr(set_location(ast.Subscript(base, index, ast.Load())), {**_leaves(*parts), key: owner})


def _node(part: Expr | str) -> ast.expr:
    return set_location(ast.Constant(part)) if isinstance(part, str) else part.node


def _call(name: str, args: list[ast.expr], keywords: list[ast.keyword] | None = None) -> ast.expr:
    return set_location(ast.Call(t_name(name), args, keywords or []))


def t_name(name: str) -> ast.expr:
    """`T.name`, `T.axis.name`."""
    node = set_location(ast.Name("T", ast.Load()))
    for part in name.split("."):
        node = set_location(ast.Attribute(node, part, ast.Load()))
    return node


def _leaves(*parts: Expr | str) -> dict[str, Leaf]:
    leaves: dict[str, Leaf] = {}
    for part in parts:
        if isinstance(part, Expr):
            leaves |= part.leaves
    return leaves


def _binary(op: Callable[[], ast.operator], lhs: ExprLike, rhs: ExprLike) -> Expr:
    if getattr(lhs, "is_reduction", False) or getattr(rhs, "is_reduction", False):
        raise refuse("a reduction must be the whole value of its te.compute: use its result in another te.compute")
    a, b = lift(lhs), lift(rhs)
    return Expr(set_location(ast.BinOp(a.node, op(), b.node)), _leaves(a, b))


def _compare(op: type[ast.cmpop], lhs: ExprLike, rhs: ExprLike) -> Expr:
    a, b = lift(lhs), lift(rhs)
    return Expr(set_location(ast.Compare(a.node, [op()], [b.node])), _leaves(a, b))


def int_expr(size: Expr, name: Callable[[str], IntExpr], fallback: Callable[[Expr], IntExpr]) -> IntExpr:
    """An expression as an integer expression: `name` makes the leaf of the key of a variable, `fallback` that of a part
    which is not arithmetic of integers.
    """
    return from_ast(size.node, name, lambda node: fallback(Expr(node, size.leaves)))


def rename_keys(node: N, names: Mapping[str, str]) -> N:
    """A copy of an AST with readable names for its keys."""
    copy = ast.copy_location(type(node)(**dict(ast.iter_fields(node))), node)
    if isinstance(copy, ast.Name):
        copy.id = names.get(copy.id, copy.id)
    for key, value in ast.iter_fields(node):
        if isinstance(value, ast.AST):
            setattr(copy, key, rename_keys(value, names))
        elif isinstance(value, list):
            setattr(copy, key, [rename_keys(v, names) if isinstance(v, ast.AST) else v for v in value])
    return copy
