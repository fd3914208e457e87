"""The interface onnx.backend: models and nodes by it, values and shapes that come with a call, sequences."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from onnx import TensorProto, helper  # noqa: E402

from tir_mlir import onnx_backend  # noqa: E402
from tir_mlir.errors import ArgumentError, GraphError  # noqa: E402

X = np.arange(6, dtype="float32").reshape(2, 3)


def model(nodes, inputs, outputs, opset=21):
    infos = [x if isinstance(x, onnx.ValueInfoProto) else helper.make_tensor_value_info(*x) for x in inputs]
    results = [
        x if isinstance(x, onnx.ValueInfoProto) else helper.make_value_info(x, onnx.TypeProto()) for x in outputs
    ]
    graph = helper.make_graph(nodes, "g", infos, results)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


def test_a_node():
    (y,) = onnx_backend.run_node(helper.make_node("Neg", ["x"], ["y"]), [X])
    np.testing.assert_array_equal(y, -X)


def test_a_model_by_names_of_inputs_and_outputs():
    made = model([helper.make_node("Neg", ["x"], ["y"])], [("x", TensorProto.FLOAT, ["n", 3])], ["y"])
    ready = onnx_backend.prepare(made)
    for x in (X, X[:1]):
        np.testing.assert_array_equal(ready.run({"x": x}).y, -x)


def test_the_value_of_an_input_decides_on_a_shape():
    inputs = [("x", TensorProto.FLOAT, [2, 3]), ("s", TensorProto.INT64, ["rank"])]
    ready = onnx_backend.prepare(model([helper.make_node("Reshape", ["x", "s"], ["y"])], inputs, ["y"]))
    for shape in ([3, 2], [6], [1, -1]):
        np.testing.assert_array_equal(ready.run([X, np.array(shape)]).y, X.reshape(shape))
    assert len(ready.built) == 3


def test_sequences_in_and_out():
    kind = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, None))
    nodes = [
        helper.make_node("SequenceInsert", ["s", "x"], ["t"]),
        helper.make_node("ConcatFromSequence", ["t"], ["y"], axis=0),
    ]
    inputs = [helper.make_value_info("s", kind), ("x", TensorProto.FLOAT, [2, 3])]
    sequence, joined = onnx_backend.run_model(
        model(nodes, inputs, [helper.make_value_info("t", kind), "y"]), [[X, X + 1], X + 2]
    )
    assert [float(x[0, 0]) for x in sequence] == [0, 1, 2]
    np.testing.assert_array_equal(joined, np.concatenate([X, X + 1, X + 2]))


def test_types_that_numpy_has_by_ml_dtypes():
    x = X.astype(helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16))
    result = helper.make_tensor_value_info("y", TensorProto.BFLOAT16, None)
    made = model([helper.make_node("Neg", ["x"], ["y"])], [("x", TensorProto.BFLOAT16, [2, 3])], [result])
    (y,) = onnx_backend.run_model(made, [x])
    assert y.dtype == x.dtype and y.astype("float32").tolist() == (-X).tolist()


def test_numbers_of_few_bits():
    """Casts, and what is rounded to them; they are kept in wider types and come back as those of the model."""
    x = np.array([-1.3, 0.3, 2.6, 5.1, 500, np.nan], "float32")
    small = {n: helper.tensor_dtype_to_np_dtype(n) for n in (TensorProto.FLOAT8E4M3FN, TensorProto.FLOAT8E5M2)}
    nodes = [helper.make_node("Cast", ["x"], [f"y{n}"], to=n) for n in small]
    nodes += [helper.make_node("Cast", ["i"], ["z"], to=TensorProto.INT4)]
    nodes += [helper.make_node("CastLike", ["i", "z"], ["v"]), helper.make_node("Cast", ["z"], ["w"], to=1)]
    results = [helper.make_tensor_value_info(f"y{n}", n, None) for n in small]
    results += [helper.make_tensor_value_info(n, TensorProto.INT4, None) for n in ("z", "v")] + ["w"]
    made = model(nodes, [("x", TensorProto.FLOAT, [6]), ("i", TensorProto.INT32, [3])], results)
    *eights, z, v, w = onnx_backend.run_model(made, [x, np.array([-3, 7, 200], "int32")])
    for ours, dtype, greatest in zip(eights, small.values(), (448, 57344), strict=True):
        assert ours.dtype == dtype
        np.testing.assert_array_equal(
            ours.astype("float32"), np.clip(x, -greatest, greatest).astype(dtype).astype("f4")
        )
    assert z.dtype == v.dtype and z.dtype.name == "int4" and w.tolist() == [-3, 7, -8] == v.astype(int).tolist()


def test_devices_and_models_that_are_not_compatible():
    unknown = model([helper.make_node("Frob", ["x"], ["y"])], [("x", TensorProto.FLOAT, [2])], ["y"])
    assert onnx_backend.supports_device("CPU") and not onnx_backend.supports_device("CUDA")
    assert not onnx_backend.is_compatible(unknown)
    with pytest.raises(GraphError, match="Frob, node y: it is not known"):
        onnx_backend.prepare(unknown)
    with pytest.raises(ArgumentError, match="2 inputs of a model that takes 1"):
        onnx_backend.run_model(model([helper.make_node("Neg", ["x"], ["y"])], [("x", 1, [2])], ["y"]), [X, X])
