"""Programs for tvm.relax as they are written today: from torch.export, patterns, passes, pipelines."""

import numpy as np
import pytest
from harness.notebook import Notebook

from tir_mlir.dialect.diagnostics import GraphError

HEAD = """
import numpy as np
import tvm
from tvm import relax
from tvm.ir.module import IRModule
from tvm.relax.dpl.pattern import is_op, wildcard
from tvm.relax.frontend.torch import from_exported_program
from tvm.script import ir as I, relax as R, tir as T
"""
TORCH = """
import torch
from torch import nn
from torch.export import export

torch.manual_seed(0)
torch_model = nn.Sequential(nn.Linear(12, 5), nn.ReLU(), nn.Linear(5, 3)).eval()
exported = export(torch_model, (torch.zeros(2, 12),))
mod = from_exported_program(exported, keep_params_as_input=True, unwrap_unit_return_tuple=True)
mod, params = relax.frontend.detach_params(mod)
"""
REWRITE = """
@relax.expr_functor.mutator
class ReluRewriter(relax.PyExprMutator):
    def __init__(self, mod: IRModule):
        super().__init__(mod)

    def visit_call_(self, call: relax.Call) -> relax.Expr:
        if call.op.name == "relax.nn.relu":
            return relax.op.nn.gelu(call.args[0])
        return super().visit_call_(call)


@tvm.transform.module_pass(opt_level=0, name="ReluToGelu")
class ReluToGelu:
    def transform_module(self, mod: IRModule, _ctx: tvm.transform.PassContext) -> IRModule:
        rewriter = ReluRewriter(mod)
        for g_var, func in mod.functions_items():
            if isinstance(func, relax.Function):
                func = rewriter.visit_expr(func)
                rewriter.builder_.update_func(g_var, func)
        return rewriter.builder_.get()


changed = ReluToGelu()(mod)
"""
RUN = """
ex = tvm.compile(relax.get_pipeline("zero")(changed), target="llvm")
vm = relax.VirtualMachine(ex, tvm.cpu())
data = np.random.default_rng(0).standard_normal((2, 12)).astype("float32")
found = vm["main"](tvm.runtime.tensor(data), *params["main"]).numpy()
"""


@pytest.fixture
def notebook():
    torch = pytest.importorskip("torch")
    torch.set_num_threads(1)
    made = Notebook("program")
    made.run(HEAD + TORCH)
    return made


def test_a_model_with_its_parameters_as_inputs(notebook):
    notebook.run(REWRITE + RUN)
    torch, model, data = notebook["torch"], notebook["torch_model"], notebook["data"]
    with torch.no_grad():
        wanted = model[2](torch.nn.functional.gelu(model[0](torch.from_numpy(data)))).numpy()
    np.testing.assert_allclose(notebook["found"], wanted, rtol=1e-4, atol=1e-5)


def test_a_model_with_its_parameters_as_constants(notebook):
    notebook.run("bound = from_exported_program(exported, unwrap_unit_return_tuple=True)")
    assert [p.name_hint for p in notebook["bound"]["main"].params] == ["input"]


def test_one_result_is_in_a_tuple_by_default(notebook):
    notebook.run(
        "mod_1 = from_exported_program(exported)\n"
        "vm_1 = relax.VirtualMachine(relax.build(mod_1, 'llvm'), tvm.cpu())\n"
        "data_1 = np.random.rand(2, 12).astype('float32')\n"
        "made_1 = vm_1['main'](tvm.nd.array(data_1))\n"
    )
    torch, (made,) = notebook["torch"], notebook["made_1"]
    with torch.no_grad():
        wanted = notebook["torch_model"](torch.from_numpy(notebook["data_1"])).numpy()
    np.testing.assert_allclose(made.numpy(), wanted, rtol=1e-4, atol=1e-5)
    text = notebook["mod_1"].script()
    assert "return (" in text and '-> R.Tuple(R.Tensor((2, 3), dtype="float32")):' in text
    again = notebook["tvm"].script.from_source(text)
    assert notebook["tvm"].ir.structural_equal(again, notebook["mod_1"])


def test_only_kept_parameters_are_detached(notebook):
    with pytest.raises(GraphError, match="detach_params takes what"):
        notebook["relax"].frontend.detach_params(notebook["mod"])
