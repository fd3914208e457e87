"""Text of expressions: operator precedence, constants, strings and attribute values; and the line writer."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
from mlir import ir

from tir_mlir.dialect.ir import dtypes

OR, AND, NOT, COMPARE, ADD, MUL, UNARY, ATOM = range(8)


class ExprText(NamedTuple):
    """The text of an expression and the precedence of its outermost operator."""

    text: str
    precedence: int = ATOM

    def parenthesize(self, precedence: int) -> str:
        """The text as an operand that must bind at least as tightly as `precedence`."""
        return self.text if self.precedence >= precedence else f"({self.text})"


def binary(lhs: ExprText, operator: str, rhs: ExprText, precedence: int) -> ExprText:
    """`lhs operator rhs`, parenthesised to parse to this tree."""
    low = precedence + 1 if precedence == COMPARE else precedence  # Python chains comparisons
    return ExprText(f"{lhs.parenthesize(low)} {operator} {rhs.parenthesize(precedence + 1)}", precedence)


def call(name: str, *args: ExprText | str) -> ExprText:
    """`name(args)`."""
    return ExprText(f"{name}({', '.join(a if isinstance(a, str) else a.text for a in args)})")


class ScriptWriter:
    """Indented lines of a program; the line of a marked op is underlined, with the mark's text."""

    def __init__(self, marks: Mapping[int, str] | None = None):
        self.lines: list[str] = []
        self.marks = dict(marks or {})
        self._depth = 0

    def line(self, text: str, op_id: int | None = None) -> None:
        space = "    " * self._depth
        self.lines.append(space + text)
        if op_id is not None and op_id in self.marks:
            self.lines.append(f"{space}{'^' * len(text)}  # {self.marks[op_id]}".rstrip(" #"))

    @contextmanager
    def indent(self) -> Iterator[None]:
        self._depth += 1
        try:
            yield
        finally:
            self._depth -= 1

    def text(self) -> str:
        return "\n".join(self.lines)


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
