"""Normalizations. float16 and bfloat16 are computed in float32 and rounded once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from tir_mlir import te
from tir_mlir.topi.operands import (
    Axes,
    Elements,
    Ints,
    as_type,
    axes_of,
    axis_of,
    constant,
    describe_tensor,
    floats,
    integer,
    one_type,
    refuse,
    tensor,
    wide_type,
)
from tir_mlir.topi.reductions import operand_index, reduce_axes, reduced_shape
from tir_mlir.topi.sizes import are_equal, exact_quotient, total

if TYPE_CHECKING:
    from tir_mlir.te.tensor import ReductionValue

__all__ = ["batch_norm", "group_norm", "instance_norm", "layer_norm", "rms_norm"]


class _Rows:
    """The rows of a tensor of floats: the elements along some axes. `value`: an element in the wide type."""

    def __init__(self, x: te.Tensor, axes: Sequence[int]):
        self.x, self.axes, self.dtype = x, axes, wide_type(x.dtype)
        self.shape = reduced_shape(x.shape, axes, False)
        self.count = constant(total([x.shape[a] for a in axes]), self.dtype)

    def value(self, *index: te.Expr) -> te.Expr:
        return as_type(self.x(*index), self.x.dtype, self.dtype)

    def row(self, index: Sequence[te.Expr]) -> tuple[te.Expr, ...]:
        """The index of the row of an element."""
        return tuple(v for a, v in enumerate(index) if a not in self.axes)

    def total(self, function: Elements, name: str) -> te.Tensor:
        """For each row the sum of `function(value, index of the row)` of its elements."""
        sums = reduce_axes(self.x, self.axes)

        def element(*i: te.Expr) -> ReductionValue:
            return te.sum(function(self.value(*operand_index(self.x, i, sums)), i), axis=list(sums.values()))

        return te.compute(self.shape, element, name=name)

    def mean_and_squares(self, name: str) -> tuple[te.Tensor, te.Tensor]:
        """The mean of each row, and the sum of the squared distances to it."""
        added = self.total(lambda v, _: v, f"{name}_sum")
        middle = te.compute(self.shape, lambda *i: added(*i) / self.count, name=f"{name}_mean")
        return middle, self.total(lambda v, i: (v - middle(*i)) * (v - middle(*i)), f"{name}_var")


def layer_norm(
    data: te.Tensor, gamma: te.Tensor | None, beta: te.Tensor | None = None, axis: Ints = -1, epsilon: float = 1e-5
) -> te.Tensor:
    """(data - mean) / sqrt(variance + epsilon) * gamma + beta, with mean and variance over the axes.

    gamma, beta: of the shape of the normalized axes; each may be None.
    """
    name = "nn.layer_norm"
    x = floats(name, "data", data)
    axes = tuple(sorted(axes_of(name, axis, x.ndim)))
    parameters = _parameters(name, x, [x.shape[a] for a in axes], gamma=gamma, beta=beta)
    rows = _Rows(x, axes)
    return _normal(rows, epsilon, parameters, lambda i: tuple(i[a] for a in axes), "T_layer_norm")


def instance_norm(
    data: te.Tensor, gamma: te.Tensor | None, beta: te.Tensor | None = None, axis: Axes = None, epsilon: float = 1e-5
) -> te.Tensor:
    """(data - mean) / sqrt(variance + epsilon) * gamma + beta, for each sample and channel; channels are axis 1.

    axis: those of a channel, default all after it. gamma, beta: one element for each channel; each may be None.
    """
    name = "nn.instance_norm"
    x = floats(name, "data", data)
    axes = tuple(range(2, x.ndim)) if axis is None else tuple(sorted(axes_of(name, axis, x.ndim)))
    parameters = _parameters(name, x, [x.shape[axis_of(name, 1, x.ndim)]], gamma=gamma, beta=beta)
    return _normal(_Rows(x, axes), epsilon, parameters, lambda i: (i[1],), "T_instance_norm")


def _normal(
    rows: _Rows,
    epsilon: float,
    parameters: Sequence[te.Tensor | None],
    parameter_index: Callable[[Sequence[te.Expr]], Sequence[te.Expr]],
    name: str,
) -> te.Tensor:
    """The normalized elements; `parameter_index(index)`: the index of the parameters of an element."""
    x, dtype, (gamma, beta) = rows.x, rows.dtype, parameters
    middle, spread = rows.mean_and_squares(name)
    small = constant(epsilon, dtype)

    def element(*i: te.Expr) -> te.Expr:
        value = (rows.value(*i) - middle(*rows.row(i))) * te.rsqrt(spread(*rows.row(i)) / rows.count + small)
        value = value if gamma is None else value * as_type(gamma(*parameter_index(i)), x.dtype, dtype)
        value = value if beta is None else value + as_type(beta(*parameter_index(i)), x.dtype, dtype)
        return as_type(value, dtype, x.dtype)

    return te.compute(x.shape, element, name=name)


def _parameters(
    name: str, x: te.Tensor, shape: Sequence[te.Size], **parameters: te.Tensor | None
) -> list[te.Tensor | None]:
    """The parameters, each None or of the shape and the type of the data."""
    for what, value in parameters.items():
        if value is None:
            continue
        parameter = tensor(name, what, value)
        if parameter.ndim != len(shape) or not all(map(are_equal, parameter.shape, shape)):
            problem = f"{describe_tensor(what, parameter)} of {describe_tensor('data', x)}"
            shape_text = ", ".join(map(str, shape)) + "," * (len(shape) == 1)
            raise refuse(name, problem, f"pass {what} of the shape ({shape_text})")
        one_type(name, data=x, **{what: parameter})
    return list(parameters.values())


def rms_norm(data: te.Tensor, weight: te.Tensor, axis: Ints = -1, epsilon: float = 1e-5) -> te.Tensor:
    """data / sqrt(mean of squares + epsilon) * weight, over the axes. weight: of the shape of these axes."""
    name = "nn.rms_norm"
    x = floats(name, "data", data)
    axes = tuple(sorted(axes_of(name, axis, x.ndim)))
    (w,) = _parameters(name, x, [x.shape[a] for a in axes], weight=weight)
    rows = _Rows(x, axes)
    squares, small = rows.total(lambda v, _: v * v, "T_rms_norm_squares"), constant(epsilon, rows.dtype)

    def element(*i: te.Expr) -> te.Expr:
        value = rows.value(*i) * te.rsqrt(squares(*rows.row(i)) / rows.count + small)
        value = value if w is None else value * as_type(w(*(i[a] for a in axes)), x.dtype, rows.dtype)
        return as_type(value, rows.dtype, x.dtype)

    return te.compute(x.shape, element, name="T_rms_norm")


def group_norm(
    data: te.Tensor,
    gamma: te.Tensor | None,
    beta: te.Tensor | None,
    num_groups: int,
    channel_axis: int = 1,
    axes: Axes = None,
    epsilon: float = 1e-5,
) -> te.Tensor:
    """(data - mean) / sqrt(variance + epsilon) * gamma + beta, with mean and variance over groups of channels.

    axes: those reduced besides the channels, default all after them. gamma, beta: one element for each channel; each
    may be None.
    """
    name = "nn.group_norm"
    x, groups = floats(name, "data", data), integer(name, "num_groups", num_groups, 1)
    c = axis_of(name, channel_axis, x.ndim, "channel_axis")
    inner = tuple(range(c + 1, x.ndim)) if axes is None else tuple(sorted(axes_of(name, axes, x.ndim, "axes")))
    group_size = exact_quotient([x.shape[c]], [groups])
    if group_size is None:
        problem = f"{x.shape[c]} channels of {describe_tensor('data', x)} in {groups} groups"
        raise refuse(name, problem, "use a number of groups that divides the channels")
    gamma, beta = _parameters(name, x, [x.shape[c]], gamma=gamma, beta=beta)
    parts = (*x.shape[:c], groups, group_size, *x.shape[c + 1 :])
    split = te.compute(parts, lambda *i: x(*i[:c], i[c] * group_size + i[c + 1], *i[c + 2 :]), name="T_group_split")
    rows = _Rows(split, (c + 1, *(a + 1 for a in inner)))
    middle, spread = rows.mean_and_squares("T_group_norm")
    small = constant(epsilon, rows.dtype)

    def element(*i: te.Expr) -> te.Expr:
        row = rows.row((*i[:c], i[c] // group_size, i[c] % group_size, *i[c + 1 :]))
        value = as_type(x(*i), x.dtype, rows.dtype) - middle(*row)
        value = value * te.rsqrt(spread(*row) / rows.count + small)
        value = value if gamma is None else value * as_type(gamma(i[c]), x.dtype, rows.dtype)
        value = value if beta is None else value + as_type(beta(i[c]), x.dtype, rows.dtype)
        return as_type(value, rows.dtype, x.dtype)

    return te.compute(x.shape, element, name="T_group_norm")


def batch_norm(
    data: te.Tensor,
    gamma: te.Tensor,
    beta: te.Tensor,
    moving_mean: te.Tensor,
    moving_var: te.Tensor,
    axis: int = 1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
    training: bool = False,
    momentum: float = 0.1,
) -> list[te.Tensor]:
    """(data - moving_mean) / sqrt(moving_var + epsilon) * gamma + beta, along one axis, for inference.

    center, scale: whether beta and gamma are used. Returns the result, moving_mean and moving_var. momentum: ignored.
    """
    name = "nn.batch_norm"
    x = floats(name, "data", data)
    if training:
        raise refuse(name, "training=True", "call the model in inference mode (model.eval())")
    dim, wide = axis_of(name, axis, x.ndim), wide_type(x.dtype)
    parameters = {"gamma": gamma, "beta": beta, "moving_mean": moving_mean, "moving_var": moving_var}
    _parameters(name, x, [x.shape[dim]], **parameters)
    small = constant(epsilon, wide)

    def element(*i: te.Expr) -> te.Expr:
        def channel_parameter(t: te.Tensor) -> te.Expr:
            return as_type(t(i[dim]), x.dtype, wide)

        value = (as_type(x(*i), x.dtype, wide) - channel_parameter(moving_mean)) * te.rsqrt(
            channel_parameter(moving_var) + small
        )
        value = value * channel_parameter(gamma) if scale and gamma is not None else value
        value = value + channel_parameter(beta) if center and beta is not None else value
        return as_type(value, wide, x.dtype)

    return [te.compute(x.shape, element, name="T_batch_norm"), moving_mean, moving_var]
