"""Sizes with a name in models of ONNX: bounds of slices, arithmetic and comparisons of shapes, against ONNX Runtime."""

import numpy as np
import pytest

import tir_mlir
from tir_mlir.errors import ArgumentError

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
