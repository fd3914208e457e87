"""The names of the `graph.*` attributes."""

from __future__ import annotations

from tir_mlir.dialect.ir import TENSOR_LEVEL

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
"""Of a graph: the least and the greatest value of a size that it is right for, {"n": [2, 1023]}; -1: no greatest."""
STORED = "graph.stored"
"""Of a graph: the weights that were rounded, and the names of those that are read instead: {"w": ["w.int8", "w.scale"]}
What is computed from these is computed where it is read, not once."""
WEIGHT = "graph.weight"
"""The name of the weight that an argument is."""

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
