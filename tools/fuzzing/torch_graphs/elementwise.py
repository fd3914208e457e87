"""Operators by element, of types, and reductions."""

from __future__ import annotations

from fuzzing.torch_graphs.drawing import INTEGERS, Draw, line
from fuzzing.torch_graphs.program import Line

_EXACT = ("abs", "neg", "sign", "square", "positive")
_OF_FLOATS = (
    "exp", "tanh", "sigmoid", "erf", "erfc", "cos", "sin", "sqrt", "floor", "ceil", "round", "trunc", "frac", "rsqrt",
    "log1p", "expm1", "log", "atan", "asinh", "reciprocal", "relu", "nan_to_num", "exp2", "log2", "lgamma", "digamma",
)  # fmt: skip
_LAYERS = ("gelu", "silu", "elu", "softplus", "leaky_relu", "hardswish", "hardsigmoid", "mish", "selu", "relu6",
           "logsigmoid", "softsign", "tanhshrink", "hardtanh", "celu")  # fmt: skip
_TESTS = ("isnan", "isinf", "isfinite", "signbit")


def unary(d: Draw) -> Line:
    if d.dtype == "bool":
        return line("logical_not", "torch.logical_not({0})", d.x)
    if d.is_float and d.random.random() < 0.25:
        name = d.random.choice(_LAYERS)
        return line(name, f"F.{name}({{0}})", d.x, inside=True)
    name = d.random.choice(_EXACT + _OF_FLOATS + _TESTS if d.is_float else _EXACT)
    shifted = name in ("digamma", "lgamma")  # torch adds terms as large as x up, also to a result near 0
    crossing = shifted or name in ("log", "log2", "log1p")  # near a zero the last bits of x count
    return line(name, f"torch.{name}({{0}})", d.x, inexact=name not in _TESTS, adds=crossing, inside=shifted)


def binary(d: Draw) -> Line:
    logic = ("logical_and", "logical_or", "logical_xor", "eq", "ne")
    numbers = ("add", "sub", "mul", "maximum", "minimum", "lt", "eq", "ge", "ne", "le", "gt")
    floats = ("div", "fmod", "remainder", "atan2", "hypot", "fmin", "fmax", "copysign")
    names = logic if d.dtype == "bool" else numbers + floats if d.is_float else numbers
    name = d.random.choice(names)
    return line(name, f"torch.{name}({{0}}, {{1}})", d.x, d.other(), inexact=name not in logic)


def promoted(d: Draw) -> Line | None:
    """Two values of different types."""
    y = d.random.randrange(len(d.values))
    name = d.random.choice(["add", "mul", "lt", "eq", "maximum"])
    return line(f"{name} of two types", f"torch.{name}({{0}}, {{1}})", d.x, y, inexact=True)


def scalar(d: Draw) -> Line | None:
    if d.dtype == "bool":
        return None
    number = d.random.choice([2, -1, 3] if not d.is_float else [2, -1, 0.5, 3, -0.25])
    number = abs(number) if d.dtype == "uint8" else number
    text = d.random.choice(
        ["{{0}} + {0}", "{{0}} * {0}", "{0} - {{0}}", "{{0}} > {0}", "torch.clamp({{0}}, min={0})", "{{0}} / {0}",
         "torch.clamp({{0}}, max={0})", "{{0}} // {0}", "{{0}} % {0}", "{{0}} ** 2",
         "torch.add({{0}}, {{0}}, alpha={0})"]
    )  # fmt: skip
    return line(f"scalar {text.replace('{{0}}', 'x')}", text.format(number), d.x, inexact=True)


def chosen(d: Draw) -> Line | None:
    """where and masked_fill with a condition of the values."""
    y, condition = d.other(), d.of(("bool",))
    if condition is None or d.random.random() < 0.3:
        if d.dtype == "bool":
            return None
        return line("where", "torch.where({0} > 0, {0}, {1})", d.x, y)
    if d.random.random() < 0.5:
        return line("where", "torch.where({2}, {0}, {1})", d.x, y, condition)
    return line("masked_fill", "{0}.masked_fill({1}, 1)", d.x, condition)


def cast(d: Draw) -> Line:
    dtype = d.random.choice(("float32", "float32", "float64", "float16", "bfloat16", "bool", *INTEGERS))
    if d.is_float and dtype in INTEGERS:
        low = 0 if dtype == "uint8" else -99
        text = f"torch.nan_to_num({{0}}, 0, 9, 9).clamp({low}, 99).to(torch.{dtype})"
    else:
        text = f"{{0}}.to(torch.{dtype})"
    return line(f"to {dtype}", text, d.x)


def reduction(d: Draw) -> Line | None:
    if not d.rank:
        return None
    axis, keep = d.axis(), d.random.random() < 0.5
    if d.dtype == "bool":
        name = d.random.choice(["any", "all", "sum"])
        return line(name, f"torch.{name}({{0}}, dim={axis}, keepdim={keep})", d.x)
    names = ["sum", "prod", "amax", "amin", "argmax", "argmin", "any"]
    floats = ["mean", "var", "std", "logsumexp", "norm", "median", "nansum"]
    name = d.random.choice(names + floats if d.is_float else names)
    text = f"torch.{name}({{0}}, dim={axis}, keepdim={keep})"
    if name == "var" and d.random.random() < 0.5:
        text = f"torch.var({{0}}, dim={axis}, keepdim={keep}, correction=0)"
    if name == "median":  # of a copy: that of an expanded tensor is not what its elements are, in torch
        text = text.replace("{0}", "{0}.contiguous()") + ".values"
    if d.rank > 1 and name in ("sum", "mean", "amax", "var") and d.random.random() < 0.3:
        text = f"torch.{name}({{0}}, dim=(0, {d.rank - 1}), keepdim={keep})"
    return line(name, text, d.x, adds=name not in ("amax", "amin", "argmax", "argmin", "any", "median"))


def whole(d: Draw) -> Line | None:
    """A reduction of all elements."""
    if d.dtype == "bool":
        return None
    name = d.random.choice(["sum", "mean", "max", "prod"] if d.is_float else ["sum", "max"])
    return line(f"{name} of all", f"torch.{name}({{0}})", d.x, adds=name != "max")


def along(d: Draw) -> Line | None:
    """Operators along an axis."""
    if not d.rank or d.dtype == "bool":
        return None
    axis = d.axis()
    floats = ["softmax", "log_softmax", "logcumsumexp"]
    name = d.random.choice(["cumsum", "cumprod", "cummax", "sort", "diff", *(floats if d.is_float else ())])
    text = f"torch.{name}({{0}}, dim={axis})" + (".values" if name in ("cummax", "sort") else "")
    return line(name, text, d.x, adds=name not in ("cummax", "sort", "diff"), inexact=name == "diff")


def ordered(d: Draw) -> Line | None:
    if not d.rank or d.dtype == "bool":
        return None
    axis = d.axis()
    size = d.shape[axis]
    if not size:
        return None
    k = d.random.randint(1, size)
    text = d.random.choice([
        f"torch.topk({{0}}, {k}, dim={axis}).values",
        f"torch.topk({{0}}, {k}, dim={axis}, largest=False).values",
        f"torch.sort({{0}}, dim={axis}, descending=True, stable=True)[1]",
        f"torch.kthvalue({{0}}, {k}, dim={axis}).values",
        f"torch.argsort({{0}}, dim={axis}, stable=True)",
    ])  # fmt: skip
    return line(text[6 : text.index("(")], text, d.x)
