"""Reductions: `te.sum(A[i, k], axis=k)`, and reducers of one's own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from tir_mlir.te.expr import Expr, lift, word
from tir_mlir.te.places import refuse

if TYPE_CHECKING:
    from tir_mlir.te.tensor import IterVar

Combine = Callable[..., Any]


class Reduction:
    """All values of an expression over some axes, combined to one. It is the whole value of a `te.compute`."""

    is_reduction = True

    def __init__(self, reducer: Reducer, sources: list[Expr], axis: tuple[IterVar, ...], where: Any, init: Any):
        self.reducer = reducer
        self.sources = sources
        self.axis = axis
        self.conditions = [] if where is None else [lift(where)]
        starts = [] if init is None else list(init) if isinstance(init, (tuple, list)) else [init]
        self.inits = [lift(s) for s in starts]
        if self.inits and len(self.inits) != len(sources):
            raise refuse(f"{reducer.name}: {len(self.inits)} start values for {len(sources)} values")

    def _alone(self, *_: Any) -> NoReturn:
        raise refuse("a reduction stands alone in its te.compute: put what is done with its result into another one")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _alone
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __pow__ = __lt__ = __le__ = __gt__ = __ge__ = _alone
    __bool__ = __iter__ = __getitem__ = astype = element = tir_call = _alone


class Reducer:
    """A way to combine values: what combines two, and the value that changes nothing."""

    def __init__(self, name: str, fcombine: Combine, fidentity: Callable[..., Any]):
        self.name = name
        self.__name__ = name
        self._fcombine = fcombine
        self._fidentity = fidentity

    def __call__(self, expr: Any, axis: Any = None, where: Any = None, init: Any = None, *more: Any) -> Any:
        """Over `axis` (one or several reduce axes) a Reduction; of plain values, those values combined.

        where: a condition, without which a point does not count. init: what the result starts from, in place of the
        value that changes nothing.
        """
        from tir_mlir.te.tensor import IterVar

        axes = tuple(axis) if isinstance(axis, (tuple, list)) else (axis,)
        if all(isinstance(a, IterVar) for a in axes) and axes:
            return self._reduction(expr, axes, where, init)
        others = [v for v in (axis, where, init, *more) if v is not None]
        if any(isinstance(v, (tuple, list)) for v in others) or not others:
            raise refuse(f"te.{self.name} needs an axis: te.{self.name}(x, axis=k) with k = te.reduce_axis((0, n))")
        return functools.reduce(lambda a, b: self.combine([a], [b])[0], [lift(v) for v in (expr, *others)])

    def _reduction(self, expr: Any, axes: tuple[Any, ...], where: Any, init: Any) -> Reduction:
        for axis in axes:
            if not axis.is_reduce:
                raise refuse(f"te.{self.name} goes over reduce axes; {axis.name} is an axis of the result")
        if len({a.key for a in axes}) != len(axes):
            raise refuse(f"te.{self.name} has an axis twice")
        if isinstance(expr, Reduction):
            raise refuse(f"te.{self.name} of a reduction: reduce over several axes at once, axis=[k, l]")
        sources = [lift(e) for e in (expr if isinstance(expr, (tuple, list)) else [expr])]
        return Reduction(self, sources, axes, where, init)

    def combine(self, left: Sequence[Expr], right: Sequence[Expr]) -> list[Expr]:
        """The two sides of a combination as expressions: one a value."""
        several = len(left) > 1
        made = self._fcombine(tuple(left), tuple(right)) if several else self._fcombine(left[0], right[0])
        return self._checked(made, len(left), "fcombine")

    def identity(self, types: Sequence[str]) -> list[Expr]:
        """The value that changes nothing, of each type."""
        return self._checked(self._fidentity(*types), len(types), "fidentity")

    def _checked(self, made: Any, count: int, what: str) -> list[Expr]:
        values = list(made) if isinstance(made, (tuple, list)) else [made]
        if len(values) != count:
            raise refuse(f"{self.name}: {what} gives {len(values)} values where {count} are reduced")
        return [lift(v) for v in values]

    def __repr__(self) -> str:
        return f"te.{self.name}"


def comm_reducer(fcombine: Combine, fidentity: Callable[..., Any], name: str = "reduce") -> Reducer:
    """A reducer of one's own.

        argmax = te.comm_reducer(
            lambda x, y: (te.Select(x[1] >= y[1], x[0], y[0]), te.Select(x[1] >= y[1], x[1], y[1])),
            lambda t0, t1: (tvm.tir.const(-1, t0), te.min_value(t1)), name="argmax")

    fcombine must be associative and commutative: the order of a reduction is free.
    """
    if not callable(fcombine) or not callable(fidentity):
        raise refuse("te.comm_reducer takes two functions: what combines two values, and what makes the start value")
    return Reducer(name, fcombine, fidentity)


sum = Reducer("sum", lambda x, y: x + y, lambda t: word(t, 0))
prod = Reducer("prod", lambda x, y: x * y, lambda t: word(t, 1))
max = Reducer("max", lambda x, y: word("max", x, y), lambda t: word("min_value", t))
min = Reducer("min", lambda x, y: word("min", x, y), lambda t: word("max_value", t))
