"""torch.compile(model, backend="tir_mlir"): results share memory with inputs and with each other where torch's do."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

from tir_mlir.graph.importers.torch_compile.backend import backend  # noqa: E402


def written(x):
    return x.add_(1)


def permuted_and_written(x):
    y = x.permute(1, 0)
    y.mul_(2)
    return y


def row_of_written(x):
    x.mul_(2)
    return x[1]


def strided_views(x):
    x.mul_(2)
    return x.diagonal(), x[:, ::2], x.unsqueeze(0)


def detached(x):
    return x.detach(), x * 2


def a_view_alone(x):
    return x.T


def result_and_its_view(x):
    y = x * 2
    return y, y.T


def parts_of_a_result(x):
    return (x * 2).chunk(2)


def views_of_a_transposed_result(x):
    y = x.T * 2
    return y[0], y.T[1], y


def slice_that_was_written(x):
    y = torch.relu(x)
    z = y[:, 1:]
    z.mul_(3)
    return y, z


FUNCTIONS = (
    written,
    permuted_and_written,
    row_of_written,
    strided_views,
    detached,
    a_view_alone,
    result_and_its_view,
    parts_of_a_result,
    views_of_a_transposed_result,
    slice_that_was_written,
)


def after_writes(function, x) -> list:
    """What the argument and all results hold after each result in turn was written to."""
    results = function(x)
    results = [results] if isinstance(results, torch.Tensor) else list(results)
    states = []
    for number, result in enumerate(results):
        result[0].fill_(-7 - number)
        states.append([tensor.tolist() for tensor in (x, *results)])
    return states


@pytest.fixture(autouse=True)
def fresh():
    torch._dynamo.reset()
    with torch.no_grad():
        yield


@pytest.mark.few(2)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_memory_is_shared_as_in_torch(function, dynamic):
    compiled = torch.compile(function, backend=backend, dynamic=dynamic)
    for rows in (3, 4) if dynamic else (3,):
        x, y = (torch.arange(30.0).view(5, 6)[5 - rows :] for _ in range(2))
        assert after_writes(compiled, x) == after_writes(function, y)


def test_an_input_that_was_written_to_is_the_result():
    x = torch.zeros(2, 3)
    assert torch.compile(written, backend=backend)(x) is x


def test_memory_is_shared_where_gradients_are_on():
    with torch.enable_grad():
        x, y = torch.ones(2, 3), torch.ones(2, 3)
        assert after_writes(torch.compile(row_of_written, backend=backend), x) == after_writes(row_of_written, y)


def test_arguments_in_one_memory_that_are_written_to():
    def push(x, y):
        x.add_(1)
        return y * 2

    memory = torch.arange(4.0)
    with pytest.warns(UserWarning, match="an argument that is written to shares memory with another one"):
        result = torch.compile(push, backend=backend)(memory[:3], memory[1:])
    assert result.tolist() == [4, 6, 6]


def test_memory_as_another_type_stays_with_torch():
    def bits(x):
        return x.view(torch.int32), x * 2

    x = torch.ones(3)
    with pytest.warns(UserWarning, match="is memory of an input or a result as another type"):
        result = torch.compile(bits, backend=backend)(x)[0]
    assert result.data_ptr() == x.data_ptr()
