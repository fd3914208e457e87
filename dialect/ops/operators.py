"""The operators: arithmetic, bits, comparisons, logic, choices."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.ops.record import NONE, MlirOp, ScalarFunction, Trait

_T = Trait
_XY = ("x", "y")
_REDUCES = _T.ASSOCIATIVE | _T.ZERO


def _op(name: str, traits: Trait = NONE, **facts: Any) -> MlirOp:
    return MlirOp(f"arith.{name}", traits, **{"view": "BinaryOp", "c": facts.get("sign", ""), **facts})


def _reducer(name: str, algebra: str, more: Trait = NONE, **facts: Any) -> MlirOp:
    """An operator that reductions use."""
    return _op(name, _REDUCES | more, algebra=algebra, **facts)


def _operator(name: str, doc: str, floats: MlirOp | None, integers: MlirOp | None, **facts: Any) -> ScalarFunction:
    takes = "numbers" if floats and integers else "floats" if floats else "integers"
    return ScalarFunction(name, doc, _XY, takes, on_floats=floats, on_integers=integers, **facts)


BINARY = (
    _operator(
        "add",
        "x + y.",
        _reducer("addf", "sum", _T.CONTRACTS, sign="+", field="add", atomic="addf"),
        _reducer("addi", "sum", _T.SIGNLESS, sign="+", view="AddIOp", atomic="addi"),
        symbol="+",
        infix=True,
        aliases="Add",
        topi="add",
        linalg="linalg.add",
        onnx="Add",
    ),
    _operator(
        "subtract",
        "x - y.",
        _op("subf", _T.ZERO | _T.CONTRACTS, algebra="difference", sign="-", field="sub"),
        _op("subi", _T.ZERO | _T.SIGNLESS, algebra="difference", sign="-", view="SubIOp"),
        symbol="-",
        infix=True,
        aliases="Sub",
        topi="subtract",
        linalg="linalg.sub",
        onnx="Sub",
    ),
    _operator(
        "multiply",
        "x * y.",
        _reducer("mulf", "product", _T.CONTRACTS, sign="*", field="mul"),
        _reducer("muli", "product", _T.SIGNLESS | _T.SIZE, sign="*", view="MulIOp"),
        symbol="*",
        infix=True,
        aliases="Mul",
        topi="multiply",
        linalg="linalg.mul",
        onnx="Mul",
    ),
    _operator(
        "divide",
        "x / y. For integers: `floordiv`, `truncdiv`, `ceildiv`.",
        _op("divf", view="DivFOp", algebra="quotient", c="/"),
        None,
        symbol="/",
        infix=True,
        aliases="Div",
        te="div",
    ),
    _operator(
        "floordiv",
        "x / y rounded down, the same as `x // y`: (-7, 2) -> -4. y is not 0.",
        None,
        _op(
            "floordivsi",
            _T.TRAPS | _T.SIZE,
            view="FloorDivOp",
            algebra="floordiv",
            unsigned="arith.divui",
            sign="//",
            c="floor_div",
        ),
        symbol="//",
        infix=True,
        aliases="FloorDiv",
        te="floordiv indexdiv",
    ),
    _operator(
        "max",
        "The greater of x and y; NaN if one of them is.",
        _reducer("maximumf", "max", c="maximum", field="max", llvm="maximum"),
        _reducer("maxsi", "max", unsigned="arith.maxui", c="max", llvm="smax", atomic="maxs"),
        aliases="Max",
        te="",
        topi="maximum",
        linalg="linalg.max",
        torch="maximum max.other",
    ),
    _operator(
        "min",
        "The lesser of x and y; NaN if one of them is.",
        _reducer("minimumf", "min", c="minimum", field="min", llvm="minimum"),
        _reducer("minsi", "min", unsigned="arith.minui", c="min", llvm="smin", atomic="mins"),
        aliases="Min",
        te="",
        topi="minimum",
        linalg="linalg.min",
        torch="minimum min.other",
    ),
    _operator(
        "truncdiv",
        "x / y rounded towards zero, as in C: (-7, 2) -> -3. y is not 0.",
        None,
        _op("divsi", _T.TRAPS, unsigned="arith.divui", c="/"),
    ),
    _operator(
        "truncmod",
        "The remainder of `truncdiv`, as in C: (-7, 2) -> -1; of floats, that of fmod in C. It has the sign of x.",
        None,
        _op("remsi", _T.TRAPS, algebra="remainder", unsigned="arith.remui", c="%"),
    ),
    _operator(
        "ceildiv",
        "x / y rounded up: (7, 2) -> 4. The number of tiles of y that cover x; y is not 0.",
        None,
        _op("ceildivsi", _T.TRAPS, algebra="ceildiv", unsigned="arith.ceildivui"),
    ),
    _operator("shift_left", "x << y.", None, _op("shli", _T.SIGNLESS, c="<<"), symbol="<<", te="", topi="left_shift"),
    _operator(
        "shift_right",
        "x >> y, keeping the sign.",
        None,
        _op("shrsi", unsigned="arith.shrui", c=">>"),
        symbol=">>",
        te="",
        topi="right_shift",
    ),
    _operator(
        "bitwise_and",
        "x & y.",
        None,
        _reducer("andi", "and", _T.SIGNLESS, view="AndIOp", sign="&", atomic="andi"),
        symbol="&",
        te="",
        topi="bitwise_and",
        onnx="BitwiseAnd",
    ),
    _operator(
        "bitwise_or",
        "x | y.",
        None,
        _reducer("ori", "or", _T.SIGNLESS, view="OrIOp", sign="|", atomic="ori"),
        symbol="|",
        te="",
        topi="bitwise_or",
        onnx="BitwiseOr",
    ),
    _operator(
        "bitwise_xor",
        "x ^ y.",
        None,
        _reducer("xori", "xor", _T.SIGNLESS, view="XOrIOp", sign="^", atomic="xori"),
        symbol="^",
        te="",
        topi="bitwise_xor",
        onnx="BitwiseXor",
    ),
)
"""Two operands of one type, a result of that type."""

FLOORMOD = ScalarFunction(
    "floormod",
    "The remainder of `floordiv`, the same as `x % y`: (-7, 2) -> 1. It has the sign of y, which is not 0.",
    _XY,
    "integers",
    symbol="%",
    aliases="FloorMod",
    te="floormod indexmod",
)
"""Not one op: x - floordivsi(x, y) * y."""


def _comparison(name: str, symbol: str, topi: str, torch: str, onnx: str, takes: str = "numbers") -> ScalarFunction:
    """Of `T`; `te` has the operator."""
    overloads = f"{torch}.Scalar {torch}.Tensor"
    doc = f"x {symbol} y."
    return ScalarFunction(
        name, doc, _XY, takes, predicate=True, symbol=symbol, te="", topi=topi, torch=overloads, onnx=onnx
    )


COMPARISONS = (
    _comparison("LT", "<", "less", "lt", "Less"),
    _comparison("LE", "<=", "less_equal", "le", "LessOrEqual"),
    _comparison("GT", ">", "greater", "gt", "Greater"),
    _comparison("GE", ">=", "greater_equal", "ge", "GreaterOrEqual"),
    _comparison("EQ", "==", "equal", "eq", "Equal", "values"),
    _comparison("NE", "!=", "not_equal", "ne", "", "values"),
)
"""Ordered comparisons, except `!=`, which is true of NaN as in Python."""

LOGIC = (
    ScalarFunction(
        "And",
        "Whether both are true; the same as `x and y`.",
        _XY,
        "bools",
        predicate=True,
        te="",
        topi="logical_and",
        onnx="And",
    ),
    ScalarFunction(
        "Or",
        "Whether one is true; the same as `x or y`.",
        _XY,
        "bools",
        predicate=True,
        te="",
        topi="logical_or",
        onnx="Or",
    ),
    ScalarFunction(
        "Not",
        "Whether x is false; the same as `not x`.",
        takes="bools",
        predicate=True,
        te="",
        topi="logical_not",
        onnx="Not",
    ),
    ScalarFunction("bitwise_not", "The bits of x inverted, `~x`: 0 -> -1.", takes="integers"),
)

SELECT = ScalarFunction(
    "Select",
    "`then_value` or `else_value`, both of which are evaluated: neither may read outside a buffer.",
    ("condition", "then_value", "else_value"),
    "values",
    on_floats=(_SELECTION := _op("select", _T.SIGNLESS, view="SelectOp")),
    on_integers=_SELECTION,
    te="",
)

MLIR_ONLY = (
    _reducer("maxnumf", "max", c="fmax", field="max", llvm="maxnum"),
    _reducer("minnumf", "min", c="fmin", field="min", llvm="minnum"),
    _reducer("maxui", "max", c="max", llvm="umax", atomic="maxu"),
    _reducer("minui", "min", c="min", llvm="umin", atomic="minu"),
    _op("divui", _T.TRAPS, c="/"),
    _op("remui", _T.TRAPS, algebra="remainder", c="%"),
    _op("ceildivui", _T.TRAPS),
    _op("shrui", c=">>"),
    _op("negf", _T.ZERO | _T.CONTRACTS, view="NegFOp"),
    _op("constant", _T.FOLDS, view="ConstantOp"),
    _op("cmpf", _T.ROUNDS, view="CompareFloatsOp"),
    _op("cmpi", view="CompareIntegersOp"),
)
"""Ops without a function in `T`: those on unsigned integers, and what the language writes without a name."""
