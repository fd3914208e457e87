"""from_torch: inputs, weights, sizes, outputs, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

import tir_mlir
from tir_mlir.dialect.ir import entered
from tir_mlir.errors import GraphError
from tir_mlir.examples import models

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
nn, F = torch.nn, torch.nn.functional


def arguments(graph):
    """(name, shape) of the inputs that are no weights."""
    with entered():
        func = graph.func
        free = [n for n in range(len(func.inputs)) if func.weight(n) is None]
        return [(func.input_name(n), func.input_type(n).shape) for n in free]


def operators(graph):
    with entered():
        return [node.operator for node in graph.func.nodes]


class Scaled(nn.Module):
    """A weight used under two names, a buffer, a constant, a dictionary of results."""

    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
        self.second = nn.Linear(4, 4, bias=False)
        self.second.weight = self.first.weight
        self.register_buffer("shift", torch.arange(4.0))
        self.unused = nn.Parameter(torch.zeros(3))

    def forward(self, x):
        y = self.second(F.relu(self.first(x)))
        return {"b": y + self.shift, "a": y * 2.0}


def test_a_perceptron_is_a_product_a_bias_and_an_activation_a_layer():
    example = models.example("mlp", tiny=True)
    graph = tir_mlir.from_torch(example.model, example.inputs)
    assert operators(graph) == ["nn.dense", "add", "nn.relu", "nn.dense", "add"]
    assert arguments(graph) == [("x", (1, 28))]


def test_weights_have_the_names_of_the_state_dict_and_share_its_memory():
    model = Scaled()
    graph = tir_mlir.from_torch(model, (torch.randn(2, 4),))
    assert list(graph.weights) == ["first.weight", "first.bias", "shift"]
    assert np.shares_memory(graph.weights["first.weight"], model.first.weight.detach().numpy())


def test_a_named_dimension_is_a_size():
    graph = tir_mlir.from_torch(Scaled(), (torch.randn(3, 4),), dynamic={"x": {0: "n"}})
    assert arguments(graph) == [("x", ("n", 4))]


def test_a_multiple_of_a_size():
    dim = torch.export.Dim("n")
    graph = tir_mlir.from_torch(Scaled(), (torch.randn(6, 4),), dynamic={"x": {0: 2 * dim}})
    assert arguments(graph) == [("x", ("2 * n", 4))]


def test_an_exported_program_is_taken_as_it_is():
    program = torch.export.export(Scaled(), (torch.randn(2, 4),))
    assert arguments(tir_mlir.from_torch(program)) == [("x", (2, 4))]


def test_the_model_stays_in_training_mode():
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)).train()
    assert "nn.dropout" not in operators(tir_mlir.from_torch(model, (torch.randn(2, 3),)))
    assert model[1].training


class Unknown(nn.Module):
    def forward(self, x):
        first = torch.linalg.det(x)
        return first + torch.special.i1(x).sum()


def test_all_unknown_operators_are_told_with_their_lines():
    with pytest.raises(GraphError) as raised:
        tir_mlir.from_torch(Unknown(), (torch.randn(3, 3),))
    text = str(raised.value)
    assert "2 operators of the model cannot be translated" in text
    assert "test_from_torch.py:" in text and "first = torch.linalg.det(x)" in text
    assert "torch.special.i1(x).sum()" in text
    assert "fix: from_torch(..., ops={torch.ops.aten.special_i1.default: f})" in text


def test_what_is_unknown_can_be_given():
    from tir_mlir import te

    def i1(x):
        return te.compute(x.shape, lambda i, j: x[i, j] * 0.5, name="i1")

    class Model(nn.Module):
        def forward(self, x):
            return torch.special.i1(x) + 1.0

    graph = tir_mlir.from_torch(Model(), (torch.randn(3, 3),), ops={torch.ops.aten.special_i1.default: i1})
    assert "i1" in graph.text()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ((3, (1,)), "3 is no model"),
        ((nn.Linear(2, 2),), "no example inputs"),
        ((nn.Linear(2, 2), (torch.zeros(1, 2), 4)), "do not fit forward"),
    ],
)
def test_refused_arguments(given, message):
    with pytest.raises(GraphError, match=message):
        tir_mlir.from_torch(*given)


def test_a_size_for_an_argument_that_forward_does_not_have():
    with pytest.raises(GraphError, match="dynamic names 'y', which forward is not called with"):
        tir_mlir.from_torch(Scaled(), (torch.randn(2, 4),), dynamic={"y": {0: "n"}})


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(4))

    def forward(self, x):
        self.count.add_(x)
        return x * self.count


def test_a_buffer_that_is_written_is_refused():
    with pytest.raises(GraphError, match=r'forward writes to count.*\n.*mutated="return"'):
        tir_mlir.from_torch(Counting(), (torch.randn(4),))


def test_a_buffer_that_is_written_is_an_input_and_a_last_output():
    graph = tir_mlir.from_torch(Counting(), (torch.randn(4),), mutated="return")
    assert arguments(graph) == [("x", (4,)), ("count", (4,))]
    with entered():
        assert [graph.func.name_of(value) for value in graph.func.outputs] == ["mul", "add"]


def test_bfloat16_weights_are_their_bits():
    model = nn.Linear(4, 3).bfloat16()
    graph = tir_mlir.from_torch(model, (torch.zeros(2, 4, dtype=torch.bfloat16),))
    assert graph.weights["weight"].dtype == np.uint16
    assert np.shares_memory(graph.weights["weight"], model.weight.detach().view(torch.uint16).numpy())
    with entered():
        assert {graph.func.input_type(n).dtype for n in range(3)} == {"bfloat16"}
