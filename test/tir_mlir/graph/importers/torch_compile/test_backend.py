"""torch.compile(model, backend="tir_mlir"): right, and what remains with torch is said."""

from __future__ import annotations

import warnings
from dataclasses import replace
from importlib.metadata import entry_points

import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
nn, F = torch.nn, torch.nn.functional

from tir_mlir.graph.importers.torch_compile import backend as module  # noqa: E402
from tir_mlir.graph.importers.torch_compile.backend import backend  # noqa: E402

pytestmark = pytest.mark.slow


class Layer(nn.Module):
    def __init__(self):
        super().__init__()
        self.dense, self.norm = nn.Linear(8, 8), nn.BatchNorm1d(8)

    def forward(self, x):
        return torch.relu(self.norm(self.dense(x)))


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    torch._dynamo.reset()
    torch.manual_seed(0)
    monkeypatch.setattr(module, "_warned_reasons", set())
    with torch.no_grad():
        yield


@pytest.fixture
def graphs(monkeypatch) -> list:
    """The graphs that become models."""
    built, build = [], module.build_model
    monkeypatch.setattr(module, "build_model", lambda graph, **options: built.append(graph) or build(graph, **options))
    return built


def check(function, *args, warned: str = ""):
    """Compare with torch; returns the compiled function."""
    compiled = torch.compile(function, backend=backend)
    expected = function(*args)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        result = compiled(*args)
    texts = [str(warning.message) for warning in told if "backend tir_mlir" in str(warning.message)]
    assert len(texts) == bool(warned) and all(warned in text for text in texts)
    torch.testing.assert_close(result, expected, rtol=1e-5, atol=1e-5)
    return compiled


def test_it_has_a_name():
    (found,) = entry_points(group="torch_dynamo_backends", name="tir_mlir")
    assert found.load() is backend


def test_a_model_is_one_model_with_its_weights(graphs):
    check(Layer().eval(), torch.randn(4, 8))
    (graph,) = graphs
    assert len(graph.weights) == 6


def test_what_is_not_known_stays_with_torch(graphs):
    def waves(x, y):
        a = torch.relu(x) @ y
        return torch.sigmoid(torch.special.bessel_j0(a)) + a

    told = "aten.special_bessel_j0.default remains with torch: it is not known"
    check(waves, torch.randn(4, 4), torch.randn(4, 4), warned=told)
    assert len(graphs) == 2


def test_random_numbers_are_those_of_torch():
    def dropped(x):
        torch.manual_seed(1)
        return F.dropout(torch.relu(x) + 1, 0.5)

    check(dropped, torch.randn(64), warned="aten.native_dropout.default remains with torch: it draws random numbers")


def test_graph_breaks(graphs):
    def broken(x):
        y = torch.sigmoid(x) * 2
        torch._dynamo.graph_break()
        return torch.exp(y) + 1

    check(broken, torch.randn(8))
    assert len(graphs) == 2


def test_what_is_written_to():
    def push(x, cache):
        cache[1] = x * 2
        cache.add_(1)
        return cache.sum()

    compiled, x, ours, torchs = (
        torch.compile(push, backend=backend),
        torch.randn(4),
        torch.zeros(3, 4),
        torch.zeros(3, 4),
    )
    for _ in range(2):
        torch.testing.assert_close(compiled(x, ours), push(x, torchs))
        torch.testing.assert_close(ours, torchs)


def test_a_view_of_an_input_is_one():
    def views(x):
        return x.view(-1), torch.relu(x)

    x = torch.randn(2, 3)
    assert check(views, x)(x)[0].data_ptr() == x.data_ptr()


def test_weights_that_change(graphs):
    model, x = Layer().eval(), torch.randn(4, 8)
    compiled = check(model, x)
    for _ in range(2):
        model.dense.weight.mul_(2)
        torch.testing.assert_close(compiled(x), model(x), rtol=1e-5, atol=1e-5)
    assert [len(graph.weights) for graph in graphs] == [6, 0]


def test_another_model_of_the_same_kind():
    """Torch's guards do not look at which parameters they are."""
    x = torch.randn(4, 8)
    for model in (Layer().eval(), Layer().eval()):
        check(model, x)


def test_sizes_that_vary_are_those_of_one_model(graphs):
    compiled = check(Layer().eval(), torch.randn(4, 8))
    for rows in (5, 6, 9):
        x = torch.randn(rows, 8)
        torch.testing.assert_close(compiled(x), compiled._orig_mod(x), rtol=1e-5, atol=1e-5)
    assert len(graphs) == 2


def test_sizes_without_one_program_for_all(graphs, monkeypatch):
    monkeypatch.setattr(module, "SIZES", 1)
    found = module.varying_sizes
    apart = lambda traced: None if (sizes := found(traced)) is None else replace(sizes, may_be_one=False)  # noqa: E731
    monkeypatch.setattr(module, "varying_sizes", apart)
    compiled = check(Layer().eval(), torch.randn(4, 8))
    with pytest.warns(UserWarning, match="more than 1 combinations of sizes, and further ones remain with torch"):
        for rows in (5, 6, 5):
            x = torch.randn(rows, 8)
            torch.testing.assert_close(compiled(x), compiled._orig_mod(x), rtol=1e-5, atol=1e-5)
    assert len(graphs) == 2


def test_inputs_that_are_not_contiguous():
    check(lambda x: torch.exp(x) + 1, torch.randn(4, 6).T)


def test_training_stays_with_torch():
    model, x = Layer(), torch.randn(4, 8)
    with torch.enable_grad(), pytest.warns(UserWarning, match="a graph remains with torch: gradients are computed"):
        torch.compile(model, backend=backend)(x).sum().backward()
    assert model.dense.weight.grad is not None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"options": {"thread": 1}}, "no option 'thread'\n  fix: one of target, threads, optimize, cache"),
        ({"mode": "max-autotune"}, "no mode 'max-autotune'"),
    ],
)
def test_what_there_is_not(options, message):
    with pytest.raises(Exception, match=message):
        torch.compile(torch.relu, backend=backend, **options)(torch.randn(3))
