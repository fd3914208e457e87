"""The functions of mathematics: a new one is a record here (docs/internals/add-a-scalar-function.md)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from tir_mlir.dialect.ops.record import NONE, MlirOp, ScalarFunction, Trait

_CHEAP, _ROUNDS, _SLOW = Trait.CHEAP, Trait.CHEAP | Trait.ROUNDS, Trait.SLOW
_XY = ("x", "y")


def _op(name: str, python: Callable[..., float] | None, traits: Trait = NONE, **facts: Any) -> MlirOp:
    """An op of the math dialect, in C the function of its name, which the exact check knows nothing of."""
    return MlirOp(f"math.{name}", traits, python=python, **{"c": name, "field": "opaque", **facts})


def _unary(name: str, doc: str, op: MlirOp | None, **facts: Any) -> ScalarFunction:
    """A function of a float that `topi` has as well."""
    return ScalarFunction(name, doc, on_floats=op, **{"topi": name, **facts})


def _extend_log(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: function(x) if x else -math.inf


def _reciprocal_root(x: float) -> float:
    return 1.0 / math.sqrt(x) if x else math.copysign(math.inf, x)


def _sinh(x: float) -> float:
    try:
        return math.sinh(x)
    except OverflowError:
        return math.copysign(math.inf, x)


def _cbrt(x: float) -> float:
    near = math.copysign(abs(x) ** (1 / 3), x)
    return near - (near * near * near - x) / (3 * near * near) if x and math.isfinite(x) else x


def _round_half_away(x: float) -> float:
    if x != x or abs(x) >= 2**52:
        return x
    return math.copysign(math.floor(abs(x) + 0.5) if abs(x) != 0.49999999999999994 else 0.0, x)


def _preserve_zero_sign(function: Callable[[float], float]) -> Callable[[float], float]:
    """A rounding function that preserves the sign of zero."""
    return lambda x: math.copysign(float(function(x)), x) if abs(x) < 2**52 else x


def _power(a: float, b: float) -> float:
    try:
        return math.pow(a, b)
    except OverflowError:
        return -math.inf if a < 0 and b % 2 == 1 else math.inf
    except ValueError:
        if a == 0:  # to a negative power
            return math.copysign(math.inf, a) if b % 2 == 1 else math.inf
        return math.nan


_FABS = _op("absf", math.fabs, _CHEAP, c="fabs", llvm="fabs", gpu="instruction")
_ROUND = _op(
    "roundeven", _preserve_zero_sign(round), _ROUNDS, c="rint", llvm="roundeven rint nearbyint", gpu="instruction"
)

FLOAT_FUNCTIONS = (
    _unary(
        "exp",
        "e to the power x.",
        _op("exp", math.exp, _SLOW, javascript=True, llvm="exp"),
        linalg="linalg.exp",
        torch="exp",
        onnx="Exp",
        ulps=1.1,
    ),
    _unary(
        "exp2",
        "2 to the power x.",
        _op("exp2", lambda x: 2.0**x, _SLOW, javascript=True, llvm="exp2"),
        torch="exp2",
        ulps=1.1,
    ),
    _unary(
        "expm1",
        "exp(x) - 1, accurate also where x is near 0.",
        _op("expm1", math.expm1, _SLOW, javascript=True),
        torch="expm1 special_expm1",
        ulps=1.5,
    ),
    _unary(
        "log",
        "The natural logarithm of x; NaN of a negative number, -inf of 0.",
        _op("log", _extend_log(math.log), _SLOW, javascript=True, llvm="log"),
        linalg="linalg.log",
        torch="log",
        onnx="Log",
    ),
    _unary(
        "log2",
        "The logarithm of x to base 2; NaN of a negative number, -inf of 0.",
        _op("log2", _extend_log(math.log2), javascript=True, llvm="log2"),
        torch="log2",
    ),
    _unary(
        "log10",
        "The logarithm of x to base 10; NaN of a negative number, -inf of 0.",
        _op("log10", _extend_log(math.log10), javascript=True, llvm="log10"),
        torch="log10",
        ulps=2,
    ),
    _unary(
        "log1p",
        "log(1 + x), accurate also where x is near 0.",
        _op("log1p", lambda x: -math.inf if x == -1 else math.log1p(x), javascript=True),
        torch="log1p",
        ulps=1.5,
    ),
    _unary(
        "sqrt",
        "The square root of x; NaN of a negative number.",
        _op("sqrt", math.sqrt, llvm="sqrt nvvm.sqrt.rn", gpu="instruction"),
        linalg="linalg.sqrt",
        torch="sqrt",
        onnx="Sqrt",
        ulps=0.5,
    ),
    _unary(
        "rsqrt",
        "1 / sqrt(x): inf of 0, NaN of a negative number.",
        _op("rsqrt", _reciprocal_root, view="RsqrtOp", field=""),
        linalg="linalg.rsqrt",
        torch="rsqrt",
        ulps=1.5,
    ),
    _unary(
        "tanh",
        "The hyperbolic tangent of x, in -1..1.",
        _op("tanh", math.tanh, _SLOW, javascript=True),
        linalg="linalg.tanh",
        torch="tanh",
        onnx="Tanh",
        ulps=1.2,
    ),
    _unary("tan", "The tangent of x, in radians.", _op("tan", math.tan, javascript=True), torch="tan", onnx="Tan"),
    _unary(
        "sin",
        "The sine of x, in radians.",
        _op("sin", math.sin, _SLOW, javascript=True, llvm="sin"),
        torch="sin",
        onnx="Sin",
        ulps=3.5,
    ),
    _unary(
        "cos",
        "The cosine of x, in radians.",
        _op("cos", math.cos, _SLOW, javascript=True, llvm="cos"),
        torch="cos",
        onnx="Cos",
        ulps=3.5,
    ),
    _unary(
        "atan",
        "The angle whose tangent is x, in -pi/2..pi/2.",
        _op("atan", math.atan, javascript=True),
        torch="atan",
        onnx="Atan",
    ),
    _unary(
        "asin",
        "The angle whose sine is x, in -pi/2..pi/2; NaN beyond -1..1.",
        _op("asin", math.asin, javascript=True),
        torch="asin",
        onnx="Asin",
    ),
    _unary(
        "acos",
        "The angle whose cosine is x, in 0..pi; NaN beyond -1..1.",
        _op("acos", math.acos, javascript=True),
        torch="acos",
        onnx="Acos",
    ),
    _unary("sinh", "The hyperbolic sine of x.", _op("sinh", _sinh, javascript=True), torch="sinh", onnx="Sinh", ulps=2),
    _unary(
        "cosh",
        "The hyperbolic cosine of x.",
        _op("cosh", math.cosh, javascript=True),
        torch="cosh",
        onnx="Cosh",
        ulps=2,
    ),
    _unary(
        "asinh",
        "The number whose hyperbolic sine is x.",
        _op("asinh", math.asinh, javascript=True),
        torch="asinh",
        onnx="Asinh",
        ulps=2,
    ),
    _unary(
        "acosh",
        "The number from 0 on whose hyperbolic cosine is x; NaN below 1.",
        _op("acosh", math.acosh, javascript=True),
        torch="acosh",
        onnx="Acosh",
        ulps=2,
    ),
    _unary(
        "atanh",
        "The number whose hyperbolic tangent is x; NaN beyond -1..1.",
        _op("atanh", lambda x: math.copysign(math.inf, x) if abs(x) == 1 else math.atanh(x), javascript=True),
        torch="atanh",
        onnx="Atanh",
        ulps=2,
    ),
    _unary(
        "erf",
        "The error function of x, in -1..1.",
        _op("erf", math.erf, _SLOW),
        linalg="linalg.erf",
        torch="erf",
        onnx="Erf",
        ulps=1.5,
    ),
    _unary(
        "floor",
        "The greatest integer not above x, as a float: -0.5 -> -1.0.",
        _op("floor", _preserve_zero_sign(math.floor), _ROUNDS, llvm="floor", gpu="instruction"),
        linalg="linalg.floor",
        onnx="Floor",
        ulps=0,
    ),
    _unary(
        "ceil",
        "The least integer not below x, as a float: -0.5 -> -0.0.",
        _op("ceil", _preserve_zero_sign(math.ceil), _ROUNDS, llvm="ceil", gpu="instruction"),
        linalg="linalg.ceil",
        onnx="Ceil",
        ulps=0,
    ),
    _unary(
        "round",
        "The nearest integer, ties to even, as a float: 0.5 -> 0.0, 1.5 -> 2.0. As NumPy rounds.",
        _ROUND,
        linalg="linalg.round",
        onnx="Round",
        ulps=0,
    ),
    _unary(
        "nearbyint",
        "The nearest integer, ties to even, as a float: the same as `round`.",
        _ROUND,
        synonym="round",
        topi="",
        ulps=0,
    ),
    _unary(
        "round_half_away",
        "The nearest integer, ties away from zero, as a float: 0.5 -> 1.0. As C rounds; TVM has no such function.",
        _op("round", _round_half_away, Trait.ROUNDS, llvm="round", gpu="instruction"),
        te="",
        topi="",
        ulps=0,
    ),
    _unary(
        "trunc",
        "x without its fraction, as a float: -1.5 -> -1.0.",
        _op("trunc", _preserve_zero_sign(math.trunc), _ROUNDS, llvm="trunc", gpu="instruction"),
        ulps=0,
    ),
    ScalarFunction(
        "pow",
        "x to the power y. Of an integer x, y is a constant from 0 to 64.",
        _XY,
        on_floats=_op("powf", _power, _SLOW, view="PowFOp", c="pow", javascript=True, llvm="pow"),
        aliases="power",
        te="power pow",
    ),
    ScalarFunction(
        "atan2",
        "The angle of the point with the abscissa x and the ordinate y, in -pi..pi.",
        ("y", "x"),
        on_floats=_op("atan2", math.atan2, view="Atan2Op", javascript=True),
        topi="atan2",
        torch="atan2 arctan2",
    ),
    ScalarFunction(
        "copysign",
        "The magnitude of x with the sign of y: (2.0, -0.0) -> -2.0.",
        _XY,
        on_floats=_op("copysign", math.copysign, _CHEAP, llvm="copysign", gpu="instruction"),
        topi="copysign",
        torch="copysign",
        ulps=0,
    ),
    ScalarFunction(
        "fmod",
        "The remainder of the division of floats rounded towards zero, with the sign of x.",
        _XY,
        on_floats=MlirOp("arith.remf", view="RemFOp", algebra="remainder", c="fmod", javascript=True, field="opaque"),
        te="",
    ),
    ScalarFunction(
        "fma",
        "x * y + z, rounded once.",
        ("x", "y", "z"),
        on_floats=_op("fma", None, _CHEAP | Trait.CONTRACTS, llvm="fma nvvm.fma.rn", gpu="instruction", field=""),
    ),
)
"""Operands and result of one float type."""

FLOAT_PREDICATES = (
    _unary(
        "isnan",
        "Whether x is NaN.",
        _op("isnan", lambda x: x != x, c="", field="predicate", gpu="upstream"),
        predicate=True,
        torch="isnan",
        onnx="IsNaN",
    ),
    _unary(
        "isinf",
        "Whether x is inf or -inf.",
        _op("isinf", math.isinf, view="IsInfOp", c="", field="predicate"),
        predicate=True,
        torch="isinf",
    ),
    _unary(
        "isfinite",
        "Whether x is neither infinite nor NaN.",
        _op("isfinite", math.isfinite, c="", field="predicate", gpu="upstream"),
        predicate=True,
        torch="isfinite",
    ),
)
"""One float operand, a bool result."""

INT_FUNCTIONS = (
    ScalarFunction(
        "popcount",
        "The number of bits of x that are 1: 7 -> 3.",
        takes="integers",
        on_integers=MlirOp("math.ctpop", Trait.SIGNLESS, llvm="ctpop", gpu="upstream"),
    ),
    ScalarFunction(
        "clz",
        "The number of leading bits of x that are 0: of int32, 1 -> 31.",
        takes="integers",
        on_integers=MlirOp("math.ctlz", Trait.SIGNLESS, gpu="upstream"),
    ),
)
"""One integer operand, a result of its type."""

COMPOSED = (
    _unary(
        "sigmoid",
        "1 / (1 + exp(-x)), in 0..1.",
        None,
        by="1.0 / (1.0 + T.exp(-x))",
        torch="sigmoid",
        onnx="Sigmoid",
        ulps=4,
    ),
)
"""Functions of a float that other functions make."""

OTHERS = (
    ScalarFunction(
        "abs",
        "The absolute value of x; the least integer of a type is its own.",
        takes="numbers",
        on_floats=_FABS,
        on_integers=MlirOp("math.absi", gpu="upstream"),
        aliases="fabs",
        te="abs fabs",
        topi="abs",
        linalg="linalg.abs",
        torch="abs",
        onnx="Abs",
    ),
    ScalarFunction(
        "hypot",
        "sqrt(x * x + y * y), without overflow of the squares; infinite if x or y is, even if the other is NaN.",
        _XY,
        te="",
    ),
    ScalarFunction(
        "q_multiply_shift",
        "The product of two int32 fixed-point numbers with q fractional bits, times 2 to the power s, rounded half up."
        "\n\n`((x << max(s, 0)) * y + (1 << (r - 1))) >> r` with `r = q + max(-s, 0)`, in int64; q and s are"
        "\nconstants.",
        ("x", "y", "q", "s"),
        "integers",
        te="",
    ),
    ScalarFunction(
        "q_multiply_shift_per_axis",
        "The product of two int32 fixed-point numbers with q fractional bits and shifts from data, rounded half up."
        "\n\n`((x << ls) * y + (1 << (q + rs - 1))) >> (q + rs)`, in int64; without `is_lshift_required` x is not"
        " shifted. As in\nTVM, `is_rshift_required` has no effect: the right shift by rs is always done.",
        ("x", "y", "ls", "rs", "q", "is_lshift_required", "is_rshift_required"),
        "integers",
        te="",
    ),
    ScalarFunction("ldexp", "x times 2 to the power of an integer, rounded once.", ("x", "exponent"), te=""),
    ScalarFunction("nextafter", "The float next to x in the direction of y; y if they are equal.", _XY, te=""),
)
"""What the parser has a rule for."""

MLIR_ONLY = (
    _op("cbrt", _cbrt, javascript=True),
    _op("erfc", math.erfc),
    _op("fpowi", _power, view="FPowIOp", c=""),
    MlirOp("math.cttz", Trait.SIGNLESS, gpu="upstream"),
    MlirOp("math.ipowi", Trait.SIGNLESS),
)
"""Ops without a function in `T`."""
