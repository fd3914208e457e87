"""from_onnx: graphs made of files, results those of ONNX's own evaluator, refusals."""

import subprocess
import sys

import numpy as np
import pytest
from harness.torch_models import compare

import tir_mlir
from tir_mlir.dialect.ir import enter_context
from tir_mlir.errors import GraphError

onnx = pytest.importorskip("onnx")
helper, numpy_helper, FLOAT, INT64 = onnx.helper, onnx.numpy_helper, onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


def random(*shape, seed=0):
    return np.random.default_rng(seed + sum(shape)).standard_normal(shape).astype("float32")


def model(nodes, inputs, outputs, weights=None, opset=21, types=None):
    """A model of nodes; inputs and weights by name; outputs are of unknown shape."""
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(np.dtype((types or {}).get(name, "f4"))), s)
        for name, s in inputs.items()
    ]
    found = [helper.make_value_info(name, onnx.TypeProto()) for name in outputs]
    kept = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    graph = helper.make_graph(nodes, "g", given, found, kept)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10)


class Cases:
    """Nodes of one opset in one model, each of which makes one result; built once."""

    def __init__(self, opset, inputs, weights, nodes):
        self.opset, self.inputs, self.weights, self.nodes = opset, inputs, weights, nodes
        self.found = None

    def results(self):
        from onnx.reference import ReferenceEvaluator

        nodes = [
            helper.make_node(kind, operands.split(" "), [f"r{n}"], name=f"n{n}", **attrs)
            for n, (kind, operands, attrs) in enumerate(self.nodes.values())
        ]
        shapes = {name: array.shape for name, array in self.inputs.items()}
        types = {name: array.dtype for name, array in self.inputs.items()}
        made = model(nodes, shapes, [f"r{n}" for n in range(len(nodes))], self.weights, self.opset, types)
        ours = tir_mlir.build(tir_mlir.from_onnx(made), threads=1)(*self.inputs.values())
        wanted = ReferenceEvaluator(made).run(None, self.inputs)
        return dict(zip(self.nodes, zip(ours, wanted, strict=True), strict=True))

    def check(self, name):
        self.found = self.found or self.results()
        compare(*self.found[name], rtol=2e-5)


