"""Tensors, axes and reducers, and the operations that define tensors: `te.placeholder` and `te.compute`."""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, overload

import numpy as np

from tir_mlir.dialect.diagnostics import short_repr
from tir_mlir.dialect.ir import dtypes
from tir_mlir.te.expr import Expr, ExprLike, Shape, Size, Var, dtypes_of, fresh_key, lift, subscript, t_call
from tir_mlir.te.source_location import refuse, set_location

if TYPE_CHECKING:
    from tir_mlir.te.expr import Leaf
    from tir_mlir.te.statements import StatementsOp

    Operation: TypeAlias = "PlaceholderOp | ComputeOp | StatementsOp"

Values: TypeAlias = ExprLike | Sequence[ExprLike]
"""What a function of elements returns: a value, or several."""


class Range:
    """The values `[min, min + extent)` of an axis."""

    def __init__(self, low: Size, extent: Size):
        self.min = low
        self.extent = extent

    def __repr__(self) -> str:
        return f"range(min={self.min}, ext={self.extent})"


class IterVar(Var):
    """An axis: of a tensor (spatial), of a reduction, or ordered: of updates that happen one after the other."""

    def __init__(self, name: str, low: Size, extent: Size, is_reduce: bool, is_ordered: bool = False):
        super().__init__(name)
        self.dom = Range(low, extent)
        self.is_reduce = is_reduce
        self.is_ordered = is_ordered

    @property
    def var(self) -> IterVar:
        """The axis as a variable: itself."""
        return self


def reduce_axis(dom: Sequence[Size], name: str = "rv", **_: object) -> IterVar:
    """A reduction axis over [begin, end): `k = te.reduce_axis((0, 128), name="k")`.

    The body of a `te.compute` uses it as an index, `te.sum(A[i, k] * B[k, j], axis=k)`; each axis becomes a loop and a
    reduction iter of that name. The bounds are numbers or expressions of sizes. Refused: an end below the begin.
    """
    if not isinstance(dom, (tuple, list)) or len(dom) != 2:
        raise refuse(
            f"te.reduce_axis takes (begin, end): te.reduce_axis((0, 128), name={short_repr(name)}), "
            f"not {short_repr(dom)}"
        )
    low, high = (_extent(d, "the bound of a reduce axis") for d in dom)
    extent = high if isinstance(low, int) and low == 0 else high - low
    if isinstance(extent, int) and extent < 0:
        raise refuse(f"te.reduce_axis({short_repr(dom)}): the end is less than the begin")
    return IterVar(checked_name(name), low, extent, True)


class Tensor:
    """The result of an operation. `A[i, j]` is an element, as an expression."""

    def __init__(self, shape: tuple[Size, ...], dtype: str, name: str, op: Operation, value_index: int = 0):
        self.shape = shape
        self.dtype = dtype
        self.name = name
        self.op = op
        self.value_index = value_index
        self.key = fresh_key()

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @overload
    def __getitem__(self, indices: tuple[ExprLike, ...]) -> Expr: ...
    @overload
    def __getitem__(self, indices: ExprLike) -> Any: ...  # an Expr of a tensor of one axis; else of some of its indices
    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> Expr | PartialIndex:
        index_tuple = indices if isinstance(indices, tuple) else (indices,)
        if len(index_tuple) > self.ndim:
            raise refuse(f"{self.name} has {self.ndim} axes but {len(index_tuple)} indices are given")
        if any(isinstance(i, slice) for i in index_tuple):
            raise refuse(f"a tensor is indexed by single elements: {self.name} cannot be sliced")
        return (
            subscript(self.key, self, index_tuple) if len(index_tuple) == self.ndim else PartialIndex(self, index_tuple)
        )

    def __call__(self, *indices: ExprLike) -> Expr:
        if len(indices) != self.ndim:
            raise refuse(f"{self.name} has {self.ndim} axes but {len(indices)} indices are given")
        return subscript(self.key, self, indices) if self.ndim else self.element()

    def element(self) -> Expr:
        """The only element of a 0-d tensor."""
        if self.ndim:
            raise refuse(f"{self.name} has {self.ndim} axes: a value is one element of it, {self.name}[...]")
        return subscript(self.key, self, ())

    def __repr__(self) -> str:
        return f"Tensor(shape={list(self.shape)}, op.name={self.op.name})"


