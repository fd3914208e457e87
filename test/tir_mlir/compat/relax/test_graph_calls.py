"""Graphs that call graphs, private functions with one part of an operator's results, and operators of tuples."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.compat.relax.transforms import LegalizeOps
from tir_mlir.compat.relax.virtual_machine import VirtualMachine
from tir_mlir.compat.relax.virtual_machine import build as relax_build
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import create, encoding, tensor_func
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph import script as R
from tir_mlir.graph.builder import GraphBuilder
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.inline_graphs import inlined_calls
from tir_mlir.script import ir as I
from tir_mlir.script import tir as T

X = np.random.default_rng(0).standard_normal((4, 6)).astype("float32")


@I.ir_module
class Calls:
    """`flat` is called with numbers for its sizes, `main` calls it twice, once through another graph."""

    @R.function
    def flat(x: R.Tensor(("n", "m"), "float32")):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            y = R.exp(x)
            z = R.reshape(y, (n * m,))
            R.output(z)
        return z

    @R.function
    def halves(x: R.Tensor(("n", 6), "float32")):
        cls = Calls
        with R.dataflow():
            y = R.split(x, 2, axis=1)
            z = cls.flat(y[1])
            R.output(y, z)
        return (y[0], z)

    @R.function
    def main(x: R.Tensor((4, 6), "float32")):
        cls = Calls
        with R.dataflow():
            a = cls.halves(x)
            b = cls.flat(a[0])
            c = R.add(a[1], b)
            R.output(c)
        return c


@I.ir_module
class Private:
    """`part` returns one of the results of an operator, `whole` an input and one result twice."""

    @R.function(private=True)
    def part(x: R.Tensor((4, 6), "float32")) -> R.Tensor((4, 3), "float32"):
        with R.dataflow():
            y = R.split(x, 2, axis=1)
            z = R.exp(y[1])
            R.output(z)
        return z

    @R.function(private=True)
    def whole(x: R.Tensor((4, 3), "float32")):
        with R.dataflow():
            y = R.exp(x)
            R.output(y)
        return (x, y, y)

    @R.function(private=True)
    def outer(x: R.Tensor((4, 3), "float32")) -> R.Tensor((4, 3), "float32"):
        cls = Private
        with R.dataflow():
            y = cls.whole(x)
            z = R.subtract(y[0], y[2])
            R.output(z)
        return z

    @R.function
    def main(x: R.Tensor((4, 6), "float32")):
        cls = Private
        with R.dataflow():
            a = cls.part(x)
            b = R.add(a, cls.outer(a))
            R.output(b)
        return b


def checked(module, wanted):
    """Built, interpreted, and run by the virtual machine."""
    graph = Graph(module)
    assert inlined_calls(graph).verify(graph)
    machine = VirtualMachine(relax_build(module, "llvm"))
    for found in (build(graph, threads=1)(X), graph.interpret(X)[0][0], machine["main"](X).numpy()):
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_graph_that_calls_graphs():
    checked(Calls, np.exp(X[:, 3:]).reshape(-1) + np.exp(X[:, :3]).reshape(-1))


def test_one_part_of_an_operator_in_a_private_function():
    part = np.exp(X[:, 3:])
    checked(Private, part + part - np.exp(part))
    assert "T_split_1" not in Graph(Private).build_model(threads=1).graph.script()  # what nobody reads is not computed


def test_graphs_in_a_circle():
    builder = GraphBuilder("main")
    x = builder.input("x", (4,))
    builder.output(builder.op("exp", x))
    graph = builder.finish()
    with enter_context():
        func = tensor_func(graph.module.mlir, "main")
        node = func.nodes[0]
        with create.ir.InsertionPoint(node.op):
            call = create.call(func, [x.value], node.types, ["again"])
        node.results[0].replace_all_uses_with(call.results[0])
        assert call.kind == encoding.GRAPH
    with pytest.raises(GraphError, match="graphs call each other in a circle: main -> main"):
        inlined_calls(graph)


def test_views_of_several_named_sizes():
    """(n, m, 3) as (n, m * 3) and as (n * m * 3,): the memory of an output."""
    builder = GraphBuilder("main")
    y = builder.op("exp", builder.input("x", ("n", "m", 3)))
    rows = builder.op("exp", builder.op("reshape", y, shape=("n", "m * 3")))
    builder.output(builder.op("reshape", y, shape=("n * m * 3",)), rows)
    x = np.random.default_rng(1).standard_normal((2, 5, 3)).astype("float32")
    flat, found = build(builder.finish(), threads=1)(x)
    np.testing.assert_allclose(flat, np.exp(x).reshape(-1), rtol=1e-6)
    np.testing.assert_allclose(found, np.exp(np.exp(x)).reshape(2, 15), rtol=1e-5)


def test_a_split_of_rows_for_two_threads():
    """Copies of rows whose number is known late are not written out lane by lane."""
    builder = GraphBuilder("main")
    builder.output(*builder.op("split", builder.input("x", ("n", 6)), indices_or_sections=2, axis=1))
    left, right = build(builder.finish(), threads=2)(X)
    np.testing.assert_array_equal(np.concatenate([left, right], 1), X)


@I.ir_module
class Tuples:
    @R.function
    def main(x: R.Tensor((4, 6), "float32"), y: R.Tensor((6, 5), "float32")):
        with R.dataflow():
            parts = R.split(x, 2, axis=1)
            a = R.concat(parts, axis=0)
            b = R.concat((x, x), axis=0)
            c = R.einsum((x, y), "ij,jk->ik")
            d = R.stack((x, x), axis=0)
            R.output(a, b, c, d)
        return (a, b, c, d)


def test_legalized_operators_of_tuples():
    module = LegalizeOps()(Tuples)
    y = np.random.default_rng(2).standard_normal((6, 5)).astype("float32")
    wanted = np.concatenate(np.split(X, 2, 1)), np.concatenate([X, X]), X @ y, np.stack([X, X])
    text = module.script()
    assert "R.concat(" not in text and "R.einsum(" not in text and "R.stack(" not in text
    for found, array in zip(VirtualMachine(relax_build(module, "llvm"))["main"](X, y), wanted, strict=True):
        np.testing.assert_allclose(found.numpy(), array, rtol=1e-5, atol=1e-6)
