"""`te.statements`: tensors that the statements of a block write."""

import numpy as np
import pytest

import tir_mlir
from tir_mlir import te
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.script import tir as T


def reversed_rows(x, backwards=True):
    m, n = x.shape

    def row(i, X, Y):
        T.reads(X[i, 0:n])
        T.writes(Y[i, 0:n])
        for j in range(n):
            if backwards:
                Y[i, j] = X[i, n - 1 - j]
            else:
                Y[i, j] = X[i, j]

    return te.statements((m,), [x], [((m, n), "float32")], row, name="reversed")


def test_a_block_writes_rows():
    x = te.placeholder((3, 5), name="x")
    values, result = np.arange(15, dtype=np.float32).reshape(3, 5), np.empty((3, 5), np.float32)
    tir_mlir.build(te.create_prim_func([x, reversed_rows(x)]))(values, result)
    np.testing.assert_array_equal(result, values[:, ::-1])


def test_a_condition_of_a_number_is_decided():
    x = te.placeholder((3, 5), name="x")
    assert "if" not in te.create_prim_func([x, reversed_rows(x, False)]).script()


def test_a_block_may_be_text():
    x = te.placeholder((3, 5), name="x")
    text = "def pair(i, j, X, Y):\n    v = X[i, j] * T.float32(2)\n    Y[i, 0, j] = v\n    Y[i, 1, j] = -v"
    y = te.statements((3, 5), [x], [((3, 2, 5), "float32")], text, name="pair")
    values, result = np.arange(15, dtype=np.float32).reshape(3, 5), np.empty((3, 2, 5), np.float32)
    tir_mlir.build(te.create_prim_func([x, y]))(values, result)
    np.testing.assert_array_equal(result, np.stack([2 * values, -2 * values], 1))


def test_parameters_are_counted():
    x = te.placeholder((3, 5), name="x")
    with pytest.raises(ScriptError, match="takes 1 parameters; it is given 1 indices, 1 operands and 1 results"):
        te.statements((3,), [x], [((3,), "float32")], lambda_of_one, name="y")


def lambda_of_one(i):
    pass
