"""Whole nets in 8 bits of which a machine computes the products: their bits are those of the CPU."""

from __future__ import annotations

import numpy as np
import pytest
from harness import small_nets

from tir_mlir import build, from_onnx
from tir_mlir.accel.machines.gemmini import gemmini
from tir_mlir.accel.offload import OffloadedGraph, offload
from tir_mlir.graph import Graph, GraphBuilder


def run_on_both(graph: Graph, x: np.ndarray) -> OffloadedGraph:
    """The graph on a machine, after its result was compared with that of the CPU."""
    net = offload(graph, gemmini())
    np.testing.assert_array_equal(net.build(threads=1)(x), build(graph, threads=1)(x))
    return net


@pytest.mark.nightly
@pytest.mark.parametrize(
    ("name", "sizes"),
    [("resnet", {}), ("resnet", {"size": 15}), ("mobilenet", {}), ("bert", {}), ("bert", {"layers": 2, "tokens": 19})],
)
def test_a_net_gives_the_bits_of_the_cpu(name: str, sizes: dict[str, int]) -> None:
    """Three models are built for each: ten seconds."""
    net = run_on_both(*getattr(small_nets, name)(**sizes))
    assert net.offloaded.share == 1.0
    assert all(node.reason for node in net.offloaded.on_cpu)
    assert net.verify()


