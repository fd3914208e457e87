"""What NumPy computes on weights is what the compiled function of the operator computes, to the bit."""

from __future__ import annotations

import warnings
from dataclasses import replace

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.model_weights import weight_functions
from tir_mlir.graph.operators import OPERATORS, array_rule
from tir_mlir.graph.transforms.lift_weights import weights_graph

RNG = np.random.default_rng(11)
SPECIAL = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-40, -1e-40, 3.4e38, 1.0, -1.0, 0.5, 65535.5, 1 / 3]


def floats(*shape: int, dtype: str = "float32") -> np.ndarray:
    """Numbers of all sizes, and those at which rounding is special."""
    values = RNG.standard_normal(shape) * 10.0 ** RNG.integers(-6, 7, shape)
    values.ravel()[: len(SPECIAL)] = SPECIAL[: values.size]
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def integers(*shape: int, dtype: str = "int64") -> np.ndarray:
    return RNG.integers(-5, 9, shape).astype(dtype)


def bools(*shape: int) -> np.ndarray:
    return RNG.integers(0, 2, shape).astype(bool)


W, X, V, WHOLE = floats(5, 6, 7), floats(5, 6, 7), floats(7), integers(5, 6, 7)
CASES = [
    ("permute_dims", [W], {"axes": [2, 0, 1]}), ("permute_dims", [W], {}),
    ("permute_dims", [floats(160, 190)], {}), ("permute_dims", [floats(70, 65, 3, 3)], {"axes": [2, 3, 1, 0]}),
    ("broadcast_to", [V], {"shape": [3, 7]}), ("flip", [W], {"axis": [0, 2]}), ("flip", [W], {"axis": 1}),
    ("strided_slice", [W], {"axes": [1, 2], "begin": [1, -1], "end": [5, -8], "strides": [2, -3]}),
    ("strided_slice", [W], {"axes": [0], "begin": [-2], "end": [2**40]}),
    ("split", [W], {"indices_or_sections": [2, 3], "axis": 1}), ("split", [W], {"indices_or_sections": 5}),
    ("concat", [W, floats(5, 2, 7)], {"axis": -2}), ("stack", [W, X], {"axis": 1}), ("stack", [W, X], {"axis": -1}),
    ("tile", [V], {"repeats": [2, 3]}), ("repeat", [W], {"repeats": 2, "axis": 1}), ("repeat", [W], {"repeats": 3}),
    ("nn.pad", [floats(4, 3, 40)], {"pad_width": [[0, 1], [2, 0], [3, 3]], "pad_value": 1.5}),
    ("nn.pad", [floats(4, 3, 40)], {"pad_width": [0, 0, 1, 1, 0, 2]}),
    ("nn.pad", [integers(4, 3, dtype="int8")], {"pad_width": [0, 1, 1, 0]}),
    ("sum", [integers(5, 6, 7, dtype="int32")], {"axis": [1, 2]}), ("sum", [WHOLE], {"axis": -1, "keepdims": True}),
    ("dequantize", [integers(5, 7, dtype="int32") * 2**24, floats(5), integers(5, dtype="int8")], {"axis": 0}),
    ("dequantize", [integers(5, 7, dtype="int8"), np.float32(1 / 3)], {}),
    ("take", [W, integers(3, 2)], {"axis": 1}), ("take", [V, integers(4)], {"axis": 0, "mode": "wrap"}),
    ("index_tensor", [W, integers(4), integers(4)], {}),
    ("where", [bools(5, 6, 7), W, V], {}), ("tril", [floats(6, 7)], {"k": 1}), ("triu", [floats(6, 7)], {"k": -1}),
    *((name, [W, x], {}) for name in ("add", "subtract", "multiply") for x in (X, V, floats(5, 1, 1))),
    ("divide", [V, X], {}),
    *((name, [WHOLE, integers(7)], {}) for name in ("add", "subtract", "multiply", "equal", "less")),
    *((name, [W], {}) for name in ("sqrt", "rsqrt", "reciprocal", "negative", "abs", "square")),
    *((name, [floats(40, dtype="float64")], {}) for name in ("sqrt", "rsqrt", "reciprocal", "negative", "abs")),
    *((name, [W, V], {}) for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal")),
    *((name, [bools(5, 3), bools(3)], {}) for name in ("logical_and", "logical_or", "logical_xor", "not_equal")),
    ("logical_not", [bools(5)], {}),
    *(("astype", [W], {"dtype": dtype}) for dtype in ("bfloat16", "float64", "float32")),
    ("astype", [floats(7, dtype="float64")], {"dtype": "float32"}),
    *(("astype", [WHOLE * 100], {"dtype": dtype}) for dtype in ("int8", "int32", "float32", "float64")),
    ("astype", [integers(9, dtype="int8")], {"dtype": "float32"}),
    ("full_like", [W], {"fill_value": 0.1}), ("zeros_like", [WHOLE], {}), ("ones_like", [W], {}),
    ("full", [], {"shape": [2, 3], "fill_value": 1e-3, "dtype": "float32"}),
    ("ones", [], {"shape": [3], "dtype": "int64"}), ("zeros", [], {"shape": [3], "dtype": "float32"}),
    ("arange", [], {"start": 3, "end": 20, "step": 4, "dtype": "int64"}), ("arange", [], {"start": 9}),
    ("pack_panels", [floats(20, 9)], {"along": 0, "inner": [1], "width": 16}),
    ("pack_panels", [floats(9, 20)], {"along": 1, "inner": [0], "width": 8}),
    ("pack_panels", [floats(32, 12, dtype="float16")], {"along": 0, "inner": [1], "width": 16, "group": 2}),
    ("pack_panels", [floats(12, 32)], {"along": 1, "inner": [0], "width": 16, "group": 4}),
    ("pack_panels", [floats(3, 3, 5, 20)], {"along": 3, "inner": [0, 1, 2], "width": 16}),
    ("pack_panels", [floats(20, 5, 3, 3)], {"along": 0, "inner": [2, 3, 1], "width": 16}),
]  # fmt: skip


def of_weights(name: str, arrays: list[np.ndarray], attributes: dict) -> Graph:
    """A graph that returns what an operator makes of weights."""
    b = GraphBuilder()
    made = b.op(name, *(b.weight(f"w{n}", array) for n, array in enumerate(arrays)), **attributes)
    b.output(*(made if isinstance(made, (list, tuple)) else (made,)))
    return b.finish()


def results(graph: Graph) -> list[np.ndarray]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of schedules of the compiled function
        made = build(graph, threads=1)()
    return list(made) if isinstance(made, (list, tuple)) else [made]


@pytest.mark.parametrize(("name", "arrays", "attributes"), CASES)
@pytest.mark.few(4)
def test_numpy_computes_what_the_compiled_function_does(name, arrays, attributes, monkeypatch):
    graph = of_weights(name, arrays, attributes)
    assert not weight_functions(compile_graph(graph)), "a function is compiled for it"
    found = results(graph)
    monkeypatch.setitem(OPERATORS, name, replace(OPERATORS[name], arrays=None))
    wanted = results(graph)
    assert [f.shape for f in found] == [w.shape for w in wanted]
    assert [f.tobytes() for f in found] == [w.tobytes() for w in wanted]


@pytest.mark.parametrize(
    ("name", "arrays", "attributes"),
    [
        ("astype", [floats(4)], {"dtype": "int32"}),  # what is out of range is as the machine has it
        ("nn.pad", [floats(4, 40)], {"pad_width": [[1, 1]] * 2, "pad_mode": "edge"}),
        ("nn.pad", [floats(20000, 3)], {"pad_width": [[1, 1]] * 2}),  # many short rows
        ("add", [floats(4, dtype="float16"), floats(4, dtype="float16")], {}),
        ("exp", [V], {}),
        ("divide", [W, V], {}),  # by the reciprocals of V
    ],
)
def test_what_numpy_does_otherwise_is_compiled(name, arrays, attributes):
    assert weight_functions(compile_graph(of_weights(name, arrays, attributes)))


def test_a_symbolic_size_has_no_rule():
    b = GraphBuilder()
    b.output(b.op("permute_dims", b.input("x", ("n", 3), "float32")))
    graph = b.finish()
    with enter_context():
        assert array_rule(graph.func, graph.func.nodes[0]) is None
        assert weights_graph(graph) is None
