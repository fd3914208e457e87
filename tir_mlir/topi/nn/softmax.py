"""Softmax along an axis. float16 and bfloat16 are computed in float32 and rounded once."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.topi.operands import as_type, axis_of, floats, wide_type

__all__ = ["log_softmax", "softmax"]


def softmax(x: Any, axis: int = -1) -> te.Tensor:
    """exp(x - max) / sum of it, along one axis: numbers from 0 to 1 whose sum is 1.

    x: floats, of any shape -> the same shape and type; axis: along which it is computed, default the last. Three
    blocks: the maximum, the exponentials and their sum, and the quotient.
    """
    operand = floats("nn.softmax", "x", x)
    axis, wide = axis_of("nn.softmax", axis, operand.ndim), wide_type(operand.dtype)
    top, power, total = _stages(operand, axis, wide)
    del top

    def element(*i: Any) -> Any:
        return as_type(power(*i) / total(*_row(i, axis)), wide, operand.dtype)

    return te.compute(operand.shape, element, name="T_softmax_norm")


def log_softmax(x: Any, axis: int = -1) -> te.Tensor:
    """x - max - log(sum(exp(x - max))), along one axis: the logarithm of `softmax`, without overflow.

    x: floats, of any shape -> the same shape and type; axis: along which it is computed, default the last.
    """
    operand = floats("nn.log_softmax", "x", x)
    axis, wide = axis_of("nn.log_softmax", axis, operand.ndim), wide_type(operand.dtype)
    top, _, total = _stages(operand, axis, wide)
    logs = te.compute(total.shape, lambda *i: te.log(total(*i)), name="T_log_sum")

    def element(*i: Any) -> Any:
        value = as_type(operand(*i), operand.dtype, wide) - top(*_row(i, axis)) - logs(*_row(i, axis))
        return as_type(value, wide, operand.dtype)

    return te.compute(operand.shape, element, name="T_log_softmax")


def _row(index: Any, axis: int) -> tuple[Any, ...]:
    return (*index[:axis], *index[axis + 1 :])


def _stages(x: te.Tensor, axis: int, wide: str) -> tuple[te.Tensor, te.Tensor, te.Tensor]:
    """The maximum of each row, the exponentials, and their sums."""
    rows = _row(x.shape, axis)
    k, m = (te.reduce_axis((0, x.shape[axis]), name="k") for _ in range(2))

    def full_index(index: Any, r: Any) -> tuple[Any, ...]:
        return (*index[:axis], r, *index[axis:])

    def value(*i: Any) -> Any:
        return as_type(x(*i), x.dtype, wide)

    top = te.compute(rows, lambda *i: te.max(value(*full_index(i, k)), axis=k), name="T_softmax_maxelem")
    power = te.compute(x.shape, lambda *i: te.exp(value(*i) - top(*_row(i, axis))), name="T_softmax_exp")
    total = te.compute(rows, lambda *i: te.sum(power(*full_index(i, m)), axis=m), name="T_softmax_expsum")
    return top, power, total
