"""`te.update`: a tensor with some of its elements replaced, at positions that may be data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.te.expr import lift, subscript
from tir_mlir.te.source_location import refuse
from tir_mlir.te.tensor import ComputeOp, IterVar, Tensor, checked_name, checked_shape


class UpdateOp(ComputeOp):
    """The operation of a tensor that is a copy of `data`, with `result[where] = value` at the points of `axis`."""

    def __init__(self, name: str, data: Tensor, axis: tuple[IterVar, ...], function: Callable[..., Any]):
        self.data = data
        self.copy_axis = tuple(IterVar(f"i{n}", 0, extent, False) for n, extent in enumerate(data.shape))
        result = Tensor(data.shape, data.dtype, name, self)
        returned = function(*axis)
        if not isinstance(returned, tuple) or len(returned) not in (2, 3):
            raise refuse(f"te.update of {name}: the function returns (where, value) or (where, value, condition)")
        where, value, condition = returned if len(returned) == 3 else (*returned, None)
        index = where if isinstance(where, (tuple, list)) else (where,)
        if len(index) != data.ndim:
            raise refuse(
                f"te.update of {name}: {len(index)} indices of an element, but {data.name} has {data.ndim} axes"
            )
        self.where = tuple(lift(i) for i in index)
        self.condition = None if condition is None else lift(condition)
        old = subscript(result.key, result, self.where) if data.ndim else result.element()
        super().__init__(name, "", {}, axis, [lift(value(old) if callable(value) else value)])
        if self.tensors[0].dtype != data.dtype:
            raise refuse(
                f"te.update of {name}: a value of {self.tensors[0].dtype} in a tensor of {data.dtype}: cast it"
            )
        self.tensors = [result]
        self.input_tensors = [data, *(t for t in self.input_tensors if t is not result and t is not data)]

    def _leaves(self) -> dict[str, Any]:
        leaves = super()._leaves()
        for expr in (*self.where, *([] if self.condition is None else [self.condition])):
            leaves |= expr.leaves
        return leaves


def update(
    data: Tensor, shape: Any, function: Callable[..., Any], ordered: int | None = None, name: str = "update"
) -> Tensor:
    """A copy of `data` with elements replaced: for each point of `shape`, in order, `result[where] = value`.

        rows = te.update(X, (3, 64), lambda p, j: ((P[p], j), U[p, j], te.all(P[p] >= 0, P[p] < n)))

    function: takes one index per axis of `shape`; returns the index of the element (a tuple), the value, or a function
    of the old element that returns it, and optionally a condition without which nothing is written. Where indices are
    data, they have to be within the shape, or the condition has to say so. ordered: that many axes, the first ones, may
    write one element more than once: the last value remains; the others are independent. Default: all.
    """
    if not isinstance(data, Tensor):
        raise refuse(f"te.update takes a tensor, not {short_repr(data)}")
    box = checked_shape(shape)
    count = len(box) if ordered is None else ordered
    axis = tuple(IterVar(f"p{n}", 0, e, False, n < count) for n, e in enumerate(box))
    op = UpdateOp(checked_name(name), data, axis, function)
    return op.output(0)
