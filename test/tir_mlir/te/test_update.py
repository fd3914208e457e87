"""te.update: elements replaced at positions that are data."""

import numpy as np
import pytest

from tir_mlir import build, te
from tir_mlir.dialect.diagnostics import ScriptError

X, P = te.placeholder((4, 3), name="X"), te.placeholder((2,), "int32", name="P")


def test_is_a_copy_and_ordered_stores():
    text = te.create_prim_func(
        [X, P, te.update(X, (2, 3), lambda p, j: ((P[p], j), 1.0), ordered=1, name="Y")]
    ).script()
    assert "Y[v_i0, v_i1] = X[v_i0, v_i1]" in text
    assert "v_p0 = T.axis.opaque(2, p0)" in text
    assert "Y[P[v_p0], v_p1] = T.float32(1.0)" in text


def test_the_value_may_depend_on_the_old_one():
    y = te.update(X, (2, 3), lambda p, j: ((P[p], j), lambda old: old * 2.0), name="Y")
    x, out = np.ones((4, 3), "float32"), np.empty((4, 3), "float32")
    build(te.create_prim_func([X, P, y]))(x, np.array([1, 1], "int32"), out)
    np.testing.assert_array_equal(out[:, 0], [1, 4, 1, 1])


WRONG = {
    "no tensor": (lambda: te.update(3, (2,), lambda p: (p, 0.0)), "te.update takes a tensor, not 3"),
    "no value": (lambda: te.update(X, (2,), lambda p: p), r"returns \(where, value\)"),
    "a short index": (
        lambda: te.update(X, (2,), lambda p: ((P[p],), 0.0)),
        "1 indices of an element, but X has 2 axes",
    ),
    "another type": (
        lambda: te.update(X, (2,), lambda p: ((P[p], p), P[p])),
        "a value of int32 in a tensor of float32",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_is_refused(case):
    make, message = WRONG[case]
    with pytest.raises(ScriptError, match=message):
        make()
