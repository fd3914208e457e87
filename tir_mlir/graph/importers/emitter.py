"""What importers are written with: operators of a graph builder on values and numbers, with types converted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import IntExpr, Symbol, equal, leaves, parse, sources
from tir_mlir.te.expr import int_expr

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from tir_mlir.graph.builder import GraphBuilder, Value
    from tir_mlir.graph.operators.attributes import Attribute as OwnAttribute

Size: TypeAlias = int | str | te.Expr
"""A size of a shape: a number, a named size or an expression of names."""
OnnxValue: TypeAlias = "Value | np.ndarray"
"""A tensor of the graph, or an array that is known at import."""
Operand: TypeAlias = "Value | np.ndarray | int | float"
"""What an operator takes: a tensor, a known array, or a number."""
Attribute: TypeAlias = "OwnAttribute | Value"
"""What an attribute of an operator is given as; {"size": n}: a size alone. A Value is an operand by keyword."""
OneOrEach: TypeAlias = "int | Sequence[int]"
"""A number for all axes, or one for each."""
TensorT = TypeVar("TensorT", bound="Value | np.ndarray")

_EMBEDDED = 1024
"""The most numbers of a constant in the text of a graph."""
FLOATS = ("float16", "bfloat16", "float32", "float64")


class OperatorEmitter:
    """A graph builder with the few shapes that the tables of all importers share.

    Operands are Values or numbers; a number becomes a constant of the type that is asked for.
    """

    def __init__(self, builder: GraphBuilder):
        self.builder = builder
        self.inputs: list[Value] = []  # those of the graph that are not weights
        self._tables: dict[tuple[bytes, tuple[int, ...], str], Value] = {}
        self._made: dict[Hashable, Value] = {}

    @property
    def name_hint(self) -> str:
        """The name of what operators make."""
        return "lv"

    def op(self, operator: str, *operands: Operand, **attrs: Attribute) -> Value:
        """The result of an operator of the table; attributes that are None are left at their defaults."""
        (result,) = self.op_results(operator, *operands, **attrs)
        return result

    def op_results(self, operator: str, *operands: Operand, **attrs: Attribute) -> tuple[Value, ...]:
        """The results of an operator that may have several."""
        given = {k: v for k, v in attrs.items() if v is not None}
        results = self.builder.op(operator, *operands, name_hint=self.name_hint, **given)
        return results if isinstance(results, tuple) else (results,)

    def constant(self, value: ArrayLike, dtype: str) -> Value:
        """A constant: a number or an array, of a type."""
        if dtype == "bfloat16":  # NumPy has no such type
            return self.op("astype", self.builder.constant(np.asarray(value, "float32")), dtype=dtype)
        try:
            return self.builder.constant(np.asarray(value, dtype))
        except OverflowError:
            raise GraphError(
                f"the number {value} is not a {dtype}\n  fix: cast the operands to a type that has it"
            ) from None

    def table(self, value: np.ndarray, dtype: str) -> Value:
        """Many numbers of a float type, known when the graph is made: a weight, the same one for the same numbers."""
        if value.size <= _EMBEDDED or dtype not in ("float32", "float64"):
            return self.constant(value, dtype)
        array = np.asarray(value, dtype)
        key = array.tobytes(), array.shape, dtype
        if key not in self._tables:
            self._tables[key] = self.builder.weight(f"table_{len(self._tables)}", array)
        return self._tables[key]

    def get_or_create(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """What `make` returns, which is called the first time that there is this key."""
        if key not in self._made:
            self._made[key] = make()
        return self._made[key]

    def cast(self, x: TensorT | float, dtype: str) -> TensorT | Value:
        """x in a type: itself if it has it, a constant for a number."""
        if isinstance(x, (int, float)):
            return self.constant(x, dtype)
        return x if x.dtype == dtype else self.op("astype", x, dtype=dtype)

    def binary(self, operator: str, x: Operand, y: Operand, dtype: str) -> Value:
        """operator(x, y), both in a type; they broadcast."""
        return self.op(operator, self.cast(x, dtype), self.cast(y, dtype))

    def add(self, x: OnnxValue, y: Operand) -> Value:
        """x + y in the type of x."""
        return self.binary("add", x, y, str(x.dtype))

    def subtract(self, x: OnnxValue, y: Operand) -> Value:
        """x - y in the type of x."""
        return self.binary("subtract", x, y, str(x.dtype))

    def multiply(self, x: OnnxValue, y: Operand) -> Value:
        """x * y in the type of x."""
        return self.binary("multiply", x, y, str(x.dtype))

    def divide(self, x: OnnxValue, y: Operand) -> Value:
        """x / y in the type of x."""
        return self.binary("divide", x, y, str(x.dtype))

    def clip(self, x: Value, low: float | None, high: float | None) -> Value:
        """min(max(x, low), high); None: no bound."""
        if low is not None:
            x = self.binary("maximum", x, low, x.dtype)
        return x if high is None else self.binary("minimum", x, high, x.dtype)

    def log_sum_exp(self, x: Value, axes: Sequence[int], keepdims: bool) -> Value:
        """log(sum(exp(x))) over axes, with the maximum taken out where it is finite: infinities, and sums of no terms,
        are those of the formula."""
        top = self.op("max", x, axis=list(axes), keepdims=True)
        top = self.op("where", self.op("isfinite", top), top, self.constant(0, x.dtype))
        total = self.op("sum", self.op("exp", self.subtract(x, top)), axis=list(axes), keepdims=True)
        result = self.add(self.op("log", total), top)
        reduced_shape = [n for axis, n in enumerate(x.shape) if axis not in axes]
        return result if keepdims else self.op("reshape", result, shape=tuple(reduced_shape))

    def reshape(self, x: TensorT, shape: Sequence[Size]) -> TensorT | Value:
        """x in another shape; itself if it has it."""
        return x if same_shape(x.shape, shape) else self.op("reshape", x, shape=tuple(shape))

    def permute(self, x: TensorT, axes: Sequence[int]) -> TensorT | Value:
        """Axis i of the result is axis axes[i] of x."""
        return x if list(axes) == list(range(len(axes))) else self.op("permute_dims", x, axes=tuple(axes))

    def broadcast(self, x: TensorT, shape: Sequence[Size]) -> TensorT | Value:
        """x repeated along axes of size 1 and new leading axes."""
        return x if same_shape(x.shape, shape) else self.op("broadcast_to", x, shape=tuple(shape))

    def slice(self, x: TensorT, axis: int, begin: Size, end: Size, step: int = 1) -> TensorT | Value:
        """x[begin:end:step] along an axis, 0 <= begin <= end <= its size."""
        if step == 1 and is_number(begin, 0) and equal(size_form(end), size_form(x.shape[axis])):
            return x
        return self.op("strided_slice", x, axes=[axis], begin=[begin], end=[end], strides=[step])

    def concat(self, parts: Sequence[TensorT], axis: int) -> TensorT | Value:
        """Tensors one after the other along an axis."""
        return parts[0] if len(parts) == 1 else self.op("concat", *parts, axis=axis)

    def carriers(self, sizes: Sequence[str]) -> list[Value]:
        """Inputs of the graph that have the names in these sizes among their own."""
        names = dict.fromkeys(p.name for size in sizes for p in leaves(parse(size)) if isinstance(p, Symbol))
        found = sources([x.shape for x in self.inputs])
        inputs = {name: self.inputs[found[name].tensor] if name in found else None for name in names}
        if missing := [name for name, x in inputs.items() if x is None]:
            raise GraphError(
                f"the size {missing[0]} is not a dimension of an input\n  fix: pass it as one, or make it static"
            )
        return list({id(x): x for x in inputs.values() if x is not None}.values())


def is_number(size: Size, number: int) -> bool:
    """Whether a size is a number, and this one."""
    return isinstance(size, int) and size == number


def size_form(size: Size) -> IntExpr:
    """The integer expression of a size: a number, text or a te expression; of anything else a symbol."""
    if isinstance(size, te.Expr):
        return int_expr(size, lambda key: Symbol(size.leaves[key].name), lambda part: Symbol(str(part)))
    return parse(size) if isinstance(size, int | str) else Symbol(str(size))


def same_shape(a: Sequence[Size], b: Sequence[Size]) -> bool:
    """Whether two shapes are known to be equal."""
    return len(a) == len(b) and all(map(equal, map(size_form, a), map(size_form, b)))


def known_sizes(sizes: Sequence[Size]) -> list[int] | None:
    """Sizes that are all numbers; None where one is not."""
    numbers = [size for size in sizes if isinstance(size, int)]
    return numbers if len(numbers) == len(sizes) else None


def static_size(size: Size, what: str) -> int:
    """A size that has to be a number."""
    if isinstance(size, int):
        return size
    raise GraphError(f"{what} is {size}, which is known only when the model runs\n  fix: make this dimension static")


def axis_in(axis: int, rank: int) -> int:
    """A possibly negative axis as one in 0..rank - 1."""
    return axis + rank if axis < 0 else axis