class PartialIndex:
    """A tensor with some of its indices: `A[i]` of `A[i][j]`."""

    def __init__(self, tensor: Tensor, indices: tuple[ExprLike, ...]):
        self._tensor = tensor
        self._indices = indices

    def __getitem__(self, indices: ExprLike | tuple[ExprLike, ...]) -> Expr | PartialIndex:
        return self._tensor[(*self._indices, *(indices if isinstance(indices, tuple) else (indices,)))]

    def element(self) -> Expr:
        tensor = self._tensor
        raise refuse(f"{tensor.name} has {tensor.ndim} axes but {len(self._indices)} indices are given")


def _arithmetic(name: str) -> Callable[..., Expr]:
    def method(self: Tensor | PartialIndex, *others: ExprLike) -> Expr:
        return getattr(self.element(), name)(*others)

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod"):
    for _method in (f"__{_name}__", f"__r{_name}__"):
        setattr(Tensor, _method, _arithmetic(_method))
        setattr(PartialIndex, _method, _arithmetic(_method))


class PlaceholderOp:
    """The operation of an input tensor, as `A.op` where `A = te.placeholder((8, 8))`: it has no axes and no inputs,
    only a name, a shape and a type.
    """

    axis: tuple[IterVar, ...] = ()
    reduce_axis: tuple[IterVar, ...] = ()

    def __init__(self, name: str, shape: tuple[Size, ...], dtype: str):
        self.name = name
        self.shape = shape
        self.dtype = dtype
        self.tensors = [Tensor(shape, dtype, name, self)]
        self.input_tensors: list[Tensor] = []

    def output(self, index: int) -> Tensor:
        """The output tensor at an index."""
        return self.tensors[index]


class ComputeOp:
    """The operation of computed tensors: expressions, or one reduction, over the points of a shape."""

    def __init__(
        self,
        name: str,
        tag: str,
        attrs: Mapping[str, object],
        axis: tuple[IterVar, ...],
        body: Reduction | Sequence[Expr],
    ):
        self.name = name
        self.tag = tag
        self.attrs = attrs
        self.axis = axis
        self.reduction: Reduction | None = body if isinstance(body, Reduction) else None
        self.body: list[Expr] = list(body.sources) if isinstance(body, Reduction) else list(body)
        self.reduce_axis: tuple[IterVar, ...] = () if self.reduction is None else self.reduction.axis
        self.location = set_location(ast.Pass())
        leaves = self._leaves()
        self.input_tensors = [leaf for leaf in leaves.values() if isinstance(leaf, Tensor)]
        self.variables = {k: v for k, v in leaves.items() if isinstance(v, Var) and not isinstance(v, IterVar)}
        self._check(leaves)
        several = len(self.body) > 1
        shape = tuple(a.dom.extent for a in axis)
        names = [f"{name}.v{n}" if several else name for n in range(len(self.body))]
        types = dtypes_of(self.body)
        self.tensors = [
            Tensor(shape, t, n, self, position) for position, (n, t) in enumerate(zip(names, types, strict=True))
        ]

    def output(self, index: int) -> Tensor:
        """The output tensor at an index."""
        return self.tensors[index]

    def _leaves(self) -> dict[str, Leaf]:
        leaves: dict[str, Leaf] = {}
        conditions = [] if self.reduction is None else [*self.reduction.conditions, *self.reduction.inits]
        for expr in (*self.body, *conditions):
            leaves |= expr.leaves
        return leaves

    def _check(self, leaves: Mapping[str, Leaf]) -> None:
        """Check that only axes of this operation occur in it."""
        for leaf in leaves.values():
            if not isinstance(leaf, IterVar) or any(leaf is a for a in (*self.axis, *self.reduce_axis)):
                continue
            if leaf.is_reduce:
                raise refuse(
                    f"{self.name} uses the reduce axis {leaf.name} outside a reduction over it: "
                    f"te.sum(..., axis={leaf.name})"
                )
            raise refuse(f"{self.name} uses the axis {leaf.name} of another te.compute")


def placeholder(shape: Shape, dtype: str | None = None, name: str = "placeholder") -> Tensor:
    """An input tensor, a parameter of the function.

    shape: ints, `te.var` variables or expressions of them. dtype: "float32" by default.
    """
    return PlaceholderOp(checked_name(name), checked_shape(shape), _dtype(dtype or "float32")).tensors[0]


@overload
def compute(
    shape: Shape,
    fcompute: Callable[..., ExprLike | ReductionValue],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, object] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Tensor: ...
