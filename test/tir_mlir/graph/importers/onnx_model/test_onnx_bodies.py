"""Functions, branches and sequences of ONNX that are known at import, against ONNX's own evaluator; what is given."""

from typing import Any

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")

from harness.onnx_models import MODELS as WIDE  # noqa: E402
from harness.onnx_models import proto  # noqa: E402
from onnx import parser  # noqa: E402
from onnx.reference import ReferenceEvaluator  # noqa: E402

import tir_mlir  # noqa: E402
from tir_mlir import onnx_backend  # noqa: E402
from tir_mlir.errors import GraphError  # noqa: E402

HEAD = '<ir_version: 10, opset_import: ["" : 21, "local" : 1]>\n'
X = np.arange(12, dtype="float32").reshape(4, 3) - 5
MODELS = {
    "functions with attributes": """agraph (float[4,3] x) => (float[4,3] y) { y = local.scaled <by = 3.0> (x) }
        <domain: "local", opset_import: ["" : 21]> moved (a) => (b) { b = Celu <alpha = 2.0> (a) }
        <domain: "local", opset_import: ["" : 21, "local" : 1]> scaled <by> (a) => (b) {
            k = Constant <value_float: float = @by> ()  c = local.moved (a)  b = Mul (c, k) }""",
    "a known branch": """agraph (float[4,3] x) => (float[n] y) {
        r = Size (x)  k = Constant <value_int: int = 9> ()  c = Less (k, r)
        y = If (c) <then_branch: graph = t () => (float[n] z) { z = Abs (x) },
                    else_branch: graph = f () => (float[n] z) { z = Neg (x) }> }""",
    "a loop of three turns": """agraph (float[4,3] x) => (float[4,3] y, float[n,12] s) {
        n = Constant <value_int: int = 3> ()  t = Constant <value: tensor = bool {1}> ()
        y, s = Loop (n, t, x) <body: graph = b (int64 i, bool c, float[4,3] a) => (bool d, float[4,3] e, float[12] u) {
            d = Identity (c)  f = CastLike (i, a)  e = Add (a, f)  r = Constant <value_ints: ints = [-1]> ()
            u = Reshape (e, r) }> }""",
    "a sequence": """agraph (float[4,3] x) => (float[n,3] y, float[n,3] z, int64 l) {
        k = Constant <value_ints: ints = [1, 3]> ()  p = Constant <value_int: int = -1> ()
        s = SplitToSequence <axis = 0> (x, k)  a = SequenceAt (s, p)  n = Neg (a)
        t = SequenceInsert (s, n)  u = SequenceErase (t, p)  v = SequenceConstruct (a, n)
        y = ConcatFromSequence <axis = 0> (t)  z = ConcatFromSequence <axis = 0> (v)  l = SequenceLength (u) }""",
    "shapes that are computed": """agraph (float[4,3] x) => (float[n,m] y) {
        s = Shape (x)  z = Constant <value_ints: ints = [0]> ()  o = Constant <value_ints: ints = [-1]> ()
        h = Gather (s, z)  w = ReduceProd (s)  e = Concat <axis = 0> (o, h)
        q = Equal (e, o)  d = Div (w, h)  g = Where (q, d, e)  y = Reshape (x, g) }""",
}


@pytest.mark.parametrize("name", MODELS)
def test_results(name):
    proto = parser.parse_model(HEAD + MODELS[name])
    wanted: Any = ReferenceEvaluator(proto).run(None, {"x": X})
    ran = tir_mlir.build(tir_mlir.from_onnx(proto), threads=1, optimize="fast")(X)
    for ours, expected in zip(ran if isinstance(ran, tuple) else (ran,), wanted, strict=True):
        np.testing.assert_allclose(ours, expected, rtol=1e-6)


