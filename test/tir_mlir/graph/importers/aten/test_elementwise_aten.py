"""Operators of torch that work element by element: the results are torch's."""

import pytest
from harness.torch_models import Family, check

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
pytestmark = pytest.mark.nightly
F = torch.nn.functional


def numbers():
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(3, 1, 5, generator=generator)
    y = torch.randn(7, 5, generator=generator)
    n = torch.randint(-9, 9, (3, 7), generator=generator)
    m = torch.randint(1, 5, (7,), generator=generator)
    return x, y, n, m


FUNCTIONS = Family(
    {
        "add": lambda x, y: x + y,
        "add alpha": lambda x, y: torch.add(x, y, alpha=0.5),
        "add a number": lambda x: 2 + x,
        "add of two types": lambda x, n: x[:, 0, :1] + n,
        "sub": lambda x, y: x - y,
        "rsub": lambda x: 1 - x,
        "rsub alpha": lambda x, y: torch.rsub(x, y, alpha=2),
        "mul": lambda x, y: x * y,
        "mul of integers": lambda n, m: n * m,
        "div": lambda x, y: x / y,
        "div of integers": lambda n, m: n / m,
        "div floor": lambda n, m: torch.div(n, m, rounding_mode="floor"),
        "div trunc": lambda n, m: torch.div(n, m, rounding_mode="trunc"),
        "div trunc of floats": lambda x, y: torch.div(x, y, rounding_mode="trunc"),
        "floor_divide": lambda n, m: n // m,
        "remainder": lambda n, m: n % m,
        "remainder of floats": lambda x, y: x % y,
        "fmod": lambda n, m: torch.fmod(n, m),
        "pow 2": lambda x: x**2,
        "pow 3": lambda x: x**3,
        "pow -1": lambda x: x**-1,
        "pow 0.5": lambda x: x.abs() ** 0.5,
        "pow 1.7": lambda x: x.abs() ** 1.7,
        "pow of two": lambda x, y: x.abs() ** y,
        "pow of integers": lambda n: n**2,
        "number to the power": lambda x: 2.0**x,
        "maximum": lambda x, y: torch.maximum(x, y),
        "minimum": lambda x, y: torch.min(x, y),
        "clamp": lambda x: x.clamp(-0.5, 0.25),
        "clamp of integers": lambda n: n.clamp(min=-2),
        "addcmul": lambda x, y: torch.addcmul(x, y, y, value=0.5),
        "lerp": lambda x, y: torch.lerp(x, y, 0.3),
        "eq": lambda n, m: n == m,
        "ne a number": lambda n: n != 3,
        "lt of two types": lambda n, m: n < m * 0.5,
        "gt a float": lambda n: n > 0.5,
        "le": lambda x, y: x <= y,
        "ge": lambda x, y: x >= y,
        "logical_and": lambda n, m: torch.logical_and(n, m),
        "masks": lambda x, y: (x > 0) & (y > 0) | ~(x > 1),
        "bitwise": lambda n, m: (n & m) ^ (n | 3),
        "logical_not": lambda n: torch.logical_not(n),
        "where": lambda x, y: torch.where(x > 0, x, y),
        "where a number": lambda x: torch.where(x > 0, x, 0.0),
        "masked_fill": lambda x: x.masked_fill(x > 0, -1.5),
        "isnan": lambda x: torch.isnan(x / torch.where(x > 0, x, x * 0)),
    },
    numbers,
)

UNARY = Family(
    {
        **{
            name: lambda x, name=name: getattr(torch, name)(x)
            for name in (
                "exp", "sin", "cos", "tan", "tanh", "erf", "sigmoid", "floor", "ceil", "round", "trunc", "sign",
                "square", "neg", "abs", "reciprocal", "expm1", "atan", "sinh", "cosh", "relu", "isinf", "isfinite",
            )
        },
        **{
            name: lambda x, name=name: getattr(torch, name)(x.abs() + 0.1)
            for name in ("log", "log2", "log10", "log1p", "sqrt", "rsqrt")
        },
        **{
            name: lambda x, name=name: getattr(F, name)(x)
            for name in (
                "relu6", "gelu", "silu", "hardtanh", "hardsigmoid", "hardswish", "leaky_relu", "elu", "selu", "celu",
                "softplus", "mish", "logsigmoid", "softsign",
            )
        },
        "gelu tanh": lambda x: F.gelu(x, approximate="tanh"),
        "leaky_relu slope": lambda x: F.leaky_relu(x, 0.2),
        "elu alpha": lambda x: F.elu(x, 0.7),
        "softplus beta": lambda x: F.softplus(x, beta=2, threshold=1),
        "threshold": lambda x: F.threshold(x, 0.1, -3.0),
        "glu": lambda x: F.glu(x[..., :4], dim=-1),
        "prelu": lambda x: F.prelu(x, torch.tensor([0.1, 0.2, 0.3, 0.4])),
        "softmax": lambda x: F.softmax(x, 1),
        "softmax of integers": lambda x: F.softmax((x * 3).int(), -1, dtype=torch.float32),
        "log_softmax": lambda x: F.log_softmax(x, -1),
        "dropout": lambda x: F.dropout(x, 0.5, training=False) + 1,
        "to int": lambda x: (x * 3).to(torch.int32),
        "to bool": lambda x: (x > 0).to(torch.float32).bool(),
        "exp of integers": lambda x: torch.exp((x * 3).long()),
        "float64": lambda x: x.double() * 2,
    },
    lambda: (torch.randn(2, 4, 7, generator=torch.Generator().manual_seed(1)) * 2,),
)  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS.functions)
def test_of_two(name):
    FUNCTIONS.check(name)


@pytest.mark.parametrize("name", UNARY.functions)
def test_of_one(name):
    UNARY.check(name)


def test_writes_to_an_activation_are_uses_of_the_result():
    def model(x):
        y = x * 2
        z = F.relu(y, inplace=True)
        return z + y

    check(model, torch.randn(3, 4))


def test_a_write_through_a_view_is_seen_by_the_whole():
    def model(x):
        y = x * 2
        y[:, 1:3] = 7.0
        y[0].add_(1)
        return y

    check(model, torch.randn(3, 4))


def test_bfloat16():
    check(lambda x, y: F.relu(x * y + 1), *(torch.randn(3, 5).bfloat16() for _ in range(2)))