@overload
def compute(
    shape: Shape,
    fcompute: Callable[..., TupleReduction | Sequence[ExprLike]],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, object] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> tuple[Tensor, ...]: ...
def compute(
    shape: Shape,
    fcompute: Callable[..., Values | Reduction],
    name: str = "compute",
    tag: str = "",
    attrs: Mapping[str, object] | None = None,
    varargs_names: Sequence[str] | None = None,
) -> Tensor | tuple[Tensor, ...]:
    """A tensor computed element by element: `te.compute((n, m), lambda i, j: A[i, j] + 1.0)`.

    fcompute: takes one index per axis (or `*indices`); returns an expression, a reduction (`te.sum(..., axis=k)`), or a
    tuple of expressions, for which the result is a tuple of tensors.
    tag: accepted for compatibility; ignored. attrs: annotations of the block.
    Raises ScriptError at the line of the expression.
    """
    box, name = checked_shape(shape), checked_name(name)
    names = _axis_names(fcompute, len(box), varargs_names)
    axis = tuple(IterVar(n, 0, extent, False) for n, extent in zip(names, box, strict=True))
    try:
        body = fcompute(*axis)
    except (TypeError, AttributeError) as error:
        raise refuse(f"te.compute of {name}: the function failed on its indices: {error}") from error
    several = isinstance(body, (tuple, list, TupleReduction))
    if not isinstance(body, Reduction):
        values = list(body) if isinstance(body, (tuple, list)) else [body]
        if not values:
            raise refuse(f"te.compute of {name}: the function returns no value")
        if any(isinstance(v, Reduction) for v in values):
            raise refuse(f"te.compute of {name}: a tuple of reductions is one reduction over a tuple: te.comm_reducer")
        body = [lift(v) for v in values]
    op = ComputeOp(name, tag, dict(attrs or {}), axis, body)
    return tuple(op.tensors) if several else op.tensors[0]


def _axis_names(fcompute: Callable[..., object], ndim: int, varargs_names: Sequence[str] | None) -> list[str]:
    """The names of the function's parameters, and i0, i1, ... for those of `*indices`."""
    if not callable(fcompute):
        raise refuse(f"te.compute takes a function of the indices: lambda i, j: ..., not {short_repr(fcompute)}")
    try:
        kinds = list(inspect.signature(fcompute).parameters.values())
    except (TypeError, ValueError):
        raise refuse(f"te.compute: {short_repr(fcompute)} has no inspectable signature; write a lambda") from None
    plain = [p.name for p in kinds if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) and p.default is p.empty]
    open_ended = any(p.kind is p.VAR_POSITIONAL for p in kinds)
    if (len(plain) != ndim and not open_ended) or len(plain) > ndim:
        raise refuse(
            f"te.compute: the shape has {ndim} axes but the function takes {len(plain)} indices; "
            "take one per axis, or all as *indices"
        )
    unnamed = range(len(plain), ndim)
    if varargs_names is not None:
        if len(varargs_names) != len(unnamed):
            raise refuse(f"te.compute: {len(varargs_names)} varargs_names for {len(unnamed)} axes")
        return [*plain, *varargs_names]
    return [*plain, *(f"i{n}" for n in unnamed)]


def checked_name(name: object) -> str:
    """The name of a tensor or an axis, a string."""
    if not isinstance(name, str):
        raise refuse(f"a name is a string, not {short_repr(name)}")
    return name


def checked_shape(shape: object) -> tuple[Size, ...]:
    """A shape as a tuple of numbers and expressions of sizes."""
    sizes = shape if isinstance(shape, (tuple, list)) else (shape,)
    return tuple(_extent(s, "an extent") for s in sizes)


def _extent(size: object, what: str) -> Size:
    """A size as a Python integer, or an expression of size variables."""
    if isinstance(size, np.integer):
        size = size.item()
    if isinstance(size, int) and not isinstance(size, bool):
        if size < 0:
            raise refuse(f"{what} cannot be negative: {size}")
        return int(size)
    if isinstance(size, Expr):
        odd = [leaf for leaf in size.leaves.values() if not isinstance(leaf, Var) or isinstance(leaf, IterVar)]
        if odd:
            raise refuse(f"{what} may use only numbers and te.var variables; {size} uses {odd[0].name}")
        return size
    raise refuse(f"{what} must be an integer, a te.var or an expression of them, not {short_repr(size)}")


