"""Patterns: what they match, and graphs that are rewritten by them."""

from __future__ import annotations

import numpy as np
import pytest

from tir_mlir import build
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph import Graph, GraphBuilder
from tir_mlir.graph import script as R
from tir_mlir.graph.expressions import Call, Op, PatternContext, rewrite_bindings, rewrite_call, var_values
from tir_mlir.graph.rewrite import (
    is_call_tir,
    is_const,
    is_expr,
    is_op,
    is_shape,
    is_tuple,
    is_var,
    make_fused_bias_activation_pattern,
    wildcard,
)
from tir_mlir.script import tir as T
from tir_mlir.script.module import IRModule


@R.function
def fma(x: R.Tensor((3, 4), "float32"), y: R.Tensor((3, 4), "float32")):
    a = R.multiply(x, y)
    b = R.add(y, a)
    c = R.reshape(b, (4, 3))
    d = R.nn.softmax(c, axis=1)
    gv = R.multiply(d, R.const(2.0))
    return gv


VALUES = var_values(fma)
X, Y = fma.params
A, B, C, D, GV = VALUES


def matches(pattern, var) -> bool:
    return pattern.match(VALUES[var], VALUES)


@pytest.mark.parametrize(
    ("pattern", "var"),
    [
        (is_op("relax.multiply")(wildcard(), wildcard()), A),
        (is_op("relax.multiply")(is_var("x"), is_var("y")), A),
        (is_op("relax.add")(is_op("relax.multiply")(wildcard(), wildcard()), wildcard()), B),  # in either order
        (is_var() * is_expr(Y) + is_var("y"), B),
        (is_op("relax.reshape")(wildcard(), is_shape((4, 3))), C),
        (is_op("relax.nn.softmax")(wildcard()).has_attr({"axis": 1}), D),
        (is_op("relax.exp")(wildcard()) | is_op("relax.nn.softmax")(wildcard()), D),
        (is_op("relax.multiply")(wildcard().has_shape((4, 3)), is_const()), GV),
        (is_op("relax.multiply")(varg_default_wildcard=True), GV),
        (wildcard().has_dtype("float32") & ~is_op("relax.add")(wildcard(), wildcard()), A),
    ],
)
def test_what_matches(pattern, var):
    assert matches(pattern, var)


same = wildcard()


@pytest.mark.parametrize(
    ("pattern", "var"),
    [
        (is_op("relax.add")(wildcard(), wildcard()), A),
        (is_op("relax.multiply")(wildcard()), A),
        (is_op("relax.multiply")(same, same), A),  # one pattern is one expression
        (is_op("relax.reshape")(wildcard(), is_shape((3, 4))), C),
        (is_op("relax.nn.softmax")(wildcard()).has_attr({"axis": 0}), D),
        (is_op("relax.multiply")(wildcard().has_dtype("float16"), wildcard()), A),
        (is_op("relax.multiply")(is_const(), is_var("x")), A),
        (is_tuple([wildcard()]), A),
    ],
)
def test_what_does_not_match(pattern, var):
    assert not matches(pattern, var)


def test_parts_of_a_match():
    inner, z = is_op("relax.multiply")(wildcard(), wildcard()), wildcard()
    found = is_op("relax.add")(inner, z).extract_matched_expr(VALUES[B], VALUES)
    assert found is not None and found[inner] is A and found[z] is Y


def test_calls_are_rewritten():
    x, y, z = wildcard(), wildcard(), wildcard()
    made = rewrite_call(
        x * y + z, lambda _, found: Call(Op.get("relax.ewise_fma"), [found[x], found[y], found[z]]), fma
    )
    assert str(made.body.bindings[0]) == "b = R.ewise_fma(x, y, y)" and len(made.body.bindings) == 4
    arrays = [np.full((3, 4), v, "float32") for v in (2, 3)]
    np.testing.assert_allclose(build(made)(*arrays), build(fma)(*arrays), rtol=1e-6)


@T.prim_func
def main(X: T.Buffer((4,), "float32"), Y: T.Buffer((4,), "float32")):
    for i in range(4):
        with T.block("Y"):
            vi = T.axis.spatial(4, i)
            Y[vi] = X[vi] * T.float32(2)


def test_a_graph_keeps_its_weights_and_its_name():
    """The program has the name of the graph, as that of a schedule has."""
    b = GraphBuilder("main")
    b.output(b.op("add", b.op("nn.relu", b.input("x", (4,))), b.weight("w", np.ones(4, "float32"))))
    x = wildcard()
    info = R.Tensor((4,), "float32")
    made = rewrite_call(is_op("relax.nn.relu")(x), lambda _, found: R.call_tir(main, (found[x],), info), b.finish())
    assert isinstance(made, Graph) and "R.call_tir(cls.main" in made.script()
    assert build(made)(np.arange(4, dtype="float32")).tolist() == [1, 3, 5, 7]


