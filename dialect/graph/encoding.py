"""The encoding of graphs: names of the `graph.*` attributes, free names, types of tensors with named sizes."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from mlir import ir

from tir_mlir.dialect.ir import TENSOR_LEVEL, dtypes
from tir_mlir.dialect.ir.memo import BoundedDict

KIND = TENSOR_LEVEL
"""Of a function on tensors: what it is, see the constants below. TensorIR functions do not have it."""
OP = "graph.op"
"""The operator that a private function, or a named linalg op, stands for: "nn.softmax"."""
ATTRS = "graph.attrs"
"""The attributes of that operator."""
CALLEE = "graph.callee"
"""The TensorIR function that an adapter calls, or the registered name of a packed function."""
NAMES = "graph.names"
"""The names of the results of a node."""
SHAPES = "graph.shapes"
"""The shapes of the results of a node that has a symbolic one: numbers, or sizes as text such as "n + 1"."""
DTYPES = "graph.dtypes"
"""The element types of the results of a node that has an unsigned one."""
SHAPE = "graph.shape"
"""The shape of an argument, if symbolic."""
DTYPE = "graph.dtype"
"""The element type of an argument, if unsigned."""
RANGES = "graph.size_ranges"
"""Of a graph: the least and the greatest value (-1: none) of a size, a name or an expression, that it is right for:
{"n": [2, 1023], "n + m": [0, 16]}."""
DONATED = "graph.donated"
"""Of a graph: the inputs whose memory a result takes, by name, with the number of the result: {"cache": 1}."""
COUNTS = "graph.counts"
"""Of a graph: the results that are the sizes that data decide on, by the name of the size: {"u0": 2}. They follow
those that a model returns."""
CHECKS = "graph.checks"
"""Of a graph: what its last result, a vector of bool, tells of the inputs, a text for each element: where one is false,
a model raises an error with its text. Follows the sizes that data decide on."""
NONES = "graph.nones"
"""Of a graph: the positions among the results of a model where it returns None: [1] for (result, None)."""
STORED = "graph.stored"
"""Of a graph: the weights that were rounded, and the names of those that are read instead: {"w": ["w.int8", "w.scale"]}
What is computed from these is computed where it is read, not once."""
UNIT_TUPLE = "graph.unit_tuple"
"""Of a graph with one result: in TVMScript it returns a tuple of it, `return (gv,)`."""
WEIGHT = "graph.weight"
"""The name of the weight that an argument is."""
DERIVES = "graph.derives"
"""Of a graph that computes weights: the names of the weights that it returns."""
OF = "graph.of"
"""Of a graph that computes weights: the name of the graph whose weights they are."""

GRAPH = "graph"
"""A graph: the function that a user wrote."""
GROUP = "group"
"""A private graph of operators to be fused."""
OPERATOR = "operator"
"""An operator, without a body."""
CALL_TIR = "call_tir"
"""An adapter on tensors of a TensorIR function: inputs, then what it returns."""
PACKED = "call_packed"
"""A function of Python or C that is registered by name."""
REGION = "region"
"""A private graph that a branch or a loop runs: inputs that it is given, and weights by their names."""
BRANCH = "branch"
"""A choice, without a body: of a bool, `REGIONS` has what runs if it is true, and if it is false."""
LOOP = "loop"
"""A loop, without a body: `REGIONS` has the graph that each step runs, `ATTRS` the facts of `LoopFacts`."""
COUNTED = "counted"
"""In a plan: a number of rows that is computed becomes a size."""
REGIONS = "graph.regions"
"""Of a branch or a loop: the names of its regions."""


def free_name(base: str, names: Container[str], separator: str = "_") -> str:
    """`base`, or with the first free suffix: `_1`, `_2`, ... behind another separator if given."""
    name, number = base, 0
    while name in names:
        number += 1
        name = f"{base}{separator}{number}"
    return name


@dataclass(frozen=True)
class TensorType:
    """A shape, in which a size is a number or an expression of sizes as text ("n + 1"), and an element type."""

    shape: tuple[int | str, ...]
    dtype: str

    @property
    def mlir(self) -> ir.RankedTensorType:
        type_ = _mlir.get(self)
        if type_ is None:
            unknown = ir.ShapedType.get_dynamic_size()
            sizes = [size if isinstance(size, int) else unknown for size in self.shape]
            type_ = _mlir[self] = ir.RankedTensorType.get(sizes, dtypes.element_type(self.dtype))
        return type_

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def is_symbolic(self) -> bool:
        return any(isinstance(size, str) for size in self.shape)

    @property
    def is_unsigned(self) -> bool:
        return self.dtype.startswith("u")

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.shape))}{',' * (len(self.shape) == 1)}) {self.dtype}"


_mlir: BoundedDict[TensorType, ir.RankedTensorType] = BoundedDict()
_read: BoundedDict[ir.Type, TensorType] = BoundedDict()
"""Types, which are unique in a context: each is made, and read, once."""


def read_type(type_: ir.Type, shape: Sequence[int | str] | None, dtype: str | None) -> TensorType:
    """The type of a value, with what its attributes add."""
    plain = _read.get(type_)
    if plain is None:
        ranked = ir.RankedTensorType(type_)
        plain = _read[type_] = TensorType(tuple(ranked.shape), dtypes.to_name(ranked.element_type))
    return TensorType(tuple(shape or plain.shape), dtype or plain.dtype) if shape or dtype else plain
