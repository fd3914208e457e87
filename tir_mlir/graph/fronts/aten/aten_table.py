"""The table of torch's operators: name -> function of an emitter and the operator's arguments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter

Translation = Callable[..., Any]
TABLE: dict[str, Translation] = {}


def aten(*names: str) -> Callable[[Translation], Translation]:
    """Register a function for `aten.NAME`, of all overloads, or `aten.NAME.OVERLOAD`.

    Its parameters are the emitter and arguments of torch's schema by name, `self` and `input` as `x`. An argument that
    it does not take is refused unless it has its default.
    """

    def put(function: Translation) -> Translation:
        for name in names:
            TABLE[f"aten.{name}"] = function
        return function

    return put


def same(e: TorchEmitter, x: Any) -> Any:
    """x itself: what the operator does has no meaning in a graph (copies, memory formats)."""
    return x
