"""Graphs of which a machine computes what it can."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pytest

from tir_mlir import accel, build, from_onnx
from tir_mlir.accel import upto
from tir_mlir.accel.machines.gemmini import gemmini
from tir_mlir.accel.machines.vta import vta
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


@pytest.mark.parametrize(("rows", "sizes"), [(16, (32, 16, 16)), (17, (15, 33, 31)), (1, (17, 127, 10))])
def test_dense_layers_on_a_machine_give_the_bits_of_the_cpu(rows: int, sizes: Sequence[int]) -> None:
    graph, x = mlp(rows, sizes)
    net = graph.offload(gemmini())
    assert net.offloaded.share == 1.0
    assert net.cycles == sum(p.mapping.cycles for p in net.programs.values())
    np.testing.assert_array_equal(net.build(threads=1)(x), build(graph, threads=1)(x))


def convolutions(size: int) -> tuple[Graph, np.ndarray]:
    """Three convolutions in 8 bits: of 3 x 3, with strides, and of single pixels; and an image."""
    rng = np.random.default_rng(0)
    b = GraphBuilder("main")
    x = b.input("x", (1, 5, size, size))
    for number, (inputs, outputs, taps, stride) in enumerate([(5, 17, 3, 1), (17, 16, 3, 2), (16, 8, 1, 1)]):
        w = b.weight(f"w{number}", rng.standard_normal((outputs, inputs, taps, taps), np.float32))
        x = b.op("nn.conv2d", x, w, padding=[taps // 2] * 4, strides=[stride, stride])
        x = b.op("nn.relu", b.op("add", x, b.weight(f"b{number}", rng.standard_normal((1, outputs, 1, 1), np.float32))))
    b.output(x)
    image = rng.standard_normal((1, 5, size, size), np.float32)
    return b.finish().calibrate([image], threads=1, **INT8), image


@pytest.mark.nightly
def test_convolutions_on_a_machine_give_the_bits_of_the_cpu() -> None:
    graph, image = convolutions(7)
    net = graph.offload(gemmini())
    assert net.offloaded.share == 1.0
    np.testing.assert_array_equal(net.build(threads=1)(image), build(graph, threads=1)(image))


@pytest.mark.nightly
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


def test_a_store_of_the_low_bits_is_taken_where_it_cannot_wrap() -> None:
    stores = list(stores_of(vta(), "int32", "int8"))
    codes = Requantization(1.0, 0, -128, 127, "int8")
    assert requantizing_store(stores, codes, -128, 127) is not None
    assert requantizing_store(stores, codes, -128, 128) is None


def qdq_model(rows: int, sizes: Sequence[int]) -> object:
    """Dense layers between conversions, with biases in int32, as ONNX Runtime quantises models."""
    onnx = pytest.importorskip("onnx")
    helper, rng = onnx.helper, np.random.default_rng(0)
    arrays: dict[str, np.ndarray] = {"z": np.array(0, np.int8), "s0": np.array(0.03, np.float32)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s0", "z"], ["q0"])]
    for n, (inputs, outputs) in enumerate(pairwise(sizes)):
        arrays[f"w{n}"] = rng.integers(-127, 128, (inputs, outputs), np.int8)
        arrays[f"b{n}"] = rng.integers(-2000, 2000, outputs).astype(np.int32)
        arrays[f"t{n}"], arrays[f"s{n + 1}"] = np.float32(0.01), np.float32(0.03 * (n + 2))
        arrays[f"u{n}"] = arrays[f"s{n}"] * arrays[f"t{n}"]
        for made, code, scale in ((f"x{n}", f"q{n}", f"s{n}"), (f"m{n}", f"w{n}", f"t{n}")):
            nodes.append(helper.make_node("DequantizeLinear", [code, scale, "z"], [made]))
        nodes.append(helper.make_node("DequantizeLinear", [f"b{n}", f"u{n}"], [f"c{n}"]))
        nodes.append(helper.make_node("Gemm", [f"x{n}", f"m{n}", f"c{n}"], [f"g{n}"]))
        nodes.append(helper.make_node("Relu", [f"g{n}"], [f"r{n}"]))
        nodes.append(helper.make_node("QuantizeLinear", [f"r{n}", f"s{n + 1}", "z"], [f"q{n + 1}"]))
    last = f"q{len(sizes) - 1}"
    values = [onnx.numpy_helper.from_array(np.asarray(a), name) for name, a in arrays.items()]
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [rows, sizes[0]])
    y = helper.make_tensor_value_info(last, onnx.TensorProto.INT8, [rows, sizes[-1]])
    model = helper.make_model(
        helper.make_graph(nodes, "g", [x], [y], values), opset_imports=[helper.make_opsetid("", 17)]
    )
    model.ir_version = 8
    return model


@pytest.mark.nightly
def test_a_quantised_model_of_onnx_is_a_program_a_layer() -> None:
    model = qdq_model(17, (33, 32, 10))
    graph = from_onnx(model)
    net = graph.offload(gemmini())
    assert [node.operator for node in net.offloaded.on_cpu] == ["relax.quantize"]
    x = np.random.default_rng(1).standard_normal((17, 33), np.float32)
    result = net.build(threads=1)(x)
    np.testing.assert_array_equal(result, build(graph, threads=1)(x))
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.SerializeToString())  # type: ignore[attr-defined]
    np.testing.assert_array_equal(result, session.run(None, {"x": x})[0])
