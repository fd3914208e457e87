"""Operators that ONNX Runtime's quantisers and optimisers write, each as ONNX Runtime computes it."""

import numpy as np
import pytest

import tir_mlir
from tir_mlir.errors import GraphError

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
from onnx import helper, numpy_helper  # noqa: E402

RNG = np.random.default_rng(7)


def f(*shape):
    return RNG.standard_normal(shape).astype("float32")


def i(*shape, low=0, high=256, dtype="uint8"):
    return RNG.integers(low, high, shape).astype(dtype)


def steps(scale, zero, dtype="uint8"):
    """A scale and a zero point."""
    return np.float32(scale), np.array(zero, dtype)


def w(array):
    """An operand that is an initializer."""
    return ("weight", np.asarray(array))


def lstm(directions, by_column=False, zero=0, dtype="int8"):
    scale = np.full((directions, 32) if by_column else (directions,), 0.01, "float32")
    zeros = np.full(scale.shape, zero, dtype)
    low, high = (-127, 128) if dtype == "int8" else (0, 256)
    weights = [
        i(directions, 3, 32, low=low, high=high, dtype=dtype),
        i(directions, 8, 32, low=low, high=high, dtype=dtype),
    ]
    return [
        f(4, 2, 3),
        *map(w, weights),
        w(f(directions, 64)),
        None,
        None,
        None,
        None,
        *map(w, (scale, zeros, scale, zeros)),
    ]


def tables(rows, width):
    return [w(i(n, width)) for n in (rows, rows, 2)] + [w(i(width)), w(i(width))]


def nibbles(numbers):
    """Two numbers of 4 bits in a byte, the first in its low half."""
    return (numbers[..., ::2] | numbers[..., 1::2] << 4).astype("uint8")


