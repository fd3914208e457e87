"""Patterns: `is_op("relax.add")(is_op("relax.multiply")(wildcard(), wildcard()), wildcard())`.

They match nodes of MLIR, which `Call` shows in the words of Relax, and Relax expressions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar

from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.symbolic import equal
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.size_code import GraphSizes

Lookup = Callable[[Any], Any]
"""What computes a value, such as the `Call` of a value of MLIR; None if nothing does."""


class Op:
    """An operator, one object for each name: `Op.get("relax.add")`."""

    kinds = ("op",)
    _known: ClassVar[dict[str, Op]] = {}

    def __init__(self, name: str):
        self.name = name

    @staticmethod
    def get(name: str) -> Op:
        """The operator of a name, with `relax.`."""
        return Op._known.setdefault(name, Op(name))

    @property
    def short(self) -> str:
        """The name without `relax.`, as in the table of operators."""
        return self.name.removeprefix("relax.")

    def __repr__(self) -> str:
        return f'Op("{self.name}")'


class Matcher:
    """The state of a match: what each pattern stands for so far. A pattern that occurs twice is one value."""

    def __init__(self, lookup: Lookup):
        self.lookup = lookup
        self.matches: dict[Any, Any] = {}

    def match(self, pattern: Any, value: Any) -> bool:
        """Whether a value is as the pattern says; if not, nothing is noted."""
        if pattern in self.matches:
            return is_same_value(self.matches[pattern], value)
        snapshot = dict(self.matches)
        if pattern.matches(value, self):
            self.matches[pattern] = value
            return True
        self.matches = snapshot
        return False

    def match_all(self, patterns: Any, values: Any) -> bool:
        """Match several patterns with as many values, pairwise."""
        snapshot = dict(self.matches)
        if len(patterns) == len(values) and all(map(self.match, patterns, values)):
            return True
        self.matches = snapshot
        return False

    def definition(self, value: Any) -> Any:
        """What computes a value, through variables; the value itself if nothing does."""
        while (isinstance(value, ir.Value) or is_a(value, "var")) and (bound := self.lookup(value)) is not None:
            value = bound
        return value


def is_a(value: Any, *kinds: str) -> bool:
    """Whether a value is of a kind, in the words of visitors: "call", "constant", "var", "tuple", ..."""
    return not {*kinds}.isdisjoint(getattr(value, "kinds", ()))


def is_same_value(lhs: Any, rhs: Any) -> bool:
    """Whether two values are one; shapes and names are compared by value."""
    return lhs is rhs or (isinstance(lhs, (str, tuple, ir.Value)) and bool(lhs == rhs))


COMMUTATIVE = frozenset({Op.get("relax.add"), Op.get("relax.multiply")})
"""Operators whose operands match in either order."""


class DFPattern:
    """A pattern. `pattern(a, b)` is a call of what it matches; `|`, `&`, `~` combine, `+ - * /` are operators."""

    _open: ClassVar[list[list[DFPattern]]] = []
    """The patterns made inside each `with PatternContext()` that is open."""

    def __init__(
        self,
        matches: Callable[[Any, Matcher], bool],
        parts: Sequence[DFPattern] = (),
        operator: DFPattern | None = None,
    ):
        """matches: whether a value is so; parts: the patterns of operands, which it matches by the matcher; operator:
        what it matches is a call of such an operator, None: perhaps of none."""
        self.matches, self.parts, self.operator = matches, list(parts), operator
        if DFPattern._open:
            DFPattern._open[-1].append(self)

    def match(self, expr: Any, var2val: Mapping[Any, Any] | None = None) -> bool:
        """Whether an expression matches; var2val: what variables are bound to (`analysis.get_var2val(func)`)."""
        return self.extract_matched_expr(expr, var2val) is not None

    def extract_matched_expr(self, expr: Any, var2val: Mapping[Any, Any] | None = None) -> dict[DFPattern, Any] | None:
        """What each part of the pattern stands for, None if the expression does not match."""
        return self.find_matches(expr, dict(var2val or {}).get)

    def find_matches(self, value: Any, lookup: Lookup) -> dict[DFPattern, Any] | None:
        """The same of any value, with a function that tells what computes one."""
        matcher = Matcher(lookup)
        return matcher.matches if matcher.match(self, value) else None

    def may_call(self, op: Op) -> bool:
        """Whether a call of an operator may match, whatever it is given."""
        return self.operator is None or self.operator.match(op)

    def __call__(self, *args: Any, varg_default_wildcard: bool = False) -> CallPattern:
        """A call. varg_default_wildcard: further arguments are anything."""
        return CallPattern(self, args, varg_default_wildcard)

    def __or__(self, rhs: Any) -> DFPattern:
        return _combine(any, self, rhs)

    def __and__(self, rhs: Any) -> DFPattern:
        return _combine(all, self, rhs)

    def __invert__(self) -> DFPattern:
        return DFPattern(lambda value, matcher: self.find_matches(value, matcher.lookup) is None)

    def __add__(self, rhs: Any) -> DFPattern:
        return is_op("relax.add")(self, rhs)

    def __sub__(self, rhs: Any) -> DFPattern:
        return is_op("relax.subtract")(self, rhs)

    def __mul__(self, rhs: Any) -> DFPattern:
        return is_op("relax.multiply")(self, rhs)

    def __truediv__(self, rhs: Any) -> DFPattern:
        return is_op("relax.divide")(self, rhs)

    def __getitem__(self, index: int) -> DFPattern:
        return is_tuple_get_item(self, index)

    def where(self, holds: Callable[[Any], bool]) -> DFPattern:
        """With a condition on what computes the value."""
        return DFPattern(lambda value, m: m.match(self, value) and holds(m.definition(value)), [self], self.operator)

    def has_attr(self, attrs: Mapping[str, Any]) -> DFPattern:
        """Of a call: it has these attributes."""
        return self.where(lambda v: is_a(v, "call") and _has(v.all_attrs, attrs))

    def has_dtype(self, dtype: str) -> DFPattern:
        """Of a tensor: its element type."""
        return self.where(lambda v: _type(v, "dtype") == dtype)

    def has_shape(self, shape: Sequence[Any]) -> DFPattern:
        """Of a tensor: its shape."""
        return self.where(lambda v: _shape_is(_type(v, "shape"), shape))

    def has_rank(self, rank: int) -> DFPattern:
        """Of a tensor: its number of axes."""
        return self.where(lambda v: _type(v, "ndim") == rank)


def _combine(some: Callable[[Any], bool], *operands: Any) -> DFPattern:
    parts = [as_pattern(g) for g in operands]
    return DFPattern(lambda value, matcher: some(matcher.match(p, value) for p in parts), parts)


def _has(attrs: Mapping[str, Any], expected: Mapping[str, Any]) -> bool:
    return all(k in attrs and _plain(attrs[k]) == _plain(v) for k, v in expected.items())


def _plain(value: Any) -> Any:
    return tuple(map(_plain, value)) if isinstance(value, (list, tuple)) else value


def _type(value: Any, word: str) -> Any:
    return getattr(getattr(value, "struct_info", None), word, None)


def _shape_is(shape: Any, expected: Sequence[Any]) -> bool:
    sizes = [[GraphSizes().int_expr(size) for size in dims] for dims in (shape or (), expected)]
    return shape is not None and len(sizes[0]) == len(sizes[1]) and all(map(equal, *sizes))


class CallPattern(DFPattern):
    """A call of an operator or function."""

    def __init__(self, op: DFPattern, args: Sequence[Any], varg_default_wildcard: bool = False):
        self.op, self.args = op, [as_pattern(a) for a in args]
        self.more = varg_default_wildcard
        super().__init__(self._matches, [op, *self.args], op)

    def _matches(self, value: Any, matcher: Matcher) -> bool:
        call = matcher.definition(value)
        if not is_a(call, "call") or not matcher.match(self.op, call.op):
            return False
        args = call.args[: len(self.args)] if self.more else call.args
        return matcher.match_all(self.args, args) or (
            call.op in COMMUTATIVE and matcher.match_all(self.args, args[::-1])
        )


def as_pattern(expr: Any) -> DFPattern:
    """A pattern; an expression, an operator or a value stands for itself. Errors: GraphError."""
    if isinstance(expr, DFPattern):
        return expr
    if hasattr(expr, "kinds") or isinstance(expr, ir.Value):
        return is_expr(expr)
    raise GraphError(f"a pattern is made of patterns, such as wildcard(), and expressions, not {short_repr(expr)}")


def wildcard() -> DFPattern:
    """Anything."""
    return DFPattern(lambda value, matcher: True)


def is_op(*op_name: str) -> DFPattern:
    """An operator by its name, to be called: `is_op("relax.add")(x, y)`; one of several; `relax.` may be left out."""
    ops = {Op.get(f"relax.{name.removeprefix('relax.')}") for name in op_name}
    return DFPattern(lambda value, matcher: is_a(value, "op") and value in ops)


def is_kind(*kinds: OperatorKind) -> DFPattern:
    """An operator of one of these kinds."""
    return DFPattern(lambda value, matcher: is_a(value, "op") and kind_of(value.short) in kinds)


def _is_a(kind: str, name: str = "") -> DFPattern:
    return DFPattern(lambda value, matcher: is_a(value, kind) and name in ("", _name(value)))


def _name(value: Any) -> str:
    return getattr(value, "global_symbol", getattr(value, "name_hint", ""))


def is_const() -> DFPattern:
    """A constant."""
    return DFPattern(lambda value, matcher: is_a(matcher.definition(value), "constant"))


def is_var(name: str = "") -> DFPattern:
    """A variable, of a name if one is given."""
    return _is_a("var", name)


def is_dfv() -> DFPattern:
    """A variable of a dataflow block."""
    return _is_a("dataflow_var")


def is_gv(name: str = "") -> DFPattern:
    """A function of the module, of a name if one is given."""
    return _is_a("global_var", name)


def is_expr(expr: Any) -> DFPattern:
    """A pattern of one expression, or of one value."""
    return DFPattern(
        lambda value, matcher: is_same_value(value, expr) or is_same_value(matcher.definition(value), expr)
    )


def is_shape(shape: Sequence[Any]) -> DFPattern:
    """A shape as an argument: `is_op("relax.reshape")(x, is_shape([2, 3]))`."""
    return DFPattern(lambda value, matcher: is_a(value, "shape_expr") and _shape_is(value, shape))


def is_tuple(fields: Sequence[Any], unordered: bool = False) -> DFPattern:
    """A tuple of these. Errors: GraphError for an unordered one."""
    if unordered:
        raise GraphError("is_tuple(unordered=True) is not supported; fix: p | q of the tuples in the orders meant")
    parts = [as_pattern(f) for f in fields]

    def matches(value: Any, matcher: Matcher) -> bool:
        value = matcher.definition(value)
        return is_a(value, "tuple") and matcher.match_all(parts, value.fields)

    return DFPattern(matches, parts)


def is_tuple_get_item(tuple_value: DFPattern, index: int | None = None) -> DFPattern:
    """One value of a tuple; index None: any."""
    tuple_pattern = as_pattern(tuple_value)

    def matches(value: Any, matcher: Matcher) -> bool:
        value = matcher.definition(value)
        fits = is_a(value, "tuple_getitem") and index in (None, value.index)
        return fits and matcher.match(tuple_pattern, value.tuple_value)

    return DFPattern(matches, [tuple_pattern])


def is_call_tir(func_name: str, args: Any = None) -> DFPattern:
    """A call of a program of the module, by its name. args: patterns of what it is given; None: anything."""
    return is_op("relax.call_tir")(is_gv(func_name), _arguments_pattern(args))


def is_call_dps_packed(func_name: str, args: Any = None) -> DFPattern:
    """A call of a registered function, by its name."""
    return is_op("relax.call_dps_packed")(_is_a("extern_func", func_name), _arguments_pattern(args))


def _arguments_pattern(args: Any) -> DFPattern:
    return wildcard() if args is None else is_tuple(args) if isinstance(args, (list, tuple)) else as_pattern(args)


def make_fused_bias_activation_pattern(
    op_name: str, with_bias: bool = False, activation: str | None = None
) -> DFPattern:
    """`op(x, w)`, then plus a bias, then in an activation: of "relax.matmul", True, "relax.nn.relu"."""
    pattern: DFPattern = is_op(op_name)(wildcard(), wildcard())
    pattern = is_op("relax.add")(pattern, wildcard()) if with_bias else pattern
    return is_op(activation)(pattern) if activation else pattern
