"""Ranges of numbers whose begin, step or length are sizes."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.graph.fronts.emitter import Emitter


def sized_range(e: Emitter, begin: Any, count: Any, step: Any, dtype: str, name: str) -> Any:
    """begin, begin + step, .., `count` of them: numbers or te expressions of sizes.

    A function knows the sizes of its operands only: those inputs of the graph that have them are operands.
    """
    texts = [str(e.builder.sizes.text(v)) for v in (begin, count, step) if isinstance(v, te.Expr)]

    def arange(_: Any) -> te.Tensor:
        return te.compute((count,), lambda i: _typed(begin, dtype) + _typed(i, dtype) * step, name="arange")

    return e.builder.call_te(arange, e.carriers(texts), name_hint=name)


def _typed(value: Any, dtype: str) -> Any:
    return value.astype(dtype) if isinstance(value, te.Expr) else value