def _dtype(dtype: object) -> str:
    name = str(getattr(dtype, "dtype", dtype))
    if name not in dtypes.NAMES:
        raise refuse(dtypes.refusal(f'"{name}"'))
    return name


class Reduction:
    """The reduction of expressions over some axes. It must be the whole value of a `te.compute`."""

    is_reduction = True

    def __init__(
        self,
        reducer: Reducer,
        sources: list[Expr],
        axis: tuple[IterVar, ...],
        where: ExprLike | None,
        init: Values | None,
    ):
        self.reducer = reducer
        self.sources = sources
        self.axis = axis
        self.conditions = [] if where is None else [lift(where)]
        starts = [] if init is None else list(init) if isinstance(init, (tuple, list)) else [init]
        self.inits = [lift(s) for s in starts]
        if self.inits and len(self.inits) != len(sources):
            raise refuse(f"{reducer.name}: {len(self.inits)} start values for {len(sources)} values")

    def _refuse_operation(self, *_: object) -> NoReturn:
        raise refuse("a reduction must be the whole value of its te.compute: use its result in another te.compute")

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = __rtruediv__ = _refuse_operation
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = __neg__ = __pow__ = __lt__ = __le__ = __gt__ = __ge__ = (
        _refuse_operation
    )
    __bool__ = __iter__ = __getitem__ = astype = element = tir_call = _refuse_operation


class ReductionValue(Reduction):
    """The reduction of one expression."""


class TupleReduction(Reduction):
    """The reduction of several expressions: `te.compute` makes a tensor of each."""


class Reducer:
    """A commutative reducer: a combiner of two values and its identity element.

        k = te.reduce_axis((0, m), name="k")
        te.compute((n,), lambda i: te.sum(A[i, k], axis=k))     # (n, m) -> (n,)

    `comm_reducer` makes one; `te.sum`, `prod`, `max` and `min` are four.
    """

    def __init__(self, name: str, fcombine: Callable[..., Values], fidentity: Callable[..., Values], doc: str = ""):
        self.name = name
        self.__doc__ = doc or type(self).__doc__
        self.__name__ = name
        self._fcombine = fcombine
        self._fidentity = fidentity

    @overload
    def __call__(
        self,
        expr: ExprLike,
        axis: IterVar | Sequence[IterVar],
        where: ExprLike | None = None,
        init: Values | None = None,
    ) -> ReductionValue: ...
    @overload
    def __call__(
        self,
        expr: Sequence[ExprLike],
        axis: IterVar | Sequence[IterVar],
        where: ExprLike | None = None,
        init: Values | None = None,
    ) -> TupleReduction: ...
    @overload
    def __call__(self, expr: ExprLike, *operands: ExprLike) -> Expr: ...
    def __call__(
        self,
        expr: Values,
        axis: Values | None = None,
        where: ExprLike | None = None,
        init: Values | None = None,
        *operands: ExprLike,
    ) -> Reduction | Expr:
        """Reduce over `axis` (one or several reduce axes); without axes, combine the given values.

        where: a condition; points where it is false are skipped. init: the start value, default the identity.
        """
        given = axis if isinstance(axis, (tuple, list)) else (axis,)
        axes = tuple(a for a in given if isinstance(a, IterVar))
        if axes and len(axes) == len(given):
            return self._reduction(expr, axes, where, init)
        others = [v for v in (axis, where, init, *operands) if v is not None]
        if any(isinstance(v, (tuple, list)) for v in others) or not others:
            raise refuse(f"te.{self.name} needs an axis: te.{self.name}(x, axis=k) with k = te.reduce_axis((0, n))")
        return functools.reduce(lambda a, b: self.combine([a], [b])[0], [lift(v) for v in (expr, *others)])

    def _reduction(
        self, expr: Values, axes: tuple[IterVar, ...], where: ExprLike | None, init: Values | None
    ) -> Reduction:
        for axis in axes:
            if not axis.is_reduce:
                raise refuse(f"te.{self.name} reduces over reduce axes; {axis.name} is a spatial axis")
        if len({a.key for a in axes}) != len(axes):
            raise refuse(f"te.{self.name} has an axis twice")
        if isinstance(expr, Reduction):
            raise refuse(f"te.{self.name} of a reduction: reduce over several axes at once, axis=[k, l]")
        sources = [lift(e) for e in (expr if isinstance(expr, (tuple, list)) else [expr])]
        kind = ReductionValue if len(sources) == 1 else TupleReduction
        return kind(self, sources, axes, where, init)

    def combine(self, lhs: Sequence[Expr], rhs: Sequence[Expr]) -> list[Expr]:
        """Apply the combiner: one expression per reduced value."""
        several = len(lhs) > 1
        combined = self._fcombine(tuple(lhs), tuple(rhs)) if several else self._fcombine(lhs[0], rhs[0])
        return self._check_values(combined, len(lhs), "fcombine")

    def identity(self, types: Sequence[str]) -> list[Expr]:
        """The identity element for each type."""
        return self._check_values(self._fidentity(*types), len(types), "fidentity")

    def _check_values(self, returned: Values, count: int, what: str) -> list[Expr]:
        values = list(returned) if isinstance(returned, (tuple, list)) else [returned]
        if len(values) != count:
            raise refuse(f"{self.name}: {what} returns {len(values)} values where {count} are reduced")
        return [lift(v) for v in values]

    def __repr__(self) -> str:
        return f"te.{self.name}"


