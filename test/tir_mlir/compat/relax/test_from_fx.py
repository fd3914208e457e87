"""torch.fx graphs node by node, with functions of the user: a convolutional network, lowered by te functions."""

import numpy as np
import pytest
from harness.notebook import Notebook

from tir_mlir.dialect.diagnostics import GraphError

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

HEAD = """
import torch
from torch import fx, nn
import tvm
from tvm import relax, te, topi
from tvm.relax.frontend.torch import from_fx

def param(p):
    return relax.const(p.detach().cpu().numpy(), "float32")

def conv(bb, node_map, node, m):
    x = bb.emit_te(topi.nn.conv2d, node_map[node.args[0]], param(m.weight), m.stride[0], m.padding[0], m.dilation[0])
    return bb.emit_te(topi.add, x, relax.const(m.bias.detach().numpy().reshape(1, -1, 1, 1), "float32"))

def linear(bb, node_map, node, m):
    return bb.emit(relax.op.linear(node_map[node.args[0]], param(m.weight), param(m.bias)))

def flatten(bb, node_map, node, m):
    return bb.emit_te(topi.nn.flatten, node_map[node.args[0]])

def relu(bb, node_map, node, m=None):
    return bb.emit_te(topi.nn.relu, node_map[node.args[0]])

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.flatten, self.fc = nn.Conv2d(1, 3, 3, padding=1), nn.Flatten(), nn.Linear(3 * 36, 5)
        self.shift = nn.Parameter(torch.ones(5))

    def forward(self, x):
        return torch.add(self.fc(self.flatten(torch.relu(self.conv(x)))), self.shift)

torch.manual_seed(0)
model = Net().eval()
functions = {
    torch.relu: relu,
    torch.add: lambda bb, node_map, node: bb.emit(relax.op.add(*(node_map[a] for a in node.args))),
}
modules = {nn.Conv2d: conv, nn.Linear: linear, nn.Flatten: flatten}
"""


@pytest.fixture
def notebook():
    made = Notebook("program")
    made.run(HEAD)
    return made


def test_a_network_is_imported_and_run(tvm, notebook):
    notebook.run("module = from_fx(fx.symbolic_trace(model), [(2, 1, 6, 6)], functions, modules)\n")
    module = notebook["module"]
    assert list(module.prim_funcs) == ["conv2d", "add", "relu", "flatten"] and "R.matmul(" in module.script()
    x = np.random.default_rng(0).standard_normal((2, 1, 6, 6)).astype(np.float32)
    vm = tvm.relax.VirtualMachine(tvm.relax.build(module, target="llvm"), tvm.cpu())
    with torch.no_grad():
        expected = notebook["model"](torch.from_numpy(x)).numpy()
    np.testing.assert_allclose(vm["main"](tvm.nd.array(x)).numpy(), expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "from_fx(fx.symbolic_trace(model), [(2, 1, 6, 6)], functions, {})",
            "the node conv is Conv2d, which call_module_map",
        ),
        (
            "from_fx(fx.symbolic_trace(model), [(2, 1, 6, 6)], {}, modules)",
            "the node relu is relu, which call_function_map",
        ),
        ("from_fx(fx.symbolic_trace(model), [], functions, modules)", "no shape for the input x"),
        ("from_fx(fx.symbolic_trace(model), [(2, 1, 6, 6), (3,)], functions, modules)", "the model has 1 inputs"),
    ],
)
def test_what_is_missing_is_named(notebook, call, message):
    with pytest.raises(GraphError, match=message):
        notebook.run(f"{call}\n")
