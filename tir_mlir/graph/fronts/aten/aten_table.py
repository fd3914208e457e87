"""The table of torch's operators: name -> function of an emitter and the operator's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.operators import OPERATORS, Operator

Translation = Callable[..., Any]
TABLE: dict[str, Translation] = {}
_OTHERS = ("transformers.", "tir_mlir.", "quantized_decomposed.")


def aten(*names: str) -> Callable[[Translation], Translation]:
    """Register a function for `aten.NAME`, of all overloads, or `aten.NAME.OVERLOAD`; those of transformers,
    of conversions (pt2e) and of this package by their whole name.

    Its parameters are the emitter and arguments of torch's schema by name, `self` and `input` as `x`. An argument that
    it does not take is refused unless it has its default.
    """

    def put(function: Translation) -> Translation:
        for name in names:
            TABLE[name if name.startswith(_OTHERS) else f"aten.{name}"] = function
        return function

    return put


def translations() -> dict[str, Translation]:
    """All translations: those of the operators of graphs that are one operator of torch, and the functions here."""
    rows = {f"aten.{name}": _of_row(row) for row in OPERATORS.values() for name in row.torch.split()}
    return {**rows, **TABLE}


def _of_row(row: Operator) -> Translation:
    """An operator on operands of the type of its result; a test, and a comparison, takes them in their own."""
    if len(row.operands) == 1:
        return lambda e, x: e.op(row.name, x if e.dtype == "bool" else e.cast(x, e.dtype))
    return lambda e, x, other: e.binary(row.name, x, other, e.common_dtype() if e.dtype == "bool" else e.dtype)


def same(e: TorchEmitter, x: Any) -> Any:
    """x itself: what the operator does has no meaning in a graph (copies, memory formats)."""
    return x