@pytest.mark.nightly
def test_a_branch_decides_on_the_number_of_rows():
    text = """agraph (float[4,3] x) => (float[n,3] y, int64[2] s)
        <float zero = {0}, int64[1] at = {1}, int64[1] three = {3}> {
        t = ReduceSum <keepdims = 0> (x)  c = Greater (t, zero)
        r = If (c) <then_branch: graph = t () => (float[m,3] z) {
                        f = Gather <axis = 1> (x, at)  g = Greater (f, zero)  h = Squeeze (g, at)
                        z = Compress <axis = 0> (x, h) },
                    else_branch: graph = f () => (float[k,3] z) { z = Slice (x, at, three) }>
        y = Mul (r, r)  s = Shape (y) }"""
    proto = parser.parse_model(HEAD + text)
    lib = tir_mlir.build(tir_mlir.from_onnx(proto), threads=1, optimize="fast")
    for x in (X, -X):
        for ours, expected in zip(lib(x), ReferenceEvaluator(proto).run(None, {"x": x}), strict=True):
            np.testing.assert_array_equal(ours, expected)


def test_shapes_and_values_of_inputs():
    proto = parser.parse_model(HEAD + "agraph (float[n,m] x, int64[k] s) => (float[p,q] y) { y = Reshape (x, s) }")
    with pytest.raises(GraphError, match=r"the shape of a Reshape is computed by the model\n  fix: .*values="):
        tir_mlir.from_onnx(proto)
    graph = tir_mlir.from_onnx(proto, shapes={"x": (4, 3)}, values={"s": np.array([2, -1])})
    assert tir_mlir.build(graph, threads=1, optimize="fast")(X).shape == (2, 6)
    with pytest.raises(GraphError, match=r"shapes of z, which is not an input of the model\n  fix: name one of x, s"):
        tir_mlir.from_onnx(proto, shapes={"z": (4, 3)})


def test_weights_of_floats_are_not_folded():
    text = "agraph (float[2] x) => (float[2] y) <float[2] w = {1, 2}> { v = Neg (w)  y = Add (x, v) }"
    assert list(tir_mlir.from_onnx(parser.parse_model(HEAD + text)).weights) == ["w"]


def test_a_loop_whose_condition_is_of_a_counter_has_known_turns():
    """The counter is carried, as Keras writes its recurrent layers; the rows of its turns are of known size."""
    proto = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        agraph (float[3] x) => (float[3] y, float[k, 3] z)
        <int64 most = {9}, bool go = {1}, int64 zero = {0}, int64 one = {1}, int64 end = {5}> {
            c, y, z = Loop <body = b (int64 t, bool g, int64 i, float[3] s)
                => (bool h, int64 j, float[3] r, float[3] w)
                { j = Add (i, one)  h = Less (j, end)  r = Add (s, x)  w = Mul (r, r) }> (most, go, zero, x)
        }""")
    x = np.array([1, 2, 3], "float32")
    y, z = tir_mlir.build(tir_mlir.from_onnx(proto), threads=1, optimize="fast")(x)
    np.testing.assert_array_equal(y, 6 * x)
    np.testing.assert_array_equal(z, (np.arange(2, 7)[:, None] * x) ** 2)


def test_the_scale_of_zeros_is_one():
    """As by ONNX Runtime; a division by zero would make the zero point of them NaN."""
    proto = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        agraph (float[3] x) => (uint8[3] y, float s, uint8 z) { y, s, z = DynamicQuantizeLinear (x) }""")
    y, scale, zero = tir_mlir.build(tir_mlir.from_onnx(proto), threads=1, optimize="fast")(np.zeros(3, "float32"))
    assert y.tolist() == [0, 0, 0] and scale == 1 and zero == 0


