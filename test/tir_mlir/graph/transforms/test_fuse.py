"""Groups of operators, and the TensorIR functions made of them."""

import re

import numpy as np
import pytest
from harness.graphs import check_same, graph_of
from programs.short import each, main

from tir_mlir import build
from tir_mlir.dialect.graph import encoding, tensor_funcs
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.transforms.fuse_ops import fuse_ops
from tir_mlir.graph.transforms.fuse_tir import fuse_tir
from tir_mlir.graph.transforms.legalize import legalize
from tir_mlir.script.parser import parse

DECLARED = main(
    "x:3x5 y:3x5;", each("y:3x5", "T.reads(x[vi, 0:5])", "T.writes(y[vi, vj])", "y[vi, vj] = x[vi, vj] * 2.0")
)


def groups(graph):
    """The functions that each group calls."""
    with enter_context():
        found = [f for f in tensor_funcs(graph.module.mlir) if f.kind == encoding.GROUP]
        return [[re.sub(r"_\d+$", "", n.callee.callee) for n in f.nodes] for f in found]


def grouped(write, *shapes):
    return groups(fuse_ops(legalize(graph_of(write, *shapes))))


def layer(b, x, w, bias):
    return b.op("nn.relu", b.op("add", b.op("nn.dense", x, w), bias))


def test_pointwise_operators_join_the_product_before_them():
    assert grouped(layer, (3, 4), (5, 4), (5,)) == [["nn_dense", "add", "nn_relu"]]


def test_a_residual_joins_the_product():
    def write(b, x, w):
        return b.op("add", b.op("exp", x), b.op("nn.dense", x, w))

    assert grouped(write, (4, 4), (4, 4)) == [["nn_dense", "add"]]


def test_a_reduction_takes_what_it_reads_once_for_each_element():
    def write(b, x, y):
        far = b.op("subtract", x, y)
        return b.op("sum", b.op("multiply", far, far), axis=[1], keepdims=True)

    assert grouped(write, (3, 4), (3, 1)) == [["subtract", "multiply", "sum"]]


def test_what_others_read_or_is_returned_is_not_fused():
    def write(b, x, w):
        y = b.op("nn.dense", x, w)
        z = b.op("nn.relu", y)
        return b.op("add", y, z), b.op("exp", z)

    assert grouped(write, (3, 4), (5, 4)) == []


def test_pointwise_operands_are_one_function():
    def write(b, x, y):
        return b.op("add", b.op("multiply", b.op("exp", x), y), b.op("multiply", b.op("tanh", x), y))

    assert grouped(write, (3, 4), (3, 4)) == [["exp", "multiply", "tanh", "multiply", "add"]]


def test_a_broadcast_operand_is_not_computed_again():
    def write(b, x, w, bias):
        return b.op("add", b.op("nn.dense", x, w), b.op("exp", bias))

    assert grouped(write, (3, 4), (5, 4), (5,)) == [["nn_dense", "add"]]


def test_pointwise_operators_join_the_rows_after_them():
    def write(b, x, y):
        return b.op("nn.softmax", b.op("multiply", b.op("add", x, y), 0.125), axis=-1)

    assert grouped(write, (3, 5), (3, 5)) == [["add", "multiply", "nn_softmax"]]


def test_two_products_stay_apart():
    def write(b, x, w):
        return b.op("nn.dense", b.op("nn.dense", x, w), w)

    assert grouped(write, (4, 4), (4, 4)) == []


def test_equal_groups_share_a_function():
    def write(b, x, w, bias):
        return layer(b, layer(b, x, w, bias), w, bias)

    graph = fuse_tir(fuse_ops(legalize(graph_of(write, (4, 4), (4, 4), (4,)))))
    assert list(graph.module.prim_funcs) == ["fused_nn_dense_add_nn_relu"]


def test_functions_with_declared_regions_stay_alone():
    declared = parse(DECLARED)["main"]

    def write(b, x):
        return b.op("nn.relu", b.call_tir(declared, [x], [((3, 5), "float32")]))

    assert grouped(write, (3, 5)) == []


