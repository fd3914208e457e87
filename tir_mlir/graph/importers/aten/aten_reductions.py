"""Reductions over axes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.aten.aten_table import Translation, aten, in_float32
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.importers.emitter import Operand, axis_in

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


def _axes(x: Value, dim: Any) -> list[int]:
    """The axes as positive numbers; None and none: all."""
    dims = [dim] if isinstance(dim, int) else dim
    return [axis_in(d, len(x.shape)) for d in dims] if dims else list(range(len(x.shape)))


def _reduction(operator: str) -> Translation:
    def translate(e: TorchEmitter, x: Value, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Value:
        return e.op(operator, e.cast(x, e.dtype), axis=_axes(x, dim), keepdims=keepdim)

    return translate


aten("sum", "sum.dim_IntList")(_reduction("sum"))
aten("mean", "mean.dim")(_reduction("mean"))
aten("amax", "max.default")(_reduction("max"))
aten("amin", "min.default")(_reduction("min"))
aten("prod.default", "prod.dim_int")(_reduction("prod"))


@aten("any.default", "any.dim", "any.dims")
def any_of(e: TorchEmitter, x: Value, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Value:
    """Of uint8 it is uint8, as in torch."""
    return e.cast(e.op("any", e.cast(x, "bool"), axis=_axes(x, dim), keepdims=keepdim), e.dtype)


@aten("all.default", "all.dim", "all.dims")
def all_of(e: TorchEmitter, x: Value, dim: int | Sequence[int] | None = None, keepdim: bool = False) -> Value:
    return e.cast(e.op("all", e.cast(x, "bool"), axis=_axes(x, dim), keepdims=keepdim), e.dtype)


@aten("argmax")
def argmax(e: TorchEmitter, x: Operand, dim: int | None = None, keepdim: bool = False) -> Value:
    return _extremum_index(e, "argmax", x, dim, keepdim)


@aten("argmin")
def argmin(e: TorchEmitter, x: Operand, dim: int | None = None, keepdim: bool = False) -> Value:
    return _extremum_index(e, "argmin", x, dim, keepdim)


def _extremum_index(e: TorchEmitter, operator: str, x: Operand, dim: int | None, keepdim: bool) -> Value:
    if dim is None:
        position = e.op(operator, e.op("reshape", x, shape=(-1,)), axis=0)
        return e.reshape(e.cast(position, e.dtype), e.shape)
    return e.cast(e.op(operator, x, axis=dim, keepdims=keepdim), e.dtype)


@aten("max.dim")
def max_and_index(e: TorchEmitter, x: Operand, dim: int, keepdim: bool = False) -> list[Value]:
    return _extremum_and_index(e, "max", x, dim, keepdim)


@aten("min.dim")
def min_and_index(e: TorchEmitter, x: Operand, dim: int, keepdim: bool = False) -> list[Value]:
    return _extremum_and_index(e, "min", x, dim, keepdim)


def _extremum_and_index(e: TorchEmitter, kind: str, x: Operand, dim: int, keepdim: bool) -> list[Value]:
    indices = e.op(f"arg{kind}", x, axis=dim, keepdims=keepdim)
    return [e.op(kind, x, axis=[dim], keepdims=keepdim), e.cast(indices, "int64")]


def _squares(e: TorchEmitter, x: Any, dim: Any, correction: Any, keepdim: bool) -> tuple[Any, Any]:
    """The variance over axes, with the sum of squares divided by count - correction, and the mean (axes kept)."""
    axes = _axes(x, dim)
    middle = e.op("mean", x, axis=axes, keepdims=True)
    apart = e.op("subtract", x, middle)
    squares = e.op("multiply", apart, apart)
    if correction == 0:
        return e.op("mean", squares, axis=axes, keepdims=keepdim), middle
    count = 1
    for axis in axes:
        if not isinstance(x.shape[axis], int):
            raise GraphError(
                f"a corrected variance over {x.shape[axis]} elements, a size known only when the model runs\n"
                "  fix: use correction=0"
            )
        count *= x.shape[axis]
    return e.divide(e.op("sum", squares, axis=axes, keepdims=keepdim), max(count - correction, 0)), middle


def _correction(correction: Any, unbiased: bool | None) -> Any:
    if unbiased is not None:
        return int(unbiased)
    return 1 if correction is None else correction


@aten("var.correction", "var.dim", "var.default")
@in_float32
def variance(
    e: TorchEmitter, x: Any, dim: Any = None, correction: Any = None, unbiased: Any = None, keepdim: bool = False
) -> Any:
    return _squares(e, x, dim, _correction(correction, unbiased), keepdim)[0]


@aten("std.correction", "std.dim", "std.default")
@in_float32
def deviation(
    e: TorchEmitter, x: Any, dim: Any = None, correction: Any = None, unbiased: Any = None, keepdim: bool = False
) -> Value:
    return e.op("sqrt", _squares(e, x, dim, _correction(correction, unbiased), keepdim)[0])


@aten("var_mean.correction", "var_mean.dim", "var_mean.default")
@in_float32
def variance_and_mean(
    e: TorchEmitter, x: Value, dim: Any = None, correction: Any = None, unbiased: Any = None, keepdim: bool = False
) -> Any:
    spread, middle = _squares(e, x, dim, _correction(correction, unbiased), keepdim)
    return [spread, middle if keepdim else e.op("mean", x, axis=_axes(x, dim), keepdims=False)]


@aten("linalg_vector_norm", "norm.ScalarOpt_dim", "norm.Scalar")
@in_float32
def norm(
    e: TorchEmitter,
    x: Value,
    ord: int = 2,
    p: Any = None,
    dim: Sequence[int] | None = None,
    keepdim: bool = False,
    dtype: Any = None,
) -> Value:
    return vector_norm(e, e.cast(x, e.dtype), ord if p is None else p, _axes(x, dim), keepdim)


def vector_norm(e: TorchEmitter, x: Value, order: Any, axes: list[int], keepdim: bool) -> Value:
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
def running_product(e: TorchEmitter, x: Operand, dim: int, dtype: Any = None) -> Any:
    return e.op("cumprod", e.cast(x, e.dtype), axis=dim)


@aten("logcumsumexp")
def running_log_of_sum(e: TorchEmitter, x: Operand, dim: int) -> Value:
    return e.op("logcumsumexp", x, axis=dim)


@aten("cummax")
def running_maximum(e: TorchEmitter, x: Any, dim: int) -> Any:
    return list(e.op_results("cummax", x, axis=dim))


@aten("cummin")
def running_minimum(e: TorchEmitter, x: Any, dim: int) -> Any:
    return list(e.op_results("cummin", x, axis=dim))


@aten("cumsum")
def running_sum(e: TorchEmitter, x: Operand, dim: int, dtype: Any = None) -> Value:
    return e.op("cumsum", e.cast(x, e.dtype), axis=dim)
