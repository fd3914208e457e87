"""Operators element by element, and casts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.aten.aten_table import (
    Translated,
    Translation,
    aten,
    identity,
    in_float32,
    numbers_in_float32,
)
from tir_mlir.graph.importers.aten.torch_emitter import Term, TorchEmitter
from tir_mlir.graph.importers.emitter import FLOATS, axis_in, is_number

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


@aten("floor.default", "ceil.default", "round.default", "trunc.default")
def round_to_integer(e: TorchEmitter, x: Value) -> Value:
    """An integer is itself."""
    return e.op(str(e.node.target).split(".")[1].rstrip("_"), x) if e.dtype in FLOATS else x


@aten("reciprocal")
def reciprocal(e: TorchEmitter, x: Value) -> Value:
    return e.binary("divide", 1, x, e.dtype)


@aten("square")
def square(e: TorchEmitter, x: Value) -> Value:
    return e.op("multiply", x, x)


@aten("alpha_dropout.default", "feature_dropout.default")
def dropout(e: TorchEmitter, x: Value, p: float, train: bool) -> Value:
    """Nothing, as the model was exported for inference."""
    if train and p:
        raise GraphError("it drops elements at random, as in training\n  fix: export the model after model.eval()")
    return identity(e, x)


@aten("gelu")
def gelu(e: TorchEmitter, x: Value, approximate: str = "none") -> Value:
    return e.op("nn.gelu" if approximate == "none" else "nn.gelu_tanh", x)


@aten("hardtanh")
def hardtanh(e: TorchEmitter, x: Value, min_val: float = -1, max_val: float = 1) -> Value:
    if (min_val, max_val) == (0, 6):
        return e.op("nn.relu6", x)
    return e.clip(x, min_val, max_val)


@aten("leaky_relu")
def leaky_relu(e: TorchEmitter, x: Value, negative_slope: float = 0.01) -> Value:
    return e.op("nn.leakyrelu", x, alpha=float(negative_slope))


@aten("prelu", "_prelu_kernel")
@in_float32
def prelu(e: TorchEmitter, x: Value, weight: Value) -> Value:
    """x where positive, else x * weight of its channel (axis 1)."""
    if len(weight.shape) == 1 and len(x.shape) > 1 and not is_number(weight.shape[0], 1):
        weight = e.reshape(weight, (weight.shape[0], *[1] * (len(x.shape) - 2)))
    return e.op("where", _positive(e, x), x, e.multiply(x, weight))


@aten("elu")
@in_float32
def elu(e: TorchEmitter, x: Value, alpha: float = 1, scale: float = 1, input_scale: float = 1) -> Value:
    """scale * (x where positive, else alpha * (exp(x * input_scale) - 1))."""
    inner = x if input_scale == 1 else e.multiply(x, input_scale)
    low = e.op("expm1", e.binary("minimum", inner, 0, x.dtype))
    result = e.op("where", _positive(e, x), x, low if alpha == 1 else e.multiply(low, alpha))
    return result if scale == 1 else e.multiply(result, scale)


@aten("celu")
def celu(e: TorchEmitter, x: Value, alpha: float = 1) -> Translated:
    return elu(e, x, alpha, 1, 1 / alpha)


@aten("softplus")
def softplus(e: TorchEmitter, x: Value, beta: float = 1, threshold: float = 20) -> Value:
    return e.op("nn.softplus", x, beta=float(beta), threshold=float(threshold))


@aten("log_sigmoid", "log_sigmoid_forward")
@in_float32
def log_sigmoid(e: TorchEmitter, x: Value) -> Value:
    """-log(1 + exp(-x))."""
    return e.op("negative", _log_one_plus_exp(e, e.op("negative", x)))


@aten("threshold")
def threshold(e: TorchEmitter, x: Value, threshold: float, value: float) -> Value:
    return e.op("where", e.binary("greater", x, threshold, x.dtype), x, e.constant(value, x.dtype))


@aten("glu")
@in_float32
def glu(e: TorchEmitter, x: Value, dim: int = -1) -> Value:
    """The first half of an axis times the sigmoid of the second."""
    axis = axis_in(dim, len(x.shape))
    first, second = e.op_results("split", x, indices_or_sections=2, axis=axis)
    return e.op("multiply", first, e.op("sigmoid", second))


@aten("logit", "special_logit")
@in_float32
def logit(e: TorchEmitter, x: Value, eps: float | None = None) -> Value:
    """log(x / (1 - x)), of x limited to eps .. 1 - eps."""
    inside = x if eps is None else e.clip(x, eps, 1 - eps)
    return e.op("log", e.divide(inside, e.binary("subtract", 1, inside, inside.dtype)))


def _softmax(operator: str) -> Translation:
    return lambda e, x, dim, dtype=None, half_to_float=False: e.op(operator, e.cast(x, e.dtype), axis=dim)


aten("softmax.int", "_softmax", "special_softmax")(_softmax("nn.softmax"))
aten("log_softmax.int", "_log_softmax")(_softmax("nn.log_softmax"))


def _positive(e: TorchEmitter, x: Value) -> Value:
    return e.binary("greater", x, 0, x.dtype)


def _log_one_plus_exp(e: TorchEmitter, x: Value) -> Value:
    """log(1 + exp(x)) without overflow: max(x, 0) + log(1 + exp(-|x|))."""
    small = e.op("exp", e.op("negative", e.op("abs", x)))
    return e.op("add", e.binary("maximum", x, 0, x.dtype), e.op("log1p", small))


def _scale_operand(e: TorchEmitter, operand: Term, alpha: float) -> Term:
    if alpha == 1:
        return operand
    return operand * alpha if isinstance(operand, (int, float)) else e.binary("multiply", operand, alpha, e.dtype)


@aten("add")
@numbers_in_float32
def add(e: TorchEmitter, x: Value, other: Term, alpha: float = 1) -> Value:
    if e.dtype == "bool":
        return e.op("logical_or", x, e.cast(other, "bool"))
    return e.binary("add", x, _scale_operand(e, other, alpha), e.dtype)


@aten("sub")
@numbers_in_float32
def subtract(e: TorchEmitter, x: Value, other: Term, alpha: float = 1) -> Value:
    return e.binary("subtract", x, _scale_operand(e, other, alpha), e.dtype)


@aten("rsub")
@numbers_in_float32
def subtract_from(e: TorchEmitter, x: Value, other: Term, alpha: float = 1) -> Value:
    return e.binary("subtract", other, _scale_operand(e, x, alpha), e.dtype)


@aten("mul")
@numbers_in_float32
def multiply(e: TorchEmitter, x: Value, other: Term) -> Value:
    if e.dtype == "bool":
        return e.op("logical_and", x, e.cast(other, "bool"))
    return e.binary("multiply", x, other, e.dtype)


@aten("div", "true_divide", "divide")
@numbers_in_float32
def divide(e: TorchEmitter, x: Value, other: Term, rounding_mode: str | None = None) -> Value:
    if rounding_mode is None:
        return e.binary("divide", x, other, e.dtype)
    if rounding_mode == "floor":
        return e.binary("floor_divide", x, other, e.dtype)
    quotient = e.binary("divide", x, other, e.dtype)
    return e.op("trunc", quotient) if e.dtype in FLOATS else quotient


@aten("pow")
def power(e: TorchEmitter, x: Term, exponent: Term) -> Translated:
    """x ** exponent: products and roots for a few numbers, so that no power function is called."""
    if isinstance(exponent, (int, float)):
        base = e.cast(x, e.dtype)
        if exponent in (1, 2):
            return base if exponent == 1 else e.multiply(base, base)
        if exponent in (3, 4):
            return _product_of_squares(e, base, int(exponent))
        if exponent == 0.5:
            return e.op("sqrt", base)
        if exponent == -0.5:
            return e.op("rsqrt", base)
        if exponent == -1 and e.dtype in FLOATS:
            return e.binary("divide", 1, base, e.dtype)
    if e.dtype not in FLOATS:
        raise GraphError(f"a power of {e.dtype} with exponent {exponent}\n  fix: cast the operand to a float")
    return e.binary("power", x, exponent, e.dtype)


@in_float32
def _product_of_squares(e: TorchEmitter, x: Value, exponent: int) -> Value:
    square = e.multiply(x, x)
    return e.multiply(square, x if exponent == 3 else square)


def _add_scaled(operator: str) -> Translation:
    """x + value * (tensor1 operator tensor2)."""

    def translate(e: TorchEmitter, x: Value, tensor1: Value, tensor2: Value, value: float = 1) -> Value:
        return e.binary("add", x, _scale_operand(e, e.binary(operator, tensor1, tensor2, e.dtype), value), e.dtype)

    return in_float32(translate)


aten("addcmul")(_add_scaled("multiply"))
aten("addcdiv")(_add_scaled("divide"))


@aten("lerp")
@in_float32
def blend(e: TorchEmitter, x: Value, end: Value, weight: Term) -> Value:
    apart = e.binary("subtract", end, x, e.dtype)
    return e.binary("add", x, e.binary("multiply", apart, weight, e.dtype), e.dtype)


def _logic(operator: str) -> Translation:
    return lambda e, x, other: e.binary(operator, x, other, "bool")


def _bits(name: str) -> Translation:
    return lambda e, x, other: e.binary(f"{'logical' if e.dtype == 'bool' else 'bitwise'}_{name}", x, other, e.dtype)


for _name in ("and", "or", "xor"):
    aten(f"logical_{_name}")(_logic(f"logical_{_name}"))
    aten(f"bitwise_{_name}", f"__{_name}__")(_bits(_name))


def _binary(operator: str, of_floats: str = "") -> Translation:
    return lambda e, x, other: e.binary(of_floats or operator if e.dtype in FLOATS else operator, x, other, e.dtype)


aten("__lshift__", "bitwise_left_shift")(_binary("left_shift"))
aten("__rshift__", "bitwise_right_shift")(_binary("right_shift"))  # keeping the sign
aten("fmax")(_binary("maximum", "fmax"))  # of NaN and a number the number
aten("fmin")(_binary("minimum", "fmin"))


@aten("signbit")
def has_sign(e: TorchEmitter, x: Value) -> Value:
    """Whether the sign is that of negative numbers, also that of -0 and NaN."""
    if x.dtype not in FLOATS:
        return e.binary("less", x, 0, x.dtype)
    return e.binary("less", e.op("copysign", e.broadcast(e.constant(1, x.dtype), x.shape), x), 0, x.dtype)


@aten("ldexp")
@in_float32
def times_power_of_two(e: TorchEmitter, x: Value, other: Term) -> Value:
    return e.binary("multiply", x, e.op("exp2", e.cast(other, e.dtype)), e.dtype)


@aten("logical_not")
def logical_not(e: TorchEmitter, x: Value) -> Value:
    return e.op("logical_not", e.cast(x, "bool"))


@aten("bitwise_not")
def bitwise_not(e: TorchEmitter, x: Value) -> Value:
    return e.op("logical_not" if e.dtype == "bool" else "bitwise_not", x)


@aten("where.self", "where.ScalarSelf", "where.ScalarOther", "where.Scalar")
def where(e: TorchEmitter, condition: Value, x: Term, other: Term) -> Value:
    return e.op("where", e.cast(condition, "bool"), e.cast(x, e.dtype), e.cast(other, e.dtype))


@aten("masked_fill")
def masked_fill(e: TorchEmitter, x: Value, mask: Value, value: Term) -> Value:
    return e.op("where", mask, e.cast(value, e.dtype), x)


@aten("clamp", "clip", "clamp_min", "clamp_max")
def clamp(e: TorchEmitter, x: Value, min: Term | None = None, max: Term | None = None) -> Value:
    x = e.cast(x, e.dtype)
    if min is not None:
        x = e.binary("maximum", x, min, e.dtype)
    return x if max is None else e.binary("minimum", x, max, e.dtype)


@aten("to.dtype", "to.dtype_layout", "to.device", "to.other", "_to_copy", "type_as", "float", "half", "int", "long")
def to_type(e: TorchEmitter, x: Value, dtype: str | None = None, other: Term | None = None) -> Value:
    return e.cast(x, e.dtype)


aten("clone", "contiguous", "alias", "detach", "detach_", "lift_fresh_copy", "lift", "lift_fresh", "positive")(identity)


@aten("_assert_tensor_metadata", "sym_constrain_range", "sym_size", "sym_numel")
def check(e: TorchEmitter, **_: object) -> None:
    """A check of torch's own of what the export has fixed."""


@aten("copy")
def copy(e: TorchEmitter, x: Value, src: Value) -> Value:
    """src in the type and shape of x."""
    return e.broadcast(e.cast(src, e.dtype), e.shape)
