"""from_torch: inputs, weights, sizes, outputs, and what it refuses."""

import warnings

import numpy as np
import pytest
from harness.torch_models import check

import tir_mlir
from tir_mlir.dialect.ir import enter_context
from tir_mlir.errors import ArgumentError, GraphError
from tir_mlir.examples import models

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
nn, F = torch.nn, torch.nn.functional


def arguments(graph):
    """(name, shape) of the inputs that are no weights."""
    with enter_context():
        func = graph.func
        free = [n for n in range(len(func.inputs)) if func.weight(n) is None]
        return [(func.input_name(n), func.input_type(n).shape) for n in free]


def operators(graph):
    with enter_context():
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


def test_a_dimension_that_may_vary_is_a_size():
    graph = tir_mlir.from_torch(Scaled(), (torch.randn(3, 4),), dynamic_shapes={"x": {0: torch.export.Dim.AUTO}})
    ((_, (size, _)),) = arguments(graph)
    assert size.isidentifier()


def test_a_size_is_a_multiple_where_forward_needs_it():
    class Model(nn.Module):
        def forward(self, x):
            return x.view(-1, 2, 4).sum(1)

    told = r"axis 0 of x is imported as 2 \* _n, .* the example, which has 6: calls take multiples of 2 only; fix: "
    for _ in range(2):  # from the cache, too
        with pytest.warns(UserWarning, match=told):
            graph = tir_mlir.from_torch(Model(), (torch.zeros(6, 4),), dynamic_shapes={"x": {0: "n"}})
    assert arguments(graph) == [("x", ("2 * _n", 4))]
    lib = tir_mlir.build(graph, threads=1)
    assert lib(np.ones((2, 4), "float32")).tolist() == [[2.0] * 4]
    with pytest.raises(ArgumentError, match=r"axis 0 of x is 5; it is 2 \* _n, of which 4 is the next lower one"):
        lib(np.ones((5, 4), "float32"))


def test_a_size_that_the_caller_says_is_a_multiple_is_not_warned_of():
    class Model(nn.Module):
        def forward(self, x, *, y):
            return x.view(-1, 2, 4).sum(1) + y

    rows, named = {0: 2 * torch.export.Dim("n")}, {0: torch.export.Dim("n")}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        graph = tir_mlir.from_torch(
            Model(), (torch.zeros(6, 4),), {"y": torch.zeros(3, 4)}, dynamic_shapes={"x": rows, "y": named}
        )
    assert arguments(graph) == [("x", ("2 * n", 4)), ("y", ("n", 4))]


def test_a_size_is_within_the_table_that_is_read_at_it():
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("table", torch.arange(5.0))

        def forward(self, x):
            return x + self.table[: x.shape[1]]

    graph = tir_mlir.from_torch(Model(), (torch.zeros(2, 3),), dynamic_shapes=({0: "b", 1: "s"},))
    lib = tir_mlir.build(graph, threads=1)
    assert lib(np.zeros((1, 5), "float32")).tolist() == [[0, 1, 2, 3, 4]]
    with pytest.raises(ArgumentError, match="the size s is 6; the graph is made for 1 to 5"):
        lib(np.zeros((1, 6), "float32"))


