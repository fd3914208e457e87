"""What the table of ONNX's operators is written with, and the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard, TypeVar

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.symbolic import linear
from tir_mlir.graph.importers.data_sizes import number_from_data
from tir_mlir.graph.importers.emitter import Attribute, OnnxValue, Operand, OperatorEmitter, Size, static_size
from tir_mlir.graph.operators import OPERATORS, Operator
from tir_mlir.te import Expr

if TYPE_CHECKING:
    import onnx

    from tir_mlir.graph.builder import GraphBuilder, Value

Element: TypeAlias = Expr | int | float
"""An element of a known value: a number, or a size."""
Input: TypeAlias = "OnnxValue | None"
"""An input of a node; None: it is left out."""
Result: TypeAlias = "OnnxValue | TensorSequence | None"
"""What an output of a node is; None: it is not computed."""
Results: TypeAlias = "Result | Sequence[Result]"
Translation = Callable[..., Results]
TranslationT = TypeVar("TranslationT", bound=Translation)
T = TypeVar("T")
TABLE: dict[str, Translation] = {}


MICROSOFT = "com.microsoft"
"""The domain of the operators that are ONNX Runtime's own."""


def onnx_op(*names: str, domain: str = "") -> Callable[[TranslationT], TranslationT]:
    """Register a function for operators. Its parameters are the emitter, the inputs (Values, or arrays that are known;
    None where left out), and attributes by name; an attribute that it does not take is refused."""

    def put(function: TranslationT) -> TranslationT:
        for name in names:
            TABLE[f"{domain}::{name}" if domain else name] = function
        return function

    return put


microsoft_op = partial(onnx_op, domain=MICROSOFT)
"""`onnx_op` for those of ONNX Runtime."""


def translations() -> dict[str, Translation]:
    """All translations: those of the operators of graphs that are one of ONNX, and the functions of `TABLE`."""
    rows = {name: _of_row(row) for row in OPERATORS.values() for name in row.onnx.split()}
    return {**rows, **TABLE}


def _of_row(row: Operator) -> Translation:
    if len(row.operands) == 1:
        return lambda e, x: e.op(row.name, x)
    return lambda e, x, y: e.op(row.name, x, y)


STORAGE_TYPES = {
    "int4": "int8", "uint4": "uint8", "int2": "int8", "uint2": "uint8",
    "float8_e4m3fn": "float32", "float8_e4m3fnuz": "float32", "float8_e5m2": "float32", "float8_e5m2fnuz": "float32",
    "float4_e2m1fn": "float32",
}  # fmt: skip
"""Types of few bits, and those that graphs have their numbers in."""


class TensorSequence(list[OnnxValue]):
    """A sequence of ONNX, whose length is known: Values and known arrays."""


class NeedsValue(GraphError):
    """A refusal because a value is computed by the model and has to be known at import."""

    def __init__(self, message: str, value: Input):
        super().__init__(message)
        self.value = value


