"""Operands that do not fit are refused with the operator, the operand, its shape and the way out."""

import pytest

from tir_mlir import te, topi
from tir_mlir.dialect.diagnostics import GraphError

X = te.placeholder((3, 4), name="X")
N = te.var("n")

WRONG = {
    "shapes": (
        lambda: topi.add(X, te.placeholder((5, 4))),
        r"add: shapes \(3, 4\) and \(5, 4\) do not broadcast: axis -2 has 3 and 5\n  fix: reshape",
    ),
    "sizes": (lambda: topi.add(te.placeholder((N,)), te.placeholder((te.var("m"),))), r"axis -1 has n and m"),
    "types": (lambda: topi.add(X, te.placeholder((4,), "int32")), r"different types: lhs float32 .* rhs int32 \(4,\)"),
    "no tensor": (lambda: topi.nn.relu(3), r"nn.relu: x is 3\n  fix: pass a tensor"),
    "integers": (lambda: topi.exp(te.placeholder((3,), "int32")), r"exp: x int32 \(3,\) is not of floats"),
    "a depth": (lambda: topi.nn.dense(X, te.placeholder((5, 6))), r"nn.dense: data .* has rows of 4, weight .* of 6"),
    "columns": (lambda: topi.matmul(X, X), r"matmul: .*4 columns times 3 rows"),
    "a rank": (lambda: topi.nn.dense(X, te.placeholder((5,))), r"weight float32 \(5,\) has 1 axes"),
    "an axis": (lambda: topi.sum(X, axis=2), r"sum: axis=2 of a tensor with 2 axes\n  fix: use -2..1"),
    "an axis twice": (lambda: topi.sum(X, axis=(0, -2)), r"sum: axis=\(0, -2\) names an axis twice"),
    "elements": (lambda: topi.reshape(X, (5, 2)), r"reshape: a float32 \(3, 4\) to \(5, 2\): 12 elements are not 10"),
    "a rest": (lambda: topi.reshape(X, (5, -1)), r"the size for -1 is no integer for all sizes"),
    "an order": (lambda: topi.transpose(X, (0,)), r"transpose: axes=\(0,\) .*name all 2 axes"),
    "a bias": (lambda: topi.nn.bias_add(X, te.placeholder((3,))), r"bias float32 \(3,\) at axis 1 .*pass a bias of 4"),
    "gamma": (
        lambda: topi.nn.layer_norm(X, te.placeholder((3,))),
        r"nn.layer_norm: gamma float32 \(3,\) of data .*shape \(4,\)",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_is_refused(case):
    make, message = WRONG[case]
    with pytest.raises(GraphError, match=f"(?s){message}"):
        make()