@pytest.mark.nightly
@pytest.mark.parametrize("shape", [(1, 15), (17, 127), ("n", 16)])
def test_the_fused_program_computes_the_same(shape):
    rng = np.random.default_rng(0)
    w, bias = (rng.integers(-3, 4, s).astype("float32") for s in ((16, shape[1]), (16,)))

    def write(b, x):
        y = layer(b, x, b.weight("w", w), b.weight("b", bias))
        return b.op("nn.softmax", b.op("multiply", b.op("add", y, y), 0.5), axis=-1), b.op("add", y, 1.0)

    graph = graph_of(write, shape)
    fused = compile_graph(graph, until="fuse_tir")
    assert len(fused.module.prim_funcs) == 3
    check_same(compile_graph(graph, until="legalize"), fused, rtol=1e-6, n=7)


def test_intermediate_buffers_have_names_of_their_own():
    def write(b, x, w, bias):
        y = layer(b, x, w, bias)
        return b.op("add", b.op("add", y, bias), bias)

    graph = fuse_tir(fuse_ops(legalize(graph_of(write, (3, 4), (5, 4), (5,)))))
    (function,) = graph.module.prim_funcs.values()
    script = function.script()
    assert "T_add_1 = T.alloc_buffer" in script and 'T.block("T_add_2")' in script


@pytest.mark.parametrize("n", [1, 5, 16])
def test_what_names_a_size_by_its_result_only_is_not_fused_with_its_user(n):
    def write(b, x):
        positions = b.op("astype", b.op("arange", end={"size": "n"}, dtype="int64"), dtype="float32")
        return b.op("add", x, b.op("multiply", positions, 2.0))

    graph = graph_of(write, ("n",))
    x = np.ones(n, np.float32)
    assert np.array_equal(build(graph, threads=1)(x), 1 + 2 * np.arange(n, dtype=np.float32))


def test_a_group_whose_sizes_are_sums_of_sizes():
    """The size n of a buffer of n + 1 rows is computed before the buffers between the operators are made."""
    graph = graph_of(lambda b, _, x: b.op("multiply", b.op("permute_dims", x), 2.0), ("n",), ("n + 1", 3))
    x = np.arange(15, dtype="float32").reshape(5, 3)
    np.testing.assert_array_equal(build(graph, threads=1)(np.zeros(4, "float32"), x), x.T * 2)


ANY_SIZE = """
@I.ir_module
class Module:
    @T.prim_func
    def double(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (n,), "float32")
        Y = T.match_buffer(y, (n,), "float32")
        for i in range(n):
            with T.block("Y"):
                vi = T.axis.spatial(n, i)
                Y[vi] = X[vi] * T.float32(2)

    @R.function
    def main(a: R.Tensor(("SIZE",), "float32")):
        SIZE = T.int64()
        lv = FIRST
        gv = R.call_tir(cls.double, (lv,), out_sinfo=R.Tensor((RESULT,), "float32"))
        return gv
"""


@pytest.mark.parametrize(
    ("size", "first", "result", "functions"),
    [
        ("n", "R.exp(a)", "n", 1),
        ("m", "R.exp(a)", "m", 2),
        ("n", "R.concat((a, a))", "n * 2", 2),
        ("m", "R.concat((a, a))", "m * 2", 2),
    ],
)
def test_a_program_is_fused_where_its_sizes_are_those_of_the_graph(size, first, result, functions):
    """The n of the program is not the n of a graph that calls it with 2 * n."""
    text = ANY_SIZE.replace("SIZE", size).replace("FIRST", first).replace("RESULT", result)
    model = build(parse(text)["main"])
    a = np.arange(1, 4, dtype=np.float32) / 4
    expected = 2 * (np.exp(a) if "exp" in first else np.concatenate((a, a)))
    np.testing.assert_allclose(model(a), expected, rtol=1e-5)
    assert len(model.graph.module.prim_funcs) == functions
