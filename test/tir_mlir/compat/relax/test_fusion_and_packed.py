"""Fusion of programs, and calls of registered functions, through TVM's names."""

import numpy as np
import pytest
from harness.notebook import Notebook

from tir_mlir.dialect.diagnostics import GraphError

RNG = np.random.default_rng(21)
HEAD = """
import numpy as np
import tvm
from tvm import relax, topi
from tvm.script import ir as I, relax as R, tir as T
"""
MLP = """
@tvm.script.ir_module
class MLP:
    @R.function
    def main(x: R.Tensor((3, 12), "float32"), w: R.Tensor((5, 12), "float32"), b: R.Tensor((5,), "float32")):
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
    return [RNG.standard_normal(shape).astype(np.float32) for shape in ((3, 12), (5, 12), (5,))]


def run(tvm, module, *arrays):
    vm = tvm.relax.VirtualMachine(tvm.relax.build(module, target="llvm"), tvm.cpu())
    return vm["main"](*map(tvm.nd.array, arrays)).numpy()


def expected(x, w, b):
    return np.maximum(x @ w.T + b, 0)


def test_programs_are_fused_step_by_step(tvm, notebook, arrays):
    notebook.run(MLP)
    transform = tvm.relax.transform
    lowered = transform.LegalizeOps()(notebook["MLP"])
    grouped = tvm.transform.Sequential([transform.AnnotateTIROpPattern(), transform.FuseOps()])(lowered)
    (group,) = [name for name, f in grouped.graphs.items() if f.attrs.get("Primitive")]
    assert f"cls.{group}(x, w, b)" in grouped.script() and "@R.function(private=True)" in grouped.script()
    fused = transform.FuseTIR()(grouped)
    assert list(fused) == [group, "main"] and fused.script().count("T.block(") >= 3
    for module in (lowered, grouped, fused):
        np.testing.assert_allclose(run(tvm, module, *arrays), expected(*arrays), rtol=1e-5, atol=1e-6)


def test_a_group_with_operators_is_not_fused_to_a_program(tvm, notebook):
    notebook.run(MLP.replace("def main(", "def group(").replace("@R.function", "@R.function(private=True)"))
    with pytest.raises(GraphError, match=r"group has R.nn.dense\(x, w.*fix: LegalizeOps before FuseTIR"):
        tvm.relax.transform.FuseTIR()(notebook["MLP"])


def test_a_group_that_the_user_wrote_is_built(tvm, notebook, arrays):
    notebook.run("""
@I.ir_module
class Mod:
    @R.function(private=True)
    def dense_add(x: R.Tensor((3, 12), "float32"), w: R.Tensor((5, 12), "float32"), b: R.Tensor((5,), "float32")):
        with R.dataflow():
            gv = R.add(R.nn.dense(x, w), b)
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((3, 12), "float32"), w: R.Tensor((5, 12), "float32"), b: R.Tensor((5,), "float32")):
        with R.dataflow():
            gv = R.nn.relu(cls.dense_add(x, w, b))
            R.output(gv)
        return gv
""")
    np.testing.assert_allclose(run(tvm, notebook["Mod"], *arrays), expected(*arrays), rtol=1e-5, atol=1e-6)


REGISTERED = """
@tvm.register_func("env.linear", override=True)
def linear(x: tvm.nd.NDArray, w: tvm.nd.NDArray, b: tvm.nd.NDArray, out: tvm.nd.NDArray):
    out.copyfrom(x.numpy() @ w.numpy().T + b.numpy())

@tvm.register_func("env.relu", override=True)
def relu(x: tvm.nd.NDArray, out: tvm.nd.NDArray):
    np.maximum(np.from_dlpack(x), 0, out=np.from_dlpack(out))
"""
NEW = """
        lv0 = R.call_dps_packed("env.linear", (x, w, b), R.Tensor((3, 5), dtype="float32"))
        gv = R.call_dps_packed("env.relu", (lv0,), R.Tensor((3, 5), dtype="float32"))
"""
OLD = """
        lv0 = R.call_tir("env.linear", (x, w, b), (3, 5), dtype="float32")
        gv = R.call_tir("env.relu", (lv0,), (3, 5), dtype="float32")
"""


@pytest.mark.parametrize("lines", [NEW, OLD], ids=["today", "2022"])
def test_registered_functions_are_called(tvm, notebook, arrays, lines):
    notebook.run(REGISTERED)
    notebook.run(f"""
@R.function
def main(x: R.Tensor((3, 12), "float32"), w: R.Tensor((5, 12), "float32"), b: R.Tensor((5,), "float32")):
    with R.dataflow():{lines}
        R.output(gv)
    return gv
""")
    np.testing.assert_allclose(run(tvm, notebook["main"], *arrays), expected(*arrays), rtol=1e-5)


def test_registered_functions_and_programs_are_mixed(tvm, notebook, arrays):
    notebook.run(REGISTERED)
    notebook.run("""
