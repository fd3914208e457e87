"""Scalar functions of the `T` namespace: those that have records, casts, choices, type limits."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.ops import SCALAR_FUNCTIONS
from tir_mlir.dialect.ops.declare import declare
from tir_mlir.script.language.markers import construct

__all__ = ["Cast", "all", "any", "cast", "if_then_else", "infinity", "max_value", "min_value"]

for _one in SCALAR_FUNCTIONS.values():
    _names = (_one.name, *_one.aliases.split())
    globals().update(dict.fromkeys(_names, construct(declare(__name__, _one.name, _one.params, _one.doc))))
    __all__ += _names


@construct
def Cast(dtype: str, value: Any) -> Any:
    """Convert: `T.Cast("float16", x)`. The same as `T.cast(x, "float16")` and `T.float16(x)`."""


@construct
def cast(value: Any, dtype: str) -> Any:
    """Convert: `T.cast(x, "float16")`. The same as `T.Cast("float16", x)`."""


@construct
def if_then_else(condition: Any, then_value: Any, else_value: Any) -> Any:
    """`then_value` or `else_value`; only the chosen one is evaluated."""


@construct
def all(*conditions: Any) -> Any:
    """Conjunction; the same as `a and b`."""


@construct
def any(*conditions: Any) -> Any:
    """Disjunction; the same as `a or b`."""


@construct
def min_value(dtype: str) -> Any:
    """The smallest finite value of a type."""


@construct
def max_value(dtype: str) -> Any:
    """The largest finite value of a type."""


@construct
def infinity(dtype: str) -> Any:
    """Infinity of a float type."""