NOW = Cases(
    21,
    {
        "x": random(2, 4, 6, 7), "y": random(4, 1, 7), "i": np.array([[0, 3], [-1, 2]]), "m": random(5, 6),
        "s": random(6, 3),
    },
    {
        "w": random(6, 4, 3, 3), "d": random(4, 1, 3, 3), "u": random(4, 3, 2, 2), "b": random(6), "b4": random(4),
        "c": random(4).copy() ** 2 + 0.5, "g": random(7), "k": random(3, 6), "z": random(3), "slope": random(4, 1, 1),
        "ones": np.array([1]), "two": np.array([0, 2]), "shape": np.array([2, 0, -1]), "lo": np.float32(-0.5),
        "from": np.array([1, -3]), "to": np.array([4, 2**60]), "at": np.array([2, 3]), "by": np.array([1, 2]),
        "pads": np.array([0, 0, 1, 0, 0, 0, 0, 2]), "reps": np.array([1, 2, 1, 1]), "parts": np.array([1, 3]),
        "sizes": np.array([2, 4, 12, 14]), "expand": np.array([2, 4, 5, 1]), "depth": np.array(5),
        "values": np.array([-1, 2], "float32"), "diagonal": np.array(1), "groups": random(2), "last": np.array([-1]),
        "cond": random(2, 4, 6, 7, seed=5) > 0, "power": np.float32(2),
    },
    {
        "Add": ("Add", "x y", {}), "Sub": ("Sub", "x y", {}), "Mul": ("Mul", "x y", {}), "Div": ("Div", "x y", {}),
        "Pow": ("Pow", "x power", {}), "Max": ("Max", "x y lo", {}),
        "Less": ("Less", "x y", {}), "Neg": ("Neg", "x", {}), "Erf": ("Erf", "x", {}), "Exp": ("Exp", "x", {}),
        "Tanh": ("Tanh", "x", {}), "Clip": ("Clip", "x lo", {}), "Relu": ("Relu", "x", {}),
        "LeakyRelu": ("LeakyRelu", "x", {"alpha": 0.2}), "PRelu": ("PRelu", "x slope", {}),
        "Elu": ("Elu", "x", {"alpha": 0.7}), "Selu": ("Selu", "x", {}), "HardSigmoid": ("HardSigmoid", "x", {}),
        "HardSwish": ("HardSwish", "x", {}), "Gelu": ("Gelu", "x", {}), "Mish": ("Mish", "x", {}),
        "Softplus": ("Softplus", "x", {}), "Sigmoid": ("Sigmoid", "x", {}), "Softmax": ("Softmax", "x", {"axis": 1}),
        "LogSoftmax": ("LogSoftmax", "x", {}), "Cast": ("Cast", "x", {"to": INT64}),
        "MatMul": ("MatMul", "m s", {}), "Gemm": ("Gemm", "m k z", {"transB": 1, "alpha": 0.5, "beta": 2.0}),
        "Gemm transA": ("Gemm", "s s", {"transA": 1}), "Einsum": ("Einsum", "m s", {"equation": "ij,jk->ki"}),
        "Conv": ("Conv", "x w b", {"pads": [1, 0, 0, 2], "strides": [2, 1]}),
        "Conv same": ("Conv", "x w", {"auto_pad": "SAME_LOWER", "strides": [2, 2]}),
        "Conv groups": ("Conv", "x d", {"group": 4, "dilations": [2, 1]}),
        "ConvTranspose": ("ConvTranspose", "x u", {"strides": [2, 2], "pads": [0, 1, 0, 1]}),
        "MaxPool": ("MaxPool", "x", {"kernel_shape": [3, 2], "strides": [2, 2], "pads": [1, 0, 1, 0]}),
        "MaxPool ceil": ("MaxPool", "x", {"kernel_shape": [2, 2], "strides": [2, 2], "ceil_mode": 1}),
        "AveragePool": ("AveragePool", "x", {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0]}),
        "AveragePool counted": (
            "AveragePool", "x", {"kernel_shape": [2, 2], "pads": [1, 1, 0, 0], "count_include_pad": 1}
        ),
        "GlobalAveragePool": ("GlobalAveragePool", "x", {}), "GlobalMaxPool": ("GlobalMaxPool", "x", {}),
        "BatchNormalization": ("BatchNormalization", "x b4 b4 b4 c", {"epsilon": 1e-3}),
        "LayerNormalization": ("LayerNormalization", "x g g", {}),
        "InstanceNormalization": ("InstanceNormalization", "x b4 b4", {}),
        "GroupNormalization": ("GroupNormalization", "x b4 b4", {"num_groups": 2}),
        "ReduceSum": ("ReduceSum", "x two", {}), "ReduceMean": ("ReduceMean", "x last", {"keepdims": 0}),
        "ReduceMax": ("ReduceMax", "x", {}), "ReduceL2": ("ReduceL2", "x ones", {}),
        "ReduceLogSumExp": ("ReduceLogSumExp", "x last", {}), "ArgMax": ("ArgMax", "x", {"axis": 1, "keepdims": 0}),
        "CumSum": ("CumSum", "x diagonal", {}), "Reshape": ("Reshape", "x shape", {}),
        "Flatten": ("Flatten", "x", {"axis": 2}), "Transpose": ("Transpose", "x", {"perm": [0, 2, 3, 1]}),
        "Unsqueeze": ("Unsqueeze", "x two", {}), "Expand": ("Expand", "slope expand", {}),
        "Concat": ("Concat", "x x", {"axis": 1}), "Slice": ("Slice", "x from to at by", {}),
        "Gather": ("Gather", "x i", {"axis": 1}), "Tile": ("Tile", "x reps", {}), "Pad": ("Pad", "x pads lo", {}),
        "Pad reflect": ("Pad", "x pads", {"mode": "reflect"}), "Trilu": ("Trilu", "x diagonal", {"upper": 0}),
        "DepthToSpace": ("DepthToSpace", "x", {"blocksize": 2}),
        "DepthToSpace CRD": ("DepthToSpace", "x", {"blocksize": 2, "mode": "CRD"}),
        "Resize": ("Resize", "x   sizes", {"mode": "nearest", "coordinate_transformation_mode": "asymmetric"}),
        "OneHot": ("OneHot", "i depth values", {}), "Identity": ("Identity", "x", {}),
        "Where": ("Where", "cond x y", {}),
    },
)  # fmt: skip

THEN = Cases(
    11,
    {"x": random(2, 4, 6)},
    {"shape": np.array([0, -1])},
    {
        "Squeeze": ("Squeeze", "one", {"axes": [0]}),
        "Unsqueeze": ("Unsqueeze", "x", {"axes": [1, -1]}), "ReduceSum": ("ReduceSum", "x", {"axes": [-1]}),
        "Clip": ("Clip", "x", {}), "Reshape": ("Reshape", "x shape", {}),
    },
)  # fmt: skip
THEN.weights["one"] = random(1, 5)