A, B = i(3, 8), i(8, 5, low=-128, high=128, dtype="int8")
IDS, SEGMENTS, MASK = i(2, 4, high=9, dtype="int32"), i(2, 4, high=2, dtype="int32"), np.ones((2, 4), "int32")
# pairs of products of these stay in 16 bits: without VNNI, convolutions of the runtime saturate there
IMAGE, KERNEL = i(1, 5, 6, 4), i(3, 4, 3, 3, low=-64, high=64, dtype="int8")
BY = np.float32(0.02)
TABLE, BLOCKS = i(9, 64, high=16), RNG.uniform(0.1, 1, (9, 4)).astype("float32")
CODES = i(5 * 64 // 2)
WINDOW = {"kernel_shape": [2, 2], "strides": [2, 2]}
FLOAT_IMAGE, FLOAT_KERNEL = f(1, 5, 6, 4), f(3, 4, 3, 3)
Q = [w(BY), w(np.uint8(3)), w(BY * 2), w(np.int8(0))]
CASES = {
    "DynamicQuantizeLSTM": (lstm(1), {"hidden_size": 8}, 3, 2e-2),
    "DynamicQuantizeLSTM, both directions by column": (
        lstm(2, True), {"hidden_size": 8, "direction": "bidirectional"}, 3, 2e-2
    ),
    "DynamicQuantizeLSTM, zeros": (lstm(1, False, 128, "uint8"), {"hidden_size": 8}, 3, 2e-2),
    "QAttention": (
        [i(2, 3, 8), w(i(8, 24)), w(f(24)), w(BY), w(BY), None, w(np.uint8(100)), w(np.uint8(128))],
        {"num_heads": 2}, 1, 1e-4,
    ),
    "QAttention, one direction": (
        [i(1, 3, 8), w(i(8, 24, low=-9, high=9, dtype="int8")), w(f(24)), w(BY), w(BY), np.array([3], "int32"),
         w(np.uint8(100)), w(np.int8(0))], {"num_heads": 2, "unidirectional": 1}, 1, 1e-4,
    ),
    "QEmbedLayerNormalization": (
        [IDS, SEGMENTS, *tables(9, 8), MASK, *[w(BY)] * 5, *[w(np.uint8(128))] * 5], {"epsilon": 1e-5}, 2, 1e-4
    ),
    "QGemm": (
        [A, *Q[:2], w(B), w(BY), w(np.int8(0)), w(i(5, dtype="int32", high=90)), w(np.float32(0.5)), w(np.uint8(9))],
        {}, 1, 1,
    ),
    "QGemm, floats": ([A, *Q[:2], w(B.T.copy()), w(BY), w(np.int8(0))], {"transB": 1, "alpha": 0.5}, 1, 1e-4),
    "QLinearWhere": (
        [i(2, 3, high=2).astype(bool), i(2, 3), *map(w, steps(0.1, 7)), i(2, 3), *map(w, steps(0.2, 9)),
         *map(w, steps(0.3, 3))], {}, 1, 0,
    ),
    "QLinearConv": (
        [IMAGE, *Q[:2], w(KERNEL), *Q[2:], w(np.float32(2)), w(np.uint8(8))],
        {"channels_last": 1, "pads": [1, 1, 1, 1]}, 1, 1,
    ),
    "QLinearAveragePool": (
        [IMAGE, *map(w, (*steps(0.1, 7), *steps(0.05, 9)))], {"channels_last": 1, **WINDOW}, 1, 1
    ),
    "QLinearAveragePool, channels first": ([IMAGE, *map(w, (*steps(0.1, 7), *steps(0.05, 9)))], WINDOW, 1, 1),
    "QLinearGlobalAveragePool": ([IMAGE, *map(w, (*steps(0.1, 7), *steps(0.05, 9)))], {"channels_last": 1}, 1, 1),
    "QLinearConcat": (
        [*map(w, steps(0.3, 3)), i(2, 3), *map(w, steps(0.1, 7)), i(2, 4), *map(w, steps(0.2, 9))], {"axis": 1}, 1, 1
    ),
    "QLinearSoftmax": ([i(2, 8), *map(w, (*steps(0.1, 7), *steps(1 / 256, 0)))], {"opset": 13}, 1, 1),
    "QLinearLeakyRelu": ([i(2, 8), *map(w, (*steps(0.1, 90), *steps(0.1, 20)))], {"alpha": 0.2}, 1, 1),
    "QLinearMul": ([i(2, 8), *map(w, steps(0.1, 90)), i(8), *map(w, (*steps(0.1, 90), *steps(0.9, 120)))], {}, 1, 1),
    "DynamicQuantizeMatMul": ([f(3, 8), w(B), w(np.full(5, 0.02, "float32")), None, w(f(5))], {}, 1, 1e-4),
    "MatMulIntegerToFloat": ([A, w(B), w(BY), w(BY), w(np.uint8(3)), w(np.int8(0)), w(f(5))], {}, 1, 1e-4),
    "GatherBlockQuantized": (
        [w(nibbles(TABLE)), i(2, 3, high=9, dtype="int64"), w(BLOCKS)], {"block_size": 16, "bits": 4}, 1, 1e-6
    ),
    "GatherBlockQuantized, zeros": (
        [w(nibbles(TABLE)), i(4, high=9, dtype="int32"), w(BLOCKS), w(nibbles(i(9, 4, high=16)))],
        {"block_size": 16}, 1, 1e-6,
    ),
    "GatherBlockQuantized, 8 bits": (
        [w(i(9, 64)), i(4, high=9, dtype="int32"), w(BLOCKS)], {"block_size": 16, "bits": 8}, 1, 1e-4
    ),
    "MatMulBnb4": ([f(3, 64), w(CODES), w(f(10))], {"K": 64, "N": 5, "block_size": 32, "quant_type": 1}, 1, 1e-4),
    "MatMulBnb4, floats": (
        [f(3, 64), w(CODES), w(f(10))], {"K": 64, "N": 5, "block_size": 32, "quant_type": 0}, 1, 1e-4
    ),
    "MatMulNBits": (
        [f(3, 64), w(i(5, 4, 8)), w(f(20))], {"K": 64, "N": 5, "block_size": 16, "bits": 4}, 1, 1e-3
    ),
    "MatMulNBits, 8 bits": (
        [f(3, 64), w(i(5, 4, 16)), w(f(20))], {"K": 64, "N": 5, "block_size": 16, "bits": 8}, 1, 1e-2
    ),
    "MatMulInteger16": ([i(3, 8, dtype="int16"), i(8, 5, dtype="int16")], {}, 1, 0),
    "NhwcMaxPool": ([IMAGE], WINDOW, 1, 0),
    "FusedConv": (
        [FLOAT_IMAGE.transpose(0, 3, 1, 2).copy(), w(FLOAT_KERNEL), w(f(3))],
        {"activation": "Relu", "pads": [1, 1, 1, 1]}, 1, 1e-5,
    ),
    "CDist": ([f(4, 3), f(5, 3)], {"metric": "euclidean"}, 1, 1e-5),
    "UnfoldTensor": ([f(2, 7, 3)], {"dim": 1, "size": 3, "step": 2}, 1, 0),
    "SkipLayerNormalization": ([f(2, 3, 8), f(2, 3, 8), w(f(8)), w(f(8)), w(f(8))], {"epsilon": 1e-5}, 1, 1e-5),
    "SkipSimplifiedLayerNormalization": ([f(2, 3, 8), f(2, 3, 8), w(f(8))], {"epsilon": 1e-5}, 1, 1e-5),
    "QuickGelu": ([f(2, 8)], {"alpha": 1.702}, 1, 1e-6),
    "QuantizeLinear": ([f(2, 8), *map(w, steps(0.1, 90, "uint16"))], {}, 1, 0),
    "DequantizeLinear": ([i(2, 8, dtype="int16"), *map(w, steps(0.1, 90, "int16"))], {}, 1, 1e-6),
    "FusedMatMul": ([f(2, 4, 3), f(2, 5, 4)], {"alpha": 0.5, "transA": 1, "transB": 1}, 1, 1e-5),
}  # fmt: skip
BY_ARRAYS = {
    "NhwcConv": (
        [FLOAT_IMAGE, w(FLOAT_KERNEL)], {"strides": [2, 2]},
        lambda: sum(
            np.einsum("nhwc,oc->nhwo", FLOAT_IMAGE[:, a : a + 3 : 2, b : b + 4 : 2], FLOAT_KERNEL[:, :, a, b])
            for a in range(3) for b in range(3)
        ),
    ),
    "QLinearReduceMean": (
        [np.uint8([[7, 17], [9, 13]]), *map(w, (*steps(0.1, 7), *steps(0.05, 9)))], {"axes": [1], "keepdims": 0},
        lambda: [19, 17],
    ),
    "ComplexMul": ([np.float32([[1, 2]]), np.float32([[3, 4]])], {}, lambda: [[-5, 10]]),
    "ComplexMulConj": ([np.float32([[1, 2]]), np.float32([[3, 4]])], {}, lambda: [[11, 2]]),
    "BiasDropout": ([np.float32([[1, 2]]), np.float32([3, 4]), np.float32([[5, 6]])], {}, lambda: [[9, 12]]),
    "SkipGroupNorm": (
        [np.float32([[[[1, 2]]]]), np.float32([1, 1]), np.float32([0, 1]), np.float32([[[[0, 1]]]])],
        {"groups": 1, "activation": 0}, lambda: [[[[-1, 2]]]],
    ),
}  # fmt: skip
"""Operators that ONNX Runtime has for other devices than the CPU only."""


def model(op, operands, attrs, outputs):
    """A model of one node, and its inputs."""
    inputs, weights, names = {}, {}, []
    for n, x in enumerate(operands):
        names.append("" if x is None else f"x{n}")
        if isinstance(x, tuple):
            weights[names[-1]] = x[1]
        elif x is not None:
            inputs[names[-1]] = x
    node = helper.make_node(op, names, [f"y{n}" for n in range(outputs)], domain="com.microsoft", **attrs)
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(x.dtype), x.shape) for n, x in inputs.items()
    ]
    results = [helper.make_value_info(name, onnx.TypeProto()) for name in node.output]
    graph = helper.make_graph([node], "g", infos, results, [numpy_helper.from_array(a, n) for n, a in weights.items()])
    imports = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=imports, ir_version=10), inputs


