"""NaN, infinities, zeros and subnormal numbers beside torch, and axes without elements."""

import numpy as np
import pytest

pytest.importorskip("torch")

import torch
from harness.torch_models import Family, both, compare

NAN, INF = float("nan"), float("inf")
ROWS = [
    [1.0, NAN, 3.0, NAN, 0.5],
    [2.0, 5.0, INF, -INF, 5.0],
    [NAN, 1.0, 2.0, 3.0, NAN],
    [-INF] * 5,
    [INF, INF, 1.0, 2.0, -INF],
]
F = torch.nn.functional

REDUCED = {
    "argmax": lambda x: torch.argmax(x, 1), "argmin": lambda x: torch.argmin(x, 1),
    "argmax of columns": lambda x: torch.argmax(x, 0), "argmax of all": lambda x: torch.argmax(x),
    "amax": lambda x: torch.amax(x, 1), "amin": lambda x: torch.amin(-x, 1),
    "max and place": lambda x: torch.max(x, 1).indices, "min of columns": lambda x: torch.min(x, 0).values,
    "maximum": lambda x: torch.maximum(x, x.flip(1)), "minimum": lambda x: torch.minimum(x, x.flip(1)),
    "max_pool2d": lambda x: F.max_pool2d(x[None, None], 2, 1, padding=1),
    "logsumexp": lambda x: torch.logsumexp(x, 1), "logsumexp of rows kept": lambda x: torch.logsumexp(x, 0, True),
    "gelu": lambda x: F.gelu(x), "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
}  # fmt: skip


def numbers(found):
    """bfloat16 is compared by value: a NaN has several patterns of bits."""
    if found.dtype != "uint16":
        return found
    return torch.from_numpy(found.copy()).view(torch.bfloat16).float().numpy()


def close(pair, rtol):
    compare(numbers(pair[0]), numbers(pair[1]), rtol)


NIGHTLY = pytest.mark.nightly
TYPES = ("float32", "float16", "bfloat16", "float64")
FAMILIES = {t: Family(REDUCED, lambda t=t: (torch.tensor(ROWS, dtype=getattr(torch, t)),)) for t in TYPES}


@pytest.mark.few(5)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", *(pytest.param(t, marks=NIGHTLY) for t in TYPES[1::2])])
@pytest.mark.parametrize("name", REDUCED)
def test_infinities_and_nan(name, dtype):
    ours, wanted = map(numbers, FAMILIES[dtype].results()[name])
    if name == "gelu":  # of inf torch computes NaN in vectors of 512 bits, and inf else
        wanted = np.where(np.array(ROWS) == INF, np.asarray(INF, wanted.dtype), wanted)
    compare(ours, wanted, {"float16": 1e-3, "bfloat16": 1e-2}.get(dtype, 1e-5))


def exact(function, a, b):
    """Python's remainder of floats, with NaN for what it refuses."""
    try:
        return function(a, b)
    except (ValueError, ZeroDivisionError):
        return NAN


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_remainders_are_exact(dtype):
    """torch.fmod of vectors is NaN for quotients above its range, so math.fmod is what is compared with."""
    import math

    small = torch.finfo(getattr(torch, dtype)).smallest_normal
    ends = [0.0, -0.0, 1.0, -1.0, 5.5, -5.5, INF, -INF, NAN, 7.0, 0.1, 1e30, -1e30, small, small / 4, -3 * small / 4]
    x = torch.tensor(ends, dtype=getattr(torch, dtype))
    a, b = x[:, None].expand(-1, len(ends)).contiguous(), x[None].expand(len(ends), -1).contiguous()
    flat = list(zip(a.flatten().tolist(), b.flatten().tolist(), strict=True))
    rest = torch.tensor([exact(math.fmod, *pair) for pair in flat], dtype=x.dtype).reshape(a.shape)
    signed = torch.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)

    def model(a, b):
        return torch.fmod(a, b), torch.remainder(a, b), torch.floor_divide(a, b)

    (fmod, _), (remainder, _), quotient = both(model, a, b)
    compare(fmod, rest.numpy(), 0)
    compare(remainder, signed.numpy(), 0)
    compare(*quotient, 0)


EMPTY = {
    "sum": lambda x: x.sum(1), "prod": lambda x: x.prod(1), "logsumexp": lambda x: torch.logsumexp(x, 1),
    "matmul": lambda x: x @ x.T, "bmm": lambda x: x[None] @ x.T[None], "cumsum": lambda x: x.cumsum(1),
    "linear": lambda x: F.linear(x, x, torch.ones(3, dtype=x.dtype)), "all": lambda x: (x > 0).all(1),
    "any": lambda x: (x > 0).any(1), "norm": lambda x: torch.linalg.vector_norm(x, dim=1), "mean": lambda x: x.mean(1),
}  # fmt: skip
NOTHING = {t: Family(EMPTY, lambda t=t: (torch.zeros(3, 0, dtype=getattr(torch, t)),)) for t in TYPES}


@pytest.mark.few(4)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", EMPTY)
def test_an_axis_without_elements(name, dtype):
    close(NOTHING[dtype].results()[name], 0)


@pytest.mark.few(1)
@pytest.mark.parametrize("size", [0, 1, 40])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.nightly
def test_an_axis_that_has_no_elements_when_the_model_runs(dtype, size):
    def model(x):
        some = x[:3]
        products = some @ some.T, x @ x.T, x[None] @ x.T[None]
        return *products, some.sum(1), some.prod(1), (some > 0).any(1), torch.logsumexp(some, 1)

    x = torch.linspace(-1, 1, 33 * 48).reshape(33, 48).to(getattr(torch, dtype))
    run = x[:, :size].contiguous()
    n = torch.export.Dim("n", min=0, max=512)
    pairs = both(model, x, others=(run,), dynamic=({1: n},))
    for pair in pairs:
        close(pair, 0.02 if dtype == "bfloat16" else 1e-5)


SMALL = {
    "softplus": lambda x: F.softplus(x - 20), "log1p": lambda x: torch.log1p(x), "expm1": lambda x: torch.expm1(x),
    "elu": lambda x: F.elu(x), "selu": lambda x: F.selu(x), "logsigmoid": lambda x: F.logsigmoid(x + 20),
}  # fmt: skip
NEAR_ZERO = Family(SMALL, lambda: (torch.tensor([1e-3, -1e-3, 2e-6, -1e-7, 3e-8, -1e-12, 0.0, -3.0] * 4),))


@pytest.mark.parametrize("name", SMALL)
def test_small_results_are_not_rounded_to_zero(name):
    np.testing.assert_allclose(*NEAR_ZERO.results()[name], rtol=2e-6)
