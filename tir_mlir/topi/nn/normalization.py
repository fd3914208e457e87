"""Normalizations of rows."""

from __future__ import annotations

from typing import Any

from tir_mlir import te
from tir_mlir.topi.operands import axes_of, constant, described, floats, one_type, refuse, tensor
from tir_mlir.topi.reductions import placed, reduce_axes, reduced_shape
from tir_mlir.topi.sizes import same, total


def layer_norm(data: Any, gamma: Any, beta: Any = None, axis: Any = -1, epsilon: float = 1e-5) -> te.Tensor:
    """(data - mean) / sqrt(variance + epsilon) * gamma + beta, with mean and variance over the axes.

    gamma, beta: of the shape of the normalized axes; beta may be None.
    """
    name = "nn.layer_norm"
    x = floats(name, "data", data)
    axes = tuple(sorted(axes_of(name, axis, x.ndim)))
    for what, value in (("gamma", gamma), ("beta", beta)):
        if what == "gamma" or value is not None:
            _check_parameter(name, what, tensor(name, what, value), x, axes)
    rows = reduced_shape(x.shape, axes, False)
    row = lambda i: tuple(v for a, v in enumerate(i) if a not in axes)  # noqa: E731
    count = constant(total([x.shape[a] for a in axes]), x.dtype)
    one, two = reduce_axes(x, axes), reduce_axes(x, axes)
    added = te.compute(rows, lambda *i: te.sum(x(*placed(x, i, one)), axis=list(one.values())), name="T_layer_norm_sum")
    middle = te.compute(rows, lambda *i: added(*i) / count, name="T_layer_norm_mean")

    def squared(*i: Any) -> Any:
        apart = x(*placed(x, i, two)) - middle(*i)
        return te.sum(apart * apart, axis=list(two.values()))

    spread = te.compute(rows, squared, name="T_layer_norm_var")
    small = constant(epsilon, x.dtype)

    def normal(*i: Any) -> Any:
        inner = tuple(i[a] for a in axes)
        value = (x(*i) - middle(*row(i))) * te.rsqrt(spread(*row(i)) / count + small) * gamma(*inner)
        return value if beta is None else value + beta(*inner)

    return te.compute(x.shape, normal, name="T_layer_norm")


def _check_parameter(name: str, what: str, value: te.Tensor, x: te.Tensor, axes: tuple[int, ...]) -> None:
    wanted = [x.shape[a] for a in axes]
    if value.ndim != len(wanted) or not all(same(a, b) for a, b in zip(value.shape, wanted, strict=True)):
        raise refuse(
            name,
            f"{described(what, value)} for axes {list(axes)} of {described('data', x)}",
            f"pass {what} of the shape of these axes",
        )
    one_type(name, data=x, **{what: value})