def test_indices_of_an_unpooled_image_are_those_of_its_given_shape():
    proto = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        agraph (float[1,1,1,2] x, int64[1,1,1,2] i) => (float[1,1,3,3] y)
        <int64[4] s = {1, 1, 3, 3}> { y = MaxUnpool <kernel_shape = [2, 2], strides = [2, 2]> (x, i, s) }""")
    lib = tir_mlir.build(tir_mlir.from_onnx(proto), threads=1, optimize="fast")
    y = lib(np.array([[[[4, 5]]]], "float32"), np.array([[[[3, 8]]]]))
    assert y.reshape(-1).tolist() == [0, 0, 0, 4, 0, 0, 0, 0, 5]


def test_rows_of_a_sequence_that_are_shorter_keep_their_state():
    """Also backward, where they begin at their own end; lengths are data."""
    proto = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        agraph (float[3,2,1] x, int32[2] n) => (float[3,1,2,1] y, float[1,2,1] h)
        <float[1,1,1] w = {1}, float[1,1,1] r = {2}> {
            y, h = RNN <hidden_size = 1, direction = "reverse", activations = ["Relu"]> (x, w, r, , n) }""")
    y, last = tir_mlir.build(tir_mlir.from_onnx(proto), threads=1, optimize="fast")(
        np.array([[1, 1], [2, 2], [4, 4]], "float32").reshape(3, 2, 1), np.array([3, 2], "int32")
    )
    assert y.reshape(3, 2).tolist() == [[21, 5], [10, 2], [4, 0]] and last.reshape(-1).tolist() == [21, 5]


def test_a_loop_that_data_end_stacks_the_rows_of_its_turns():
    proto = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["" : 21]>
        agraph (float[1] x) => (float[1] y, float[n,1] z) <int64 most = {6}, bool go = {1}, float[1] end = {10}> {
            y, z = Loop <body = b (int64 t, bool c, float[1] a) => (bool h, float[1] e, float[1] w)
                { e = Add (a, a)  w = Neg (e)  h = Less (e, end) }> (most, go, x) }""")
    lib = tir_mlir.build(tir_mlir.from_onnx(proto), threads=1, optimize="fast")
    assert [a.reshape(-1).tolist() for a in lib(np.array([3], "float32"))] == [[12], [-6, -12]]
    assert [a.reshape(-1).tolist() for a in lib(np.array([8], "float32"))] == [[16], [-16]]


@pytest.mark.parametrize("name", ["If of sequences", "If of sequences of other lengths"])
def test_sides_that_return_sequences(name):
    """Of other lengths: the condition has to be known, which the interface of onnx.backend finds out."""
    for x, condition in WIDE[name][1]:
        (y, *_) = onnx_backend.run_model(proto(name, 17), [x, condition], threads=1, optimize="fast")
        yes = [x, -x] if name == "If of sequences" else [x]
        np.testing.assert_array_equal(y, np.concatenate(yes if condition else [np.abs(x), x]))


def test_sides_of_other_lengths_are_refused():
    with pytest.raises(GraphError, match="sides return sequences of different lengths"):
        tir_mlir.from_onnx(proto("If of sequences of other lengths", 17))


@pytest.mark.parametrize(("condition", "x", "y", "left"), [
    (np.zeros((3, 1), bool), "float[1] x", "float[2,3,4] y", 0),
    (np.ones((3, 1), bool), "float[2,3,n] x", "float[1,n] y", 0),
    (np.zeros((2, 1, 1), bool), "float[1] x", "float[3,4] y", 1),  # the condition widens the result
    (np.ones(1, bool), "float[3,1] x", "float[3,4] y", 1),  # the other side does
    (np.array([True, False, True, True]), "float[3,4] x", "float[4] y", 1),
])  # fmt: skip
def test_a_known_condition_chooses_a_side_that_has_all_sizes(condition, x, y, left):
    """As in the body of ONNX's `Attention` without a mask, where no row of scores is empty."""
    proto = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["" : 21]>
        agraph ({x}, {y}) => (float[] z) {{ z = Where (c, x, y) }}""")
    proto.graph.output[0].type.tensor_type.ClearField("shape")
    proto.graph.initializer.append(onnx.numpy_helper.from_array(condition, "c"))
    assert tir_mlir.from_onnx(proto).script().count("R.where(") == left
