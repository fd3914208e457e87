"""Sizes with a name in models of ONNX: bounds of slices, arithmetic and comparisons of shapes, against ONNX Runtime."""

import numpy as np
import pytest

import tir_mlir
from tir_mlir.errors import ArgumentError, GraphError

onnx = pytest.importorskip("onnx")
runtime = pytest.importorskip("onnxruntime")
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

NODE = helper.make_node
RNG = np.random.default_rng(2)
KNOWN = {
    "zero": np.array([0]), "one": np.array([1]), "two": np.array([2]), "three": np.array([3]), "end": np.array([2**62]),
    "less": np.array([-1]), "places": np.arange(16)[None], "table": RNG.random((16, 4), dtype="float32"),
    "rows": RNG.random((1, 16, 4), dtype="float32"), "mask": np.tril(np.ones((1, 1, 16, 16), bool)),
    "ones": np.ones(2, "int64"), "lesses": np.full(2, -1),
}  # fmt: skip
X, PAST = ("x", ["b", "s"]), ("past", ["b", "p"])
S = NODE("Shape", ["x"], ["s"], start=1, end=2)
P = NODE("Shape", ["past"], ["p"], start=1, end=2)
ALL = NODE("Add", ["p", "s"], ["k"])
FLOAT = NODE("Cast", ["q"], ["y"], to=TensorProto.FLOAT)
TAKEN = NODE("Gather", ["table", "q"], ["y"])
CUTS = {
    "the first": ([S, NODE("Slice", ["places", "zero", "s", "one", "one"], ["q"]), TAKEN], [X], 16),
    "of floats": ([S, NODE("Slice", ["rows", "zero", "s", "one"], ["q"]), NODE("Neg", ["q"], ["y"])], [X], 16),
    "the last": ([S, NODE("Neg", ["s"], ["m"]), NODE("Slice", ["places", "m", "end", "one"], ["q"]), TAKEN], [X], 16),
    "from the third on": (
        [S, NODE("Add", ["s", "two"], ["e"]), NODE("Slice", ["places", "two", "e", "one"], ["q"]), TAKEN], [X], 14
    ),
    "twice as many": (
        [S, NODE("Add", ["s", "s"], ["e"]), NODE("Slice", ["places", "zero", "e", "one"], ["q"]), TAKEN], [X], 8
    ),
    "behind a past": ([S, P, ALL, NODE("Slice", ["places", "p", "k", "one"], ["q"]), TAKEN], [X, PAST], 9),
    "a mask": (
        [S, P, ALL, NODE("Slice", ["mask", "p", "k", "two"], ["r"]), NODE("Slice", ["r", "zero", "k", "three"], ["q"]),
         FLOAT], [X, PAST], 9,
    ),
    "a mask, two axes": (
        [S, P, ALL, NODE("Concat", ["p", "zero"], ["from"], axis=0), NODE("Concat", ["k", "k"], ["to"], axis=0),
         NODE("Concat", ["two", "three"], ["axes"], axis=0), NODE("Slice", ["mask", "from", "to", "axes"], ["q"]),
         FLOAT],
        [X, PAST], 9,
    ),
}  # fmt: skip
SHAPE = NODE("Shape", ["x"], ["n"])
GROWN = NODE("Expand", ["c", "w"], ["y"])
HALF = NODE("ReduceMax", ["x"], ["c"], axes=[1])
ARITHMETIC = {
    "no size is -1": [SHAPE, NODE("Equal", ["n", "lesses"], ["e"]), NODE("Where", ["e", "ones", "n"], ["w"])],
    "the greater of sizes": [SHAPE, NODE("Max", ["n", "ones"], ["w"])],
    "the less of sizes": [SHAPE, NODE("Add", ["n", "ones"], ["m"]), NODE("Min", ["m", "n", "n"], ["w"])],
    "a size is above -1": [SHAPE, NODE("Greater", ["n", "lesses"], ["e"]), NODE("Where", ["e", "n", "ones"], ["w"])],
    "signs": [SHAPE, NODE("Neg", ["n"], ["m"]), NODE("Sub", ["n", "m"], ["d"]), NODE("Sub", ["d", "n"], ["w"])],
}  # fmt: skip


def model(nodes, inputs, opset=17):
    used = {name for node in nodes for name in node.input}
    inits = [numpy_helper.from_array(a, name) for name, a in KNOWN.items() if name in used]
    given = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs]
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    graph = helper.make_graph(nodes, "g", given, [result], inits)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def check(made, *shapes):
    """That results are those of ONNX Runtime, for inputs of each shapes."""
    lib = tir_mlir.build(tir_mlir.from_onnx(made), threads=1, optimize="fast")
    session = runtime.InferenceSession(made.SerializeToString())
    for given in shapes:
        arrays = [RNG.random(shape, dtype="float32") for shape in given]
        (wanted,) = session.run(None, dict(zip((x.name for x in made.graph.input), arrays, strict=True)))
        np.testing.assert_array_equal(lib(*arrays), wanted)
    return lib


