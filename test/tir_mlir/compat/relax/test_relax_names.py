"""Programs for tvm.relax: build and run, passes, lowering with an op_map, in the spellings of 2022 and today."""

import numpy as np
import pytest
from harness.notebook import Notebook

from tir_mlir.dialect.diagnostics import GraphError

RNG = np.random.default_rng(20)
HEAD = """
import numpy as np
import tvm
from tvm import relax, te, topi
from tvm.script import ir as I, relax as R, tir as T
"""
MLP = """
@tvm.script.ir_module
class MLP:
    @R.function
    def main(x: R.Tensor((1, 12), "float32"), w: R.Tensor((5, 12), "float32"), b: R.Tensor((5,), "float32")):
        with R.dataflow():
            lv0 = R.nn.dense(x, w)
            lv1 = R.add(lv0, b)
            gv = R.nn.relu(lv1)
            R.output(gv)
        return gv
"""


@pytest.fixture
def notebook():
    made = Notebook("program")
    made.run(HEAD)
    return made


@pytest.fixture
def arrays():
    shapes = ((1, 12), (5, 12), (5,))
    return [RNG.standard_normal(shape).astype(np.float32) for shape in shapes]


def run(tvm, module, *arrays):
    ex = tvm.relax.build(module, target="llvm")
    return tvm.relax.VirtualMachine(ex, tvm.cpu())["main"](*map(tvm.nd.array, arrays))


def expected(x, w, b):
    return np.maximum(x @ w.T + b, 0)


def test_a_graph_is_built_and_run(tvm, notebook, arrays):
    notebook.run(MLP)
    np.testing.assert_allclose(run(tvm, notebook["MLP"], *arrays).numpy(), expected(*arrays), rtol=1e-5)


def test_several_results_are_a_list(tvm, notebook):
    notebook.run("""
@R.function
def main(x: R.Tensor((3, 4), "float32")):
    with R.dataflow():
        a = R.exp(x)
        b = R.tanh(x)
        R.output(a, b)
    return (a, b)
""")
    x = RNG.standard_normal((3, 4)).astype(np.float32)
    a, b = run(tvm, notebook["main"], x)
    np.testing.assert_allclose(a.numpy(), np.exp(x), rtol=1e-5)
    np.testing.assert_allclose(b.numpy(), np.tanh(x), rtol=1e-5)


def test_a_machine_keeps_arguments_and_outputs(tvm, notebook, arrays):
    notebook.run(MLP)
    vm = tvm.relax.VirtualMachine(tvm.compile(notebook["MLP"], "llvm"), tvm.cpu())
    vm.set_input("main", *map(tvm.nd.array, arrays))
    vm.invoke_stateful("main")
    np.testing.assert_allclose(vm.get_outputs("main").numpy(), expected(*arrays), rtol=1e-5)
    assert vm.time_evaluator("main", tvm.cpu(), number=2)(*map(tvm.nd.array, arrays)).mean > 0
    with pytest.raises(KeyError, match="no function 'f'; there are main"):
        vm["f"]


def test_bound_parameters_are_constants(tvm, notebook, arrays):
    notebook.run(MLP)
    x, w, b = arrays
    bound = tvm.relax.transform.BindParams("main", {"w": tvm.nd.array(w), "b": b})(notebook["MLP"])
    assert [p.name_hint for p in bound["main"].params] == ["x"]
    np.testing.assert_allclose(run(tvm, bound, x).numpy(), expected(*arrays), rtol=1e-5)
    with pytest.raises(GraphError, match="main has no parameter q; it has x, w, b"):
        tvm.relax.transform.BindParams("main", {"q": b})(notebook["MLP"])
    with pytest.raises(GraphError, match=r"parameter w is R.Tensor\(\(5, 12\)"):
        tvm.relax.transform.BindParams("main", {"w": b})(notebook["MLP"])


def test_operators_are_lowered_by_a_map(tvm, notebook, arrays):
    notebook.run(MLP)
    notebook.run("""
def dense(bb, call):
    return bb.call_te(topi.nn.dense, *call.args)

def relu(bb, call):
    return bb.call_te(lambda a: te.compute(a.shape, lambda i, j: te.max(a[i, j], 0.0), name="own"), call.args[0])

lowered = relax.transform.LegalizeOps({"relax.nn.dense": dense, "relax.nn.relu": relu})(MLP)
""")
    text = notebook["lowered"].script()
    assert 'T.block("own")' in text and text.count("R.call_tir(") == 3 and "R.nn" not in text
    np.testing.assert_allclose(run(tvm, notebook["lowered"], *arrays).numpy(), expected(*arrays), rtol=1e-5)


