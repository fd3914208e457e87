"""Graphs written with a BlockBuilder: their text, their names, their types, and what is refused."""

import numpy as np
import pytest

from tir_mlir import te, topi
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.expressions import (
    BlockBuilder,
    Call,
    DynTensorType,
    GlobalVar,
    TensorStructInfo,
    TupleStructInfo,
    Var,
    const,
)
from tir_mlir.graph.expressions.operator_calls import OperatorSpace, call_tir

op = OperatorSpace()


@pytest.fixture
def x():
    return Var("x", TensorStructInfo((1, 784), "float32"))


@pytest.fixture
def w():
    return Var("w", TensorStructInfo((128, 784), "float32"))


def body(module, name="main"):
    return [repr(b) for b in module.graphs[name].body.bindings]


def test_a_function_is_written_line_by_line(x, w):
    bb = BlockBuilder()
    with bb.function("main", [x, w]):
        with bb.dataflow():
            lv = bb.emit(op.nn.dense(x, w))
            gv = bb.emit_output(op.nn.relu(lv))
        bb.emit_func_output(gv)
    assert body(bb.get()) == ["lv = R.nn.dense(x, w)", "gv = R.nn.relu(lv)"]
    assert lv.struct_info == TensorStructInfo((1, 128), "float32") and lv.name_hint == "lv" and gv.name_hint == "gv"


def test_parameters_may_come_with_the_output(x, w):
    bb = BlockBuilder()
    with bb.function("main"):
        with bb.dataflow():
            gv = bb.emit_output(op.nn.dense(x, w))
        bb.emit_func_output(gv, [x, w])
    assert [p.name_hint for p in bb.get().graphs["main"].params] == ["x", "w"]


def test_a_te_function_becomes_a_program(x, w):
    bb = BlockBuilder()
    with bb.function("main", [x, w]):
        with bb.dataflow():
            lv = bb.emit_te(topi.nn.dense, x, w)
            gv = bb.emit_output(bb.call_te(topi.nn.relu, lv))
        bb.emit_func_output(gv)
    module = bb.get()
    assert list(module) == ["dense", "relu", "main"]
    assert "R.call_tir(cls.dense, (x, w), out_sinfo=R.Tensor((1, 128)" in module.script()


def test_a_linear_layer_is_three_operators(x, w):
    bb = BlockBuilder()
    with bb.function("main", [x, w]):
        gv = bb.emit(op.linear(x, w, const(np.ones(128, np.float32))))
        bb.emit_func_output(gv)
    assert [line.partition("(")[0] for line in body(bb.get())] == [
        "gv = R.permute_dims",
        "gv1 = R.matmul",
        "gv2 = R.add",
    ]
    assert gv.struct_info == TensorStructInfo((1, 128), "float32")


def test_equal_programs_are_one(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        for _ in range(3):
            x = bb.emit_te(topi.nn.relu, x)
        bb.emit_te(topi.nn.relu, const(np.ones((2, 2), np.float32)))
        bb.emit_func_output(x)
    assert list(bb.get().prim_funcs) == ["relu", "relu1"]


def test_a_te_function_takes_lists_and_gives_several(x):
    bb = BlockBuilder()
    twice = lambda tensors, factor: [te.compute(t.shape, lambda *i, t=t: t(*i) * factor) for t in tensors]  # noqa: E731
    with bb.function("main", [x]):
        both = bb.emit_te(twice, [x, op.exp(x)], 3.0, primfunc_name_hint="twice")
        bb.emit_func_output((both[1], both[0]))
    assert isinstance(both.struct_info, TupleStructInfo) and len(both.struct_info.fields) == 2
    assert "R.call_tir(cls.twice, (x, gv), out_sinfo=[R.Tensor((1, 784)" in bb.get().script()


def test_sizes_are_variables():
    n = te.var("n")
    x = Var("x", TensorStructInfo((n, 4), "float32"))
    bb = BlockBuilder()
    with bb.function("main", [x]):
        gv = bb.emit_te(lambda a: te.compute((n, 4), lambda i, j: a[i, j] + 1.0), x, primfunc_name_hint="inc")
        bb.emit_func_output(gv)
    assert 'x: R.Tensor(("n", 4)' in bb.get().script()


def test_functions_call_functions(x, w):
    bb = BlockBuilder()
    a, b = Var("a", x.struct_info), Var("b", w.struct_info)
    with bb.function("group", [a, b], private=True):
        bb.emit_func_output(bb.emit(op.nn.dense(a, b)))
    with bb.function("main", [x, w]):
        gv = bb.emit(Call(GlobalVar("group"), [x, w]))
        bb.emit_func_output(gv)
    assert gv.struct_info == TensorStructInfo((1, 128), "float32")
    assert "cls.group(x, w)" in bb.get().script() and "@R.function(private=True)" in bb.get().script()


def test_a_function_is_replaced_and_added(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(op.exp(x)))
    other = BlockBuilder(bb.get())
    assert other.add_func(bb.get().graphs["main"], "main") == "main1"
    with other.function("new", [x]):
        bb_value = other.emit(op.tanh(x))
        other.emit_func_output(bb_value)
    other.update_func(GlobalVar("main"), other["new"])
    assert body(other.get()) == ["gv = R.tanh(x)"] and body(other.get(), "main1") == ["gv = R.exp(x)"]


def test_the_spelling_of_2022():
    x = Var("x", (1, 784), DynTensorType(2, "float32"))
    assert x.struct_info == TensorStructInfo((1, 784), "float32")
    assert x.shape_ == (1, 784) and (x._checked_type_.ndim, x._checked_type_.dtype) == (2, "float32")
    made = const(np.ones((2,)), DynTensorType(1, "float32"))
    assert made.dtype == "float32" and Var("y", x.shape_, x._checked_type_).struct_info == x.struct_info
    assert call_tir("env.f", (x,), (1, 10), dtype="float32").struct_info == TensorStructInfo((1, 10), "float32")


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (lambda bb, x: bb.emit(op.nn.dense(x, x, x, x)), "too many positional"),
        (lambda bb, x: bb.emit(op.nn.softmax(x, axis=5)), "softmax"),
        (lambda bb, x: bb.emit(Call(GlobalVar("f"), [x])), "the module has no function f; it has none"),
        (lambda bb, x: bb.emit("x"), "an operand is a value"),
        (lambda bb, x: bb.emit(Call("relax.nope", [x])), "no operator relax.nope"),
        (lambda bb, x: bb.emit_te(topi.nn.relu, Var("u", TensorStructInfo(ndim=2))), "of known shape"),
        (lambda bb, x: bb.emit_func_output(x, [x]), "given twice"),
    ],
)
def test_what_is_refused(write, message, x):
    bb = BlockBuilder()
    with pytest.raises(GraphError, match=message), bb.function("main", [x]):
        write(bb, x)


def test_a_function_needs_an_output(x):
    bb = BlockBuilder()
    with pytest.raises(GraphError, match=r"main has no output; fix: bb.emit_func_output"), bb.function("main", [x]):
        pass
    with pytest.raises(GraphError, match="no function is being written"):
        bb.emit(op.exp(x))


def test_a_variable_of_another_function_is_refused(x):
    bb = BlockBuilder()
    with bb.function("main", [x]):
        bb.emit_func_output(bb.emit(op.exp(Var("y", x.struct_info))))
    with pytest.raises(GraphError, match="y is used in main, which does not define it"):
        bb.get()