@pytest.mark.parametrize("name", CUTS)
def test_a_constant_cut_at_sizes(name):
    nodes, inputs, most = CUTS[name]
    past = [(2, 7)][: len(inputs) - 1]
    lib = check(model(nodes, inputs), [(2, 3), *past], [(2, most), *past], [(2, 1), *past])
    with pytest.raises(ArgumentError, match="the graph is made for"):
        lib(*(np.zeros(shape, "float32") for shape in [(2, most + 1), *past]))


def test_a_bound_beyond_the_axis_is_its_end():
    made = model([S, NODE("Add", ["s", "k20"], ["e"]), NODE("Slice", ["places", "two", "e", "one"], ["q"]), TAKEN], [X])
    made.graph.initializer.append(numpy_helper.from_array(np.array([20]), "k20"))
    check(made, [(2, 3)], [(2, 30)])


@pytest.mark.parametrize("name", ARITHMETIC)
def test_shapes_that_are_computed(name):
    check(model([HALF, *ARITHMETIC[name], GROWN], [X]), [(2, 5)], [(3, 1)])


def test_an_exported_model_has_the_bound(tmp_path):
    nodes, inputs, _ = CUTS["behind a past"]
    tir_mlir.build(tir_mlir.from_onnx(model(nodes, inputs)), threads=1).export(tmp_path / "m", name="cut")
    assert '(s + p) > 16) return refused("the size s + p must be 0 to 16")' in (tmp_path / "m" / "cut.c").read_text()


NEAR = {"mode": "nearest"}
LINEAR = {"mode": "linear"}
RESIZES = {
    "twice as large": ([1, 1, 2, 2], NEAR),
    "linear": ([1, 1, 1.5, 0.5], LINEAR),
    "cubic": ([1, 1, 2, 0.5], {"mode": "cubic", "cubic_coeff_a": -0.5}),
    "corners": ([1, 1, 2, 1], LINEAR | {"coordinate_transformation_mode": "align_corners"}),
    "nearest by a half": ([1, 1, 1.5, 2.5], NEAR | {"nearest_mode": "ceil"}),
    "asymmetric": ([1, 1, 0.5, 3], NEAR | {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
}


def resized(made, attrs, shape, inits, **inputs):
    result = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    given = [helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in ({"x": shape} | inputs).items()]
    nodes = [*made[:-1], NODE("Resize", made[-1], ["y"], **attrs)]
    graph = helper.make_graph(nodes, "g", given, [result], [numpy_helper.from_array(a, n) for n, a in inits.items()])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=8)


def close(made, *shapes):
    """That results are near to those of ONNX Runtime."""
    lib = tir_mlir.build(tir_mlir.from_onnx(made), threads=1, optimize="fast")
    session = runtime.InferenceSession(made.SerializeToString())
    arrays = [RNG.random(shape, dtype="float32") for shape in shapes]
    (wanted,) = session.run(None, dict(zip((x.name for x in made.graph.input), arrays, strict=True)))
    np.testing.assert_allclose(lib(*arrays), wanted, atol=2e-6)


@pytest.mark.parametrize("sizes", [(8, 6), ("h", "w")])
@pytest.mark.parametrize("name", RESIZES)
def test_images_of_a_named_batch(name, sizes):
    scales, attrs = RESIZES[name]
    close(resized([["x", "", "s"]], attrs, ["b", 2, *sizes], {"s": np.array(scales, "float32")}), (3, 2, 8, 6))


def test_images_as_large_as_others():
    nodes = [
        NODE("Shape", ["x"], ["a"], start=0, end=2), NODE("Shape", ["k"], ["c"], start=2),
        NODE("Concat", ["a", "c"], ["t"], axis=0), ["x", "", "", "t"],
    ]  # fmt: skip
    made = resized(nodes, LINEAR, ["b", 2, "h", "w"], {}, k=["b", 3, "H", "W"])
    close(made, (2, 2, 5, 6), (2, 3, 7, 12))


def test_a_scale_of_a_named_size_is_a_fraction():
    made = resized([["x", "", "s"]], NEAR, ["b", 2, "h", 6], {"s": np.array([1, 1, 0.3, 1], "float32")})
    with pytest.raises(GraphError, match="a whole scale, or a multiple of 1/64"):
        tir_mlir.from_onnx(made)