@pytest.mark.nightly
def test_lengths_of_convolutions_are_sizes_of_their_own():
    """As of wav2vec2: what torch cannot decide of (t // 5 - 4) // 2 holds for all t, and restricts none."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.first, self.second = nn.Conv1d(1, 4, 10, stride=5), nn.Conv1d(4, 4, 3, stride=2)
            self.out, self.start = nn.Linear(4, 4), nn.Parameter(torch.randn(1, 1, 4))

        def forward(self, x):
            y = self.second(self.first(x.unsqueeze(1))).transpose(1, 2)
            y = torch.cat([self.start.repeat(x.shape[0], 1, 1), y], 1)
            q = self.out(y).view(x.shape[0], y.shape[1], 2, -1).transpose(1, 2)
            return F.scaled_dot_product_attention(q, q, q), y[:, 0]

    torch.manual_seed(0)
    model = Model().eval()
    lib = tir_mlir.build(
        tir_mlir.from_torch(model, (torch.zeros(3, 80),), dynamic_shapes=({0: "b", 1: "t"},)), threads=1
    )
    for shape in ((1, 41), (2, 79), (1, 30)):
        x = torch.randn(shape)
        for found, wanted in zip(lib(x.numpy()), model(x), strict=True):
            np.testing.assert_allclose(found, wanted.detach().numpy(), rtol=1e-5, atol=1e-6)


def test_an_exported_program_is_taken_as_it_is():
    program = torch.export.export(Scaled(), (torch.randn(2, 4),))
    assert arguments(tir_mlir.from_torch(program)) == [("x", (2, 4))]


def test_the_model_stays_in_training_mode():
    model = nn.Sequential(nn.Linear(3, 3), nn.Dropout(0.5)).train()
    with pytest.warns(UserWarning, match=r"in training mode, .*: 1 \(Dropout\) computes .*; fix: model.eval\(\)"):
        graph = tir_mlir.from_torch(model, (torch.randn(2, 3),))
    assert "nn.dropout" not in operators(graph)
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
        ((3, (1,)), "3 is not a model"),
        ((nn.Linear(2, 2),), "no example inputs"),
        ((nn.Linear(2, 2), (torch.zeros(1, 2), 4)), "do not fit forward"),
        ((nn.Linear(2, 2), (np.zeros((1, 2)),)), r"is an array of NumPy\n  fix: torch.from_numpy"),
    ],
)
def test_refused_arguments(given, message):
    with pytest.raises(GraphError, match=message):
        tir_mlir.from_torch(*given)


@pytest.mark.nightly
def test_a_size_that_forward_makes_a_number():
    class Model(nn.Module):
        def forward(self, x):
            return x.view(2, 2, 4)

    with pytest.raises(GraphError, match="fix: leave the size out of dynamic"):
        tir_mlir.from_torch(Model(), (torch.zeros(4, 4),), dynamic={"x": {0: "n"}})


def test_a_size_for_an_argument_that_forward_does_not_have():
    with pytest.raises(GraphError, match="dynamic_shapes names 'y', which forward is not called with"):
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
    with enter_context():
        assert [graph.func.name_of(value) for value in graph.func.outputs] == ["mul", "add"]


def test_bfloat16_weights_are_their_bits():
    model = nn.Linear(4, 3).bfloat16()
    graph = tir_mlir.from_torch(model, (torch.zeros(2, 4, dtype=torch.bfloat16),))
    assert graph.weights["weight"].dtype == np.uint16
    assert np.shares_memory(graph.weights["weight"], model.weight.detach().view(torch.uint16).numpy())
    with enter_context():
        assert {graph.func.input_type(n).dtype for n in range(3)} == {"bfloat16"}


def test_a_model_refuses_sizes_that_it_was_not_exported_for():
    class Model(nn.Module):
        def forward(self, x):
            return x * 2 if x.shape[0] > 3 else x * 3

    dim = torch.export.Dim("n", min=4, max=9)
    graph = tir_mlir.from_torch(Model(), (torch.ones(5),), dynamic={"x": {0: dim}})
    lib = tir_mlir.build(graph, threads=1)
    assert lib(np.ones(9, "float32")).tolist() == [2.0] * 9
    for n in (3, 10):
        with pytest.raises(ArgumentError, match=f"the size n is {n}; the graph is made for 4 to 9"):
            lib(np.ones(n, "float32"))


class Nested(nn.Module):
    def forward(self, pair, options, scale=2.0, *, extra=None):
        y = pair[0] * scale + options["bias"]
        return {"z": (y, pair[1]), "a": [y + extra if extra is not None else y], "none": None}


def test_nested_inputs_and_outputs_are_flattened_in_order():
    given = ((torch.ones(3), torch.zeros(2)), {"bias": torch.full((3,), 5.0)})
    dynamic = {"pair": ({0: "n"}, None), "options": {"bias": {0: "n"}}, "extra": {0: "n"}}
    graph = tir_mlir.from_torch(Nested(), given, {"extra": torch.ones(3)}, dynamic=dynamic)
    assert arguments(graph) == [("pair_0", ("n",)), ("pair_1", (2,)), ("options_bias", ("n",)), ("extra", ("n",))]
    with enter_context():
        assert [graph.func.name_of(value) for value in graph.func.outputs] == ["add", "pair_1", "add_1"]


def test_an_input_that_is_returned_comes_back():
    given = ((torch.ones(3), torch.zeros(2)), {"bias": torch.ones(3)})
    lib = tir_mlir.build(tir_mlir.from_torch(Nested(), given), threads=1)
    y, same, again, none = lib(np.ones(3, "float32"), np.arange(2.0, dtype="float32"), np.ones(3, "float32"))
    assert y.tolist() == [3.0] * 3 and same.tolist() == [0.0, 1.0] and again.tolist() == [3.0] * 3
    assert none is None


def test_none_among_the_results_comes_back():
    lib = tir_mlir.build(tir_mlir.from_torch(lambda x: (x + 1, None), (torch.ones(2),)), threads=1)
    result = lib(torch.ones(2))
    assert isinstance(result, tuple) and result[0].tolist() == [2, 2] and result[1] is None
    assert lib.signature == "main(x: (2,) float32) -> (2,) float32, None"


def test_a_named_size_whose_example_is_one():
    dims = ({0: "b"}, {0: 4 * torch.export.Dim("b")})
    graph = tir_mlir.from_torch(lambda x, y: (x * 2, y + 1), (torch.ones(1, 3), torch.ones(4)), dynamic_shapes=dims)
    lib = tir_mlir.build(graph, threads=1)
    assert [tuple(y.shape) for b in (1, 3) for y in lib(torch.ones(b, 3), torch.ones(4 * b))] == [
        (1, 3),
        (4,),
        (3, 3),
        (12,),
    ]


def test_a_result_that_is_no_tensor_is_refused():
    class Model(nn.Module):
        def forward(self, x):
            return x + 1, x.shape[0]

    with pytest.raises(GraphError, match=r"forward returns .*, which is not a tensor\n  fix: return tensors only"):
        tir_mlir.from_torch(Model(), (torch.ones(3),))


def test_a_key_of_ops_that_is_no_operator():
    with pytest.raises(GraphError, match="from_torch: 3 as a key of ops"):
        tir_mlir.from_torch(Scaled(), (torch.ones(2, 4),), ops={3: abs})


def test_one_tensor_as_two_inputs():
    """torch.export alone would make one input of it."""

    class Model(nn.Module):
        def forward(self, x, y):
            return x - 2 * y

    x = torch.ones(4)
    model = tir_mlir.build(tir_mlir.from_torch(Model(), (x, x)))
    np.testing.assert_array_equal(model(np.full(4, 3, "float32"), np.ones(4, "float32")), np.ones(4, "float32"))


def test_a_hook_that_forward_installs_once():
    """As models of transformers do that collect hidden states."""

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.installed = nn.ReLU(), False

        def forward(self, x):
            if not self.installed:
                self.inner.register_forward_hook(lambda module, inputs, output: 2 * output)
                self.installed = True
            return self.inner(x)

    model = tir_mlir.build(tir_mlir.from_torch(Model(), (torch.ones(4),)))
    np.testing.assert_array_equal(model(np.ones(4, "float32")), np.full(4, 2, "float32"))


def test_random_numbers_without_a_state_are_refused():
    class Model(nn.Module):
        def forward(self, x):
            return F.dropout(x, 0.5, training=True)

    with pytest.raises(GraphError, match=r"node dropout: it draws random numbers.*\n.*\n.*random_state"):
        tir_mlir.from_torch(Model(), (torch.ones(3),))


def test_an_argument_that_is_not_supported_is_told():
    class Model(nn.Module):
        def forward(self, x):
            return x + torch.tril_indices(3, 3, dtype=torch.int32)

    with pytest.raises(GraphError, match=r"dtype=torch.int32 is not supported\n.*torch.tril_indices"):
        tir_mlir.from_torch(Model(), (torch.ones(2, 6, dtype=torch.int32),))


def test_what_has_no_translation_is_decomposed():
    check(lambda x: F.hardshrink(x) + torch.logit(torch.sigmoid(x)), torch.randn(3, 4), rtol=1e-4)
