"""Visitors and rewriters of graphs."""

import pytest

from tir_mlir import topi
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.expressions import (
    Call,
    Op,
    PyExprMutator,
    PyExprVisitor,
    Tuple,
    mutator,
    remove_all_unused,
    visitor,
)
from tir_mlir.script import parse

ADD, MULTIPLY, FMA = (Op.get(f"relax.{name}") for name in ("add", "multiply", "ewise_fma"))


def graph(*lines, result="gv"):
    text = "@R.function\ndef main(x: R.Tensor((3, 4), 'float32'), y: R.Tensor((3, 4), 'float32')):\n"
    inner = "".join(f"        {line}\n" for line in lines)
    return parse(f"{text}    with R.dataflow():\n{inner}        R.output()\n    return {result}\n")


def body(function):
    return [repr(b) for b in function.body.bindings]


@mutator
class Fuse(PyExprMutator):
    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if call.op != ADD:
            return call
        value = self.lookup_binding(call.args[0])
        if not isinstance(value, Call) or value.op != MULTIPLY:
            return call
        return Call(FMA, [value.args[0], value.args[1], call.args[1]], None, None)


def test_a_pattern_of_two_calls_is_rewritten():
    module = graph("lv = R.multiply(x, y)", "gv = R.add(lv, y)")
    made = Fuse().visit_expr(module.graphs["main"])
    assert body(made) == ["lv = R.multiply(x, y)", "gv = R.ewise_fma(x, y, y)"]
    assert body(remove_all_unused(made)) == ["gv = R.ewise_fma(x, y, y)"]
    assert body(module.graphs["main"]) == ["lv = R.multiply(x, y)", "gv = R.add(lv, y)"]  # as it was


@pytest.mark.parametrize("line", ["gv = R.add(y, lv)", "gv = R.subtract(lv, y)", "gv = R.add(x, y)"])
def test_near_misses_stay(line):
    module = graph("lv = R.multiply(x, y)", line)
    assert body(Fuse().visit_expr(module.graphs["main"])) == body(module.graphs["main"])


def test_a_lookup_sees_what_was_rewritten():
    """The second call looks at the new value of the first."""

    class Chain(PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            value = self.lookup_binding(call.args[0])
            if call.op == Op.get("relax.exp"):
                return Call("relax.tanh", call.args)
            return Call("relax.sqrt", call.args) if isinstance(value, Call) and value.op.name == "relax.tanh" else call

    made = Chain().visit_expr(graph("lv = R.exp(x)", "gv = R.sigmoid(lv)").graphs["main"])
    assert body(made) == ["lv = R.tanh(x)", "gv = R.sqrt(lv)"]


def test_calls_that_a_rewriter_nests_are_bound():
    class Two(PyExprMutator):
        def visit_call_(self, call):
            return Call("relax.exp", [Call("relax.tanh", call.args[:1])]) if call.op == ADD else call

    made = Two().visit_expr(graph("lv = R.add(x, y)", "gv = R.sqrt(lv)").graphs["main"])
    assert body(made) == ["lv1 = R.tanh(x)", "lv = R.exp(lv1)", "gv = R.sqrt(lv)"]


def test_a_new_type_reaches_the_uses():
    class Transposed(PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            return Call("relax.permute_dims", [call.args[0]]) if call.op == Op.get("relax.exp") else call

    made = Transposed().visit_expr(graph("lv = R.exp(x)", "gv = R.tanh(lv)").graphs["main"])
    assert made.body.body.struct_info.shape == (4, 3)
    assert "gv: R.Tensor((4, 3)" in made.script()


def test_the_builder_adds_programs():
    class Lower(PyExprMutator):
        def visit_call_(self, call):
            call = self.visit_expr_post_order(call)
            return self.builder_.call_te(topi.add, *call.args) if call.op == ADD else call

    made = Lower().visit_expr(graph("gv = R.add(x, y)").graphs["main"])
    assert "R.call_tir(cls.add, (x, y)" in made.script() and "def add(" in made.script()


def test_tuples_are_rewritten():
    class Tanh(PyExprMutator):
        def visit_tuple_(self, op):
            made = self.visit_expr_post_order(op)
            return Tuple(made.fields[::-1])

    made = Tanh().visit_expr(graph("a = R.exp(x)", "b = R.tanh(y)", result="(a, b)").graphs["main"])
    assert "return (b, a)" in made.script()


def test_a_visitor_sees_everything_in_order():
    seen = []

    @visitor
    class Names(PyExprVisitor):
        def visit_call_(self, op):
            seen.append(op.op.name)
            super().visit_call_(op)

        def visit_var_def_(self, var):
            seen.append(f"{var} =")

        def visit_dataflow_var_def_(self, var):
            seen.append(f"{var} =")

        def visit_constant_(self, op):
            seen.append(op.array.item())

    Names().visit_expr(graph("lv = R.add(x, R.const(2.0))", "gv = R.exp(lv)").graphs["main"])
    assert seen == ["x =", "y =", "relax.add", 2.0, "lv =", "relax.exp", "gv ="]


def test_calls_of_registered_functions_stay():
    made = remove_all_unused(
        graph("lv = R.call_dps_packed('env.f', (x,), R.Tensor((2,), 'float32'))", "gv = R.exp(y)").graphs["main"]
    )
    assert len(body(made)) == 2


def test_a_whole_module_is_cleaned():
    module = graph("lv = R.exp(x)", "lv1 = R.tanh(lv)", "gv = R.exp(y)")
    made = remove_all_unused(module)
    assert body(made.graphs["main"]) == ["gv = R.exp(y)"] and "@tanh" not in made.text()
    assert len(body(module.graphs["main"])) == 3


def test_decorators_check_the_class():
    with pytest.raises(GraphError, match="a class derived from PyExprMutator"):
        mutator(PyExprVisitor)
