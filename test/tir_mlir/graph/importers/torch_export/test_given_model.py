"""What from_torch takes as a model: functions, methods, compiled modules; what it refuses."""

import functools
import operator
import warnings

import pytest
from harness.torch_models import compare

import tir_mlir
from tir_mlir.errors import GraphError

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
nn = torch.nn

from tir_mlir.graph.importers.torch_export.given_model import as_module, warn_of_training  # noqa: E402

X = torch.linspace(-1, 1, 8).reshape(2, 4)


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense = nn.Linear(4, 3)

    def forward(self, x):
        return self.encode(x) * 2

    def encode(self, x):
        return torch.tanh(self.dense(x))


def test_a_method_has_the_weights_of_its_module():
    model = Two()
    graph = tir_mlir.from_torch(model.encode, (X,))
    assert list(graph.weights) == ["dense.weight", "dense.bias"]
    compare(tir_mlir.build(graph, threads=1)(X).numpy(), model.encode(X).detach().numpy())


def test_a_function_of_tensors_has_its_names():
    def hypotenuse(a, b):
        return torch.sqrt(a * a + b * b)

    model = tir_mlir.build(tir_mlir.from_torch(hypotenuse, (X, X)), threads=1)
    assert model.signature.startswith("main(a: (2, 4) float32, b: (2, 4) float32)")


class Scaled:
    """What can be called and is not a function."""

    def __call__(self, x, factor=3):
        return x * factor


class OfNames(nn.Module):
    def forward(self, x, **named):
        return x * named["scale"]


@pytest.mark.parametrize(
    ("given", "args", "kwargs", "names"),
    [
        (nn.functional.gelu, (X,), {}, ["input_0"]),
        (torch.add, (X,), {"other": X + 1}, ["input_0", "other"]),
        (torch.softmax, (X, -1), {}, ["input_0"]),
        (functools.partial(nn.functional.gelu, approximate="tanh"), (X,), {}, ["input_0"]),
        (operator.add, (X, X + 1), {}, ["a", "b"]),
        (torch.ops.aten.add.Tensor, (X, X + 1), {}, ["args_0", "args_1"]),
        (Scaled(), (X,), {}, ["x"]),
        (OfNames(), (X,), {"scale": X + 1}, ["x", "scale"]),
    ],
    ids=["in C", "in C, by name", "in C, a number", "partial", "operator", "of torch.ops", "an object", "**"],
)
def test_what_can_be_called(given, args, kwargs, names):
    model = tir_mlir.build(tir_mlir.from_torch(given, args, kwargs), threads=1)
    tensors = [each for each in (*args, *kwargs.values()) if isinstance(each, torch.Tensor)]
    compare(model(*tensors).numpy(), given(*args, **kwargs).numpy())
    assert [name for name in names if f"{name}: (2, 4)" in model.signature] == names


def test_a_size_of_a_function_in_c():
    graph = tir_mlir.from_torch(nn.functional.gelu, (X,), dynamic_shapes=({0: "n"},))
    assert tir_mlir.build(graph, threads=1)(torch.zeros(5, 4)).shape == (5, 4)


def test_a_method_with_an_argument_has_the_weights_of_its_module():
    graph = tir_mlir.from_torch(functools.partial(Two().encode), (X,))
    assert list(graph.weights) == ["dense.weight", "dense.bias"]


def test_a_function_of_torchscript_is_refused():
    with pytest.raises(GraphError, match="a program of TorchScript\n  fix: pass the module or the function"):
        tir_mlir.from_torch(torch.jit.trace(lambda x: x * 2, (X,)), (X,))


def test_a_compiled_module_is_the_module():
    model = Two()
    wrapped = type("OptimizedModule", (nn.Module,), {"forward": model.forward})()
    wrapped._orig_mod = model
    assert as_module(wrapped) is model


@pytest.mark.parametrize(
    ("given", "message"), [(Two, r"Two is a class\n  fix: pass Two\(...\)"), (3, "3 is not a model")]
)
def test_what_is_no_model(given, message):
    with pytest.raises(GraphError, match=message):
        tir_mlir.from_torch(given, (X,))


def test_weights_without_values_are_refused():
    with torch.device("meta"):
        model = Two()
    with pytest.raises(GraphError, match=r"dense.weight and 1 more .* no values.*\n  fix: model.load_state_dict"):
        tir_mlir.from_torch(model, (X,))
    model.load_state_dict(Two().state_dict(), assign=True)
    assert as_module(model) is model


def test_training_of_layers_that_are_the_same_in_training_is_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_training(nn.Sequential(nn.Linear(3, 3), nn.LayerNorm(3), nn.Dropout(0.0)).train())


def test_batch_norm_in_training_is_a_warning():
    with pytest.warns(UserWarning, match=r"0 \(BatchNorm2d\) computes something else in training"):
        warn_of_training(nn.Sequential(nn.BatchNorm2d(3)))


def test_a_cache_among_the_results_is_left_out_and_told():
    transformers = pytest.importorskip("transformers")
    sizes = {
        "hidden_size": 16,
        "intermediate_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "vocab_size": 20,
    }
    model, ids = transformers.LlamaForCausalLM(transformers.LlamaConfig(**sizes)).eval(), torch.tensor([[5, 17, 3]])
    with pytest.warns(
        UserWarning, match="the model returns a DynamicCache, which is left out(?s:.*)fix: use_cache=False"
    ):
        graph = tir_mlir.from_torch(model, (ids,))
    with torch.no_grad():
        torch.testing.assert_close(tir_mlir.build(graph, threads=1)(ids), model(ids).logits, rtol=1e-4, atol=1e-4)