@tvm.script.ir_module
class Mixed:
    @T.prim_func
    def relu0(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function
    def main(x: R.Tensor((3, 12), "float32"), w: R.Tensor((5, 12), "float32"), b: R.Tensor((5,), "float32")):
        with R.dataflow():
            lv0 = R.call_dps_packed("env.linear", (x, w, b), R.Tensor((3, 5), dtype="float32"))
            gv = R.call_tir(cls.relu0, (lv0,), R.Tensor((3, 5), dtype="float32"))
            R.output(gv)
        return gv
""")
    np.testing.assert_allclose(run(tvm, notebook["Mixed"], *arrays), expected(*arrays), rtol=1e-5)


ANY_SIZE = """
@tvm.script.ir_module
class Mod:
    @T.prim_func
    def relu0(x: T.handle, y: T.handle):
        n, m = T.int64(), T.int64()
        X = T.match_buffer(x, (n, m), "float32")
        Y = T.match_buffer(y, (n, m), "float32")
        for i, j in T.grid(n, m):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function(private=True)
    def group(x: R.Tensor((3, 5), "float32")):
        with R.dataflow():
            gv = R.call_tir(cls.relu0, (x,), R.Tensor((3, 5), dtype="float32"))
            R.output(gv)
        return gv

    @R.function
    def main(x: R.Tensor((3, 12), "float32"), w: R.Tensor((5, 12), "float32"), b: R.Tensor((5,), "float32")):
        with R.dataflow():
            lv = R.add(R.nn.dense(x, w), b)
            gv = R.call_tir(cls.relu0, (lv,), R.Tensor((3, 5), dtype="float32"))
            R.output(gv)
        return gv
"""


def test_a_program_for_any_size_is_called_after_a_product(tvm, notebook, arrays):
    notebook.run(ANY_SIZE)
    np.testing.assert_allclose(run(tvm, notebook["Mod"], *arrays), expected(*arrays), rtol=1e-5, atol=1e-6)


def test_a_program_for_any_size_in_a_group_is_named(tvm, notebook):
    notebook.run(ANY_SIZE)
    with pytest.raises(
        GraphError, match=r"group has node gv: call_tir, which is not a call of a program of its types; fix"
    ):
        tvm.relax.transform.FuseTIR()(notebook["Mod"])


NAMED = """
@tvm.script.ir_module
class Net:
    @T.prim_func
    def act(x: T.handle, y: T.handle):
        n = T.int64()
        X = T.match_buffer(x, (3, n), "float32")
        Y = T.match_buffer(y, (3, n), "float32")
        for i, j in T.grid(3, n):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = T.max(X[vi, vj], T.float32(0))

    @R.function
    def main(x: R.Tensor((3, "m"), "float32"), w: R.Tensor(("n", "m"), "float32"), b: R.Tensor(("n",), "float32")):
        n, m = T.int64(), T.int64()
        with R.dataflow():
            lv0 = R.add(R.nn.dense(x, w), b)
            out = R.call_dps_packed("act", (lv0,), R.Tensor((3, n), "float32"))
            R.output(out)
        return out
"""


@pytest.mark.nightly
def test_a_program_is_called_by_its_name(tvm, notebook, arrays):
    notebook.run(NAMED)
    assert "R.call_tir(cls.act, (lv0,), out_sinfo=R.Tensor((3, n)" in notebook["Net"].script()
    np.testing.assert_allclose(run(tvm, notebook["Net"], *arrays), expected(*arrays), rtol=1e-5, atol=1e-6)


def test_arrays_give_sizes_their_values(tvm, notebook, arrays):
    notebook.run(NAMED)
    x, w, b = arrays
    bound = tvm.relax.transform.BindParams("main", {"w": w, "b": tvm.nd.array(b)})(notebook["Net"])
    assert str(bound["main"].params[0].struct_info) == 'R.Tensor((3, 12), dtype="float32")'
    np.testing.assert_allclose(run(tvm, bound, x), expected(*arrays), rtol=1e-5, atol=1e-6)
    with pytest.raises(GraphError, match="n is 5, and 4 in the array of b"):
        tvm.relax.transform.BindParams("main", {"w": w, "b": b[:4]})(notebook["Net"])
    part = tvm.relax.transform.BindParams("main", {"b": b})(notebook["Net"])
    assert [str(p.struct_info) for p in part["main"].params][1] == 'R.Tensor((5, m), dtype="float32")'


def test_a_rewriter_needs_no_module(tvm, notebook):
    """The function that it visits knows the functions that it calls."""
    notebook.run(NAMED)
    notebook.run("""
@relax.expr_functor.mutator
class Same(relax.PyExprMutator):
    def visit_call_(self, call):
        return relax.op.tanh(call) if call.op == tvm.ir.Op.get("relax.add") else self.visit_expr_post_order(call)

made = Same().visit_expr(Net["main"])
""")
    assert "R.tanh(lv" in notebook["made"].script() and "def act(" in notebook["made"].script()