@pytest.mark.nightly
@pytest.mark.parametrize("name", NOW.nodes)
def test_an_operator(name):
    NOW.check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", THEN.nodes)
def test_an_operator_of_an_old_opset(name):
    THEN.check(name)


def test_remainders_and_sums_of_exponentials_at_the_ends():
    """A remainder is exact however large the quotient; a sum of exponentials does not overflow before its logarithm."""
    nodes = [
        helper.make_node("Mod", ["a", "b"], ["rest"], fmod=1),
        helper.make_node("ReduceLogSumExp", ["x", "axes"], ["sums"], keepdims=0),
        helper.make_node("ArgMax", ["x"], ["at"], axis=1, keepdims=0),
    ]
    a, b = (v.ravel() for v in np.meshgrid([5.5, -5.5, 1e30, 0.0, np.inf, np.nan], [3.0, -0.1, 0.0, np.inf, 1e-40]))
    x = np.array([[1000.0, 1000.0], [-np.inf, -np.inf], [np.inf, 1.0], [1.0, np.nan]])
    given = [v.astype("float32") for v in (a, b, x)]
    made = model(
        nodes, dict(zip("abx", (v.shape for v in given), strict=True)), ["rest", "sums", "at"], {"axes": np.array([1])}
    )
    rest, sums, at = tir_mlir.build(tir_mlir.from_onnx(made), threads=1)(*given)
    with np.errstate(invalid="ignore"):
        compare(rest, np.fmod(*given[:2]), 0)
    compare(sums, np.array([1000 + np.log(2), -np.inf, np.inf, np.nan], "float32"))
    np.testing.assert_array_equal(at, [0, 0, 0, 1])


@pytest.mark.nightly
@pytest.mark.few(1)
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_the_indices_of_maxima(dtype):
    """Of equal elements the first; padding is never the greatest; column-major order counts within each image."""
    pools = {
        "plain": {"kernel_shape": [2, 2], "strides": [2, 2]},
        "padded": {"kernel_shape": [3, 2], "strides": [2, 1], "pads": [1, 0, 1, 1]},
        "columns": {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1], "storage_order": 1},
        "dilated": {"kernel_shape": [2, 2], "dilations": [2, 3], "auto_pad": "SAME_LOWER"},
        "ceil": {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
    }
    nodes = [helper.make_node("MaxPool", ["x"], [f"y{n}", f"i{n}"], **pool) for n, pool in enumerate(pools.values())]
    names = [f"{kind}{n}" for n in range(len(pools)) for kind in "yi"]
    made = model(nodes, {"x": (2, 3, 6, 7)}, names, types={"x": dtype})
    x = np.round(random(2, 3, 6, 7) * 2).astype(dtype)  # with equal elements
    x[1, 1] = -np.inf if dtype == "float32" else -128
    results = tir_mlir.build(tir_mlir.from_onnx(made), threads=1)(x)
    for number, pool in enumerate(pools.values()):
        for ours, exact in zip(results[2 * number :], _first_maxima(x, pool), strict=False):
            np.testing.assert_array_equal(ours, exact, str(pool))


