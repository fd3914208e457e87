"""Imports are cached by the calls of torch that forward makes: what computes something else is another import."""

from __future__ import annotations

import numpy as np
import pytest

import tir_mlir
from tir_mlir.errors import GraphError
from tir_mlir.graph.importers.torch_export import from_torch as front

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
nn, F = torch.nn, torch.nn.functional

from tir_mlir.graph.importers.torch_export.cached_import import NotRecorded, recorded_calls  # noqa: E402


class Layer(nn.Module):
    """`scale` and `after` are Python's, `shift` is a weight that is one number."""

    def __init__(self, scale=2.0, after=F.relu, shift=1.0):
        super().__init__()
        self.dense = nn.Linear(4, 3)
        self.register_buffer("shift", torch.tensor(shift))
        self.scale, self.after = scale, after

    def forward(self, x):
        return self.after(self.dense(x) * self.scale) + self.shift


X = torch.linspace(-1, 1, 8).reshape(2, 4)


def told(model, *inputs, **named):
    with torch.no_grad():
        return recorded_calls(model.eval(), inputs or (X,), named)


@pytest.fixture
def exports(monkeypatch, tmp_path):
    """How often torch.export runs, with an empty cache."""
    monkeypatch.setenv("TIR_CACHE_DIR", str(tmp_path))
    made = []
    export = front.export_program
    monkeypatch.setattr(front, "export_program", lambda *given: made.append(given) or export(*given))
    return made


def test_the_second_import_has_the_weights_of_the_second_model(exports):
    for seed in (0, 1):
        torch.manual_seed(seed)
        model = Layer()
        graph = tir_mlir.from_torch(model, (X,))
        assert np.shares_memory(graph.weights["dense.weight"], model.dense.weight.detach().numpy())
        found = tir_mlir.build(graph, threads=1)(X.numpy())
        np.testing.assert_allclose(found, model(X).detach().numpy(), rtol=1e-5, atol=1e-6)
    assert len(exports) == 1


def test_an_import_with_sizes_is_found_for_the_same_sizes(exports):
    class Model(nn.Module):
        def forward(self, x):
            return x * 2 if x.shape[0] < 9 else x.view(2, 4)  # which is the same for an x of (2, 4)

    shapes = {"x": {0: torch.export.Dim("n", min=1, max=8)}}
    texts = [tir_mlir.from_torch(Model(), (X,), dynamic_shapes=shapes).module.script() for _ in range(2)]
    assert texts[0] == texts[1] and len(exports) == 1
    assert '("n", 4)' in texts[0]
    tir_mlir.from_torch(Model(), (X,))
    tir_mlir.from_torch(Model(), (X,), dynamic_shapes={"x": {0: torch.export.Dim("m", min=1, max=8)}})
    assert len(exports) == 3


@pytest.mark.nightly
def test_both_imports_have_the_same_text(exports):
    assert tir_mlir.from_torch(Layer(), (X,)).text() == tir_mlir.from_torch(Layer(), (X,)).text()
    assert len(exports) == 1


@pytest.mark.parametrize(
    "other",
    [{"scale": 3.0}, {"scale": 2}, {"after": torch.tanh}, {"after": lambda y: F.relu(y) * 1.0}, {"shift": 2.0}],
    ids=["number", "type of a number", "function", "call", "weight of one number"],
)
def test_other_calls_are_another_import(other):
    assert told(Layer(**other)) != told(Layer())


def test_equal_calls_are_one_import_whatever_python_is_around_them():
    assert told(Layer(after=lambda y: F.relu(y))) == told(Layer())


def test_inputs_are_part_of_it():
    model = Layer()
    assert told(model, X) != told(model, X[:1]) != told(model, X.double())
    assert told(model, X) != told(model, X.t().contiguous().t())  # other strides


class Around(nn.Module):
    """A function as a module."""

    def __init__(self, function):
        super().__init__()
        self.function, self.known = function, {}
        self.a, self.b = nn.Parameter(torch.ones(4)), nn.Parameter(torch.ones(4))

    def forward(self, x):
        return self.function(self, x)


def test_which_weight_is_used_is_part_of_it():
    assert told(Around(lambda m, x: x * m.a)) != told(Around(lambda m, x: x * m.b))


def test_weights_that_are_one_are_part_of_it():
    tied = Around(lambda m, x: x * m.a + m.b)
    tied.b = tied.a
    assert told(tied) != told(Around(lambda m, x: x * m.a + m.b))


def test_which_result_is_returned_is_part_of_it():
    def both(m, x):
        return x + 1, x + 2

    assert told(Around(both)) != told(Around(lambda m, x: both(m, x)[::-1]))
    assert told(Around(lambda m, x: {"a": x + 1})) != told(Around(lambda m, x: {"b": x + 1}))


