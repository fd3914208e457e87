"""Softmax along an axis."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.topi.operands import axis_of, floats


def softmax(x: Any, axis: int = -1) -> te.Tensor:
    """exp(x - max) / sum of it, along one axis."""
    given = floats("nn.softmax", "x", x)
    axis = axis_of("nn.softmax", axis, given.ndim)
    top, power, total = _stages(given, axis)
    return te.compute(given.shape, lambda *i: power(*i) / total(*_row(i, axis)), name="T_softmax_norm")


def _row(index: Any, axis: int) -> tuple[Any, ...]:
    return (*index[:axis], *index[axis + 1 :])


def _stages(x: te.Tensor, axis: int) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    """The maximum of each row, the exponentials, and their sums."""
    rows = _row(x.shape, axis)
    k, m = (te.reduce_axis((0, x.shape[axis]), name="k") for _ in range(2))

    def at(index: Any, r: Any) -> tuple[Any, ...]:
        return (*index[:axis], r, *index[axis:])

    top = te.compute(rows, lambda *i: te.max(x(*at(i, k)), axis=k), name="T_softmax_maxelem")
    power = te.compute(x.shape, lambda *i: te.exp(x(*i) - top(*_row(i, axis))), name="T_softmax_exp")
    total = te.compute(rows, lambda *i: te.sum(power(*at(i, m)), axis=m), name="T_softmax_expsum")
    return top, power, total