def test_what_was_rewritten_is_matched_again():
    @R.function
    def sums(x: R.Tensor((2,), "float32")):
        a = R.negative(x)
        b = R.negative(a)
        c = R.negative(b)
        gv = R.negative(c)
        return gv

    inner = wildcard()
    pattern = is_op("relax.negative")(is_op("relax.negative")(inner))
    made = rewrite_call(pattern, lambda _, found: found[inner], sums)
    assert build(made)(np.array([1, -2], "float32")).tolist() == [1, -2]
    assert not any(isinstance(b.value, Call) for b in made.body.bindings)


@R.function
def qkv(x: R.Tensor((2, 4), "float32"), wq: R.Tensor((4, 3), "float32"), wk: R.Tensor((4, 3), "float32")):
    with R.dataflow():
        q = R.matmul(x, wq)
        e = R.exp(q)
        k = R.matmul(x, wk)
        gv = R.add(e, k)
        R.output(gv)
    return gv


def combined(found, _):
    whole = R.matmul(found[INP], R.concat((found[W0], found[W1]), axis=1))
    parts = [R.strided_slice(whole, axes=[1], begin=[3 * n], end=[3 * n + 3]) for n in range(2)]
    return {found[M0]: parts[0], found[M1]: parts[1]}


with PatternContext() as CTX:
    INP, W0, W1 = wildcard(), wildcard(), wildcard()
    M0, M1 = is_op("relax.matmul")(INP, W0), is_op("relax.matmul")(INP, W1)


def test_several_bindings_are_rewritten_together():
    made = rewrite_bindings(CTX, combined, qkv)
    ops = [b.value.op.short for b in made.body.bindings]
    assert ops.count("matmul") == 1 and ops.count("strided_slice") == 2
    rng = np.random.default_rng(0)
    arrays = [rng.standard_normal(shape).astype("float32") for shape in ((2, 4), (4, 3), (4, 3))]
    np.testing.assert_allclose(build(made)(*arrays), build(qkv)(*arrays), rtol=1e-5)


def test_products_of_different_inputs_are_not():
    @R.function
    def other(x: R.Tensor((2, 4), "float32"), y: R.Tensor((2, 4), "float32"), w: R.Tensor((4, 3), "float32")):
        q = R.matmul(x, w)
        k = R.matmul(y, w)
        gv = R.add(q, k)
        return gv

    assert rewrite_bindings(CTX, combined, other) is other


def test_a_value_that_needs_itself_is_refused():
    with pytest.raises(GraphError, match="needs its own value"):
        rewrite_bindings(CTX, lambda found, _: {found[M0]: R.exp(found[M1]), found[M1]: R.exp(found[M0])}, qkv)


def test_calls_of_programs_match_by_name():
    from tir_mlir import topi
    from tir_mlir.graph.expressions import BlockBuilder, Var

    bb = BlockBuilder()
    x = Var("x", R.Tensor((3,), "float32"))
    with bb.function("main", [x]):
        gv = bb.emit(bb.call_te(topi.nn.relu, x))
        bb.emit_func_output(gv)
    main = bb.get()["main"]
    call = main.body.bindings[0].value
    assert is_call_tir("relu").match(call) and is_call_tir("relu", [is_var("x")]).match(call)
    assert not is_call_tir("gelu").match(call)


def test_a_product_with_bias_and_activation():
    pattern = make_fused_bias_activation_pattern("relax.matmul", True, "relax.nn.relu")
    x = R.const(np.zeros((2, 2), "float32"))
    assert pattern.match(R.nn.relu(R.add(R.matmul(x, x), x))) and not pattern.match(R.nn.relu(R.matmul(x, x)))


@pytest.mark.parametrize(
    ("run", "why"),
    [
        (lambda: is_op("relax.add")(3, wildcard()), "a pattern is made of patterns"),
        (lambda: is_tuple([], unordered=True), "fix: p | q of the tuples"),
        (lambda: rewrite_call(wildcard(), lambda e, _: e, IRModule()), "rewrite_call takes a graph"),
        (lambda: rewrite_bindings(PatternContext(), lambda e, _: {}, qkv), "has no pattern of a call"),
    ],
)
def test_what_is_refused(run, why):
    with pytest.raises(GraphError, match=why):
        run()
