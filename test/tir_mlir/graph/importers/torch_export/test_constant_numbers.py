"""Numbers that forward reads of buffers, literals and masks of its own are constants of the graph."""

from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
nn, F = torch.nn, torch.nn.functional

import tir_mlir  # noqa: E402
from tir_mlir.dialect.diagnostics import ArgumentError, GraphError  # noqa: E402


def check(model, *args):
    result = tir_mlir.build(tir_mlir.from_torch(model, args), threads=1)(*args)
    torch.testing.assert_close(result, model(*args), rtol=1e-5, atol=1e-5)


class OfBuffer(nn.Module):
    def __init__(self, body, **buffers):
        super().__init__()
        self.body = body
        for name, value in buffers.items():
            self.register_buffer(name, torch.tensor(value))

    def forward(self, x):
        return self.body(self, x)


def padded(self, x):
    missing = torch.ceil((x.shape[-1] - 8) / self.stride).long() * self.stride + 8 - x.shape[-1]
    return F.pad(x, (0, missing))


def written_mask(x):
    mask = torch.zeros(4)
    mask[1:3] = 1
    return x * 2 if (mask > 0).any() and int(mask.sum()) == 2 else x


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "model",
    [
        OfBuffer(lambda self, x: x * 2 if self.p[1] > 0 else x, p=[1.0, 1.0]),
        OfBuffer(lambda self, x: x * 2 if self.p[0] > 1 else x, p=[1.0, 1.0]),
        OfBuffer(lambda self, x: x.view(self.rows, -1), rows=2),
        OfBuffer(padded, stride=4),
        OfBuffer(lambda self, x: x + torch.linspace(0, self.end, self.steps), end=3, steps=4),
        OfBuffer(lambda self, x: x.new_full((4,), self.value) + x.roll(self.value), value=3),
        lambda x: torch.cat([part.cumsum(0) for part in torch.split(x, torch.tensor([1, 3]).tolist())]),
        written_mask,
    ],
    ids=["a branch", "the other branch", "a size", "padding", "bounds", "fills", "a literal", "a mask"],
)
def test_numbers_that_no_input_decides_on(model):
    check(
        model, torch.randn(4) if not isinstance(model, OfBuffer) or model.body is not padded else torch.randn(1, 2, 30)
    )


def test_a_mask_that_an_input_is_written_to():
    def forward(x):
        mask = torch.zeros(4)
        mask[0] = x[0]
        return x * 2 if mask.sum() > 0 else x

    with pytest.raises(GraphError, match="a number or a decision that is known only when it runs"):
        tir_mlir.from_torch(forward, (torch.ones(4),))


def test_a_buffer_that_is_read_and_written():
    def count(self, x):
        doubled = x * 2 if self.step > 0 else x
        self.step.add_(1)
        return doubled

    with pytest.raises(GraphError, match="forward reads a number from step, and writes to it"):
        tir_mlir.from_torch(OfBuffer(count, step=1), (torch.ones(4),), mutated="return")


def test_sizes_from_an_input_are_refused_with_a_way_out():
    def forward(x, sizes):
        return torch.cat([part.cumsum(0) for part in torch.split(x, sizes.tolist())])

    with pytest.raises(GraphError, match="fix: make split_sizes Python numbers, with one graph for each"):
        tir_mlir.from_torch(forward, (torch.ones(4), torch.tensor([1, 3])))


class Checked(nn.Module):
    def forward(self, ids, x):
        torch._check(((ids == 3).sum() == 2).item())
        count = (ids == 5).sum().item()
        torch._check(count > 1)
        return x * count


def test_a_check_is_made_after_each_call():
    ids, x = torch.tensor([3, 3, 5, 5]), torch.ones(2)
    lib = tir_mlir.build(tir_mlir.from_torch(Checked(), (ids, x)), threads=1)
    assert lib(torch.tensor([5, 3, 3, 5]), x).tolist() == [2, 2]
    with pytest.raises(ArgumentError, match=r"a check of the model fails(?s:.*)torch._check\(\(\(ids == 3\)"):
        lib(torch.tensor([3, 5, 5, 5]), x)
    with pytest.raises(ArgumentError, match=r"a check of the model fails(?s:.*)count = \(ids == 5\)"):
        lib(torch.tensor([3, 3, 5, 4]), x)


def test_a_check_of_a_tensor():
    def forward(x):
        torch._assert_async((x > 0).any())
        return x * 2

    lib = tir_mlir.build(tir_mlir.from_torch(forward, (torch.ones(2),)), threads=1)
    assert lib(torch.ones(2)).tolist() == [2, 2]
    with pytest.raises(ArgumentError, match="a check of the model fails"):
        lib(-torch.ones(2))


@pytest.mark.nightly
def test_a_check_in_a_branch_is_told():
    def inner(x):
        torch._check((x > 0).sum().item() > 0)
        return x * 2

    def forward(x):
        return torch.cond(x.sum() > 0, inner, lambda x: x + 1, (x,))

    with pytest.warns(UserWarning, match="a check of the model is not made, as it is in a branch or a loop"):
        tir_mlir.from_torch(forward, (torch.ones(2),))


def test_the_first_counts_have_a_known_size():
    def forward(groups):
        return torch.bincount(groups, minlength=4)[:4]

    lib = tir_mlir.build(tir_mlir.from_torch(forward, (torch.tensor([0, 0, 1, 3]),)), threads=1)
    assert lib(torch.tensor([0, 7, 3, 3])).tolist() == [1, 0, 0, 2]


def test_a_linear_layer_with_a_weight_of_one_axis():
    check(lambda x, w: F.linear(x, w), torch.randn(2, 5, 7), torch.randn(7))
