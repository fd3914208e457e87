"""Operators of one tensor, element by element."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tir_mlir import te
from tir_mlir.topi.operands import floats


def _of_floats(name: str, function: Callable[[Any], Any], doc: str) -> Any:
    def operator(x: Any) -> te.Tensor:
        given = floats(name, "x", x)
        return te.compute(given.shape, lambda *i: function(given(*i)), name=f"T_{name}")

    operator.__name__ = operator.__qualname__ = name
    operator.__doc__ = doc
    return operator


exp = _of_floats("exp", te.exp, "e to the power x.")
tanh = _of_floats("tanh", te.tanh, "Hyperbolic tangent.")
sigmoid = _of_floats("sigmoid", te.sigmoid, "1 / (1 + exp(-x)).")
sqrt = _of_floats("sqrt", te.sqrt, "Square root.")
erf = _of_floats("erf", te.erf, "Error function.")
