"""`IntExpr`: an integer expression of named variables, built by arithmetic. Immutable; needs no MLIR context."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NoReturn, SupportsIndex, TypeVar

from tir_mlir.dialect.diagnostics import NotAffine, short_repr

T = TypeVar("T")
APPLY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip
"""The operations: quotients round down, a remainder has the sign of its divisor."""
SUMS = ("+", "-")
DIVISIONS = ("//", "%")
_FUNCTIONS = {"floordiv": "//", "floormod": "%", "add": "+", "subtract": "-", "multiply": "*"}


class IntExpr:
    """An integer expression: a `Constant`, a variable, or an `Operation`.

    Arithmetic on expressions and integers builds expressions, `==` compares their form; `polynomial.equal` shows that
    two have equal values. What is not arithmetic of integers is refused. Errors: NotAffine.
    """

    __slots__ = ()

    def _operation(self, symbol: str, left: object, right: object) -> IntExpr:
        return operation(symbol, left, right)

    def __add__(self, rhs: object) -> IntExpr:
        return self._operation("+", self, rhs)

    def __radd__(self, rhs: object) -> IntExpr:
        return self._operation("+", rhs, self)

    def __sub__(self, rhs: object) -> IntExpr:
        return self._operation("-", self, rhs)

    def __rsub__(self, rhs: object) -> IntExpr:
        return self._operation("-", rhs, self)

    def __mul__(self, rhs: object) -> IntExpr:
        return self._operation("*", self, rhs)

    def __rmul__(self, rhs: object) -> IntExpr:
        return self._operation("*", rhs, self)

    def __floordiv__(self, rhs: object) -> IntExpr:
        return self._operation("//", self, rhs)

    def __rfloordiv__(self, rhs: object) -> IntExpr:
        return self._operation("//", rhs, self)

    def __mod__(self, rhs: object) -> IntExpr:
        return self._operation("%", self, rhs)

    def __rmod__(self, rhs: object) -> IntExpr:
        return self._operation("%", rhs, self)

    def __divmod__(self, rhs: object) -> tuple[IntExpr, IntExpr]:
        return self // rhs, self % rhs

    def __neg__(self) -> IntExpr:
        return self._operation("*", self, -1)

    def __pos__(self) -> IntExpr:
        return self

    def _refuse(self, what: str) -> NoReturn:
        raise NotAffine(f"{what} of {self} is not affine: an index map supports +, -, *, // and % by constants only")

    def __truediv__(self, rhs: object) -> Any:
        raise NotAffine(f"({self}) / ({rhs}): indices are integers; write // for floor division")

    __rtruediv__ = __truediv__

    def __bool__(self) -> bool:
        return self._refuse("the truth value")

    def __lt__(self, rhs: object) -> Any:
        return self._refuse("a comparison")

    __le__ = __gt__ = __ge__ = __lt__

    def __index__(self) -> int:
        return self._refuse("the integer value")

    def __pow__(self, rhs: object) -> Any:
        return self._refuse("a power")

    def tir_call(self, word: str, args: tuple[Any, ...], keywords: Mapping[str, object]) -> IntExpr:
        """`T.floordiv(i, 16)` in a lambda: TVMScript functions dispatch to this method of their argument."""
        if word not in _FUNCTIONS:
            return self._refuse(f"T.{word}")
        return operation(_FUNCTIONS[word], *args, *keywords.values())

    def _bits(self, other: object) -> Any:
        return self._refuse("a bit operation")

    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = _bits


class Constant(IntExpr):
    """A number; a float is a padding value of an index map, never an operand."""

    __slots__ = ("value",)

    def __init__(self, value: int | float):
        self.value = value

    def __eq__(self, rhs: object) -> bool:
        return isinstance(rhs, Constant) and self.value == rhs.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return repr(self.value).replace("inf", "1e999")  # read back, that is infinity


class Variable(IntExpr):
    """A name: a `Dim` or a `Symbol`."""

    __slots__ = ("name",)

    def __init__(self, name: str):
        self.name = name

    def __eq__(self, rhs: object) -> bool:
        return type(rhs) is type(self) and self.name == rhs.name  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash(self.name)

    def __repr__(self) -> str:
        return self.name


class Dim(Variable):
    """A variable of an index map: a loop, an iter."""

    __slots__ = ()


class Symbol(Variable):
    """A size, which is at least 0, and may be a factor or a divisor of an index."""

    __slots__ = ()


class Operation(IntExpr):
    """`left symbol right`; `count`: how many operations it has."""

    __slots__ = ("symbol", "left", "right", "count", "_hash")

    def __init__(self, symbol: str, left: IntExpr, right: IntExpr):
        self.symbol, self.left, self.right = symbol, left, right
        self.count: int = 1 + getattr(left, "count", 0) + getattr(right, "count", 0)
        self._hash: int | None = None

    def __eq__(self, rhs: object) -> bool:
        return self is rhs or (
            type(rhs) is type(self)
            and self.symbol == rhs.symbol  # type: ignore[attr-defined]
            and self.left == rhs.left  # type: ignore[attr-defined]
            and self.right == rhs.right  # type: ignore[attr-defined]
        )

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.symbol, self.left, self.right))
        return self._hash

    def __reduce__(self) -> tuple[object, ...]:  # without the hash, which differs in another process
        return type(self), (self.symbol, self.left, self.right)

    def __repr__(self) -> str:
        return text(self)


def as_expr(item: object) -> IntExpr:
    """An expression, unchanged; an integer or float, as a constant. Errors: NotAffine."""
    if isinstance(item, IntExpr):
        return item
    if isinstance(item, SupportsIndex) and not isinstance(item, bool):
        return Constant(operator.index(item))
    if isinstance(item, float):
        return Constant(item)
    raise NotAffine(
        f"{short_repr(item)} ({type(item).__name__}) cannot be part of an index map; it has variables and integers"
    )


def operation(symbol: str, left: object, right: object) -> IntExpr:
    """`left symbol right`, folded if both are constants. Errors: NotAffine for what is not an integer."""
    left, right = as_expr(left), as_expr(right)
    for side in (left, right):
        if isinstance(side, Constant) and isinstance(side.value, float):
            raise NotAffine(f"{Operation(symbol, left, right)}: an index is an integer, {side.value} is not")
    if isinstance(left, Constant) and isinstance(right, Constant):
        if symbol not in DIVISIONS or right.value > 0:  # else refused where it is used
            return Constant(APPLY[symbol](left.value, right.value))
    elif isinstance(left, Sampled | Constant) and isinstance(right, Sampled | Constant):
        return Formula(symbol, left, right)
    return Operation(symbol, left, right)


def plus(left: IntExpr, right: IntExpr) -> IntExpr:
    """`left + right`; a negative right side is subtracted."""
    if isinstance(right, Constant) and right.value < 0:
        return left - -right.value
    if isinstance(right, Operation) and right.symbol == "*" and isinstance(right.right, Constant):
        if (factor := -right.right.value) > 0:
            return left - (right.left if factor == 1 else right.left * factor)
    return left + right


def text(expr: IntExpr, leaf: Callable[[IntExpr], str | None] = lambda _: None) -> str:
    """Python source, with the parentheses that it needs: `(n + 1) // 2 * m`.

    `leaf`: the text of a part; None for that of its parts.
    """
    if (leaf_text := leaf(expr)) is not None:
        return leaf_text
    if not isinstance(expr, Operation):
        return repr(expr)
    left, right, high = text(expr.left, leaf), text(expr.right, leaf), expr.symbol not in SUMS
    if isinstance(expr.left, Operation) and high and expr.left.symbol in SUMS and leaf(expr.left) is None:
        left = f"({left})"
    if isinstance(expr.right, Operation) and (high or expr.right.symbol in SUMS) and leaf(expr.right) is None:
        right = f"({right})"
    return f"{left} {expr.symbol} {right}"


def grouped_text(expr: IntExpr, leaf: Callable[[Any], str]) -> str:
    """Python source with parentheses around each operation: `((v0 * 2) + 1)`."""
    return fold(expr, leaf, lambda symbol, left, right: f"({left} {symbol} {right})")


# --- integers that are known when they are used -----------------------------------------------------------------------


class Sampled(IntExpr):
    """A sampled integer of a schedule, or an operation on some: its value is known when a step uses it.

    A comparison, or the truth value, is that of the values. Not hashable, as equal numbers would need equal hashes:
    `handle in {1, 2}` raises instead of being false.
    """

    __slots__ = ()

    def known_value(self) -> int:
        """The value that was sampled. Errors: HandleError if it is not known."""
        raise NotImplementedError

    def _operation(self, symbol: str, left: object, right: object) -> IntExpr:
        operand = right if left is self else left
        if isinstance(operand, bool) or not isinstance(operand, int | IntExpr):
            return NotImplemented
        return operation(symbol, left, right)

    def __bool__(self) -> bool:
        return self.known_value() != 0

    def __index__(self) -> int:
        raise TypeError("a sampled integer has a value only in its schedule: sch.get(handle)")

    def __truediv__(self, rhs: object) -> Any:
        return NotImplemented

    __rtruediv__ = __pow__ = __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __truediv__

    def __eq__(self, rhs: object) -> Any:
        return self is rhs or _compare_values(operator.eq, self, rhs)

    def __ne__(self, rhs: object) -> Any:
        return self is not rhs and _compare_values(operator.ne, self, rhs)

    def __lt__(self, rhs: object) -> Any:
        return _compare_values(operator.lt, self, rhs)

    def __le__(self, rhs: object) -> Any:
        return _compare_values(operator.le, self, rhs)

    def __gt__(self, rhs: object) -> Any:
        return _compare_values(operator.gt, self, rhs)

    def __ge__(self, rhs: object) -> Any:
        return _compare_values(operator.ge, self, rhs)

    def __hash__(self) -> int:
        raise TypeError("a sampled integer is not hashable; use its value, sch.get(handle)")


class Formula(Sampled, Operation):
    """A binary operation on sampled integers and constants, which a schedule evaluates when a step uses it."""

    __slots__ = ()

    def known_value(self) -> int:
        return self.value(lambda handle: handle.known_value())

    def sides(self) -> Iterator[IntExpr]:
        yield self.left
        yield self.right

    def with_sides(self, change: Callable[[Any], Any]) -> Formula:
        """The same operation on changed operands."""
        return Formula(self.symbol, *(as_expr(change(side)) for side in self.sides()))

    def value(self, value_of: Callable[[Any], int]) -> int:
        """The integer value, given those of the handles. Errors: ValueError for a division by zero."""

        def apply(symbol: str, left: int, right: int) -> int:
            if right == 0 and symbol in DIVISIONS:
                raise ValueError(f"{left} {symbol} {right} divides by zero")
            return APPLY[symbol](left, right)

        return fold(self, lambda leaf: int(leaf.value) if isinstance(leaf, Constant) else value_of(leaf), apply)

    def text(self, text_of: Callable[[Any], str]) -> str:
        """Python source, `(v0 * 2) + 1`; `text_of`: the names of the handles."""
        return grouped_text(self, lambda leaf: str(leaf) if isinstance(leaf, Constant) else text_of(leaf))[1:-1]


def _compare_values(compare: Callable[[Any, Any], bool], lhs: Sampled, rhs: object) -> Any:
    """A comparison of values; NotImplemented unless the right side is a number or a sampled integer."""
    if isinstance(rhs, Sampled):
        return compare(lhs.known_value(), rhs.known_value())
    return compare(lhs.known_value(), rhs) if isinstance(rhs, int | float) else NotImplemented


# --- walks ------------------------------------------------------------------------------------------------------------


def fold(expr: IntExpr, leaf: Callable[[Any], T], apply: Callable[[str, T, T], T]) -> T:
    """The result of `apply` on each operation, from those of its operands: `leaf` of constants and variables."""
    if isinstance(expr, Operation):
        return apply(expr.symbol, fold(expr.left, leaf, apply), fold(expr.right, leaf, apply))
    return leaf(expr)


def evaluate(expr: IntExpr, value: Callable[[str], Any]) -> Any:
    """The value for values of the names: integers, arrays, other expressions."""
    kind = type(expr)
    if kind is Operation:  # faster than isinstance: sizes are evaluated in calls of models
        return APPLY[expr.symbol](evaluate(expr.left, value), evaluate(expr.right, value))  # type: ignore[attr-defined]
    return expr.value if kind is Constant else value(expr.name)  # type: ignore[attr-defined]


def leaves(expr: IntExpr) -> Iterator[IntExpr]:
    """The constants, variables and sampled integers of an expression, left to right."""
    if isinstance(expr, Operation):
        yield from leaves(expr.left)
        yield from leaves(expr.right)
    else:
        yield expr


def names_in(expr: IntExpr) -> set[str]:
    """The names of the variables."""
    return {leaf.name for leaf in leaves(expr) if isinstance(leaf, Variable)}
