"""Printing of constants, strings and attribute values."""

from __future__ import annotations

import json
import math

import numpy as np
from mlir import ir

from tir_mlir.dialect.ir import dtypes
from tir_mlir.script.printer.precedence import ATOM, UNARY, ExprText


def quote(text: str) -> str:
    """A string in double quotes."""
    return json.dumps(text, ensure_ascii=False)


def integer(value: int) -> ExprText:
    return ExprText(str(value), UNARY if value < 0 else ATOM)


def constant(attr: ir.Attribute, type_: ir.Type, dtype: str | None = None) -> ExprText:
    """`0.0 : f32` -> `T.float32(0.0)`; int32 and index values are bare; `-1 : i8` as uint8 is `T.uint8(255)`."""
    dtype = dtypes.with_sign_of(type_, dtype)
    value = attr.value  # type: ignore[attr-defined]
    if dtypes.is_float(dtype):
        return ExprText(f"T.{dtype}({_float(value, dtype)})")
    if dtype == "bool":
        return ExprText(f"T.bool({bool(value)})")
    return integer(value) if dtype == "int32" else ExprText(f"T.{dtype}({dtypes.as_typed(value, dtype)})")


def _float(value: float, dtype: str) -> str:
    """The shortest decimal that parses to the same number of this type."""
    if not math.isfinite(value):
        return f'"{value}"'
    if dtype in ("float32", "float16"):
        short = float(str(np.dtype(dtype).type(value)))
        # TVM rejects a literal above the largest finite value, even one that rounds to it
        return repr(value if abs(short) > float(np.finfo(dtype).max) else short)
    return repr(value)


def annotation(value: object, typed_bools: bool = True) -> str:
    """A value of `T.func_attr`, `T.block_attr` or `annotations={...}`; a flag is `T.bool(True)`, or `True`."""
    if isinstance(value, bool):
        return f"T.bool({value})" if typed_bools else str(value)
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(annotation(v, typed_bools) for v in value) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{quote(k)}: {annotation(v, typed_bools)}" for k, v in value.items()) + "}"
    if isinstance(value, float) and not math.isfinite(value):
        return f'T.float64("{value}")'
    return repr(value) if isinstance(value, (int, float)) else quote(str(value))


def sequence(items: list[str]) -> str:
    """A Python tuple: `(a, b)`, `(a,)`, `()`."""
    return f"({items[0]},)" if len(items) == 1 else f"({', '.join(items)})"