def grouped_convolution(groups: int, outputs: int, stride: int) -> tuple[Graph, np.ndarray]:
    """Sums of int8 of a convolution in groups of 24 channels, with a bias."""
    rng, b = np.random.default_rng(0), GraphBuilder("main")
    kernel = b.weight("w", rng.integers(-127, 128, (outputs, 24 // groups, 3, 3), np.int8))
    y = b.op("nn.conv2d", b.input("x", (1, 24, 7, 7), "int8"), kernel, padding=[1] * 4, strides=[stride] * 2,
             groups=groups, out_dtype="int32")  # fmt: skip
    b.output(b.op("add", y, b.weight("b", rng.integers(-999, 999, (1, outputs, 1, 1)).astype(np.int32))))
    return b.finish(), rng.integers(-128, 128, (1, 24, 7, 7), np.int8)


@pytest.mark.few(1)
@pytest.mark.parametrize(("groups", "outputs", "stride"), [(24, 24, 1), (6, 12, 2)], ids=["depthwise", "of 4 channels"])
def test_groups_are_computed_together(groups: int, outputs: int, stride: int) -> None:
    net = run_on_both(*grouped_convolution(groups, outputs, stride))
    (node,) = net.offloaded.nodes
    assert f" of {groups} groups at once: " in node.note and " on the CPU" in node.note


def test_a_net_is_verified() -> None:
    net = offload(grouped_convolution(24, 24, 1)[0], gemmini())
    assert net.verify()
    (program,) = net.programs.values()
    placed = program.mapping.function.placed
    placed.rows[next(iter(placed.rows))] += 1
    assert "not equal to its schedule" in str(net.verify())


@pytest.mark.nightly
def test_groups_stay_where_the_cpu_is_faster() -> None:
    machine = gemmini()
    machine.host_macs = 1000
    net = offload(grouped_convolution(24, 24, 1)[0], machine)
    (node,) = [node for node in net.offloaded.on_cpu if node.operator == "relax.nn.conv2d"]
    assert not net.offloaded.nodes and node.reason.endswith(" cycles, more than 11 on the CPU")


def test_a_padded_result_is_stored_a_part_after_its_start_values_are_set() -> None:
    rng, b = np.random.default_rng(0), GraphBuilder("main")
    y = b.op("nn.dense", b.input("x", (64, 128), "int8"), b.weight("w", rng.integers(-127, 128, (10, 128), np.int8)),
             out_dtype="int32")  # fmt: skip
    b.output(b.op("add", y, b.weight("b", rng.integers(-999, 999, 10).astype(np.int32))))
    net = offload(b.finish(), gemmini())
    assert not net.offloaded.nodes[0].note and not net.offloaded.on_cpu
    assert net.verify()


def test_products_of_activations_are_a_program_for_a_batch() -> None:
    rng, b = np.random.default_rng(0), GraphBuilder("main")
    shapes = (2, 3, 7, 5), (2, 3, 5, 9)
    b.output(b.op("matmul", *(b.input(n, s, "int8") for n, s in zip("xy", shapes, strict=True)), out_dtype="int32"))
    x, y = (rng.integers(-128, 128, shape, np.int8) for shape in shapes)
    net = offload(b.finish(), gemmini())
    assert list(net.programs) == ["product_6x7x9x5"]
    np.testing.assert_array_equal(net.build(threads=1)(x, y), x.astype(np.int32) @ y.astype(np.int32))


def qdq_convolutions() -> object:
    """Convolutions of single pixels and of single channels between conversions, as ONNX Runtime quantises models."""
    onnx = pytest.importorskip("onnx")
    helper, rng = onnx.helper, np.random.default_rng(0)
    arrays: dict[str, np.ndarray] = {"z": np.array(0, np.int8), "s0": np.array(0.03, np.float32)}
    nodes = [helper.make_node("QuantizeLinear", ["x", "s0", "z"], ["q0"])]
    for n, (shape, groups) in enumerate([((16, 5, 1, 1), 1), ((16, 1, 3, 3), 16)]):
        arrays[f"w{n}"] = rng.integers(-127, 128, shape, np.int8)
        arrays[f"b{n}"] = rng.integers(-2000, 2000, shape[0]).astype(np.int32)
        arrays[f"t{n}"], arrays[f"s{n + 1}"] = np.float32(0.01), np.float32(0.07 * (n + 1))
        arrays[f"u{n}"] = arrays[f"s{n}"] * arrays[f"t{n}"]
        for made, code, scale in ((f"x{n}", f"q{n}", f"s{n}"), (f"m{n}", f"w{n}", f"t{n}")):
            nodes.append(helper.make_node("DequantizeLinear", [code, scale, "z"], [made]))
        nodes.append(helper.make_node("DequantizeLinear", [f"b{n}", f"u{n}"], [f"c{n}"]))
        operands, pads = [f"x{n}", f"m{n}", f"c{n}"], [shape[2] // 2] * 4
        nodes.append(helper.make_node("Conv", operands, [f"g{n}"], group=groups, pads=pads, kernel_shape=shape[2:]))
        nodes.append(helper.make_node("Relu", [f"g{n}"], [f"r{n}"]))
        nodes.append(helper.make_node("QuantizeLinear", [f"r{n}", f"s{n + 1}", "z"], [f"q{n + 1}"]))
    values = [onnx.numpy_helper.from_array(np.asarray(a), name) for name, a in arrays.items()]
    x = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1, 5, 9, 9])
    y = helper.make_tensor_value_info("q2", onnx.TensorProto.INT8, [1, 16, 9, 9])
    model = helper.make_model(
        helper.make_graph(nodes, "g", [x], [y], values), opset_imports=[helper.make_opsetid("", 17)]
    )
    model.ir_version = 8
    return model


@pytest.mark.nightly
def test_quantised_convolutions_of_onnx_give_the_bits_of_its_runtime() -> None:
    model = qdq_convolutions()
    x = np.random.default_rng(1).standard_normal((1, 5, 9, 9), np.float32)
    net = run_on_both(from_onnx(model), x)
    assert net.offloaded.share == 1.0
    runtime = pytest.importorskip("onnxruntime")
    session = runtime.InferenceSession(model.SerializeToString())  # type: ignore[attr-defined]
    np.testing.assert_array_equal(net.build(threads=1)(x), session.run(None, {"x": x})[0])


def test_attention_of_floats_tells_what_makes_it_integers() -> None:
    b = GraphBuilder("main")
    b.output(b.op("nn.attention", *(b.input(name, (1, 5, 2, 8)) for name in "qkv")))
    (node,) = [n for n in offload(b.finish(), gemmini()).offloaded.on_cpu if n.macs]
    assert node.macs == 2 * 2 * 5 * 5 * 8 and "fix: calibrate with symmetric=True" in node.reason
