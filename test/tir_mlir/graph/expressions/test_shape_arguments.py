"""The shape of reshape, broadcast_to, full, zeros and ones is an argument of the call, as in relax."""

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.graph import script as R
from tir_mlir.graph.expressions import Call, Op, PyExprVisitor, ShapeExpr, Var
from tir_mlir.script import parse

SOURCE = """
@R.function
def main(x: R.Tensor(("n", 4), "float32")):
    n = T.int64()
    a = R.reshape(x, R.shape([4, n]))
    b = R.broadcast_to(a, (2, 4, n))
    c = R.add(b, R.full((2, 4, n), 3.0))
    d = R.add(c, R.ones((4, n), "float32"))
    gv = R.add(d, R.zeros([n], "float32"))
    return gv
"""


def test_call_args_have_the_shape():
    calls = {b.var.name_hint: b.value for b in parse(SOURCE)["main"].body.bindings}
    assert isinstance(calls["a"].args[1], ShapeExpr) and list(map(str, calls["a"].args[1].values)) == ["4", "n"]
    assert isinstance(calls["b"].args[1], ShapeExpr) and "shape" not in calls["b"].attrs


def test_the_graph_computes_the_same_and_round_trips():
    module = parse(SOURCE)
    assert parse(module.script()).equal(module)
    x = np.arange(12, dtype="float32").reshape(3, 4)
    np.testing.assert_array_equal(build(module["main"])(x), np.broadcast_to(x.reshape(4, 3) + 4, (2, 4, 3)))


def test_visitors_see_the_shape():
    seen = []

    class Shapes(PyExprVisitor):
        def visit_shape_expr_(self, op):
            seen.append(tuple(map(str, op)))

    Shapes().visit_expr(parse(SOURCE)["main"])
    assert ("4", "n") in seen and ("n",) in seen


@pytest.mark.parametrize("shape", [(2, 3), [2, 3], ShapeExpr((2, 3))])
def test_a_call_that_is_made_by_hand(shape):
    call = Call(Op.get("relax.reshape"), [Var("x", R.Tensor((6,), "float32")), shape])
    assert str(call) == "R.reshape(x, (2, 3))" and str(call.struct_info) == 'R.Tensor((2, 3), dtype="float32")'


def test_full_of_a_value():
    call = R.full((2,), R.const(3.0), "float16")
    assert call.struct_info.dtype == "float16" and len(call.operands) == 1