class OnnxEmitter(OperatorEmitter):
    """An emitter that knows which values are known when the model is imported: constants, and sizes.

    A known value is an array; a size is a number or a te expression. `opset`: the version of the operators.
    """

    def __init__(self, builder: GraphBuilder, opset: int):
        super().__init__(builder)
        self.opset = opset
        self.name, self.results = "", [""]  # of the node that is translated: its name, and those of its outputs
        self.used: set[str] = set()  # the values that nodes take or the graph returns
        self.made: dict[int, tuple[np.ndarray, Value]] = {}  # the values of arrays that were used as tensors
        self.names: dict[int, str] = {}  # of arrays that are weights
        self.graph_results: Callable[..., list[Any]] = _no_graphs  # of a branch or loop's body
        self.outermost = builder  # has the weights
        self.small: dict[Value, str] = {}  # the types of few bits that values stand for

    def is_output_used(self, number: int) -> bool:
        """Whether the model uses an output of the node that is translated."""
        return number < len(self.results) and self.results[number] in self.used

    def type_of(self, x: OnnxValue) -> str:
        """The element type of a Value or a known array, as the model has it."""
        return self.small[x] if not isinstance(x, np.ndarray) and x in self.small else dtype_of(x)

    @property
    def name_hint(self) -> str:
        """The name of the node."""
        return self.name or "lv"

    def op_results(self, operator: str, *operands: Operand, **attrs: Attribute) -> tuple[Value, ...]:
        """The results of an operator; known operands become constants or weights."""
        return super().op_results(operator, *map(self.value, operands), **attrs)

    def value(self, x: np.ndarray | T) -> Value | T:
        """x as a Value: a known array becomes a weight if the model names it, else a constant; None remains."""
        if not isinstance(x, np.ndarray):
            return x
        if id(x) not in self.made:
            if x.dtype == object:
                return self._sizes_as_tensor(x)
            name, array, dtype = self.names.get(id(x)), *_graph_array(x)
            made = self.constant(array, dtype) if name is None else self.outermost.weight(name, array, dtype)
            self.made[id(x)] = x, made
        return self.made[id(x)][1]

    def _sizes_as_tensor(self, x: np.ndarray) -> Value:
        """Sizes that are known when the model runs, as int64. Errors: GraphError for one that no tensor has."""
        numbers = [number_from_data(self, size, {}) for size in self.texts(x.reshape(-1))]
        return self.reshape(self.op("stack", *numbers, axis=0), x.shape)

    def known_elements(self, x: Input, what: str) -> list[Element]:
        """The elements of a known value: numbers or sizes."""
        if not isinstance(x, np.ndarray):
            way = "make it a constant, by onnxsim for example, or of an input: from_onnx(..., values={name: array})"
            raise NeedsValue(f"{what} is computed by the model\n  fix: {way}", x)
        return [v if isinstance(v, Expr) else v.item() if hasattr(v, "item") else v for v in x.reshape(-1)]

    def known_sizes(self, x: Input, what: str) -> list[Expr | int]:
        """The elements of a known value of integers."""
        return [n if isinstance(n, Expr) else int(n) for n in self.known_elements(x, what)]

    def known_integers(self, x: Input, what: str) -> list[int]:
        """Those that have to be numbers."""
        return [static_size(n, what) for n in self.known_sizes(x, what)]

    def known_numbers(self, x: Input, what: str) -> list[float]:
        """The elements of a known value that have to be numbers, of any type."""
        return [static_size(n, what) if isinstance(n, Expr) else n for n in self.known_elements(x, what)]

    def known_integer(self, x: Input, what: str) -> int:
        """The first of them."""
        return self.known_integers(x, what)[0]

    def limit(self, size: str, greatest: int) -> None:
        """Let the graph be made for values of a size from 0 up to a number only: of one name a range of it, "2 * n + 1"
        up to 17 of n up to 8."""
        name, factor, rest = linear(size) or (size, 1, 0)
        self.outermost.size_range(name, max(0, -(rest // factor)), (greatest - rest) // factor)

    def sizes(self, shape: Sequence[Size]) -> list[Expr | int]:
        """A shape in the form of te: numbers and expressions."""
        return [self.builder.sizes.expression(s) if isinstance(s, str) else s for s in shape]

    def texts(self, sizes: Iterable[Element]) -> list[int | str]:
        """Sizes as numbers and text."""
        return [self.builder.sizes.text(s) if isinstance(s, Expr) else int(s) for s in sizes]


def _graph_array(x: np.ndarray) -> tuple[np.ndarray, str]:
    """An array as graphs have it, and its element type: bfloat16 as bits, numbers of few bits in a type of more."""
    wide = STORAGE_TYPES.get(x.dtype.name)
    return (x, x.dtype.name) if wide is None else (x.astype(wide), wide)


def _no_graphs(graph: onnx.GraphProto, operands: Sequence[Result], region: GraphBuilder | None = None) -> list[Result]:
    raise GraphError("the body of a branch or a loop is not expected here")


def dtype_of(x: OnnxValue) -> str:
    """The element type of a Value or a known array."""
    return x.dtype.name if isinstance(x, np.ndarray) else x.dtype


def rank_of(x: OnnxValue) -> int:
    """The number of axes of a Value or a known array."""
    return len(x.shape)


def all_known(inputs: Sequence[OnnxValue]) -> TypeGuard[Sequence[np.ndarray]]:
    """Whether all inputs are known arrays."""
    return all(isinstance(x, np.ndarray) for x in inputs)
