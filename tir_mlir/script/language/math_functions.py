"""Scalar functions of the `T` namespace: those that have records, casts, choices, type limits."""

from __future__ import annotations

from tir_mlir.dialect.ops import SCALAR_FUNCTIONS
from tir_mlir.dialect.ops.declare import declare
from tir_mlir.script.language.markers import construct

__all__ = ["Cast", "all", "any", "cast", "if_then_else", "infinity", "max_value", "min_value"]

for _one in SCALAR_FUNCTIONS.values():
    _names = (_one.name, *_one.aliases.split())
    globals().update(dict.fromkeys(_names, construct(declare(__name__, _one.name, _one.params, _one.doc))))
    __all__ += _names


@construct
def Cast(dtype: str, value: object) -> None:
    """Convert: `T.Cast("float16", x)`. The same as `T.cast(x, "float16")` and `T.float16(x)`."""


@construct
def cast(value: object, dtype: str) -> None:
    """Convert: `T.cast(x, "float16")`. The same as `T.Cast("float16", x)`."""


@construct
def if_then_else(condition: object, then_value: object, else_value: object) -> None:
    """`then_value` or `else_value`; only the chosen one is evaluated."""


@construct
def all(*conditions: object) -> None:
    """Conjunction; the same as `a and b`."""


@construct
def any(*conditions: object) -> None:
    """Disjunction; the same as `a or b`."""


@construct
def min_value(dtype: str) -> None:
    """The smallest finite value of a type."""


@construct
def max_value(dtype: str) -> None:
    """The largest finite value of a type."""


@construct
def infinity(dtype: str) -> None:
    """Infinity of a float type."""
