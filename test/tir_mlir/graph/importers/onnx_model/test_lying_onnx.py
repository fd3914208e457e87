"""Files of ONNX that contradict themselves, each refused with node and reason; and names that only look wrong."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper, numpy_helper  # noqa: E402

import tir_mlir  # noqa: E402
from tir_mlir.errors import GraphError  # noqa: E402

FLOAT, UINT8 = TensorProto.FLOAT, TensorProto.UINT8


def node(text, **attrs):
    """ "Add x w -> y" as a node."""
    operands, results = text.split(" ->")
    return helper.make_node(operands.split()[0], operands.split()[1:], results.split(), **attrs)


def model(*nodes, inputs=None, outputs="y", weights=None, kind=FLOAT, opset=21):
    """inputs: shapes by name (x of 2, 3, 4, 4); weights: arrays or TensorProtos by name."""
    shapes = {"x": [2, 3, 4, 4]} if inputs is None else inputs
    given = [helper.make_tensor_value_info(name, kind, shape) for name, shape in shapes.items()]
    results = [helper.make_value_info(name, onnx.TypeProto()) for name in outputs.split()]
    tensors = [
        w if isinstance(w, TensorProto) else numpy_helper.from_array(np.asarray(w), n)
        for n, w in (weights or {}).items()
    ]
    graph = helper.make_graph(nodes, "g", given, results, tensors)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def tensor(kind=FLOAT, dims=(4,), **data):
    return TensorProto(name="w", data_type=kind, dims=dims, **data)


def twice(proto):
    proto.graph.input.append(proto.graph.input[0])
    return proto


SHORT, BAD_INDEX = tensor(raw_data=b"1234"), np.array([[0, 10**9]])
LIES = {
    "no graph": (onnx.ModelProto(), "the model has no graph"),
    "no output": (model(node("Relu x -> y"), outputs=""), "the model returns nothing"),
    "undefined input": (model(node("Add x q -> y")), "Add, node y: its input q is not an input, initializer or result"),
    "undefined output": (
        model(node("Relu x -> y"), outputs="z"),
        "the output z is not an input, initializer or result",
    ),
    "cycle": (model(node("Add x b -> y"), node("Relu y -> b")), "the nodes y -> b -> y take each other's results"),
    "result twice": (model(node("Relu x -> y"), node("Neg x -> y")), "node y and the node y define y"),
    "input twice": (twice(model(node("Relu x -> y"))), "the inputs have the name x twice"),
    "too few inputs": (model(node("Add x -> y")), "Add, node y: the number of its inputs is 1, and 2 is needed"),
    "too many inputs": (model(node("Relu x x -> y")), "Relu, node y: the number of its inputs is 2, and 1 is needed"),
    "too many outputs": (model(node("Relu x -> y z")), "the number of its outputs is 2, and 1 is needed"),
    "no result": (model(node("Relu x ->"), node("Neg x -> y")), "Relu, node Relu: the number of its outputs is 0"),
    "no attribute": (model(node("Concat x x -> y")), "Concat, node y: it lacks the attribute axis"),
    "attribute type": (model(node("Concat x x -> y", axis="a")), "its attribute axis is string, not int"),
    "negative size": (model(node("Relu x -> y"), inputs={"x": [-3]}), "the input x has the size -3"),
    "element type": (model(node("Relu x -> y"), kind=99), "the input x is of type 99"),
    "cast": (model(node("Cast x -> y", to=77)), "Cast, node y: to=77, which is not an element type"),
    "short raw data": (model(node("Add x w -> y"), weights={"w": SHORT}), r"the data of the tensor w are not .*\(4,\)"),
    "short data": (model(node("Add x w -> y"), weights={"w": tensor(float_data=[1])}), "the data of the tensor w"),
    "short constant": (
        model(node("Constant -> w", value=SHORT), node("Add x w -> y")),
        "Constant, node w: the data of",
    ),
    "negative shape": (model(node("Add x w -> y"), weights={"w": tensor(dims=[-4])}), r"has the shape \(-4,\)"),
    "untyped tensor": (model(node("Add x w -> y"), weights={"w": tensor(99)}), "has the element type 99"),
    "text": (
        model(node("Add x w -> y"), weights={"w": tensor(TensorProto.STRING, [1], string_data=[b"q"])}),
        "is of strings",
    ),
    "uint8 data": (
        model(node("Add x w -> y"), kind=UINT8, weights={"w": tensor(UINT8, [], int32_data=[-2])}),
        r"the tensor w is uint8 and has the element -2: not in 0\.\.255",
    ),
    "uint8 bound": (
        model(node("Clip x -> y", min=-2.0), kind=UINT8, opset=6),
        "Clip, node y: the number -2.0 is not a uint8",
    ),
    "range of step 0": (
        model(node("Range a b c -> y"), weights={"a": 0, "b": 5, "c": 0}),
        "Range, node y: a Range from 0 to 5 of step 0",
    ),
    "long range": (model(node("Range a b c -> y"), weights={"a": 0, "b": 2**36, "c": 1}), "takes 549755813888 bytes"),
    "large constant": (
        model(node("ConstantOfShape s -> y"), weights={"s": [2**18, 2**18]}),
        "ConstantOfShape, node y: a constant .* takes 274877906944 bytes",
    ),
    "constant below 0": (model(node("ConstantOfShape s -> y"), weights={"s": [-2]}), r"the size -2 in the shape"),
    "block 0": (model(node("DepthToSpace x -> y", blocksize=0)), "DepthToSpace, node y: blocksize=0"),
    "space in blocks of 0": (model(node("SpaceToDepth x -> y", blocksize=0)), "SpaceToDepth, node y: blocksize=0"),
    "uneven block": (model(node("SpaceToDepth x -> y", blocksize=3)), "blocksize=3: 4 rows are not multiples of 3"),
    "image of 3 axes": (
        model(node("DepthToSpace x -> y", blocksize=1), inputs={"x": [4, 4, 4]}),
        "DepthToSpace, node y: an image of 3 axes",
    ),
    "groups of 0": (
        model(node("GroupNormalization x g g -> y", num_groups=0), weights={"g": np.ones(3, "f4")}),
        "3 channels in 0 groups",
    ),
    "index": (
        model(node("Gather x i -> y", axis=1), weights={"i": BAD_INDEX}),
        "Gather, node y: the index 1000000000 of",
    ),
    "index of a constant": (
        model(node("Gather w i -> y"), weights={"w": [1, 2], "i": BAD_INDEX}),
        "the index 1000000000 of an axis of 2",
    ),
    "index of an element": (
        model(node("GatherElements x i -> y", axis=3), weights={"i": [[[[0, -5]]]]}),
        "the index -5 of an axis of 4",
    ),
    "index of a point": (model(node("GatherND x i -> y"), weights={"i": [[1, 3]]}), "the index 3 of an axis of 3"),
    "too few repeats": (model(node("Tile x r -> y"), weights={"r": [2, 1]}), "Tile, node y: 2 repeats of .* 4 axes"),
    "too many repeats": (model(node("Tile x r -> y"), weights={"r": [1] * 5}), "Tile, node y: 5 repeats of .* 4 axes"),
    "split sum": (model(node("Split x s -> y z", axis=1), weights={"s": [1, 9]}), r"parts of \[1, 9\] elements of 3"),
    "split count": (model(node("Split x s -> y z", axis=1), weights={"s": [3]}), "1 parts, and the node has 2 outputs"),
    "reshape of a constant": (
        model(node("Reshape w s -> y"), weights={"w": [1, 2], "s": [5]}),
        "Reshape, node y: its inputs and attributes do not",
    ),
    "size of no axis": (model(node("Reshape x s -> y"), weights={"s": [96, 1, 1, 1, 0]}), "the size 0 of axis 4"),
    "divisor 0": (model(node("Div a b -> y"), weights={"a": [1], "b": [0]}), "Div, node y: a constant is divided by 0"),
    "drawn numbers": (model(node("Dropout x r t -> y"), weights={"r": np.float32(0.5), "t": True}), "it draws random"),
    "statistics": (
        model(node("BatchNormalization x c c c c -> z y"), weights={"c": np.ones(3, "f4")}),
        r"BatchNormalization, node z: its output y \(running_mean\) is not computed",
    ),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_file_that_contradicts_itself(lie):
    proto, message = LIES[lie]
    with pytest.raises(GraphError, match=message):
        tir_mlir.from_onnx(proto)


def test_an_empty_file(tmp_path):
    (tmp_path / "empty.onnx").write_bytes(b"")
    with pytest.raises(GraphError, match="the model has no graph"):
        tir_mlir.from_onnx(tmp_path / "empty.onnx")


def built(proto, *arrays):
    return tir_mlir.build(tir_mlir.from_onnx(proto), threads=1)(*arrays)


@pytest.mark.nightly
def test_names_that_become_one_identifier_are_two_values():
    """Inputs `a b` and `a_b`, whose sizes are `n m`, `n_m` and `for`; nodes in no order."""
    nodes = [node("MatMul t z -> y"), helper.make_node("Sub", ["a b", "a_b"], ["t"])]
    proto = model(*nodes, inputs={"a b": ["n m", "n_m"], "a_b": ["n m", "n_m"], "z": ["n_m", "for"]})
    p, q, z = (np.random.default_rng(0).standard_normal(s, "f4") for s in ((2, 3), (2, 3), (3, 5)))
    np.testing.assert_allclose(built(proto, p, q, z), (p - q) @ z, rtol=1e-5, atol=1e-6)


def test_further_outputs_are_those_of_onnx():
    """Mean and InvStdDev of a LayerNormalization, the mask of a Dropout; unused outputs cost nothing."""
    from onnx.reference import ReferenceEvaluator

    nodes = [
        node("LayerNormalization x g -> a mean inv", axis=2, epsilon=0.125), node("Dropout a -> b mask"),
        node("LayerNormalization x g -> c unused", axis=2),
    ]  # fmt: skip
    proto = model(*nodes, outputs="a mean inv b mask c", weights={"g": np.ones((4, 4), "f4")})
    x = np.random.default_rng(1).standard_normal((2, 3, 4, 4), "f4")
    for ours, onnxs in zip(built(proto, x), ReferenceEvaluator(proto).run(None, {"x": x}), strict=True):
        assert ours.dtype == onnxs.dtype
        np.testing.assert_allclose(ours, onnxs, rtol=2e-5, atol=1e-6)
    assert "unused" not in tir_mlir.from_onnx(proto).script()


def calling(attrs, **function):
    """A model that calls a function of its own, `scaled`, which has the attribute `by`."""
    inner = node("Mul a k -> b")
    number = helper.make_node("Constant", [], ["k"])
    number.attribute.add(name="value_float", ref_attr_name="by", type=onnx.AttributeProto.FLOAT)
    made = model(helper.make_node("scaled", ["x"], ["y"], domain="own", **attrs))
    body = helper.make_function("own", "scaled", ["a"], ["b"], [number, inner], [helper.make_opsetid("", 21)], ["by"])
    made.functions.append(body)
    made.opset_import.append(helper.make_opsetid("own", 1))
    return made


def with_field(part, number=999):
    """A message with a field that nobody knows."""
    part.MergeFromString(bytes([number << 3 & 127 | 128, number >> 4, 1]))


def unread_field(where):
    made = model(node("Relu x -> y"))
    with_field(where(made))
    return made


def referring():
    made = model(node("LeakyRelu x -> y"))
    made.graph.node[0].attribute.add(name="alpha", ref_attr_name="by", type=onnx.AttributeProto.FLOAT)
    return made


UNREAD = {
    "an attribute": (model(node("Relu x -> y", alpha=0.5)), "Relu, node y: its attribute alpha is not one of Relu of"),
    "of an operator with a body": (model(node("Softsign x -> y", beta=1)), "its attribute beta is not one of Softsign"),
    "of a folded node": (
        model(node("Neg w -> z", by=2), node("Add x z -> y"), weights={"w": np.ones(4, "int64")}),
        "its attribute by is not",
    ),
    "of ONNX Runtime": (
        model(node("BiasGelu x w -> y", domain="com.microsoft", by=2), weights={"w": [0.0] * 4}), "by=2 is"
    ),
    "of an operator that hands them on": (
        model(node("NhwcConv x w -> y", domain="com.microsoft", by=2), weights={"w": np.ones((1, 4, 1, 1), "f4")}),
        "its attribute by is not one of NhwcConv",
    ),
    "of a function": (calling({"by": 2.0, "and": 1}), "its attribute and is not one of the function"),
    "a reference": (referring(), "its attribute alpha is that of a function, and it is in none"),
    "a field of a node": (unread_field(lambda m: m.graph.node[0]), "the node y has a field 999, which onnx"),
    "a field of the model": (unread_field(lambda m: m), "the model has a field 999"),
}  # fmt: skip


@pytest.mark.parametrize("name", UNREAD)
def test_what_is_not_used_is_refused(name):
    proto, message = UNREAD[name]
    with pytest.raises(GraphError, match=message):
        tir_mlir.from_onnx(proto)


def test_functions_of_one_name_differ_by_overload():
    made = calling({"by": 2.0})
    other = onnx.FunctionProto()
    other.CopyFrom(made.functions[0])
    other.overload, other.node[1].op_type = "sum", "Add"
    made.functions.append(other)
    made.graph.node[0].overload = "sum"
    x = np.ones((2, 3, 4, 4), "float32")
    assert (tir_mlir.build(tir_mlir.from_onnx(made), threads=1)(x) == 3).all()


def test_what_no_result_needs_is_not_read():
    text = helper.make_tensor("t", TensorProto.STRING, [1], [b"word"])
    dead = [helper.make_node("Constant", [], ["c"], value_string="word"), node("StringConcat t c -> d")]
    made = model(*dead, node("Relu x -> y"), weights={"t": text})
    assert "relu" in tir_mlir.from_onnx(made).script()


def test_a_long_name_of_a_file(tmp_path):
    stored = tensor()
    stored.data_location = TensorProto.EXTERNAL
    stored.external_data.add(key="location", value="n" * 5000)
    (tmp_path / "m.onnx").write_bytes(model(node("Add x w -> y"), weights={"w": stored}).SerializeToString())
    with pytest.raises(GraphError, match=r"nnn.* is not the name of a file"):
        tir_mlir.from_onnx(tmp_path / "m.onnx")
