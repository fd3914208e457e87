"""Typed arithmetic: constants fold, affine indices remain affine, everything else becomes arith and math ops.

Type rules: a constant takes the type of the other operand; int with float gives the float; the narrower type widens.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable

from mlir import ir
from mlir.dialects import arith, math

from tir_mlir.dialect import symbolic
from tir_mlir.dialect.constants import float_constants
from tir_mlir.dialect.diagnostics import NotAffine, TirError
from tir_mlir.dialect.ir import Index, attrs, convert, create, dtypes, signs, vectors
from tir_mlir.dialect.presburger import times
from tir_mlir.script.language import words
from tir_mlir.script.parser.items import (
    AffineCondition,
    AffineExtremum,
    BufferProperty,
    Const,
    Expr,
    Ramp,
    ScriptValue,
    as_index,
    describe,
    dtype_of,
    is_expr,
    mlir_type,
)
from tir_mlir.script.parser.source import ParseError

_NEGATED = {"<": ">=", ">=": "<", ">": "<=", "<=": ">", "==": "!=", "!=": "=="}
BINARY = {
    **symbolic.OPERATORS, ast.Div: "/", ast.Pow: "**",
    ast.LShift: "<<", ast.RShift: ">>", ast.BitAnd: "&", ast.BitOr: "|", ast.BitXor: "^",
}  # fmt: skip
"""The operators of Python's syntax."""
_BINARY = {o.symbol or o.name: o for o in words.BINARY}
_FOLD: dict[str, Callable[..., bool | int | float]] = {
    **symbolic.APPLY,
    "/": lambda a, b: a / b,
    "max": float_constants.maximum,
    "min": float_constants.minimum,
    "ceildiv": lambda a, b: -(-a // b),
    "truncdiv": lambda a, b: _truncated_divmod(a, b)[0],
    "truncmod": lambda a, b: _truncated_divmod(a, b)[1],
    "<<": lambda a, b: a << b,
    ">>": lambda a, b: a >> b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "**": lambda a, b: a**b,
}


def _truncated_divmod(a: float, b: float) -> tuple[float, float]:
    """Quotient rounded towards zero, and its remainder."""
    quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return quotient, a - quotient * b


def emit(op: str, *operands: ir.Value | ir.Type) -> ir.Value:
    """Create an op of the arith or math dialect by its name; its result."""
    dialect, _, name = op.partition(".")
    return getattr({"arith": arith, "math": math}[dialect], name)(*operands)


def as_expr(item: object, what: str = "a value") -> Expr:
    """The item as an expression. Raises ParseError for anything else (a buffer, a string)."""
    if isinstance(item, bool | int | float):
        return Const(item)
    if is_expr(item):
        return item
    if isinstance(item, BufferProperty) and item.value is not None:
        return item.value()
    if isinstance(item, Ramp):
        return _ramp_value(item)
    raise ParseError(f"{what} is needed here, not {describe(item)}" + _hint(item))


def _ramp_value(ramp: Ramp) -> ScriptValue:
    """The numbers of a ramp as a vector."""
    base = as_index(as_expr(ramp.base))
    if base is None:
        raise ParseError(f"a ramp starts at an affine expression of loops, iters and sizes, not {describe(ramp.base)}")
    numbers = [to_value(base + ramp.stride * n, "int32") for n in range(ramp.lanes)]
    return ScriptValue(vectors.from_elements(numbers), dtypes.with_lanes("int32", ramp.lanes))


def _hint(item: object) -> str:
    name = getattr(item, "name", None)
    return f"; index it: {name}[...]" if name and hasattr(item, "stride_values") else ""


# ---- into SSA values


def to_value(item: object, dtype: str | None = None) -> ir.Value:
    """Materialize an expression as an SSA value, cast to `dtype` if given (constants exactly, see `constant`)."""
    item = as_expr(item)
    dtype = dtype or dtype_of(item)
    if (lanes := dtypes.lanes(dtype)) > 1 and dtypes.lanes(dtype_of(item)) == 1:
        return signs.mark(vectors.broadcast(to_value(item, dtypes.element(dtype)), lanes), dtype)
    if isinstance(item, Const):
        return constant(item.value, dtype)
    if isinstance(item, Index):
        return _index_value(item, dtype)
    if isinstance(item, AffineExtremum):
        values = [_index_value(p, "int32") for p in item.parts]
        result = values[0]
        for value in values[1:]:
            result = (arith.minsi if item.op == "min" else arith.maxsi)(result, value)
        return cast(ScriptValue(result, "int32"), dtype).ssa
    if isinstance(item, AffineCondition):
        return cast(_test_value(item), dtype).ssa
    if isinstance(item.ssa.type, ir.IndexType):
        return _cast_index(item.ssa, dtype)
    return cast(item, dtype).ssa


def constant(value: bool | int | float, dtype: str) -> ir.Value:
    """Create an `arith.constant`. Raises ParseError if the type cannot hold the number."""
    type_ = _mlir(dtype)
    if dtypes.is_float(dtype):
        return arith.constant(type_, float(value))
    if isinstance(value, float) and not value.is_integer():
        raise ParseError(f"the constant {value} does not fit type {dtype}; use an integer or a float type")
    number = int(value)
    if dtype == "bool":
        return arith.constant(type_, 1 if number else 0)
    check_range(number, dtype)
    return arith.constant(type_, dtypes.as_signed(number, dtype))


def check_range(number: int, dtype: str) -> None:
    """Raise ParseError for an integer that the type cannot hold."""
    if not dtypes.fits(number, dtype):
        raise ParseError(f"the constant {number} does not fit type {dtype}")


def holds(dtype: str, number: bool | int | float) -> bool:
    """Whether an integer type can hold a number, truncated towards zero."""
    low, high = dtypes.limits(dtype)
    return low - 1 < number < high + 1


def _mlir(dtype: str) -> ir.Type:
    try:
        return mlir_type(dtype)
    except TirError as error:
        raise ParseError(str(error)) from None


def _index_value(index: Index, dtype: str) -> ir.Value:
    number = index.as_constant()
    if number is not None:
        return constant(number, dtype)
    return _cast_index(create.apply(index), dtype)


def _cast_index(value: ir.Value, dtype: str) -> ir.Value:
    """An `index` value as an integer type, without an intermediate int32."""
    if dtypes.is_float(dtype) or dtype == "bool":
        return cast(ScriptValue(arith.index_cast(_mlir("int32"), value), "int32"), dtype).ssa
    return signs.mark(arith.index_cast(_mlir(dtype), value), dtype)


def to_index(item: object) -> Index | ir.Value:
    """An expression as an access index: affine if possible, else a computed `index` value."""
    item = as_expr(item, "an index")
    index = as_index(item)
    if index is not None:
        return index
    if dtypes.lanes(dtype_of(item)) > 1:
        raise ParseError(
            f"an index is one integer, not {describe(item)}; lanes follow each other by a constant step: "
            "A[T.ramp(i * 4, 1, 4)]"
        )
    if dtype_of(item) == "bool" or dtypes.is_float(dtype_of(item)):
        raise ParseError(f"an index must be an integer; this one has type {dtype_of(item)}")
    if isinstance(item, ScriptValue) and isinstance(item.ssa.type, ir.IndexType):
        return item.ssa
    return emit(signs.op_for("arith.index_cast", dtype_of(item)), ir.IndexType.get(), to_value(item))


def index_of(item: Expr) -> ir.Value:
    """An integer as a value of type `index`."""
    index = to_index(item)
    return create.apply(index) if isinstance(index, Index) else index


def cast(item: object, dtype: str) -> ScriptValue:
    """Cast to `dtype`: floats to ints round towards zero, ints to bool compare with zero."""
    item = as_expr(item)
    if not isinstance(item, ScriptValue) or isinstance(item.ssa.type, ir.IndexType):
        return ScriptValue(to_value(item, dtype), dtype)
    lanes = dtypes.lanes(item.dtype)
    if lanes == 1 != dtypes.lanes(dtype):
        return ScriptValue(to_value(item, dtype), dtype)
    if lanes != dtypes.lanes(dtype):
        raise ParseError(f"a value of type {item.dtype} has {lanes} lanes; {dtype} has {dtypes.lanes(dtype)}")
    return item if item.dtype == dtype else ScriptValue(convert(item.ssa, dtype, item.dtype), dtype)


# ---- operators


def is_wide(item: object) -> bool:
    """Whether an affine expression is of int64: a constant `T.int64(16)`, or one with a size or loop of that type."""
    if isinstance(item, Const):
        return item.dtype == "int64"
    if isinstance(item, AffineExtremum):
        return any(map(is_wide, item.parts))
    return isinstance(item, Index) and any(map(attrs.is_wide, item.values))


def common_dtype(lhs: Expr, rhs: Expr) -> str:
    """The type that two operands are promoted to; a scalar is repeated for the lanes of a vector."""
    lanes = {n for n in (dtypes.lanes(dtype_of(e)) for e in (lhs, rhs)) if n > 1}
    if len(lanes) > 1:
        raise ParseError(f"a value of type {dtype_of(lhs)} and one of type {dtype_of(rhs)} differ in lanes")
    return dtypes.with_lanes(_common_element(lhs, rhs), max(lanes, default=1))


def _common_element(lhs: Expr, rhs: Expr) -> str:
    a, b = (dtypes.element(dtype_of(e)) for e in (lhs, rhs))
    if isinstance(lhs, Const) and lhs.dtype is None and not isinstance(rhs, Const):
        return _adopt(lhs, b)
    if isinstance(rhs, Const) and rhs.dtype is None and not isinstance(lhs, Const):
        return _adopt(rhs, a)
    if a == b:
        return a
    if dtypes.is_float(a) != dtypes.is_float(b):
        return a if dtypes.is_float(a) else b
    if "bool" in (a, b):
        return b if a == "bool" else a
    wide, narrow = (a, b) if dtypes.bits(a) > dtypes.bits(b) else (b, a)
    if dtypes.bits(a) == dtypes.bits(b) or (dtypes.is_unsigned(wide) and not dtypes.is_unsigned(narrow)):
        raise ParseError(f"{a} and {b} have no common type; convert one side with T.Cast")
    return wide


def _adopt(const: Const, dtype: str) -> str:
    if isinstance(const.value, float) and not dtypes.is_float(dtype):
        return "float32"
    return "int32" if dtype == "bool" and not isinstance(const.value, bool) else dtype


def binary(op: str, lhs: object, rhs: object) -> Expr:
    """`lhs op rhs` for + - * / // % ** << >> & | ^ and max, min, truncdiv, truncmod, ceildiv."""
    lhs, rhs = as_expr(lhs), as_expr(rhs)
    if isinstance(lhs, Const) and isinstance(rhs, Const):
        return _fold(op, lhs, rhs)
    if op == "**":
        return power(lhs, rhs)
    if (affine := _affine(op, lhs, rhs)) is not None:
        return affine
    row = _BINARY.get(op)
    if op in _ON_INDICES and _is_index(lhs) and _is_index(rhs):
        a, b = index_of(lhs), index_of(rhs)
        return ScriptValue(_floormod(a, b) if row is None or row.int_op is None else emit(row.int_op, a, b), "int32")
    dtype = common_dtype(lhs, rhs)
    if dtypes.is_float(dtype):
        if row is None or row.float_op is None:
            raise ParseError(f"{op} is for integers; these have type {dtype}")
        return ScriptValue(emit(row.float_op, to_value(lhs, dtype), to_value(rhs, dtype)), dtype)
    if op == "/":
        raise ParseError("/ divides floats; for integers write // (rounds down) or T.truncdiv (rounds towards zero)")
    if dtypes.element(dtype) == "bool" and op not in ("&", "|", "^"):
        dtype = dtypes.with_lanes("int32", dtypes.lanes(dtype))
    a, b = to_value(lhs, dtype), to_value(rhs, dtype)
    if row is None or row.int_op is None:
        return make_value(arith.remui(a, b) if dtypes.is_unsigned(dtype) else _floormod(a, b), dtype)
    return make_value(emit(signs.op_for(row.int_op, dtype), a, b), dtype)


_ON_INDICES = ("+", "-", "*", "//", "%")


def _is_index(item: Expr) -> bool:
    """Whether an expression is computed in 64 bits, as indices are: of sizes, loops and iters, affine or not."""
    if isinstance(item, ScriptValue):
        return isinstance(item.ssa.type, ir.IndexType)
    return as_index(_number(item)) is not None and (not isinstance(item, Const) or item.dtype in (None, "int32"))


_MOST = 64  # the greatest exponent that becomes products


def power(lhs: Expr, rhs: Expr) -> Expr:
    """`x ** y`: of floats `math.powf`, its square one product; of an integer and a constant y >= 0 products."""
    dtype = common_dtype(lhs, rhs)
    exponent = rhs.value if isinstance(rhs, Const) else None
    if dtypes.is_float(dtype):
        if exponent == 2:
            base = cast(lhs, dtype)
            return binary("*", base, base)
        return ScriptValue(emit("math.powf", to_value(lhs, dtype), to_value(rhs, dtype)), dtype)
    if not isinstance(exponent, int) or not 0 <= exponent <= _MOST:
        raise ParseError(
            f'the power of an integer has a constant exponent of 0 to {_MOST}; of floats any: T.Cast("float32", x) ** y'
        )
    result: Expr = Const(1, dtype)
    for digit in f"{exponent:b}":
        result = result if isinstance(result, Const) else binary("*", result, result)
        if digit == "1":
            result = lhs if isinstance(result, Const) else binary("*", result, lhs)
    return result


def make_value(value: ir.Value, dtype: str) -> ScriptValue:
    """A value of a type; one that is unsigned is marked where its op leaves that open."""
    return ScriptValue(signs.mark(value, dtype), dtype)


def invert_bits(item: object) -> Expr:
    """`~x`: all bits flipped."""
    item = as_expr(item)
    dtype = dtypes.element(dtype_of(item))
    return binary("^", item, Const(dtypes.limits(dtype)[1], dtype) if dtypes.is_unsigned(dtype) else -1)


def _floormod(a: ir.Value, b: ir.Value) -> ir.Value:
    result = arith.subi(a, arith.muli(arith.floordivsi(a, b), b))
    result.owner.attributes[attrs.OP] = ir.StringAttr.get("floormod")
    return result


def _fold(op: str, lhs: Const, rhs: Const) -> Const:
    dtype = common_dtype(lhs, rhs) if lhs.dtype and rhs.dtype else lhs.dtype or rhs.dtype
    if dtype is not None and dtypes.is_float(dtype):
        folded = float_constants.fold(op, lhs.value, rhs.value, dtype)
        if folded is None:
            raise ParseError(f"{op} is for integers; these have type {dtype}")
        return Const(folded, dtype)
    try:
        value = _FOLD[op](lhs.value, rhs.value)
    except (ZeroDivisionError, OverflowError, TypeError) as error:
        raise ParseError(f"{lhs.value} {op} {rhs.value}: {error}") from None
    return Const(value, dtype)


def _affine(op: str, lhs: Expr, rhs: Expr) -> Expr | None:
    """The affine result of a binary operator, or None."""
    if isinstance(lhs, ScriptValue) or isinstance(rhs, ScriptValue):
        return None  # and a constant next to it may exceed an index
    if op in ("min", "max"):
        parts = [*_parts(op, lhs), *_parts(op, rhs)]
        return AffineExtremum(op, tuple(p for p in parts if p is not None)) if None not in parts else None
    if isinstance(lhs, AffineExtremum) or isinstance(rhs, AffineExtremum):
        return _of_extremum(op, lhs, rhs)
    a, b = (as_index(_number(side)) for side in (lhs, rhs))
    if a is None or b is None:
        return None
    try:
        if op == "*":
            return times(a, b)
        if op == "ceildiv":
            return a.ceildiv(b)
        if op in symbolic.APPLY:
            return symbolic.APPLY[op](a, b)
    except NotAffine:
        if b.as_constant() == 0 and op in ("//", "%", "ceildiv"):
            raise ParseError("a division by zero") from None
    return None


_OPPOSITE = {"min": "max", "max": "min"}


def _of_extremum(op: str, lhs: Expr, rhs: Expr) -> AffineExtremum | None:
    """A minimum (maximum) plus or minus an affine expression, or times or over a constant, as that of the results.

        T.min(31, 126 - i * 32) + 1   ->  T.min(32, 127 - i * 32)
        i - T.min(3, i)               ->  T.max(i - 3, 0)

    None for what is not affine or not monotonic.
    """
    extremum, operand = (lhs, rhs) if isinstance(lhs, AffineExtremum) else (rhs, lhs)
    index = as_index(_number(operand))
    if not isinstance(extremum, AffineExtremum) or index is None:
        return None
    factor = index.as_constant() or 0
    falls = (op == "-" and extremum is rhs) or (op == "*" and factor < 0)
    divided = op in ("//", "ceildiv") and extremum is lhs and factor > 0
    if not (op in ("+", "-") or (op == "*" and factor) or divided):
        return None
    pairs = [(part, index) if extremum is lhs else (index, part) for part in extremum.parts]
    parts = [_affine(op, *pair) for pair in pairs]
    indices = [part.simplify() for part in parts if isinstance(part, Index)]
    kind = _OPPOSITE[extremum.op] if falls else extremum.op
    return AffineExtremum(kind, tuple(indices)) if len(indices) == len(parts) else None


def _number(item: Expr) -> Expr:
    """A constant bool as the integer 0 or 1."""
    return Const(int(item.value)) if isinstance(item, Const) and isinstance(item.value, bool) else item


def _parts(op: str, item: Expr) -> list[Index | None]:
    """The operands of nested minima (or maxima); None for one that is not affine."""
    if isinstance(item, AffineExtremum) and item.op == op:
        return list(item.parts)
    return [as_index(_number(item))]


def negative(item: object) -> Expr:
    item = as_expr(item)
    if isinstance(item, Const):
        return Const(-item.value, item.dtype)
    if isinstance(item, ScriptValue) and dtypes.is_float(item.dtype):
        return ScriptValue(arith.negf(item.ssa), item.dtype)
    return binary("-", Const(0), item)


# ---- comparisons and logic


def compare(op: str, lhs: object, rhs: object) -> Expr:
    """A comparison: folded, kept as an affine condition, or computed."""
    lhs, rhs = as_expr(lhs), as_expr(rhs)
    if isinstance(lhs, Const) and isinstance(rhs, Const):
        return Const(_COMPARED[op](_exact(lhs, rhs), _exact(rhs, lhs)))
    computed = isinstance(lhs, ScriptValue) or isinstance(rhs, ScriptValue)
    a, b = (None, None) if computed else (as_index(lhs), as_index(rhs))
    if a is not None and b is not None:
        return AffineCondition(((op, a, b),))
    dtype = common_dtype(lhs, rhs)
    answer = dtypes.with_lanes("bool", dtypes.lanes(dtype))
    if dtypes.is_float(dtype):
        return ScriptValue(arith.cmpf(words.CMPF[op], to_value(lhs, dtype), to_value(rhs, dtype)), answer)
    predicate = signs.predicate_for(words.CMPI[op], dtype)
    return ScriptValue(arith.cmpi(predicate, to_value(lhs, dtype), to_value(rhs, dtype)), answer)


_COMPARED: dict[str, Callable[..., bool]] = {
    "==": operator.eq, "!=": operator.ne, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


def _exact(const: Const, partner: Const) -> bool | int | float:
    """The number that a constant is at run time, next to another one whose type it may take."""
    dtype = const.dtype or partner.dtype
    floating = dtype is not None and dtypes.is_float(dtype)
    return float_constants.round_to_dtype(const.value, dtype) if floating else const.value  # type: ignore[arg-type]


def _test_value(test: AffineCondition) -> ScriptValue:
    result: ir.Value | None = None
    for op, lhs, rhs in test.terms:
        term = arith.cmpi(words.CMPI[op], _index_value(lhs, "int32"), _index_value(rhs, "int32"))
        result = term if result is None else arith.andi(result, term)
    return ScriptValue(result, "bool")  # type: ignore[arg-type]


def logical(op: str, lhs: object, rhs: object) -> Expr:
    """`and`, `or` of conditions; a conjunction of affine conditions remains affine."""
    lhs, rhs = as_expr(lhs, "a condition"), as_expr(rhs, "a condition")
    for decider, operand in ((lhs, rhs), (rhs, lhs)):
        if isinstance(decider, Const):
            decided = bool(decider.value) == (op == "or")
            return Const(bool(decider.value)) if decided else condition(operand)
    if op == "and" and isinstance(lhs, AffineCondition) and isinstance(rhs, AffineCondition):
        return AffineCondition(lhs.terms + rhs.terms)
    lhs, rhs = condition(lhs), condition(rhs)
    dtype = common_dtype(lhs, rhs)
    return ScriptValue(emit(words.LOGICAL[op], to_value(lhs, dtype), to_value(rhs, dtype)), dtype)


def condition(item: object) -> Expr:
    """The item as a bool."""
    item = as_expr(item, "a condition")
    if isinstance(item, Const):
        return Const(bool(item.value))
    return item if dtypes.element(dtype_of(item)) == "bool" else compare("!=", item, Const(0))


def negation(item: object) -> Expr:
    item = condition(item)
    if isinstance(item, Const):
        return Const(not item.value)
    if isinstance(item, AffineCondition) and len(item.terms) == 1:
        op, lhs, rhs = item.terms[0]
        return AffineCondition(((_NEGATED[op], lhs, rhs),))
    return ScriptValue(arith.xori(to_value(item), to_value(Const(True), dtype_of(item))), dtype_of(item))


def convert_for_store(item: object, dtype: str, what: str) -> ir.Value:
    """The value to store as `dtype`: constants are converted, an integer is cast to a float; any other type mismatch
    raises ParseError."""
    item = as_expr(item)
    source = dtype_of(item)
    if dtypes.lanes(source) not in (1, dtypes.lanes(dtype)):
        many = "1 element is" if dtypes.lanes(dtype) == 1 else f"{dtypes.lanes(dtype)} elements are"
        raise ParseError(f"{many} stored to {what}, but the value has the lanes of {source}")
    if dtypes.lanes(dtype) > 1 == dtypes.lanes(source):
        source = dtypes.with_lanes(source, dtypes.lanes(dtype))
    if dtypes.is_float(dtype) and not dtypes.is_float(source) and dtypes.element(source) != "bool":
        return cast(item, dtype).ssa
    if source != dtype and not isinstance(item, Const):
        raise ParseError(f'{what} holds {dtype} but the value has type {source}; convert it: T.Cast("{dtype}", ...)')
    return to_value(item, dtype)
