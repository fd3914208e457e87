"""Graphs of which a machine computes what it can."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from tir_mlir import accel, build
from tir_mlir.accel import upto
from tir_mlir.accel.machines.gemmini import gemmini
from tir_mlir.accel.offload.requantization import Requantization, requantizing_store, stores_of
from tir_mlir.graph import Graph, GraphBuilder
from tir_mlir.script import tir as T

INT8 = {"activations": "int8", "symmetric": True, "per_channel": False, "bias": "int32"}


def mlp(rows: int, sizes: Sequence[int], has_bias: bool = True) -> tuple[Graph, np.ndarray]:
    """Dense layers with relu between them, in 8 bits, and an input."""
    rng = np.random.default_rng(0)
    b = GraphBuilder("main")
    x = b.input("x", (rows, sizes[0]))
    for number, (inputs, outputs) in enumerate(pairwise(sizes)):
        x = b.op("nn.relu", x) if number else x
        x = b.op("nn.dense", x, b.weight(f"w{number}", rng.standard_normal((outputs, inputs), np.float32)))
        if has_bias:
            x = b.op("add", x, b.weight(f"b{number}", rng.standard_normal(outputs, np.float32)))
    b.output(x)
    batch = rng.standard_normal((rows, sizes[0]), np.float32)
    return b.finish().calibrate([batch], threads=1, **INT8), batch


@pytest.mark.parametrize(("rows", "sizes"), [(16, (32, 16, 16)), (17, (15, 33, 31))])
def test_dense_layers_on_a_machine_give_the_bits_of_the_cpu(rows: int, sizes: Sequence[int]) -> None:
    graph, x = mlp(rows, sizes)
    net = graph.offload(gemmini())
    assert net.offloaded.share == 1.0
    assert net.cycles == sum(p.mapping.cycles for p in net.programs.values())
    np.testing.assert_array_equal(net.build(threads=1)(x), build(graph, threads=1)(x))


def test_layers_that_differ_in_scales_are_mapped_once() -> None:
    graph, x = mlp(16, (16, 16, 16, 16), has_bias=False)
    net = graph.offload(gemmini())
    assert len({id(p.mapping) for p in net.programs.values()}) == 2  # with relu, and the last one
    np.testing.assert_array_equal(net.build(threads=1)(x), build(graph, threads=1)(x))


def test_a_layer_that_stays_has_the_reason() -> None:
    b = GraphBuilder("main")
    b.output(b.op("nn.softmax", b.op("nn.dense", b.input("x", (16, 16)), b.weight("w", np.ones((16, 16), "float32")))))
    net = b.finish().offload(gemmini())
    assert net.offloaded.share == 0.0
    dense = next(node for node in net.offloaded.on_cpu if node.operator == "relax.nn.dense")
    assert 'no instruction of Machine("gemmini") computes block' in dense.reason
    assert "1 x relax.nn.softmax: " in str(net.offloaded)


def test_what_is_not_a_machine_is_refused() -> None:
    graph, _ = mlp(1, (16, 16))
    with pytest.raises(TypeError, match=r"Expected an accel\.Machine, but gets: 'gemmini'"):
        graph.offload("gemmini")  # type: ignore[arg-type]


WANTED = Requantization(0.0123, 0, -128, 127, "int8")


def test_rounding_grows_at_the_sums_that_are_told() -> None:
    sums = np.arange(-20000, 20000)
    results = WANTED(sums)
    assert {*sums[1:][np.diff(results.astype(int)) > 0]} <= {*WANTED.steps(-20000, 19999)}


def test_the_store_that_rounds_as_a_graph_does_is_found() -> None:
    stores = list(stores_of(gemmini(), "int32", "int8"))
    found = requantizing_store(stores, WANTED, -(2**20), 2**20)
    assert found is not None and (found[0].instruction.name, found[1]) == ("mvout", {"scale": 0.0123})
    relu = requantizing_store(stores, Requantization(0.0123, 0, 0, 127, "int8"), -(2**20), 2**20)
    assert relu is not None and relu[0].instruction.name == "mvout_relu"


@pytest.mark.parametrize(
    "wanted",
    [Requantization(0.0123, 3, -128, 127, "int8"), Requantization(0.0123, 0, -128, 100, "int8")],
    ids=["a zero point", "another bound"],
)
def test_a_store_that_rounds_otherwise_is_not_taken(wanted: Requantization) -> None:
    assert requantizing_store(list(stores_of(gemmini(), "int32", "int8")), wanted, -(2**20), 2**20) is None


def away_from_zero() -> accel.Machine:
    """A machine that adds a half and rounds down."""
    m = accel.Machine("halves")
    acc = m.memory("acc", rows=64, row=(16, "int32"))

    @m.instruction(m.unit("store"), call="save({D}, {C.row}, {rows})", cycles=16)
    def save(C: acc, D: m.host("int8"), rows: upto(16), scale: T.float32):
        for i, j in T.grid(16, 16):
            if i < rows:
                D[i, j] = T.Cast(
                    "int8",
                    T.max(
                        T.min(T.floor(T.Cast("float32", C[i, j]) * scale + T.float32(0.5)), T.float32(127)),
                        T.float32(-128),
                    ),
                )

    return m


def test_halves_decide_whether_two_roundings_are_one() -> None:
    stores = list(stores_of(away_from_zero(), "int32", "int8"))
    assert requantizing_store(stores, Requantization(0.25, 0, -128, 127, "int8"), -(2**20), 2**20) is None
    third = Requantization(float(np.float32(1 / 3)), 0, -128, 127, "int8")  # no sum is halfway between two codes
    assert requantizing_store(stores, third, -1000, 1000) is not None