def comm_reducer(fcombine: Callable[..., Values], fidentity: Callable[..., Values], name: str = "reduce") -> Reducer:
    """Define a reducer.

        argmax = te.comm_reducer(
            lambda x, y: (te.Select(x[1] >= y[1], x[0], y[0]), te.Select(x[1] >= y[1], x[1], y[1])),
            lambda t0, t1: (tvm.tir.const(-1, t0), te.min_value(t1)), name="argmax")

    fcombine must be associative and commutative: the order of a reduction is free.
    """
    if not callable(fcombine) or not callable(fidentity):
        raise refuse("te.comm_reducer takes two functions: the combiner of two values and the identity element")
    return Reducer(name, fcombine, fidentity)


def _doc(first: str, name: str, empty: str) -> str:
    """The docstring of a built-in reducer."""
    return f"""{first} over reduce axes: the value of an element in `te.compute`.

        k = te.reduce_axis((0, m), name="k")
        te.compute((n,), lambda i: te.{name}(A[i, k], axis=k))     # (n, m) -> (n,)

    expr: a number; axis: one reduce axis or several; where: a condition, points at which it is false are skipped;
    init: the start value -> a number of the type of expr. Without terms: {empty}. The order of the terms is free, so
    that a schedule may split, vectorize and factor the axes. Without an axis, values are combined: `te.{name}(a, b)`.
    """


sum = Reducer("sum", lambda x, y: x + y, lambda t: t_call(t, 0), _doc("The sum of an expression", "sum", "0"))
"""The sum of an expression over reduce axes: `te.sum(A[i, k], axis=k)`."""
prod = Reducer("prod", lambda x, y: x * y, lambda t: t_call(t, 1), _doc("The product of an expression", "prod", "1"))
"""The product of an expression over reduce axes: `te.prod(A[i, k], axis=k)`."""
max = Reducer(
    "max",
    lambda x, y: t_call("max", x, y),
    lambda t: t_call("min_value", t),
    _doc("The maximum of an expression", "max", "the least finite number of the type"),
)
"""The maximum of an expression over reduce axes, `te.max(A[i, k], axis=k)`, or of two values, `te.max(a, b)`."""
min = Reducer(
    "min",
    lambda x, y: t_call("min", x, y),
    lambda t: t_call("max_value", t),
    _doc("The minimum of an expression", "min", "the greatest finite number of the type"),
)
"""The minimum of an expression over reduce axes, `te.min(A[i, k], axis=k)`, or of two values, `te.min(a, b)`."""


NewValue: TypeAlias = ExprLike | Callable[[Expr], ExprLike]
"""What an update stores: a value, or a function of the old element that returns it."""
Update: TypeAlias = tuple[Values, NewValue] | tuple[Values, NewValue, ExprLike]
"""Where an update stores, what it stores, and a condition without which it stores nothing."""


class UpdateOp(ComputeOp):
    """The operation of a tensor that is a copy of `data`, with `result[where] = value` at the points of `axis`."""

    def __init__(self, name: str, data: Tensor, axis: tuple[IterVar, ...], function: Callable[..., Update]):
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

    def _leaves(self) -> dict[str, Leaf]:
        leaves = super()._leaves()
        for expr in (*self.where, *([] if self.condition is None else [self.condition])):
            leaves |= expr.leaves
        return leaves


def update(
    data: Tensor, shape: Shape, function: Callable[..., Update], ordered: int | None = None, name: str = "update"
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
