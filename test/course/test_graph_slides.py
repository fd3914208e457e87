"""The slides on computational graphs as printed: import from torch.fx, the rewriter and its result, the op_map."""

import re

import numpy as np
import pytest
from harness import extract
from harness.notebook import Notebook

from tir_mlir.script import parse
from tir_mlir.script.structural_equal import difference

RNG = np.random.default_rng(3)
HEAD = """
import tvm
from tvm import relax, topi
from tvm.script import relax as R
"""
GRAPH = """
@tvm.script.ir_module
class MyModule:
    @R.function
    def main(x: R.Tensor((3, 4), "float32"), y: R.Tensor((3, 4), "float32")):
        with R.dataflow():
            lv0 = R.multiply(x, y)
            gv0 = R.add(lv0, y)
            R.output(gv0)
        return gv0
"""


@pytest.fixture
def notebook(tvm):
    made = Notebook("document 003")
    made.run(HEAD)
    return made


def slide(seed, start: str) -> str:
    return next(p.text for p in extract.markdown(seed("003")) if p.text.startswith(start))


def run(tvm, module, *arrays):
    vm = tvm.relax.VirtualMachine(tvm.relax.build(module, target="llvm"), tvm.cpu())
    return vm["main"](*map(tvm.nd.array, arrays)).numpy()


def test_the_rewriter_of_the_slides(seed, tvm, notebook, capsys):
    notebook.run(GRAPH)
    notebook.run(slide(seed, "@relax.expr_functor.mutator"))
    rewritten = notebook["updated_fn"]
    shown = capsys.readouterr().out
    assert "R.ewise_fma(x, y, y)" in shown and "lv0" in shown  # the rewriter leaves what nothing uses any more
    printed = parse(slide(seed, "@R.function\ndef main(x: Tensor"))
    cleaned = tvm.IRModule({"main": relax_cleaned(tvm, rewritten)})
    assert difference(printed.mlir, cleaned.mlir) is None
    x, y = (RNG.standard_normal((3, 4)).astype(np.float32) for _ in range(2))
    for module in (notebook["MyModule"], tvm.IRModule({"main": rewritten}), cleaned):
        np.testing.assert_allclose(run(tvm, module, x, y), x * y + y, rtol=1e-5)


def relax_cleaned(tvm, function):
    return tvm.relax.analysis.remove_all_unused(function)


MLP = """
@tvm.script.ir_module
class MLP:
    @R.function
    def main(
        x: R.Tensor((1, 784), "float32"),
        w0: R.Tensor((128, 784), "float32"),
        b0: R.Tensor((128,), "float32"),
        w1: R.Tensor((10, 128), "float32"),
        b1: R.Tensor((10,), "float32"),
    ):
        with R.dataflow():
            lv0 = R.nn.dense(x, w0)
            lv1 = R.add(lv0, b0)
            lv2 = R.nn.relu(lv1)
            lv3 = R.nn.dense(lv2, w1)
            gv = R.add(lv3, b1)
            R.output(gv)
        return gv
"""


def test_the_op_map_of_the_slides(seed, tvm, notebook):
    notebook.run(MLP)
    notebook.run(slide(seed, "def map_dense(bb, call):"))
    lowered = tvm.relax.transform.LegalizeOps(notebook["op_map"])(notebook["MLP"])
    text = lowered.script()
    assert text.count("R.call_tir(") == 5 and "R.nn." not in text
    x, w0, b0, w1, b1 = (
        RNG.standard_normal(shape).astype(np.float32) for shape in ((1, 784), (128, 784), (128,), (10, 128), (10,))
    )
    expected = np.maximum(x @ w0.T + b0, 0) @ w1.T + b1
    for module in (notebook["MLP"], lowered):
        np.testing.assert_allclose(run(tvm, module, x, w0, b0, w1, b1), expected, rtol=1e-4, atol=1e-3)


FX = """
import torch
from torch import fx, nn
from tvm.relax.frontend.torch import from_fx

torch.manual_seed(0)
mlp_model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 10)).eval()

def map_param(param):
    return relax.const(param.detach().numpy(), relax.DynTensorType(param.ndim, "float32"))

def map_nn_linear_op(bb, node_map, node, nn_mod):
    y = bb.emit(relax.op.nn.dense(node_map[node.args[0]], map_param(nn_mod.weight)))
    return bb.emit(relax.op.add(y, map_param(nn_mod.bias)))

def map_nn_relu_op(bb, node_map, node, nn_mod):
    return bb.emit(relax.op.nn.relu(node_map[node.args[0]]))
"""


def test_the_import_from_torch_of_the_slides(seed, tvm, notebook):
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    notebook.run(FX)
    notebook.run(slide(seed, "MLPModuleHighLevel = from_fx("))
    module = notebook["MLPModuleHighLevel"]
    assert re.findall(r"= R\.([\w.]+)", module.script()) == ["nn.dense", "add", "nn.relu", "nn.dense", "add"]
    x = RNG.standard_normal((1, 784)).astype(np.float32)
    with torch.no_grad():
        expected = notebook["mlp_model"](torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(run(tvm, module, x), expected, rtol=1e-4, atol=1e-5)


def test_the_plain_function_of_the_slides(seed):
    notebook = Notebook("document 003, Python")
    notebook.run("n = 3\n" + slide(seed, "def vector_add(a, b, c):"))
    c = [0] * 3
    notebook["vector_add"]([1, 2, 3], [4, 5, 6], c)
    assert c == [5, 7, 9]


def test_the_schedule_of_tensor_expressions_of_the_slides_is_refused(seed, tvm):
    """`s[C].reorder` is of the schedules that newer versions do not have; the message names the one there is."""
    notebook = Notebook("document 003, reorder")
    notebook.run(HEAD + "from tvm import te\n" + slide(seed, "def vector_add(n):") + slide(seed, "def reorder(n):"))
    notebook.run("def default(n):\n    A, B, C = vector_add(n)\n    return te.create_schedule(C.op), (A, B, C)\n")
    with pytest.raises(NotImplementedError, match=r"programs are scheduled: tvm.tir.Schedule\(te.create_prim_func"):
        notebook["reorder"](8)