def computed(made, inputs):
    results = tir_mlir.build(tir_mlir.from_onnx(made), threads=1, optimize="fast")(*inputs.values())
    return results if isinstance(results, tuple) else (results,)


@pytest.mark.few(6)
@pytest.mark.parametrize("name", CASES)
def test_as_onnx_runtime(name):
    operands, attrs, outputs, tolerance = CASES[name]
    made, inputs = model(name.partition(",")[0], operands, attrs, outputs)
    options = runtime.SessionOptions()
    options.add_session_config_entry("session.x64quantprecision", "1")  # as exact without VNNI
    wanted = runtime.InferenceSession(made.SerializeToString(), options).run(None, inputs)
    for ours, right in zip(computed(made, inputs), wanted, strict=True):
        assert (ours.dtype, ours.shape) == (right.dtype, right.shape)
        difference = np.abs(ours.astype("float64") - right.astype("float64")).max()
        assert difference <= tolerance * (max(1.0, np.abs(right).max()) if right.dtype.kind == "f" else 1)


@pytest.mark.few(2)
@pytest.mark.parametrize("name", BY_ARRAYS)
def test_as_arrays(name):
    operands, attrs, wanted = BY_ARRAYS[name]
    np.testing.assert_allclose(computed(*model(name, operands, attrs, 1))[0], wanted(), atol=1e-4)


REFUSED = {
    ("BeamSearch", "com.microsoft"): "it generates text",
    ("PackedAttention", "com.microsoft"): "optimize the model for the CPU",
    ("Conv", "com.microsoft.nchwc"): "ORT_ENABLE_EXTENDED",
    ("TreeEnsemble", "ai.onnx.ml"): "classical machine learning",
    ("MoE", "com.microsoft"): "it is not known \\(domain com.microsoft\\)",
}


@pytest.mark.parametrize(("op", "domain"), REFUSED)
def test_what_is_not_translated_is_named(op, domain):
    node = helper.make_node(op, ["x"], ["y"], name="this", domain=domain)
    info = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2])
    graph = helper.make_graph([node], "g", [info], [helper.make_value_info("y", onnx.TypeProto())])
    imports = [helper.make_opsetid("", 21), helper.make_opsetid(domain, 1)]
    with pytest.raises(GraphError, match=f"{op}, node this(.|\n)*{REFUSED[op, domain]}"):
        tir_mlir.from_onnx(helper.make_model(graph, opset_imports=imports, ir_version=10))
