"""Index expressions over named variables (`i // 16 + j`), built by calling a lambda. Needs no MLIR context."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import IndexMapError, NotAffine, short_repr
from tir_mlir.dialect.index_maps.formulas import Formula, Operators, formula

AffineExpr = ir.AffineExpr
_APPLY: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "//": operator.floordiv, "%": operator.mod,
}  # fmt: skip
_AST = {ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.FloorDiv: "//", ast.Mod: "%"}
_SUM = ("+", "-")
_MAX_OPERATIONS = 250  # operations in a term: terms are processed recursively
_FUNCTIONS = {"floordiv": "//", "floormod": "%", "add": "+", "subtract": "-", "multiply": "*"}


class IndexExpr:
    """An affine index expression. Arithmetic on terms and integers builds terms. Errors: NotAffine."""

    def __add__(self, other: Any) -> IndexExpr:
        return combine("+", self, other)

    def __radd__(self, other: Any) -> IndexExpr:
        return combine("+", other, self)

    def __sub__(self, other: Any) -> IndexExpr:
        return combine("-", self, other)

    def __rsub__(self, other: Any) -> IndexExpr:
        return combine("-", other, self)

    def __mul__(self, other: Any) -> IndexExpr:
        return combine("*", self, other)

    def __rmul__(self, other: Any) -> IndexExpr:
        return combine("*", other, self)

    def __floordiv__(self, other: Any) -> IndexExpr:
        return combine("//", self, other)

    def __rfloordiv__(self, other: Any) -> IndexExpr:
        return combine("//", other, self)

    def __mod__(self, other: Any) -> IndexExpr:
        return combine("%", self, other)

    def __rmod__(self, other: Any) -> IndexExpr:
        return combine("%", other, self)

    def __divmod__(self, other: Any) -> tuple[IndexExpr, IndexExpr]:
        return self // other, self % other

    def __neg__(self) -> IndexExpr:
        return combine("*", self, -1)

    def __pos__(self) -> IndexExpr:
        return self

    def _refuse(self, what: str) -> Any:
        raise NotAffine(f"{what} of {self} is not affine: an index map supports +, -, *, // and % by constants only")

    def __truediv__(self, other: Any) -> Any:
        raise NotAffine(f"({self}) / ({other}): indices are integers; write // for floor division")

    __rtruediv__ = __truediv__

    def __bool__(self) -> bool:
        return self._refuse("the truth value")

    def __lt__(self, other: Any) -> Any:
        return self._refuse("a comparison")

    __le__ = __gt__ = __ge__ = __lt__

    def __index__(self) -> int:
        return self._refuse("the integer value")

    def __pow__(self, other: Any) -> Any:
        return self._refuse("a power")

    def tir_call(self, word: str, args: tuple[Any, ...], keywords: dict[str, Any]) -> IndexExpr:
        """`T.floordiv(i, 16)` in a lambda: TVMScript functions dispatch to this method of their argument."""
        if word not in _FUNCTIONS:
            return self._refuse(f"T.{word}")
        return combine(_FUNCTIONS[word], *args, *keywords.values())

    def _bits(self, other: Any) -> Any:
        return self._refuse("a bit operation")

    __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = _bits


@dataclass(frozen=True)
class Name(IndexExpr):
    """A variable of a lambda."""

    name: str

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class SizeName(Name):
    """A size of the program, which may be a factor or a divisor."""

    def __repr__(self) -> str:
        return self.name


class SizeVariable(IndexExpr):
    """A size of the program in a lambda, as a Python object: `n = T.int32()`. An unnamed one is called as the Python
    variable that holds it."""

    name: str = ""


@dataclass(frozen=True)
class Sampled(IndexExpr):
    """A sampled integer or a formula of some, whose value is known when the step runs. A constant, for products and
    divisions."""

    value: Any

    def __repr__(self) -> str:
        return self.value.text(repr) if isinstance(self.value, Formula) else repr(self.value)


@dataclass(frozen=True)
class Number(IndexExpr):
    """A constant; a float is a padding value, never part of an index."""

    value: int | float

    def __post_init__(self) -> None:
        if isinstance(self.value, int) and not -(2**63) <= self.value < 2**63:
            raise NotAffine(f"{self.value} does not fit an index (64 bits)")
        if self.value != self.value:
            raise NotAffine("nan cannot be part of an index map; a padding value is a number or infinity")

    def __repr__(self) -> str:
        return repr(self.value).replace("inf", "1e999")  # read back, that is infinity


@dataclass(frozen=True)
class Operation(IndexExpr):
    """`left symbol right`."""

    symbol: str
    left: IndexExpr
    right: IndexExpr

    def __post_init__(self) -> None:
        size = 1 + sum(getattr(side, "size", 0) for side in (self.left, self.right))
        if size > _MAX_OPERATIONS:
            raise NotAffine(f"an index map with more than {_MAX_OPERATIONS} operations in one term")
        object.__setattr__(self, "size", size)

    def __repr__(self) -> str:
        high = self.symbol not in _SUM
        left, right = repr(self.left), repr(self.right)
        if isinstance(self.left, Operation) and high and self.left.symbol in _SUM:
            left = f"({left})"
        if isinstance(self.right, Operation) and (high or self.right.symbol in _SUM):
            right = f"({right})"
        return f"{left} {self.symbol} {right}"


def as_term(item: Any) -> IndexExpr:
    """A term, unchanged; an integer or float, as a constant."""
    if isinstance(item, IndexExpr):
        return item
    if isinstance(item, Operators):
        return Sampled(item)
    if not isinstance(item, bool) and hasattr(item, "__index__"):
        return Number(operator.index(item))
    if isinstance(item, float):
        return Number(item)
    raise NotAffine(
        f"{short_repr(item)} ({type(item).__name__}) cannot be part of an index map; it has variables and integers"
    )


def combine(symbol: str, left: Any, right: Any) -> IndexExpr:
    """`left symbol right`, folded if both are constants. Errors: NotAffine."""
    left, right = as_term(left), as_term(right)
    term = Operation(symbol, left, right)
    for side in (left, right):
        if isinstance(side, Number) and isinstance(side.value, float):
            raise NotAffine(f"{term}: an index is an integer, {side.value} is not")
    if isinstance(left, Sampled) and isinstance(right, (Sampled, Number)):
        return Sampled(formula(symbol, left.value, right.value))
    if isinstance(right, Sampled) and isinstance(left, Number):
        return Sampled(formula(symbol, left.value, right.value))
    if any(isinstance(side, Sampled) for side in (left, right)[symbol in ("//", "%") :]):
        return term
    known = [side.value if isinstance(side, Number) else None for side in (left, right)]
    if symbol == "*" and known[0] is None and known[1] is None and not (_is_of_sizes(left) or _is_of_sizes(right)):
        raise NotAffine(f"{term}: a product of two variables is not affine; one factor must be a constant")
    if symbol in ("//", "%") and not _is_of_sizes(right):
        what = "divisor of a division" if symbol == "//" else "divisor of a remainder"
        if known[1] is None:
            raise NotAffine(f"{term}: the {what} must be a constant, or made of sizes")
        if known[1] <= 0:
            raise NotAffine(f"{term}: the {what} must be positive")
    if known[0] is not None and known[1] is not None:
        return Number(_APPLY[symbol](known[0], known[1]))
    return term


def _is_of_sizes(term: IndexExpr) -> bool:
    """Whether a term has a size in it, and no variable."""
    if isinstance(term, Operation):
        sides = (term.left, term.right)
        return any(map(_is_of_sizes, sides)) and all(_is_of_sizes(t) or isinstance(t, Number | Sampled) for t in sides)
    return isinstance(term, SizeName | SizeVariable)


def _is_by_size(term: Operation) -> bool:
    """Whether an operation multiplies by a size, or divides by one."""
    if term.symbol == "*":
        return not any(isinstance(side, Number | Sampled) for side in (term.left, term.right))
    return term.symbol in ("//", "%") and _is_of_sizes(term.right)


def by_sizes(term: IndexExpr) -> bool:
    """Whether a term multiplies by a size, or divides by one: it is not affine."""
    return isinstance(term, Operation) and (_is_by_size(term) or by_sizes(term.left) or by_sizes(term.right))


def replaced(term: IndexExpr, change: Callable[[IndexExpr], Any]) -> IndexExpr:
    """The term with its leaves changed."""
    if isinstance(term, Operation):
        return combine(term.symbol, replaced(term.left, change), replaced(term.right, change))
    return as_term(change(term))


def sampled_in(term: IndexExpr) -> Iterator[Any]:
    """The sampled integers of a term, and the formulas of them."""
    if isinstance(term, Operation):
        yield from sampled_in(term.left)
        yield from sampled_in(term.right)
    elif isinstance(term, Sampled):
        yield term.value


def text_of(term: IndexExpr, of: Callable[[Any], str]) -> str:
    """The term as Python source, sampled integers called by `of`."""

    def named(leaf: IndexExpr) -> IndexExpr:
        if not isinstance(leaf, Sampled):
            return leaf
        value = leaf.value
        return Sampled(_Text(f"({value.text(of)})" if isinstance(value, Formula) else of(value)))

    return repr(_leaves_changed(term, named))


class _Text(str):
    """Text that is its own repr."""

    __repr__ = str.__str__


def _leaves_changed(term: IndexExpr, change: Callable[[IndexExpr], IndexExpr]) -> IndexExpr:
    """The term with its leaves changed and nothing folded."""
    if isinstance(term, Operation):
        return Operation(term.symbol, _leaves_changed(term.left, change), _leaves_changed(term.right, change))
    return change(term)


def evaluate(term: IndexExpr, values: Mapping[str, Any]) -> Any:
    """The value of a term; values may be integers, terms, index expressions or NumPy arrays."""
    if isinstance(term, Name):
        if term.name not in values:
            raise IndexMapError(f"{term.name} has no value here: it is not a variable of the map")
        return values[term.name]
    if isinstance(term, Number):
        return term.value
    if isinstance(term, Sampled):
        raise IndexMapError(f"{term} has no value here: it is a sampled integer of a schedule")
    assert isinstance(term, Operation)  # the only other kind of term
    return _APPLY[term.symbol](evaluate(term.left, values), evaluate(term.right, values))


def names_in(term: IndexExpr) -> set[str]:
    """The variables of a term."""
    if isinstance(term, Operation):
        return names_in(term.left) | names_in(term.right)
    return {term.name} if isinstance(term, Name) else set()


def from_ast(
    node: ast.expr, names: set[str], known: Mapping[str, Any] | None = None, with_sizes: bool = False
) -> IndexExpr:
    """The term of a parsed Python expression. Nothing is executed.

    `names`: the variables. `known`: sampled integers by name. `with_sizes`: whether any other name is a size.
    """
    if isinstance(node, ast.Name):
        if known and node.id in known and node.id not in names:
            return as_term(known[node.id])
        if node.id not in names:
            if with_sizes:
                return SizeName(node.id)
            raise IndexMapError(f"{node.id} is not a variable of the map; it has {', '.join(sorted(names)) or 'none'}")
        return Name(node.id)
    if isinstance(node, ast.Constant) and isinstance(node.value, (int, float)) and not isinstance(node.value, bool):
        return Number(node.value)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.USub, ast.UAdd)):
        inner = from_ast(node.operand, names, known, with_sizes)
        if isinstance(node.op, ast.UAdd):
            return inner
        return Number(-inner.value) if isinstance(inner, Number) else -inner
    if isinstance(node, ast.BinOp) and type(node.op) in _AST:
        sides = (from_ast(side, names, known, with_sizes) for side in (node.left, node.right))
        return combine(_AST[type(node.op)], *sides)
    raise IndexMapError(
        f"{ast.unparse(node)} cannot be part of an index map; it has variables, integers, +, -, *, // and %"
    )


# --- to and from MLIR ------------------------------------------------------------------------------------------------


def to_affine(term: IndexExpr, names: list[str]) -> ir.AffineExpr:
    """The term with the variable `names[d]` as dimension d."""
    if isinstance(term, Name):
        if term.name not in names:
            shown = ", ".join(names) or "none"
            raise IndexMapError(f"{term.name} is neither a variable of the map nor a size of the program: {shown}")
        return AffineExpr.get_dim(names.index(term.name))
    if isinstance(term, Sampled):
        raise IndexMapError(f"{term}: a sampled integer has a value only in a step of its schedule")
    if isinstance(term, Number):
        if isinstance(term.value, float):
            raise NotAffine(f"{term.value} is not an index: indices are integers")
        if not -(2**63) <= term.value < 2**63:
            raise NotAffine(f"{term.value} does not fit an index (64 bits)")
        return AffineExpr.get_constant(term.value)
    assert isinstance(term, Operation)  # the only other kind of term
    if _is_by_size(term):
        raise NotAffine(f"{term}: a product with a size, or a division by one, is not affine")
    left, right = to_affine(term.left, names), to_affine(term.right, names)
    if term.symbol == "//":
        return AffineExpr.get_floor_div(left, right)
    if term.symbol == "%":
        return AffineExpr.get_mod(left, right)
    return left * right if term.symbol == "*" else left + right if term.symbol == "+" else left + right * -1


def from_affine(expr: ir.AffineExpr, names: list[str]) -> IndexExpr:
    """The term of an MLIR expression, dimension d named `names[d]`."""
    expr = expr.maybe_downcast()
    if isinstance(expr, ir.AffineDimExpr):
        return Name(names[expr.position])
    if isinstance(expr, ir.AffineConstantExpr):
        return Number(expr.value)
    assert isinstance(expr, ir.AffineBinaryExpr)  # symbols are dimensions here
    left, right = from_affine(expr.lhs, names), from_affine(expr.rhs, names)
    if isinstance(expr, ir.AffineAddExpr):
        return _sum(left, right)
    if isinstance(expr, ir.AffineCeilDivExpr):
        return (left + (right - 1)) // right
    return combine("*" if isinstance(expr, ir.AffineMulExpr) else _division(expr), left, right)


def _division(expr: ir.AffineBinaryExpr) -> str:
    return "%" if isinstance(expr, ir.AffineModExpr) else "//"


def _sum(left: IndexExpr, right: IndexExpr) -> IndexExpr:
    """`left + right`; a negative right side is subtracted."""
    if isinstance(right, Number) and right.value < 0:
        return left - Number(-right.value)
    if (
        isinstance(right, Operation)
        and right.symbol == "*"
        and isinstance(right.right, Number)
        and right.right.value < 0
    ):
        factor = -right.right.value
        return left - (right.left if factor == 1 else right.left * factor)
    return left + right
