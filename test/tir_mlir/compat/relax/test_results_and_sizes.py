"""`batch_norm` as a tuple, data of constants, casts of a builder, and questions about graphs."""

import numpy as np
import pytest
from harness.notebook import Notebook

from tir_mlir.dialect.diagnostics import GraphError, ScriptError

RNG = np.random.default_rng(34)
HEAD = """
import tvm
from tvm import relax
from tvm.script import ir as I, relax as R, tir as T
"""
NORM = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor((1, 4, 3, 3), "float32"), g: R.Tensor((4,), "float32"), b: R.Tensor((4,), "float32"),
             m: R.Tensor((4,), "float32"), v: R.Tensor((4,), "float32")):
        with R.dataflow():
            bn: R.Tuple(R.Tensor((1, 4, 3, 3), "float32"), R.Tensor((4,), "float32"), R.Tensor((4,), "float32")) = (
                R.nn.batch_norm(x, g, b, m, v, axis=1, epsilon=1e-5, center=True, scale=True, momentum=0.1, OPTION)
            )
            gv = R.nn.relu(bn[0])
            R.output(gv)
        return gv
"""


@pytest.fixture
def notebook(tvm):
    made = Notebook("program")
    made.run(HEAD)
    return made


def machine(tvm, module):
    return tvm.relax.VirtualMachine(tvm.compile(module, "llvm"), tvm.cpu())


def test_batch_norm(tvm, notebook):
    notebook.run(NORM.replace("OPTION", "training=False"))
    module = tvm.relax.transform.DecomposeOpsForInference()(notebook["M"])
    x, g, b, m, v = (np.abs(RNG.standard_normal(s)).astype(np.float32) for s in ((1, 4, 3, 3), *[(4,)] * 4))
    c = [t.reshape(1, 4, 1, 1) for t in (g, b, m, v)]
    expected = np.maximum((x - c[2]) / np.sqrt(c[3] + 1e-5) * c[0] + c[1], 0)
    got = machine(tvm, module)["main"](x, g, b, m, v).numpy()
    np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    with pytest.raises(ScriptError, match="training=True normalizes by the data itself; fix: training=False"):
        notebook.run(NORM.replace("OPTION", "training=True"))
    with pytest.raises(ScriptError, match="bn is not a tuple: it has no item 1; it is the only value that is computed"):
        notebook.run(NORM.replace("OPTION", "training=False").replace("bn[0]", "bn[1]"))
    call = tvm.relax.op.nn.batch_norm(*module["main"].params, 1)
    assert call[0] is call and call.attrs["axis"] == 1


def test_data_of_a_constant(tvm):
    constant = tvm.relax.const([1.0, 2.0], "float32")
    copy = constant.data.numpy()
    copy[0] = 5
    assert type(copy) is np.ndarray and constant.data.numpy().tolist() == constant.data.asnumpy().tolist() == [1, 2]
    assert isinstance(constant.data, np.ndarray) and type(constant.array) is np.ndarray


def test_a_cast_of_a_builder(tvm):
    relax, n, m = tvm.relax, tvm.tir.Var("n", "int64"), tvm.tir.Var("m", "int64")
    x = relax.Var("x", relax.TensorType((n, 4), "float32"))
    bb = relax.BlockBuilder()
    with bb.function("main", [x]):
        with bb.dataflow():
            y = bb.match_cast(relax.op.exp(x), relax.TensorType((n, 4), "float32"))
            with pytest.raises(GraphError, match="m is a new name for the size n; fix: use n itself"):
                bb.match_cast(y, relax.TensorType((m, 4), "float32"))
            with pytest.raises(GraphError, match=r"the value is R\.Tensor\(\(n, 4\).*, not"):
                bb.match_cast(y, relax.TensorType((n, 5), "float32"))
            gv = bb.emit_output(relax.op.add(y, y))
        assert bb.emit_func_output(gv) == "main"
    a = RNG.standard_normal((2, 4)).astype(np.float32)
    np.testing.assert_allclose(machine(tvm, bb.get())["main"](a).numpy(), 2 * np.exp(a), rtol=1e-5)


def test_questions(tvm, notebook):
    notebook.run(NORM.replace("OPTION", "training=False"))
    analysis, module = tvm.relax.analysis, notebook["M"]
    assert analysis.well_formed(module) and analysis.well_formed(module["main"])
    with pytest.raises(GraphError, match="well_formed takes a module or a graph, not 3"):
        analysis.well_formed(3)
    calls = []
    analysis.post_order_visit(module["main"], lambda e: calls.append(e) if isinstance(e, tvm.relax.Call) else None)
    assert [c.op.name for c in calls] == ["relax.nn.batch_norm", "relax.nn.relu"]


SIZES = """
@I.ir_module
class M:
    @R.function
    def main(x: R.Tensor(("n", 4), "float32"), y: R.Tensor(("m", 4), "float32")):
        n = T.int64()
        with R.dataflow():
            lv = R.reshape(x, (n * 4,))
            gv = (R.exp(lv), R.tanh(y))
            R.output(gv)
        return gv
"""


def test_sizes_become_numbers(tvm, notebook):
    notebook.run(SIZES)
    transform, module = tvm.relax.transform, notebook["M"]
    n = module["main"].params[0].shape[0]
    for key in ("n", n):
        bound = transform.BindSymbolicVars({key: 2}, "main")(module)
        assert [str(p.ty) for p in bound["main"].params] == [
            'R.Tensor((2, 4), dtype="float32")', 'R.Tensor((m, 4), dtype="float32")'
        ]  # fmt: skip
    x, y = (RNG.standard_normal((k, 4)).astype(np.float32) for k in (2, 3))
    ex, tanh = machine(tvm, bound)["main"](x, y)
    np.testing.assert_allclose(ex.numpy(), np.exp(x).reshape(8), rtol=1e-5)
    np.testing.assert_allclose(tanh.numpy(), np.tanh(y), rtol=1e-5)
    for given, said in (
        (({"k": 2},), "no parameter has the size k; there are 4, m, n"),
        (({"n": "k"},), "BindSymbolicVars gives n a number, not 'k'"),
        (({"n": 2}, "f"), "the module has no graph 'f'; it has main"),
    ):
        with pytest.raises(GraphError, match=said):
            transform.BindSymbolicVars(*given)(module)


def test_an_executable_is_written_by_its_models(tvm, notebook):
    notebook.run(SIZES)
    executable = tvm.compile(notebook["M"], "llvm")
    with pytest.raises(GraphError, match=r"is not written to 'm\.so'; fix: ex\.models\[\"main\"\]\.export\(folder\)"):
        executable.export_library("m.so")
    with pytest.raises(AttributeError, match="load_module is not part of tir_mlir: a library is written for C"):
        tvm.runtime.load_module
