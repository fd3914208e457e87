"""What a graph cannot be: each model of ONNX is refused with its node, the reason and a way out."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

import tir_mlir  # noqa: E402
from tir_mlir.dialect.diagnostics import GraphError  # noqa: E402


def model(*nodes, kind=TensorProto.FLOAT, domain=""):
    value = helper.make_tensor_value_info
    graph = helper.make_graph(nodes, "g", [value("x", kind, [3])], [value("y", kind, None)])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid(d, 18) for d in {"", domain}])


def branch(op):
    value = helper.make_tensor_value_info("b", TensorProto.FLOAT, [3])
    return helper.make_graph([helper.make_node(op, ["x"], ["b"])], "branch", [], [value])


CHOICE = [
    helper.make_node("ReduceSum", ["x"], ["s"], keepdims=0),
    helper.make_node("Cast", ["s"], ["c"], to=TensorProto.BOOL),
    helper.make_node("If", ["c"], ["y"], then_branch=branch("Exp"), else_branch=branch("Neg"), name="choose"),
]


def test_only_the_branch_that_is_chosen_runs():
    lib = tir_mlir.build(tir_mlir.from_onnx(model(*CHOICE)), threads=1)
    for x in (np.zeros(3, "float32"), np.ones(3, "float32")):
        np.testing.assert_allclose(lib(x), np.exp(x) if x.sum() else -x, rtol=1e-6)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (model(helper.make_node("RandomNormalLike", ["x"], ["y"])), r"random numbers.*\n  fix: make them an input"),
        (model(helper.make_node("SequenceConstruct", ["x"], ["y"])), r"y is a sequence, .*\n  fix: .*Concat"),
        (model(helper.make_node("Frob", ["x"], ["y"], name="f")), r"Frob, node f: it is not known\n  fix: .*ops="),
        (
            model(helper.make_node("Twist", ["x"], ["y"], domain="my.ops"), domain="my.ops"),
            r"Twist, node y: it is not known \(domain my.ops\)\n  fix: .*ops=",
        ),
        (
            model(helper.make_node("Identity", ["x"], ["y"]), kind=TensorProto.COMPLEX64),
            r"the input x is complex64.*\n  fix: export the model with another type",
        ),
        (
            model(helper.make_node("Identity", ["x"], ["y"]), kind=TensorProto.STRING),
            r"the input x is string.*\n  fix: export",
        ),
    ],
)
def test_the_node_and_a_way_out_are_told(given, message):
    with pytest.raises(GraphError, match=message):
        tir_mlir.from_onnx(given)
