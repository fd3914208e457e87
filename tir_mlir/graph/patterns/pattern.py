"""Patterns: `is_op("relax.add")(is_op("relax.multiply")(wildcard(), wildcard()), wildcard())`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.symbolic import equal
from tir_mlir.graph.expressions import (
    Call,
    Constant,
    DataflowVar,
    Expr,
    ExternFunc,
    GlobalVar,
    Op,
    ShapeExpr,
    Tuple,
    TupleGetItem,
    Var,
)
from tir_mlir.graph.expressions.read_graph import CALL_DPS_PACKED, CALL_TIR
from tir_mlir.graph.expressions.struct_info import SIZES
from tir_mlir.graph.patterns.matching import Lookup, Matcher, same

COMMUTATIVE = frozenset({"relax.add", "relax.multiply"})
"""Operators whose operands match in either order."""


class DFPattern:
    """A pattern. `pattern(a, b)` is a call of what it matches; `|`, `&`, `~` combine, `+ - * /` are operators."""

    _open: list[list[DFPattern]] = []
    """The patterns made inside each `with PatternContext()` that is open."""

    def __init__(self) -> None:
        if DFPattern._open:
            DFPattern._open[-1].append(self)

    def matches(self, expr: Any, matcher: Matcher) -> bool:
        """Whether an expression is so; parts are matched by the matcher."""
        raise NotImplementedError

    @property
    def parts(self) -> list[DFPattern]:
        """The patterns of operands."""
        return []

    def match(self, expr: Any, var2val: Mapping[Var, Expr] | None = None) -> bool:
        """Whether an expression matches; var2val: what variables are bound to (`analysis.get_var2val(func)`)."""
        return self.extract_matched_expr(expr, var2val) is not None

    def extract_matched_expr(self, expr: Any, var2val: Mapping[Var, Expr] | None = None) -> dict[DFPattern, Any] | None:
        """What each part of the pattern stands for, None if the expression does not match."""
        return self.found_in(expr, dict(var2val or {}).get)

    def found_in(self, expr: Any, lookup: Lookup) -> dict[DFPattern, Any] | None:
        """The same, with a function that tells what variables are bound to."""
        matcher = Matcher(lookup)
        return matcher.found if matcher.match(self, expr) else None

    def __call__(self, *args: Any, varg_default_wildcard: bool = False) -> CallPattern:
        """A call. varg_default_wildcard: further arguments are anything."""
        return CallPattern(self, args, varg_default_wildcard)

    def __or__(self, other: Any) -> DFPattern:
        return _Either(self, other)

    def __and__(self, other: Any) -> DFPattern:
        return _Both(self, other)

    def __invert__(self) -> DFPattern:
        return _Not(self)

    def __add__(self, other: Any) -> DFPattern:
        return is_op("relax.add")(self, other)

    def __sub__(self, other: Any) -> DFPattern:
        return is_op("relax.subtract")(self, other)

    def __mul__(self, other: Any) -> DFPattern:
        return is_op("relax.multiply")(self, other)

    def __truediv__(self, other: Any) -> DFPattern:
        return is_op("relax.divide")(self, other)

    def __getitem__(self, index: int) -> DFPattern:
        return is_tuple_get_item(self, index)

    def has_attr(self, attrs: Mapping[str, Any]) -> DFPattern:
        """Of a call: it has these attributes."""
        return _Checked(self, lambda e: isinstance(e, Call) and _has(e.all_attrs, attrs))

    def has_dtype(self, dtype: str) -> DFPattern:
        """Of a tensor: its element type."""
        return _Checked(self, lambda e: getattr(getattr(e, "struct_info", None), "dtype", None) == dtype)

    def has_shape(self, shape: Sequence[Any]) -> DFPattern:
        """Of a tensor: its shape."""
        return _Checked(self, lambda e: _shape_is(getattr(getattr(e, "struct_info", None), "shape", None), shape))

    def has_rank(self, rank: int) -> DFPattern:
        """Of a tensor: its number of axes."""
        return _Checked(self, lambda e: getattr(getattr(e, "struct_info", None), "ndim", None) == rank)


def _has(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    return all(k in found and _plain(found[k]) == _plain(v) for k, v in wanted.items())


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, (list, tuple)) else value


def _shape_is(found: Any, wanted: Sequence[Any]) -> bool:
    sizes = [[SIZES.int_expr(size) for size in shape] for shape in (found or (), wanted)]
    return found is not None and len(sizes[0]) == len(sizes[1]) and all(map(equal, *sizes))


class _Any(DFPattern):
    def matches(self, expr: Any, matcher: Matcher) -> bool:
        return True


class _Kind(DFPattern):
    """An expression of a class, with a name if one is given. through: variables are what they are bound to."""

    def __init__(self, kind: type, name: str = "", through: bool = False):
        super().__init__()
        self.kind, self.name, self.through = kind, name, through

    def matches(self, expr: Any, matcher: Matcher) -> bool:
        value = matcher.value(expr) if self.through else expr
        named = getattr(value, "global_symbol", getattr(value, "name_hint", ""))
        return isinstance(value, self.kind) and self.name in ("", named)


class _Exactly(DFPattern):
    """One expression, or one operator."""

    def __init__(self, expr: Any):
        super().__init__()
        self.expr = expr

    def matches(self, expr: Any, matcher: Matcher) -> bool:
        return same(expr, self.expr) or same(matcher.value(expr), self.expr)


class CallPattern(DFPattern):
    """A call of an operator or function."""

    def __init__(self, op: DFPattern, args: Sequence[Any], varg_default_wildcard: bool = False):
        super().__init__()
        self.op, self.args = op, [as_pattern(a) for a in args]
        self.more = varg_default_wildcard

    @property
    def parts(self) -> list[DFPattern]:
        return [self.op, *self.args]

    def matches(self, expr: Any, matcher: Matcher) -> bool:
        call = matcher.value(expr)
        if not isinstance(call, Call) or not matcher.match(self.op, call.op):
            return False
        given = call.args[: len(self.args)] if self.more else call.args
        if matcher.match_all(self.args, given):
            return True
        turns = getattr(call.op, "name", "") in COMMUTATIVE
        return turns and matcher.match_all(self.args, given[::-1])


class _TuplePattern(DFPattern):
    def __init__(self, fields: Sequence[Any]):
        super().__init__()
        self.fields = [as_pattern(f) for f in fields]

    @property
    def parts(self) -> list[DFPattern]:
        return self.fields

    def matches(self, expr: Any, matcher: Matcher) -> bool:
        value = matcher.value(expr)
        return isinstance(value, Tuple) and matcher.match_all(self.fields, value.fields)


class _ItemPattern(DFPattern):
    def __init__(self, whole: DFPattern, index: int | None):
        super().__init__()
        self.whole, self.index = as_pattern(whole), index

    @property
    def parts(self) -> list[DFPattern]:
        return [self.whole]

    def matches(self, expr: Any, matcher: Matcher) -> bool:
        value = matcher.value(expr)
        if not isinstance(value, TupleGetItem) or self.index not in (None, value.index):
            return False
        return matcher.match(self.whole, value.tuple_value)


class _Either(DFPattern):
    def __init__(self, one: Any, other: Any):
        super().__init__()
        self.parts_ = [as_pattern(one), as_pattern(other)]

    @property
    def parts(self) -> list[DFPattern]:
        return self.parts_

    def matches(self, expr: Any, matcher: Matcher) -> bool:
        return any(matcher.match(p, expr) for p in self.parts_)


class _Both(_Either):
    def matches(self, expr: Any, matcher: Matcher) -> bool:
        return all(matcher.match(p, expr) for p in self.parts_)


class _Not(DFPattern):
    def __init__(self, inner: Any):
        super().__init__()
        self.inner = as_pattern(inner)

    def matches(self, expr: Any, matcher: Matcher) -> bool:
        return self.inner.found_in(expr, matcher.lookup) is None


class _Checked(DFPattern):
    """A pattern, and a condition on what it matches."""

    def __init__(self, inner: DFPattern, holds: Any):
        super().__init__()
        self.inner, self.holds = inner, holds

    @property
    def parts(self) -> list[DFPattern]:
        return [self.inner]

    def matches(self, expr: Any, matcher: Matcher) -> bool:
        return self.holds(matcher.value(expr)) and matcher.match(self.inner, expr)


class _ShapeArgument(DFPattern):
    def __init__(self, shape: Sequence[Any]):
        super().__init__()
        self.shape = list(shape)

    def matches(self, expr: Any, matcher: Matcher) -> bool:
        return isinstance(expr, ShapeExpr) and _shape_is(expr, self.shape)


def as_pattern(given: Any) -> DFPattern:
    """A pattern; an expression or an operator stands for itself. Errors: GraphError."""
    if isinstance(given, DFPattern):
        return given
    if isinstance(given, (Expr, Op, GlobalVar, ExternFunc)):
        return _Exactly(given)
    raise GraphError(f"a pattern is made of patterns, such as wildcard(), and expressions, not {short_repr(given)}")


def wildcard() -> DFPattern:
    """Anything."""
    return _Any()


def is_op(op_name: str) -> DFPattern:
    """An operator by its name, to be called: `is_op("relax.add")(x, y)`."""
    return _Exactly(Op.get(op_name))


def is_const() -> DFPattern:
    """A constant."""
    return _Kind(Constant, through=True)


def is_var(name: str = "") -> DFPattern:
    """A variable, of a name if one is given."""
    return _Kind(Var, name)


def is_dfv() -> DFPattern:
    """A variable of a dataflow block."""
    return _Kind(DataflowVar)


def is_gv(name: str = "") -> DFPattern:
    """A function of the module, of a name if one is given."""
    return _Kind(GlobalVar, name)


def is_expr(expr: Any) -> DFPattern:
    """One expression."""
    return _Exactly(expr)


def is_shape(shape: Sequence[Any]) -> DFPattern:
    """A shape as an argument: `is_op("relax.reshape")(x, is_shape([2, 3]))`."""
    return _ShapeArgument(shape)


def is_tuple(fields: Sequence[Any], unordered: bool = False) -> DFPattern:
    """A tuple of these. Errors: GraphError for an unordered one."""
    if unordered:
        raise GraphError("is_tuple(unordered=True) is not supported; fix: p | q of the tuples in the orders meant")
    return _TuplePattern(fields)


def is_tuple_get_item(tuple_value: DFPattern, index: int | None = None) -> DFPattern:
    """One value of a tuple; index None: any."""
    return _ItemPattern(tuple_value, index)


def is_call_tir(func_name: str, args: Any = None) -> DFPattern:
    """A call of a program of the module, by its name. args: patterns of what it is given; None: anything."""
    given = wildcard() if args is None else is_tuple(args) if isinstance(args, (list, tuple)) else args
    return _Exactly(CALL_TIR)(is_gv(func_name), given)


def is_call_dps_packed(func_name: str, args: Any = None) -> DFPattern:
    """A call of a registered function, by its name."""
    given = wildcard() if args is None else is_tuple(args) if isinstance(args, (list, tuple)) else args
    return _Exactly(CALL_DPS_PACKED)(_Kind(ExternFunc, func_name), given)


def make_fused_bias_activation_pattern(
    op_name: str, with_bias: bool = False, activation: str | None = None
) -> DFPattern:
    """`op(x, w)`, then plus a bias, then in an activation: of "relax.matmul", True, "relax.nn.relu"."""
    found: DFPattern = is_op(op_name)(wildcard(), wildcard())
    found = is_op("relax.add")(found, wildcard()) if with_bias else found
    return is_op(activation)(found) if activation else found
