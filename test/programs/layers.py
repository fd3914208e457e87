"""Layers of models: a product with what follows it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tir_mlir import te


def relu(x: Any) -> Any:
    return te.max(x, 0.0)


def dense(rows: int, columns: int, depth: int, after: Sequence[str] = (), turned: bool = True):
    """X @ W^T (`turned` unset: X @ W), and the blocks `after` it: "bias", "relu", "gelu", "add" (of R)."""
    x = te.placeholder((rows, depth), name="X")
    w = te.placeholder((columns, depth) if turned else (depth, columns), name="W")
    k = te.reduce_axis((0, depth), name="k")
    y = te.compute(
        (rows, columns), lambda i, j: te.sum(x[i, k] * (w[j, k] if turned else w[k, j]), axis=k), name="dense"
    )
    y, more = chain(y, after)
    return te.create_prim_func([x, w, *more, y])


def chain(y: Any, after: Sequence[str], axis: int = -1) -> tuple[Any, list]:
    """The blocks after a tensor; the bias is along an axis. Returns the result and the parameters added."""
    more = []
    for name in after:
        if name == "bias":
            b = te.placeholder((y.shape[axis],), name="B")
            more.append(b)
            y = te.compute(y.shape, _of(y, lambda v, *i, b=b: v + b[i[axis]]), name="bias")
        elif name == "add":
            r = te.placeholder(y.shape, name="R")
            more.append(r)
            y = te.compute(y.shape, _of(y, lambda v, *i, r=r: v + r[i]), name="add")
        elif name == "relu":
            y = te.compute(y.shape, _of(y, lambda v, *i: relu(v)), name="relu")
        else:
            y = te.compute(y.shape, _of(y, lambda v, *i: 0.5 * v * (te.erf(v * 0.70710678) + 1.0)), name="gelu")
    return y, more


def _of(y: Any, f: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *i: f(y[i], *i)