def test_the_default_type_is_part_of_it():
    def made(m, x):
        return x + torch.ones(4)

    before = told(Around(made))
    torch.set_default_dtype(torch.float64)
    try:
        assert told(Around(made)) != before
    finally:
        torch.set_default_dtype(torch.float32)


CONSTANT = torch.ones(4)


@torch.library.custom_op("tir_test::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


@twice.register_fake
def _(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)


@pytest.mark.parametrize(
    ("function", "why"),
    [
        (lambda m, x: x * CONSTANT, "no recorded call made"),
        (lambda m, x: x + torch.from_numpy(np.ones(4, "float32")), "no recorded call made"),
        (lambda m, x: x * 2 if x.is_contiguous() else x, "is_contiguous tells bool"),
        (lambda m, x: x * 2 if x.stride(0) > 1 else x, "stride tells int"),
        (lambda m, x: setattr(m, "last", x) or x, "changes what a Around holds"),
        (lambda m, x: m.known.setdefault("x", x) + x, "changes what a Around holds"),
        (lambda m, x: twice(x), "the operator tir_test.twice"),
    ],
)
def test_what_calls_do_not_tell_is_not_cached(function, why):
    model = Around(function)
    with pytest.raises(NotRecorded, match=why):
        told(model)
    assert not hasattr(model, "last") and not model.known


def test_hooks_that_forward_installs_are_told_by_what_they_compute():
    class Hooked(Around):
        def __init__(self, factor):
            super().__init__(lambda m, x: m.inner(x))
            self.inner, self.factor, self.installed = nn.ReLU(), factor, False

        def forward(self, x):
            if not self.installed:
                self.inner.register_forward_hook(lambda module, inputs, output: output * self.factor)
                self.installed = True
            return super().forward(x)

    assert told(Hooked(2)) == told(Hooked(2)) != told(Hooked(3))


def test_a_module_with_two_names_keeps_its_weights():
    layer = nn.Linear(4, 4)
    weight = layer.weight
    told(nn.Sequential(layer, layer))
    assert layer.weight is weight


def test_an_import_leaves_what_the_module_holds():
    model = Around(lambda m, x: m.known.setdefault("x", x) + x)
    tir_mlir.from_torch(model, (torch.ones(4),))
    assert not model.known


def test_autocast_is_not_cached():
    def cast(m, x):
        with torch.autocast("cpu", torch.bfloat16):
            return x @ x.t()

    with pytest.raises(NotRecorded, match="autocast"):
        told(Around(cast))


def test_devices_of_inputs_are_those_of_the_model():
    """A branch on the device is the branch that the export takes."""
    on_cpu = Around(lambda m, x: x + torch.arange(4, device=x.device) if x.device.type == "cpu" else x)
    assert "arange" in told(on_cpu)


@pytest.mark.nightly
def test_a_model_that_looks_at_values_is_left_to_the_export(exports):
    with pytest.raises(GraphError, match=r"known only when it runs(.|\n)*fix: torch.where"):
        tir_mlir.from_torch(Around(lambda m, x: x * 2 if x.sum() > 0 else x), (X,))
    assert len(exports) == 1


@pytest.mark.nightly
def test_cache_false_exports_again(exports):
    for _ in range(2):
        tir_mlir.from_torch(Layer(), (X,), cache=False)
    assert len(exports) == 2


@pytest.mark.nightly
def test_options_are_part_of_it(exports):
    names = [tir_mlir.from_torch(Layer(), (X,), name=name).name for name in ("first", "second")]
    assert names == ["first", "second"] and len(exports) == 2


def test_an_import_that_is_not_cached_says_why(caplog):
    def forward(x):
        return x * 2 if x.sum() > 0 else x

    with caplog.at_level("DEBUG", logger="tir_mlir"), pytest.raises(GraphError):
        tir_mlir.from_torch(forward, (torch.ones(2),))
    assert "its import is not cached" in caplog.text


@pytest.mark.parametrize("read", ["literal", "buffer"])
def test_numbers_that_forward_reads_of_literals_are_told_by_the_calls(read):
    from tir_mlir.graph.importers.torch_export.cached_import import recorded_calls

    class Scaled(torch.nn.Module):
        def __init__(self, share):
            super().__init__()
            self.share = share
            self.register_buffer("limit", torch.tensor([share]))

        def forward(self, x):
            limit = torch.tensor([self.share]) if read == "literal" else self.limit
            return x * torch.distributions.Normal(0, 1).cdf(torch.tensor(0.5)) if (limit < 0.5).all() else x

    if read == "literal":
        of_one, again, other = (recorded_calls(Scaled(share), (torch.ones(2),), {}) for share in (0.2, 0.2, 0.9))
        assert of_one == again != other
    else:
        with pytest.raises(RuntimeError, match="meta"):
            recorded_calls(Scaled(0.2), (torch.ones(2),), {})
