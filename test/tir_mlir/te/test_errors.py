"""Errors in tensor expressions are reported at the user's line."""

import pytest

from tir_mlir import te
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import tir as T

A = te.placeholder((8, 16), name="A")
N = te.placeholder((8, 16), "int32", name="N")
K = te.reduce_axis((0, 16), name="k")
C = te.compute((8, 16), lambda i, j: A[i, j], name="C")
SIZE = te.var("n")

WRONG = {
    "too many indices": (lambda: A[1, 2, 3], r"A has 2 axes but 3 indices"),
    "too few indices": (lambda: te.compute((8,), lambda i: A[i]), r"A has 2 axes but 1 indices"),
    "a tensor as a value": (lambda: te.compute((8,), lambda i: A), r"A has 2 axes: a value is one element"),
    "a slice": (lambda: A[0:2, 1], r"A has no slices"),
    "no reducer": (lambda: te.compute((8,), lambda i: A[i, K]), r"reduce axis k outside a reduction .*axis=k"),
    "an axis too many": (lambda: te.compute((8,), lambda i, j: A[i, j]), r"shape has 1 axes but .* takes 2 indices"),
    "a sum in a sum": (
        lambda: te.compute((8,), lambda i: te.sum(te.sum(A[i, K], axis=K), axis=K)),
        r"reduce over several axes at once",
    ),
    "more than a sum": (lambda: te.compute((8,), lambda i: te.sum(A[i, K], axis=K) + 1), "must be the whole value"),
    "one plus a sum": (lambda: te.compute((8,), lambda i: 1 + te.sum(A[i, K], axis=K)), "must be the whole value"),
    "an element plus a sum": (
        lambda: te.compute((8,), lambda i: A[i, 0] + te.sum(A[i, K], axis=K)),
        "must be the whole value",
    ),
    "the root of a sum": (lambda: te.compute((8,), lambda i: te.sqrt(te.sum(A[i, K], axis=K))), r"stands alone"),
    "no axis": (lambda: te.compute((8,), lambda i: te.sum(A[i, K])), r"te\.sum needs an axis"),
    "a spatial axis": (lambda: te.compute((8,), lambda i: te.sum(A[i, K], axis=i)), r"i is a spatial axis"),
    "an axis twice": (lambda: te.compute((8,), lambda i: te.sum(A[i, K], axis=[K, K])), r"has an axis twice"),
    "an axis of another": (lambda: te.compute((8, 16), lambda i, j: A[C.op.axis[0], j]), r"axis i of another te\.comp"),
    "integers divided": (lambda: te.compute((8, 16), lambda i, j: N[i, j] / 2), r"/ divides floats"),
    "a float as an index": (lambda: te.compute((8,), lambda i: A[i, A[i, 0]]), r"an index must be an integer"),
    "the exponential of an integer": (lambda: te.compute((8,), lambda i: te.exp(N[i, 0])), r"T\.exp takes floats"),
    "a Python choice": (lambda: te.compute((8,), lambda i: A[i, 0] if i > 2 else 0.0), r"te\.if_then_else\(condition"),
    "a Python maximum": (lambda: max(A[0, 0], A[1, 1]), r"no truth value in Python"),
    "a list": (lambda: list(A[0, 0]), r"cannot be iterated"),
    "a string": (lambda: te.compute((8,), lambda i: A[i, "x"]), r"not 'x'"),
    "nothing": (lambda: te.compute((8,), lambda i: None), r"not None"),
    "a builtin": (lambda: te.compute((8,), max), r"has no inspectable signature; write a lambda"),
    "a length": (lambda: te.compute((8,), lambda i: len(i)), r"failed on its indices: .*no len"),
    "no name": (lambda: te.placeholder((8,), name=3), r"a name is a string, not 3"),
    "a variable's type": (lambda: te.var("n", A), r"the dtype of a variable is a string"),
    "no function": (lambda: te.compute((8,), 3), r"te\.compute takes a function"),
    "a reduction as a type": (
        lambda: te.compute((8,), lambda i: te.infinity(te.sum(A[i, K], axis=K))),
        r"dtype a reduction is not supported",
    ),
    "a type": (lambda: te.placeholder((8,), "float31"), r'dtype "float31" is not supported'),
    "a fraction": (lambda: te.placeholder((8.5,)), r"an extent must be an integer.*not 8\.5"),
    "a negative extent": (lambda: te.placeholder((-8,)), r"cannot be negative: -8"),
    "an axis as a size": (lambda: te.placeholder((K,)), r"k has k in it"),
    "a bound": (lambda: te.reduce_axis(3), r"te\.reduce_axis takes \(begin, end\)"),
    "bounds the wrong way": (lambda: te.reduce_axis((3, 1)), r"ends before it begins"),
    "a word's arguments": (lambda: te.compute((8,), lambda i: te.exp(A[i, 0], 2)), r"T\.exp\(x\): too many"),
    "a word of T": (lambda: te.compute((8,), lambda i: T.exp(N[i, 0])), r"T\.exp takes floats"),
    "half a pair": (
        lambda: te.comm_reducer(lambda x, y: x[0], lambda a, b: (0, 0), "f")(
            (A[0, K], A[1, K]), axis=K
        ).reducer.combine([A[0, 0], A[0, 1]], [A[1, 0], A[1, 1]]),
        r"fcombine returns 1 values where 2 are reduced",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_expression(name):
    wrong, message = WRONG[name]
    with pytest.raises(ScriptError, match=message) as refused:
        wrong()
    assert refused.value.filename == __file__
    assert refused.value.lineno >= wrong.__code__.co_firstlineno
    assert "^" in str(refused.value)


def compute(shape=(8, 16), f=lambda i, j: A[i, j]):
    return te.compute(shape, f, name="B")


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (lambda: [], "needs the tensors"),
        (lambda: ["x"], "a parameter is a tensor or a te.var, not 'x'"),
        (lambda: [A, A], "A is given twice"),
        (lambda: [compute()], "B reads A, a placeholder that is not a parameter"),
        (
            lambda: [A, te.compute((4,), lambda i: compute((4, SIZE), lambda i, j: A[0, 0])[i, 0])],
            "the shape of B uses the v",
        ),
        (lambda: [A, compute((8, 16), lambda i, j: A[i, j] * SIZE)], "B uses the variable n"),
    ],
)
def test_parameters(args, message):
    with pytest.raises(ScriptError, match=message):
        te.create_prim_func(args())


def test_an_access_outside_its_tensor_is_reported_with_the_point():
    with pytest.raises(ScriptError, match=r"A is read at index 8 in dimension 0.*at i = 7, j = 0") as refused:
        te.create_prim_func([A, compute(f=lambda i, j: A[i + 1, j])])
    assert "A[i + 1, j]" in str(refused.value)


def test_a_word_of_the_language_outside_a_program_is_still_an_error():
    with pytest.raises(ScriptError, match=r"T\.exp is a TVMScript construct"):
        T.exp(1.0)
