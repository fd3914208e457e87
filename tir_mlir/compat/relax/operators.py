"""`tvm.relax.op`: the operators of the table as functions, `relax.op.nn.dense(x, w)`, and calls of functions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tir_mlir.compat.absent_modules import NotInCompat
from tir_mlir.graph.expressions.operator_calls import NoSuchOperator, OperatorSpace, call_dps_packed, call_tir, find
from tir_mlir.graph.operators import OPERATORS

if TYPE_CHECKING:
    from collections.abc import Callable

    from tir_mlir.graph.expressions import Call

nn = OperatorSpace("nn.", "relax.op")
__path__: list[str] = []  # `from tvm.relax.op.nn import relu`: tvm.relax.op is a package

__all__ = ["call_dps_packed", "call_tir", "nn"]


def __getattr__(name: str) -> Callable[..., Call] | OperatorSpace:
    if name.startswith("__"):
        raise AttributeError(name)
    try:
        return find(name, "relax.op")
    except NoSuchOperator as error:
        raise NotInCompat(f"tvm.relax.op.{name} is not part of tir_mlir: {error}") from None


def __dir__() -> list[str]:
    return sorted({*__all__, *(name.split(".")[0] for name in OPERATORS)})
