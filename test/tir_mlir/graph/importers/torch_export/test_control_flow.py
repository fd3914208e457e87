"""Branches and loops of torch are those of the graph."""

import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch._higher_order_ops.map import map as torch_map  # noqa: E402
from torch._higher_order_ops.scan import scan  # noqa: E402
from torch._higher_order_ops.while_loop import while_loop  # noqa: E402

from tir_mlir import build, from_torch  # noqa: E402
from tir_mlir.errors import GraphError  # noqa: E402


class Choice(nn.Module):
    """Two branches, of which one reads weights and chooses again."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        def then(x):
            return torch.cond(x[0, 0] > 0, lambda x: torch.relu(self.layer(x)), lambda x: self.layer(x) * 2, (x,))

        return torch.cond(x.sum() > 0, then, lambda x: torch.exp(-x), (x,)) + 1


class Steps(nn.Module):
    """A loop on a condition, then one over rows."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(8, 8)

    def forward(self, x):
        def step(state, row):
            state = torch.tanh(self.layer(state) + row)
            return state, state * 2

        _, x = while_loop(lambda n, x: x.abs().sum() < 100.0, lambda n, x: (n + 1, x * 2), (torch.tensor(0), x))
        return scan(step, torch.zeros(8), x, dim=0)


@pytest.mark.nightly
@pytest.mark.slow
@pytest.mark.parametrize("sign", [1, -1])
def test_only_the_branch_that_is_chosen_runs(sign):
    torch.manual_seed(0)
    model, x = Choice().eval(), torch.rand(4, 8) * sign
    lib = build(from_torch(model, (x,)), threads=1)
    torch.testing.assert_close(lib(x), model(x), rtol=1e-5, atol=1e-5)


@pytest.mark.nightly
def test_loops_run_for_any_number_of_rows():
    torch.manual_seed(0)
    model = Steps().eval()
    lib = build(from_torch(model, (torch.rand(5, 8),), dynamic={"x": {0: "n"}}), threads=1)
    x = torch.rand(3, 8)
    for mine, right in zip(lib(x), model(x), strict=True):
        torch.testing.assert_close(mine, right, rtol=1e-5, atol=1e-5)


def scaled_by_rows(x):
    return torch.cond(x.sum() > 0, lambda x: x * x.shape[0], lambda x: x - x.shape[0], (x,))


def turns_by_rows(x):
    n = x.shape[0]
    return while_loop(lambda k, y: k < n, lambda k, y: (k + 1, y * 2 + n), (torch.tensor(0), x))


SIZES = {
    "cond": scaled_by_rows,
    "while_loop": turns_by_rows,
    "scan": lambda x: scan(lambda state, row: (state + row * x.shape[0], state * 1.0), torch.zeros(4), x, dim=0),
    "map": lambda x: torch_map(lambda row, n: row * n, x, x.shape[0]),
}


@pytest.mark.few(1)
@pytest.mark.parametrize("name", SIZES)
def test_a_size_among_the_operands(name):
    model = SIZES[name]
    lib = build(from_torch(model, (torch.rand(3, 4),), dynamic={"x": {0: "n"}}), threads=1, optimize="fast")
    x = torch.rand(5, 4)
    ours, wanted = lib(x), model(x)
    pairs = zip(ours, wanted, strict=True) if isinstance(ours, tuple) else [(ours, wanted)]
    for mine, right in pairs:
        torch.testing.assert_close(mine, right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("start", [lambda x: 0, lambda x: x.shape[0]], ids=["a number", "a size"])
def test_a_number_that_a_loop_changes_is_refused(start):
    def model(x):
        return while_loop(lambda k, y: y.sum() < 100, lambda k, y: (k + 1, y * 2), (start(x), x))

    fix = r"while_loop has a number among its operands\n(.*\n)?  fix: a tensor, torch.tensor\(0\)"
    with pytest.raises(GraphError, match=fix):
        from_torch(model, (torch.rand(3, 4),), dynamic={"x": {0: "n"}})