def test_a_lowering_pass_of_the_user(tvm, notebook, arrays):
    """The visitor with an op_map, and the pass around it, as a class."""
    notebook.run(MLP)
    notebook.run("""
@relax.expr_functor.mutator
class Lower(relax.PyExprMutator):
    def __init__(self, mod, op_map):
        super().__init__()
        self.mod_ = mod
        self.op_map = {tvm.ir.Op.get(k): v for k, v in op_map.items()}

    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        if call.op in self.op_map:
            return self.op_map[call.op](self.builder_, call)
        return call

    def transform(self):
        for global_var, func in self.mod_.functions.items():
            if not isinstance(func, relax.Function):
                continue
            self.builder_.update_func(global_var, self.visit_expr(func))
        return self.builder_.get()

op_map = {
    "relax.nn.dense": lambda bb, call: bb.call_te(topi.nn.dense, call.args[0], call.args[1]),
    "relax.add": lambda bb, call: bb.call_te(topi.add, *call.args),
    "relax.nn.relu": lambda bb, call: bb.call_te(topi.nn.relu, call.args[0]),
}

@tvm.ir.transform.module_pass(opt_level=0, name="LowerToTensorIR")
class LowerToTensorIR:
    def transform_module(self, mod, ctx):
        return Lower(mod, op_map).transform()

lowered = tvm.transform.Sequential([LowerToTensorIR(), relax.transform.DeadCodeElimination()])(MLP)
""")
    lowered = notebook["lowered"]
    assert list(lowered.prim_funcs) == ["dense", "add", "relu"]
    np.testing.assert_allclose(run(tvm, lowered, *arrays).numpy(), expected(*arrays), rtol=1e-5)


def test_a_fused_function_is_put_in(tvm, notebook, arrays):
    """A product and a sum become a call of a private function that the rewriter writes, spelled as in 2022."""
    notebook.run(MLP)
    notebook.run("""
@relax.expr_functor.mutator
class Fusor(relax.PyExprMutator):
    def __init__(self, mod):
        super().__init__(mod)
        self.mod_, self.counter = mod, 0
        self.add_op, self.dense_op = tvm.ir.Op.get("relax.add"), tvm.ir.Op.get("relax.nn.dense")

    def visit_call_(self, call):
        call = self.visit_expr_post_order(call)
        value = self.lookup_binding(call.args[0])
        if call.op != self.add_op or not isinstance(value, relax.Call) or value.op != self.dense_op:
            return call
        x, w, b = *value.args, call.args[1]
        params = [relax.Var(n, v.shape_, v._checked_type_) for n, v in zip("xwb", (x, w, b))]
        bb = relax.BlockBuilder()
        name = f"fused_dense_add{self.counter}"
        self.counter += 1
        with bb.function(name, params):
            with bb.dataflow():
                lv = bb.emit(relax.op.nn.dense(params[0], params[1]))
                gv = bb.emit_output(relax.op.add(lv, params[2]))
            bb.emit_func_output(gv)
        fused = self.builder_.add_func(bb.get()[name].with_attr("Primitive", 1), name)
        return relax.Call(fused, [x, w, b], None, None)

    def transform(self):
        for global_var, func in self.mod_.functions.items():
            if not isinstance(func, relax.Function) or func.attrs.get("Primitive"):
                continue
            self.builder_.update_func(global_var, self.remove_all_unused(self.visit_expr(func)))
        return self.builder_.get()

fused = Fusor(MLP).transform()
""")
    fused = notebook["fused"]
    assert list(fused) == ["fused_dense_add0", "main"]
    assert "cls.fused_dense_add0(x, w, b)" in fused.script() and "R.func_attr" not in fused.script()
    assert fused["main"].attrs.get("Primitive") is None and fused["fused_dense_add0"].attrs["Primitive"] == 1
    transform = tvm.relax.transform
    final = tvm.transform.Sequential([transform.LegalizeOps(), transform.FuseTIR()])(fused)
    assert "R.call_tir(cls.fused_dense_add0, (x, w, b)" in final.script()
    for module in (fused, final):
        np.testing.assert_allclose(run(tvm, module, *arrays).numpy(), expected(*arrays), rtol=1e-5)


def test_a_function_pass_is_called_for_each_graph(tvm, notebook):
    notebook.run(MLP)
    notebook.run("""
@relax.transform.function_pass(opt_level=0)
def mark(func, mod, ctx):
    return func.with_attr("note.level", ctx.opt_level)

with tvm.transform.PassContext(opt_level=3):
    marked = mark(MLP)
""")
    assert notebook["marked"]["main"].attrs["note.level"] == 3
    assert "note.level" not in notebook["MLP"]["main"].attrs
    with pytest.raises(GraphError, match="takes an IRModule, not 3"):
        notebook["mark"](3)


def test_the_functions_of_a_module_have_names(tvm, notebook):
    notebook.run(MLP)
    mod = notebook["MLP"]
    assert [v.name_hint for v in mod.get_global_vars()] == ["main"] and mod.get_global_var("main") == "main"
    assert isinstance(mod["main"], tvm.relax.Function) and not isinstance(mod["main"], tvm.tir.PrimFunc)
    mod.update_func(mod.get_global_var("main"), mod["main"].with_attr("note.x", 1))
    assert mod["main"].attrs["note.x"] == 1
    with pytest.raises(KeyError, match="the module has no function 'f'; it has main"):
        mod.get_global_var("f")


def test_a_program_is_replaced_by_a_better_one(tvm, notebook, arrays):
    """The scheduled function goes back into the module."""
    notebook.run(MLP)
    notebook.run("""
mod = relax.transform.LegalizeOps()(MLP)
sch = tvm.tir.Schedule(mod["dense"])
block = sch.get_child_blocks(sch.get_block("root"))[0]
sch.parallel(sch.get_loops(block)[1])
mod.update_func(mod.get_global_var("dense"), sch.mod["main"].with_attr("global_symbol", "dense"))
""")
    assert "T.parallel" in notebook["mod"].script()
    np.testing.assert_allclose(run(tvm, notebook["mod"], *arrays).numpy(), expected(*arrays), rtol=1e-5)
