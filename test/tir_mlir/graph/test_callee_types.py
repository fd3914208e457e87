"""The types of what a called graph returns, in the sizes of its caller."""

import pytest

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import TensorType
from tir_mlir.graph.callee_types import renamed_size, result_types


def types(*shapes):
    return [TensorType(shape, "float32") for shape in shapes]


@pytest.mark.parametrize(
    ("wanted", "given", "results", "found"),
    [
        ([("n", 4)], [("m", 4)], [("n + 1", 4)], [("m + 1", 4)]),
        ([("n", 4)], [("2 * m", 4)], [("n + 1",)], [("2 * m + 1",)]),
        ([("n", 4)], [(3, 4)], [("n", "n")], [(3, 3)]),
        ([("n",), ("n + 1",)], [("k",), ("k + 1",)], [("n",)], [("k",)]),
        ([("n + 1",), ("n",)], [(6,), (5,)], [("n * 2",)], [(10,)]),
    ],
)
def test_sizes_are_those_of_the_caller(wanted, given, results, found):
    made = result_types("f", types(*wanted), types(*results), types(*given))
    assert [t.shape for t in made] == found


@pytest.mark.parametrize(
    ("wanted", "given", "message"),
    [
        ([("n", "n")], [(3, 4)], r"input 0 of f is \(n, n\) float32, not \(3, 4\)"),
        ([("n",), ("n + 1",)], [(3,), (5,)], r"input 1 of f is \(n \+ 1,\) float32, and \(5,\) float32 is not shown"),
        ([("n * 2",)], [(6,)], "is not shown"),  # nothing gives n
        ([("n",)], [("n", 1)], "input 0 of f"),
        ([("n",)], [], "f takes 1 inputs, not 0"),
    ],
)
def test_inputs_that_do_not_fit_are_refused(wanted, given, message):
    with pytest.raises(GraphError, match=message):
        result_types("f", types(*wanted), [], types(*given))


@pytest.mark.parametrize(("size", "named"), [("(h - 1) // 8", "size + -1"), ("(h - 1) // 8 + 1", "size"), ("b", "b")])
def test_a_bound_of_a_slice_is_named_as_the_size_beside_it(size, named):
    assert renamed_size(size, {"(h - 1) // 8 + 1": "size"}) == named
