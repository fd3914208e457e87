"""Graphs written node by node: types, attributes, MLIR, refusals."""

import numpy as np
import pytest

from tir_mlir import te, topi
from tir_mlir.dialect.ir import enter_context
from tir_mlir.errors import GraphError
from tir_mlir.graph.builder import GraphBuilder

WEIGHT = np.ones((128, 784), "float32")


@pytest.fixture
def b():
    return GraphBuilder("main")


def test_an_operator_is_a_call_with_its_name_and_all_attributes(b):
    x = b.input("x", (1, 784))
    y = b.op("nn.softmax", b.op("nn.dense", x, b.weight("w", WEIGHT)))
    b.output(y)
    graph = b.finish()
    with enter_context():
        dense, softmax = graph.func.nodes
        assert (dense.operator, softmax.operator, softmax.attributes) == ("nn.dense", "nn.softmax", {"axis": -1})
        assert graph.func.weight(1) == "w" and graph.func.weight(0) is None
    assert y.shape == (1, 128) and graph.weights["w"] is WEIGHT


def test_equal_types_are_a_named_linalg_op(b):
    x = b.input("x", ("n", 4))
    b.output(b.op("add", x, x))
    text = b.finish().text()
    assert "linalg.add" in text and 'graph.shapes = [["n", 4]]' in text


def test_broadcasts_are_not(b):
    b.output(b.op("add", b.input("x", (3, 4)), b.input("y", (4,))))
    assert "linalg.add" not in b.finish().text()


@pytest.mark.parametrize(("a", "c", "form"), [
    ((3, 4), (4, 5), "linalg.matmul"), ((2, 3, 4), (2, 4, 5), "linalg.batch_matmul"), ((2, 3, 4), (4, 5), "@matmul")
])  # fmt: skip
def test_products(b, a, c, form):
    b.output(b.op("matmul", b.input("a", a), b.input("c", c)))
    assert form in b.finish().text()


def test_sizes_are_expressions_in_shapes_and_attributes(b):
    x = b.input("x", ("n", 12, 64))
    y = b.op("reshape", x, shape=("n", 768))
    assert y.shape == ("n", 768) and b.op("reshape", y, shape=("n * 2", 384)).shape == ("n * 2", 384)


def test_equal_operators_share_a_function(b):
    x = b.input("x", (3, 5))
    b.output(b.op("nn.relu", b.op("nn.relu", x)))
    assert b.finish().text().count("func.func private @nn.relu") == 1


def test_a_te_function_is_a_call_of_tensorir(b):
    x = b.input("x", (3, 5))
    b.output(b.call_te(lambda a: te.compute(a.shape, lambda i, j: a[i, j] * 2.0, name="twice"), x, name_hint="twice"))
    graph = b.finish()
    assert list(graph.module.prim_funcs) == ["twice"] and "bufferization.to_buffer" in graph.text()


def test_equal_te_functions_are_one(b):
    x = b.input("x", (3, 5))
    b.output(b.call_te(topi.nn.relu, b.call_te(topi.nn.relu, x)))
    assert len(b.finish().module.prim_funcs) == 1


def test_numbers_become_constants_of_the_type_of_the_others(b):
    b.output(b.op("multiply", b.input("x", (3,), "float16"), 2))
    assert "arith.constant" in b.finish().text() and "tensor<f16>" in b.finish().text()


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16"])
def test_constants_keep_their_values(b, dtype):
    value = np.array([[1, 0, 1], [0, 1, 1]], dtype)
    b.output(b.constant(value))
    with enter_context():
        (node,) = b.finish().func.nodes
        assert node.types[0].dtype == dtype
        np.testing.assert_array_equal(np.array(node.constant).astype(dtype), value)


@pytest.mark.parametrize(("write", "message"), [
    (lambda b, x: b.op("nn.rel", x), r"no operator 'nn.rel'; near: nn.relu"),
    (lambda b, x: b.op("nn.softmax", x, axes=1), "nn.softmax has no attribute 'axes'; it has axis"),
    (lambda b, x: b.op("reshape", x), "reshape needs the attribute shape"),
    (lambda b, x: b.op("matmul", x, x), "matmul"),
    (lambda b, x: b.op("add", x, "y"), "operand 1 of add is a Value, a number or an array, not 'y'"),
    (lambda b, x: b.input("z", (3, -1)), "a size is not negative; this one is -1"),
    (lambda b, x: b.input("z", ("n/2",)), "a size is a number, a name, or sums and products"),
    (lambda b, x: b.input("z", (3,), "complex64"), "complex"),
    (lambda b, x: b.call_tir("g", [x], [((3,), "float32")]), "the module has no function g"),
    (lambda b, x: b.op("add", GraphBuilder().input("q", (3, 5)), x), "operand 0 of add is of another graph: q"),
    (lambda b, x: b.finish(), "the graph main returns nothing"),
])  # fmt: skip
def test_refusals(b, write, message):
    x = b.input("x", (3, 5))
    with pytest.raises(GraphError, match=message):
        write(b, x)
