"""float16 and bfloat16 are rounded where torch rounds: once an operator, and between operators, whoever looks."""

from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F

from tir_mlir import build, from_torch

TYPES = pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=["float16", "bfloat16"])
ROW = 1000


def run(function, *args):
    return build(from_torch(lambda *given: function(*given), args), threads=1)(*args)


def units(x: torch.Tensor, exact: torch.Tensor) -> float:
    """The greatest error, in units of the last digit of the exact result."""
    limits = torch.finfo(x.dtype)
    unit = exact.abs().clamp(min=limits.tiny).log2().floor().exp2() * limits.eps
    return float(((x.double() - exact).abs() / unit).max())


ELEMENTWISE = {
    "sigmoid": torch.sigmoid,
    "logsigmoid": F.logsigmoid,
    "glu": F.glu,
    "cube": lambda x: x**3,
    "hypot": lambda x: torch.hypot(x, x.flip(0)),
    "addcmul": lambda x: torch.addcmul(x, x, x.flip(0), value=0.3),
    "addcdiv": lambda x: torch.addcdiv(x, x, x.abs() + 1, value=0.3),
    "lerp": lambda x: torch.lerp(x, x.flip(0), 0.3),
    "a number": lambda x: x * 1.702,
    "a quotient": lambda x: x / 1.1,
    "alpha": lambda x: torch.add(x.abs(), x.abs(), alpha=0.3),
    "logit": lambda x: torch.logit(x.abs() / (x.abs() + 1)),
}


@pytest.mark.few(3)
@TYPES
@pytest.mark.parametrize("name", ELEMENTWISE)
def test_an_operator_rounds_once(name, dtype):
    x = torch.randn(ROW, generator=torch.Generator().manual_seed(0)).to(dtype)
    function = ELEMENTWISE[name]
    if name == "logit":  # of what torch rounds before it
        x, function = (x.abs() / (x.abs() + 1)), torch.logit
    exact = function(x.double())
    assert units(run(function, x), exact) <= max(0.76, units(function(x), exact))  # half a unit, of float32's rounding


def large(x):
    return x * 60


REDUCTIONS = {
    "sum": lambda x: x.sum(-1),
    "mean": lambda x: x.mean(-1),
    "nansum": lambda x: x.nansum(-1),
    "var": lambda x: x.var(-1),
    "std": lambda x: x.std(-1),
    "var_mean": lambda x: torch.var_mean(x, -1)[0],
    "norm 1": lambda x: x.norm(1, -1),
    "norm 2": lambda x: x.norm(dim=-1),
    "norm 3": lambda x: x.norm(3, -1),
    "norm inf": lambda x: x.norm(float("inf"), -1),
    "logsumexp": lambda x: x.logsumexp(-1),
    "softmax": lambda x: x.softmax(-1),
    "layer_norm": lambda x: F.layer_norm(x, (ROW,)),
    "rms_norm": lambda x: F.rms_norm(x, (ROW,)),
    "normalize": lambda x: F.normalize(x, dim=-1),
    "cosine_similarity": lambda x: F.cosine_similarity(x, x.flip(0), dim=-1),
    "pairwise_distance": lambda x: F.pairwise_distance(x, x.flip(0)),
    "dist": lambda x: torch.dist(x[0], x[1]),
    "cumsum": lambda x: x.abs().cumsum(-1),
    "logcumsumexp": lambda x: x.logcumsumexp(-1),
}


@pytest.mark.few(5)
@TYPES
@pytest.mark.parametrize("deviation", [60, 2e-3], ids=["large", "small"])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_a_reduction_at_the_ends_of_a_type(name, deviation, dtype):
    x = (torch.randn(2, ROW, generator=torch.Generator().manual_seed(1)) * deviation).to(dtype)
    function = REDUCTIONS[name]
    result, torch_result, exact = run(function, x), function(x), function(x.double())
    reach = torch.finfo(dtype).max
    assert torch.equal(result.isfinite(), exact.abs() <= reach)
    assert torch.equal(result.isfinite(), torch_result.isfinite())
    scale = exact.abs().max()
    allowed = max(2 * float(((torch_result - exact).abs() / scale).max()), 2 * torch.finfo(dtype).eps)
    assert float(((result - exact).abs() / scale).max()) <= allowed


@TYPES
def test_factors_that_leave_the_type_between(dtype):
    x = torch.tensor([[300.0, 300.0, 1e-3, 1e-2, 2.0]]).to(dtype)
    torch.testing.assert_close(run(lambda x: x.prod(-1), x).double(), x.double().prod(-1), rtol=1e-2, atol=0)


@TYPES
def test_a_chain_does_not_depend_on_who_looks(dtype):
    x = torch.tensor([9.0, 9.5, 7.3984375, 8.296875, *torch.linspace(0, 11, 29)]).to(dtype)
    chain = lambda x: torch.cos(torch.expm1(x))  # noqa: E731
    both = lambda x: (torch.expm1(x), torch.cos(torch.expm1(x)))  # noqa: E731
    alone, beside = run(chain, x), run(both, x)[1]
    assert torch.equal(alone, beside) and torch.equal(alone, chain(x))


@pytest.mark.parametrize("name", ["cumsum", "logcumsumexp"])
def test_long_running_sums(name):
    """Of float32, as exact as torch's, which adds in float64, but for a factor."""
    x = torch.randn(2, 20_000, generator=torch.Generator().manual_seed(2))
    function = {"cumsum": lambda x: x.cumsum(-1), "logcumsumexp": lambda x: x.logcumsumexp(-1)}[name]
    exact = function(x.double())
    assert float((run(function, x) - exact).abs().max()) <= 3 * float((function(x) - exact).abs().max())


def test_infinities_in_running_sums():
    inf, nan = float("inf"), float("nan")
    x = torch.tensor([[-inf, -inf, 1, 2], [1, -inf, inf, 3], [inf, inf, 1, -inf], [1, nan, 2, inf], [-inf] * 4])
    result = run(lambda x: x.logcumsumexp(-1), x)
    torch.testing.assert_close(result, x.logcumsumexp(-1), equal_nan=True)
