"""Files of ONNX that are broken or mean harm: an error at once, nothing read outside of the model's folder."""

import os

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper, parser  # noqa: E402

import tir_mlir  # noqa: E402
from tir_mlir.errors import GraphError  # noqa: E402

HEAD = '<ir_version: 10, opset_import: ["" : {opset}, "l" : 1]>\n'
RELU = "agraph (float[3] x) => (float[3] y) { y = Relu (x) }"


def parsed(text, opset=21):
    return parser.parse_model(HEAD.format(opset=opset) + text)


def cycle(count):
    nodes = [helper.make_node("Relu", [f"v{(n + 1) % count}"], [f"v{n}"]) for n in range(count)]
    result = helper.make_tensor_value_info("v0", TensorProto.FLOAT, [3])
    return helper.make_model(helper.make_graph(nodes, "g", [], [result]))


def calls(count, times):
    """Functions that call the next one."""
    proto = parsed("agraph (float[3] x) => (float[3] y) { y = l.F0 (x) }")
    for n in range(count):
        callee, domain = ("Relu", "") if n == count - 1 else (f"F{n + 1}", "l")
        nodes = [helper.make_node(callee, [f"a{k}"], [f"a{k + 1}"], domain=domain) for k in range(times)]
        imports = [helper.make_opsetid("", 21), helper.make_opsetid("l", 1)]
        proto.functions.append(helper.make_function("l", f"F{n}", ["a0"], [f"a{times}"], nodes, imports))
    return proto


HUGE = "agraph () => (float[n] y) <float[1] w = {1}, int64[1] s = {1099511627776}, int64 c = {1099511627776}> "
BAD = {
    "long cycle": (lambda: cycle(10000), "the nodes v0 -> v9999 -> .* -> .. -> .* take each other's results"),
    "future": (lambda: parsed(RELU, 999), r"opset 999, and onnx .* knows those up to \d+\n  fix: pip install"),
    "opset 0": (lambda: parsed(RELU, 0), "the model is of opset 0"),
    "huge input": (lambda: parsed(RELU.replace("3", str(2**40))), "the input x .* takes 4398046511104 bytes"),
    "huge expand": (lambda: parsed(HUGE + "{ y = Expand (w, s) }"), "Expand, node y: its result .* takes"),
    "huge tile": (lambda: parsed(HUGE + "{ y = Tile (w, s) }"), "Tile, node y: its result .* takes"),
    "huge constant": (lambda: parsed(HUGE + "{ y = ConstantOfShape (s) }"), "takes 4398046511104 bytes"),
    "huge window": (lambda: parsed(HUGE + "{ y = HannWindow (c) }"), "HannWindow, node y|Range, node"),
    "function of itself": (
        lambda: parsed(
            'agraph (float[3] x) => (float[3] y) { y = l.F (x) } <domain: "l", opset_import: ["l" : 1]> '
            "F (a) => (b) { b = l.F (a) }"
        ),
        "the functions F -> F call each other",
    ),
    "huge product": (lambda: parsed(RELU.replace("3", "1048576,1048576,1024")), "input x .* 4503599627370496 bytes"),
    "deep functions": (lambda: calls(10000, 1), "bodies are nested 65 deep, and at most 64"),
    "doubling functions": (lambda: calls(40, 2), "the functions of the model stand for more than 65536 nodes"),
    "types": (
        lambda: parsed("agraph (float[3] x, int64[3] z) => (float[3] y) { y = Add (x, z) }"),
        "Add, node y: add: the operands have different types",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_models(name):
    made, message = BAD[name]
    with pytest.raises(GraphError, match=message):
        tir_mlir.from_onnx(made())


@pytest.mark.parametrize("size", [0, 1, 40])
def test_a_file_that_is_cut(tmp_path, size):
    path = tmp_path / "m.onnx"
    path.write_bytes(parsed(RELU).SerializeToString()[:size])
    with pytest.raises(GraphError, match=r"is not a model of ONNX|the model has no graph"):
        tir_mlir.from_onnx(path)


def message(field, inside):
    """The bytes of a message of protobuf in another one."""
    size, length = len(inside), bytearray()
    while size > 127:
        length.append(size & 127 | 128)
        size >>= 7
    return bytes([field << 3 | 2, *length, size]) + inside


def test_a_file_of_ten_thousand_branches_in_branches(tmp_path):
    graph = b""
    for _ in range(10000):  # a graph has a node, which has an attribute, which is a graph
        graph = message(1, message(5, message(6, graph)))
    (tmp_path / "m.onnx").write_bytes(b"\x08\x0a" + message(7, graph))
    with pytest.raises(GraphError, match="is not a model of ONNX"):
        tir_mlir.from_onnx(tmp_path / "m.onnx")


@pytest.fixture
def folder(tmp_path):
    """A model's folder, m, with links out of it, beside a file that it must not read."""
    (tmp_path / "secret").write_bytes(np.ones(3, "float32").tobytes())
    inner = tmp_path / "m"
    inner.mkdir()
    (inner / "data").write_bytes(np.ones(4, "float32").tobytes())
    (inner / "link").symlink_to(tmp_path / "secret")
    (inner / "up").symlink_to(tmp_path)
    os.mkfifo(inner / "pipe")
    return inner


def external(folder, **entries):
    """The path of a model that adds a tensor of three floats, which is said to lie elsewhere."""
    tensor = TensorProto(name="w", data_type=1, dims=[3], data_location=TensorProto.EXTERNAL)
    for key, value in entries.items():
        tensor.external_data.add(key=key, value=str(value))
    proto = parsed("agraph (float[3] x) => (float[3] y) { y = Add (x, w) }")
    proto.graph.initializer.append(tensor)
    (folder / "model.onnx").write_bytes(proto.SerializeToString())
    return folder / "model.onnx"


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ({"location": "../secret"}, "outside of the folder"),
        ({"location": "/etc/hostname"}, "outside of the folder"),
        ({"location": "link"}, "outside of the folder"),
        ({"location": "up/secret"}, "outside of the folder"),
        ({}, "None is not the name of a file"),
        ({"location": "pipe"}, "it is not a regular file"),
        ({"location": "no\0thing"}, "is not the name of a file"),
        ({"location": "data", "offset": 100}, "w ends at byte 100 of 16"),
        ({"location": "data", "length": 2**40}, "of 16"),
        ({"location": "data", "offset": "x"}, "its offset or length is not a number"),
    ],
)
def test_data_that_are_elsewhere(folder, entries, message):
    with pytest.raises(GraphError, match=message):
        tir_mlir.from_onnx(external(folder, **entries))


def test_data_beside_the_model(folder):
    graph = tir_mlir.from_onnx(external(folder, location="data", offset=4, length=12))
    assert graph.weights["w"].tolist() == [1, 1, 1]


def test_a_model_without_elements():
    weight = numpy_helper.from_array(np.zeros((0, 2), "float32"), "w")
    proto = parsed("agraph (float[3,0] x) => (float[3,2] y) { y = MatMul (x, w) }")
    proto.graph.initializer.append(weight)
    ran = tir_mlir.build(tir_mlir.from_onnx(proto), threads=1, optimize="fast")(np.zeros((3, 0), "float32"))
    assert ran.tolist() == [[0, 0]] * 3