def _first_maxima(x, pool):
    """Maxima and their indices by a loop over the windows of (n, c, h, w)."""
    (kh, kw), (sh, sw) = pool["kernel_shape"], pool.get("strides", [1, 1])
    dh, dw = pool.get("dilations", [1, 1])
    h, w = x.shape[2:]
    pads = pool.get("pads", [0] * 4)
    if "auto_pad" in pool:  # stride 1: as many windows as elements
        pads = [-(-dh * (kh - 1) // 2), -(-dw * (kw - 1) // 2), dh * (kh - 1) // 2, dw * (kw - 1) // 2]
    up = sh - 1 if pool.get("ceil_mode") else 0, sw - 1 if pool.get("ceil_mode") else 0
    rows = (h + pads[0] + pads[2] - dh * (kh - 1) - 1 + up[0]) // sh + 1
    columns = (w + pads[1] + pads[3] - dw * (kw - 1) - 1 + up[1]) // sw + 1
    greatest, index = np.zeros((*x.shape[:2], rows, columns), x.dtype), np.zeros((*x.shape[:2], rows, columns), "int64")
    for n, c, i, j in np.ndindex(greatest.shape):
        taps = [(i * sh - pads[0] + p * dh, j * sw - pads[1] + q * dw) for p in range(kh) for q in range(kw)]
        inside = [(a, b) for a, b in taps if 0 <= a < h and 0 <= b < w]
        a, b = max(inside, key=lambda at: x[n, c][at])  # the first of equal ones
        greatest[n, c, i, j] = x[n, c, a, b]
        index[n, c, i, j] = (n * x.shape[1] + c) * h * w + (a + b * h if pool.get("storage_order") else a * w + b)
    return greatest, index


@pytest.mark.nightly
def test_the_indices_of_maxima_of_volumes_and_sequences():
    from onnx.reference import ReferenceEvaluator

    nodes = [
        helper.make_node("MaxPool", ["x"], ["a", "i"], kernel_shape=[2, 2, 2], strides=[1, 2, 2]),
        helper.make_node("MaxPool", ["s"], ["b", "j"], kernel_shape=[3], strides=[2]),
    ]
    given = {"x": random(2, 2, 4, 6, 4), "s": random(2, 3, 9)}
    made = model(nodes, {name: x.shape for name, x in given.items()}, list("aibj"))
    ours = tir_mlir.build(tir_mlir.from_onnx(made), threads=1)(*given.values())
    for result, exact in zip(ours, ReferenceEvaluator(made).run(None, given), strict=True):
        np.testing.assert_array_equal(result, exact)


def test_softmax_of_an_old_opset_is_of_all_later_axes():
    x = random(2, 4, 6)
    made = model([helper.make_node("Softmax", ["x"], ["y"], axis=1)], {"x": [2, 4, 6]}, ["y"], opset=11)
    wanted = np.exp(x) / np.exp(x).sum((1, 2), keepdims=True)
    compare(tir_mlir.build(tir_mlir.from_onnx(made), threads=1)(x), wanted)


def perceptron(batch):
    nodes = [
        helper.make_node("Gemm", ["x", "fc.weight", "fc.bias"], ["h"], name="fc", transB=1),
        helper.make_node("Relu", ["h"], ["y"], name="relu"),
    ]
    return model(nodes, {"x": [batch, 6]}, ["y"], {"fc.weight": random(4, 6), "fc.bias": random(4)})


def arguments(graph):
    with enter_context():
        func = graph.func
        return [(func.input_name(n), func.input_type(n).shape) for n in range(len(func.inputs))]


def test_initializers_are_weights():
    graph = tir_mlir.from_onnx(perceptron(3))
    assert list(graph.weights) == ["fc.weight", "fc.bias"]


def test_a_named_dimension_is_a_size():
    graph = tir_mlir.from_onnx(perceptron("batch size"))
    assert arguments(graph)[0] == ("x", ("batch_size", 6))


def test_a_file(tmp_path):
    onnx.save(perceptron(2), tmp_path / "model.onnx")
    x = random(2, 6)
    wanted = np.maximum(x @ random(4, 6).T + random(4), 0)
    compare(tir_mlir.build(tir_mlir.from_onnx(tmp_path / "model.onnx"), threads=1)(x), wanted)


def test_shapes_are_computed_when_the_model_is_imported():
    """Shape, Gather, Mul and Concat of sizes: x (n, 4, 6) -> (n * 4, 6)."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"]),
        helper.make_node("Mul", ["n", "four"], ["rows"]),
        helper.make_node("Concat", ["rows", "six"], ["wanted"], axis=0),
        helper.make_node("Reshape", ["x", "wanted"], ["y"]),
    ]
    weights = {"zero": np.array([0]), "four": np.array([4]), "six": np.array([6])}
    graph = tir_mlir.from_onnx(model(nodes, {"x": ["n", 4, 6]}, ["y"], weights))
    with enter_context():
        assert graph.func.type_of(graph.func.outputs[0]).shape == ("n * 4", 6)


def test_a_range_from_one_size_to_another():
    """Positions of new tokens behind a cache: past, past + 1, .., past + n - 1."""
    nodes = [
        helper.make_node("Shape", ["cache"], ["past"]),
        helper.make_node("Shape", ["x"], ["n"]),
        helper.make_node("Add", ["past", "n"], ["end"]),
        helper.make_node("Squeeze", ["past"], ["a"]),
        helper.make_node("Squeeze", ["end"], ["b"]),
        helper.make_node("Range", ["a", "b", "one"], ["at"]),
    ]
    made = model(nodes, {"cache": ["past"], "x": ["n"]}, ["at"], {"one": np.array(1)})
    found = tir_mlir.build(tir_mlir.from_onnx(made), threads=1)(random(5), random(3))
    assert found.tolist() == [5, 6, 7] and found.dtype == np.int64


def test_all_unknown_operators_are_told():
    nodes = [
        helper.make_node("Frob", ["x"], ["a"], name="first"),
        helper.make_node("MyOp", ["x"], ["b"], name="second", domain="mine"),
        helper.make_node("Relu", ["a"], ["c"], name="third"),
    ]
    with pytest.raises(GraphError) as raised:
        tir_mlir.from_onnx(model(nodes, {"x": [3, 3]}, ["b", "c"]))
    text = str(raised.value)
    assert "2 operators of the model cannot be translated" in text
    assert "Frob, node first: it is not known" in text and "MyOp, node second: it is not known (domain mine)" in text
    assert 'fix: from_onnx(..., ops={"Frob": f})' in text and "third" not in text


def test_what_is_unknown_can_be_given():
    from tir_mlir import te

    def scaled(x, by):
        return te.compute(x.shape, lambda i: x[i] * by, name="scaled")

    node = helper.make_node("MyOp", ["x"], ["y"], domain="mine", by=3.0)
    graph = tir_mlir.from_onnx(model([node], {"x": [4]}, ["y"]), ops={"MyOp": scaled})
    compare(tir_mlir.build(graph, threads=1)(random(4)), random(4) * 3)


@pytest.mark.parametrize(
    ("node", "message"),
    [
        (
            helper.make_node("MaxPool", ["x"], ["y"], kernel_shape=[2], pads=[1, 1], auto_pad="NOTSET", foo=1),
            "its attribute foo is not one of MaxPool",
        ),
        (helper.make_node("Reshape", ["x", "x"], ["y"]), "the shape of a Reshape is computed by the model"),
        (helper.make_node("Pad", ["x", "p"], ["y"], mode="twist"), "a Pad of mode twist is not supported"),
    ],
)
def test_refused_attributes(node, message):
    weights = {"a": np.array(0), "p": np.array([0, 0, 1, 0, 0, 1])}
    with pytest.raises(GraphError, match=message):
        tir_mlir.from_onnx(model([node], {"x": [2, 3, 4]}, ["y"], weights))


def test_a_pad_that_cuts_a_named_axis():
    made = model([helper.make_node("Pad", ["x", "p"], ["y"])], {"x": [2, "n"]}, ["y"], {"p": np.array([0, 1, 0, -1])})
    with pytest.raises(GraphError, match="Pad, node y: an axis that is cut by a Pad is n, which is known only when"):
        tir_mlir.from_onnx(made)


@pytest.mark.nightly
@pytest.mark.slow
def test_a_file_is_looked_at_without_torch(tmp_path):
    path = tmp_path / "relu.onnx"
    onnx.save(model([helper.make_node("Relu", ["x"], ["y"])], {"x": [4]}, ["y"]), path)
    code = f"import sys, tir_mlir; print(bool(tir_mlir.supported({str(path)!r})), 'torch' in sys.modules)"
    assert subprocess.check_output([sys.executable, "-c", code], text=True).split() == ["True", "False"]


def test_a_path_that_is_no_model(tmp_path):
    (tmp_path / "text.onnx").write_text("hello")
    with pytest.raises(GraphError, match=r"not a model of ONNX|cannot read"):
        tir_mlir.from_onnx(tmp_path / "text.onnx")
    with pytest.raises(GraphError, match="cannot read"):
        tir_mlir.from_onnx(tmp_path / "none.onnx")


@pytest.mark.parametrize("direction", ["LEFT", "RIGHT"])
@pytest.mark.parametrize("dtype", ["int8", "int64", "uint8", "uint16", "uint32", "uint64"])
def test_shifts_beyond_the_width(dtype, direction):
    """0, or of a negative number that moves to the right -1, as ONNX says."""
    limits, bits = np.iinfo(dtype), np.dtype(dtype).itemsize * 8
    x = np.array([1, limits.max, limits.min, 5, limits.min, limits.max], dtype)
    by = np.array([0, 1, bits - 1, bits, min(2 * bits, limits.max), limits.max], dtype)
    if limits.min < 0:
        x, by = np.append(x, [-3, 9, -8]).astype(dtype), np.append(by, [-1, limits.min, 1]).astype(dtype)

    def shifted(number, count):
        if 0 <= count < bits:
            return (number << count if direction == "LEFT" else number >> count) & (2**bits - 1)
        return 2**bits - 1 if number < 0 and direction == "RIGHT" else 0

    wanted = np.array([shifted(*pair) for pair in zip(x.tolist(), by.tolist(), strict=True)], f"uint{bits}")
    node = helper.make_node("BitShift", ["x", "by"], ["y"], direction=direction)
    made = model([node], {"x": x.shape, "by": by.shape}, ["y"], opset=28, types={"x": dtype, "by": dtype})
    found = tir_mlir.build(tir_mlir.from_onnx(made), threads=1, optimize="fast")(x, by)
    assert found.tolist() == wanted.view(dtype).tolist()
