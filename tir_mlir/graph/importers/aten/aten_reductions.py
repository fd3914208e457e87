"""Reductions over axes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.aten.aten_table import Translation, aten, in_float32
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.importers.emitter import OneOrEach, axis_in, known_sizes

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


def _axes(x: Value, dim: OneOrEach | None) -> list[int]:
    """The axes as positive numbers; None and none: all."""
    dims = [dim] if isinstance(dim, int) else dim
    return [axis_in(d, len(x.shape)) for d in dims] if dims else list(range(len(x.shape)))


def _reduction(operator: str) -> Translation:
    def translate(
        e: TorchEmitter, x: Value, dim: OneOrEach | None = None, keepdim: bool = False, dtype: str | None = None
    ) -> Value:
        return e.op(operator, e.cast(x, e.dtype), axis=_axes(x, dim), keepdims=keepdim)

    return translate


aten("sum", "sum.dim_IntList")(_reduction("sum"))
aten("mean", "mean.dim")(_reduction("mean"))
aten("amax", "max.default")(_reduction("max"))
aten("amin", "min.default")(_reduction("min"))
aten("prod.default", "prod.dim_int")(_reduction("prod"))


def _test(operator: str) -> Translation:
    """Of uint8 it is uint8, as in torch."""

    def translate(e: TorchEmitter, x: Value, dim: OneOrEach | None = None, keepdim: bool = False) -> Value:
        return e.cast(e.op(operator, e.cast(x, "bool"), axis=_axes(x, dim), keepdims=keepdim), e.dtype)

    return translate


def _extremum_index(operator: str) -> Translation:
    def translate(e: TorchEmitter, x: Value, dim: int | None = None, keepdim: bool = False) -> Value:
        if dim is None:
            position = e.op(operator, e.op("reshape", x, shape=(-1,)), axis=0)
            return e.reshape(e.cast(position, e.dtype), e.shape)
        return e.cast(e.op(operator, x, axis=dim, keepdims=keepdim), e.dtype)

    return translate


def _extremum_and_index(kind: str) -> Translation:
    def translate(e: TorchEmitter, x: Value, dim: int, keepdim: bool = False) -> list[Value]:
        indices = e.op(f"arg{kind}", x, axis=dim, keepdims=keepdim)
        return [e.op(kind, x, axis=[dim], keepdims=keepdim), e.cast(indices, "int64")]

    return translate


def _running_extremum(operator: str) -> Translation:
    return lambda e, x, dim: e.op_results(operator, x, axis=dim)


for _name in ("any", "all"):
    aten(f"{_name}.default", f"{_name}.dim", f"{_name}.dims")(_test(_name))
for _name in ("max", "min"):
    aten(f"arg{_name}")(_extremum_index(f"arg{_name}"))
    aten(f"{_name}.dim")(_extremum_and_index(_name))
    aten(f"cum{_name}")(_running_extremum(f"cum{_name}"))


def _squares(e: TorchEmitter, x: Value, dim: OneOrEach | None, correction: float, keepdim: bool) -> tuple[Value, Value]:
    """The variance over axes, with the sum of squares divided by count - correction, and the mean (axes kept)."""
    axes = _axes(x, dim)
    middle = e.op("mean", x, axis=axes, keepdims=True)
    apart = e.op("subtract", x, middle)
    squares = e.op("multiply", apart, apart)
    if correction == 0:
        return e.op("mean", squares, axis=axes, keepdims=keepdim), middle
    shape = [x.shape[axis] for axis in axes]
    if (sizes := known_sizes(shape)) is None:
        named = next(size for size in shape if isinstance(size, str))
        raise GraphError(
            f"a corrected variance over {named} elements, a size known only when the model runs\n"
            "  fix: use correction=0"
        )
    count = max(math.prod(sizes) - correction, 0)
    return e.divide(e.op("sum", squares, axis=axes, keepdims=keepdim), count), middle


def _spread(kind: str) -> Translation:
    """The variance over axes ("var"), its root ("std"), or the variance and the mean ("var_mean")."""

    def translate(
        e: TorchEmitter,
        x: Value,
        dim: OneOrEach | None = None,
        correction: float | None = None,
        unbiased: bool | None = None,
        keepdim: bool = False,
    ) -> Value | list[Value]:
        less = int(unbiased) if unbiased is not None else 1 if correction is None else correction
        variance, middle = _squares(e, x, dim, less, keepdim)
        if kind == "var_mean":
            return [variance, middle if keepdim else e.op("mean", x, axis=_axes(x, dim), keepdims=False)]
        return variance if kind == "var" else e.op("sqrt", variance)

    return in_float32(translate)


for _name in ("var", "std", "var_mean"):
    aten(f"{_name}.correction", f"{_name}.dim", f"{_name}.default")(_spread(_name))


@aten("linalg_vector_norm", "norm.ScalarOpt_dim", "norm.Scalar")
@in_float32
def norm(
    e: TorchEmitter,
    x: Value,
    ord: float = 2,
    p: float | None = None,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: str | None = None,
) -> Value:
    return vector_norm(e, e.cast(x, e.dtype), ord if p is None else p, _axes(x, dim), keepdim)


def vector_norm(e: TorchEmitter, x: Value, order: float, axes: list[int], keepdim: bool) -> Value:
    """The norm of an order over axes: the sum of powers to 1 / order; 0: how many elements differ from 0."""
    if order == 2:
        return e.op("sqrt", e.op("sum", e.op("multiply", x, x), axis=axes, keepdims=keepdim))
    if order == 0:
        differ = e.cast(e.binary("not_equal", x, 0, x.dtype), x.dtype)
        return e.op("sum", differ, axis=axes, keepdims=keepdim)
    kind = {1: "sum", float("inf"): "max", float("-inf"): "min"}.get(order)
    if kind is not None:
        return e.op(kind, e.op("abs", x), axis=axes, keepdims=keepdim)
    total = e.op("sum", e.binary("power", e.op("abs", x), float(order), x.dtype), axis=axes, keepdims=keepdim)
    return e.binary("power", total, 1 / order, x.dtype)


@aten("logsumexp")
@in_float32
def log_of_sum(e: TorchEmitter, x: Value, dim: Sequence[int], keepdim: bool = False) -> Value:
    return e.log_sum_exp(e.cast(x, e.dtype), _axes(x, dim), keepdim)


@aten("cumprod")
def running_product(e: TorchEmitter, x: Value, dim: int, dtype: str | None = None) -> Value:
    return e.op("cumprod", e.cast(x, e.dtype), axis=dim)


@aten("logcumsumexp")
def running_log_of_sum(e: TorchEmitter, x: Value, dim: int) -> Value:
    return e.op("logcumsumexp", x, axis=dim)


@aten("cumsum")
def running_sum(e: TorchEmitter, x: Value, dim: int, dtype: str | None = None) -> Value:
    return e.op("cumsum", e.cast(x, e.dtype), axis=dim)
