"""Quantised models of ONNX: what is imported stays integers, and results are those of ONNX Runtime."""

from typing import Any

import numpy as np
import pytest

import tir_mlir
from tir_mlir.graph import compile_graph

onnx = pytest.importorskip("onnx")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

RNG = np.random.default_rng(5)
NODE = helper.make_node
WEIGHTS = {
    "in one step": [NODE("DequantizeLinear", ["w", "ws", "z"], ["wd"])],
    "transposed before": [
        NODE("Transpose", ["w"], ["t"]), NODE("Transpose", ["t"], ["u"]),
        NODE("DequantizeLinear", ["u", "ws", "z"], ["wd"]),
    ],
    "by channel": [NODE("DequantizeLinear", ["w", "by", "zs"], ["wd"], axis=1)],
    "rounded in the model": [
        NODE("QuantizeLinear", ["f", "ws", "z"], ["q"]), NODE("DequantizeLinear", ["q", "ws", "z"], ["wd"])
    ],
}  # fmt: skip


def layer(weight, opset, rows=4, depth=8, columns=6):
    """quantize -> dequantize -> MatMul with a dequantised weight -> quantize, and all between."""
    w = RNG.integers(-127, 128, (depth, columns), np.int8)
    arrays = {
        "s": np.float32(0.02), "z": np.int8(0), "ws": np.float32(0.01), "w": w, "ys": np.float32(0.1),
        "by": np.full(columns, 0.01, "float32"), "zs": np.zeros(columns, "int8"), "f": (w * 0.01).astype("float32"),
    }  # fmt: skip
    nodes = [
        NODE("QuantizeLinear", ["x", "s", "z"], ["xq"]), NODE("DequantizeLinear", ["xq", "s", "z"], ["xd"]), *weight,
        NODE("MatMul", ["xd", "wd"], ["g"]), NODE("QuantizeLinear", ["g", "ys", "z"], ["y"]),
    ]  # fmt: skip
    used = {name for node in nodes for name in node.input}
    inits = [numpy_helper.from_array(np.asarray(a), name) for name, a in arrays.items() if name in used]
    x, y = (
        helper.make_tensor_value_info(name, kind, [rows, size])
        for name, kind, size in (("x", TensorProto.FLOAT, depth), ("y", TensorProto.INT8, columns))
    )
    graph = helper.make_graph(nodes, "g", [x], [y], inits)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


@pytest.mark.parametrize("opset", [18, 19, 21])
@pytest.mark.parametrize("weight", WEIGHTS)
def test_a_small_layer_is_of_integers(weight, opset):
    graph = tir_mlir.from_onnx(layer(WEIGHTS[weight], opset))
    (product,) = [x for x in compile_graph(graph, until="integers").script().splitlines() if "R.matmul(" in x]
    assert 'out_dtype="int32"' in product


def test_integers_of_two_activations_are_multiplied_over_a_length_that_calls_tell():
    """Probabilities by values, as the quantiser of ONNX Runtime writes attention with `MatMulConstBOnly=False`."""
    proto = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        agraph (float[2,3,keys] p, float[2,keys,4] v) => (int32[2,3,4] y, float[2,3,4] z) {
            a, ascale, azero = DynamicQuantizeLinear (p)
            b, bscale, bzero = DynamicQuantizeLinear (v)
            y = MatMulInteger (a, b, azero, bzero)
            scale = Mul (ascale, bscale)
            wide = Cast <to = 1> (y)
            z = Mul (wide, scale)
        }""")
    lib = tir_mlir.build(tir_mlir.from_onnx(proto), threads=1, optimize="fast")
    for size in (1, 15, 16, 17, 127):
        p, v = RNG.standard_normal((2, 3, size), "float32"), 3 + RNG.standard_normal((2, size, 4), "float32")
        want: Any = ReferenceEvaluator(proto).run(None, {"p": p, "v": v})
        y, z = lib(p, v)
        np.testing.assert_array_equal(y, want[0])
        np.testing.assert_allclose(z, want[1], rtol=1e-5)
