"""The table of operators: names, attributes and defaults agree with the functions, and graphs take them."""

import inspect

import numpy as np
import pytest
from mlir.dialects import linalg

from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.operators import OPERATORS, Operator
from tir_mlir.graph.operators.operator import REQUIRED


def test_attributes_are_parameters_with_these_defaults():
    for name, operator in OPERATORS.items():
        parameters = inspect.signature(operator.te).parameters
        for attribute, default in operator.attrs.items():
            own = parameters[attribute].default
            assert own == default or (own is inspect.Parameter.empty and default is REQUIRED), (name, attribute)


def test_operands_and_attributes_are_told_apart():
    """Operands have no default; any number of them ends at `*tensors`; else the row says how many there are."""

    def te(x, y, axis=0): ...
    def several(*tensors, axis): ...

    assert dict(Operator("own", te).attrs) == {"axis": 0} and not Operator("own", te).takes_tuple
    assert dict(Operator("own", te, num_inputs=1).attrs) == {"y": REQUIRED, "axis": 0}
    assert dict(Operator("own", several).attrs) == {"axis": REQUIRED} and Operator("own", several).takes_tuple
    assert [name for name, row in OPERATORS.items() if row.takes_tuple] == ["einsum", "concat", "stack"]


def test_each_has_a_docstring():
    assert not [name for name, operator in OPERATORS.items() if len(inspect.getdoc(operator.te) or "") < 5]


def test_named_linalg_ops_exist():
    for operator in OPERATORS.values():
        if operator.linalg is not None:
            assert hasattr(linalg, operator.linalg.removeprefix("linalg.")), operator.name


NODES = {
    "nn.conv2d": ([(1, 4, 8, 8), (6, 2, 3, 3)], {"groups": 2, "padding": 1}, (1, 6, 8, 8)),
    "nn.batch_norm": ([(1, 4, 8, 8), (4,), (4,), (4,), (4,)], {}, (1, 4, 8, 8)),
    "nn.attention": ([(1, 5, 4, 8), (1, 7, 2, 8), (1, 7, 2, 8)], {"causal_mask": "BottomRight"}, (1, 5, 4, 8)),
    "nn.pad": ([(2, 3)], {"pad_width": [0, 1, 2, 0]}, (3, 5)),
    "strided_slice": ([(4, 6)], {"axes": [1], "begin": [-2], "end": [1 << 40]}, (4, 2)),
    "reshape": ([("n", 6)], {"shape": (-1, 2)}, ("n * 3", 2)),
    "concat": ([("n", 3), (1, 3)], {}, ("n + 1", 3)),
    "clip": ([(4, 6)], {"min": 0.0}, (4, 6)),
    "nn.adaptive_avg_pool2d": ([(1, 3, 7, 7)], {"output_size": 1}, (1, 3, 1, 1)),
    "image.resize2d": ([(1, 3, 7, 7)], {"size": [3, 14], "rounding_method": ""}, (1, 3, 3, 14)),
    "einsum": ([(2, 3), (3, 4)], {"subscripts": "ij,jk->ki"}, (4, 2)),
    "topk": ([(2, 9)], {"k": 3}, (2, 3)),
}


@pytest.mark.parametrize("name", NODES)
def test_a_node_of_a_graph(name):
    shapes, attributes, wanted = NODES[name]
    builder = GraphBuilder()
    made = builder.op(name, *(builder.input(f"x{n}", s) for n, s in enumerate(shapes)), **attributes)
    first = made[0] if isinstance(made, tuple) else made
    assert tuple(map(str, first.shape)) == tuple(map(str, wanted))


def test_positions_are_int64_in_graphs():
    builder = GraphBuilder()
    assert builder.op("argmax", builder.input("x", (3, 4)), axis=1).dtype == "int64"


def test_values_of_one_hot_are_operands_or_numbers():
    builder = GraphBuilder()
    at = builder.input("at", (3,), "int64")
    on, off = (builder.constant(np.asarray(v, "int64")) for v in (1, 0))
    assert builder.op("one_hot", at, on, off, depth=4).dtype == "int64"
    assert builder.op("one_hot", at, depth=4).dtype == "float32"
