"""Operators element by element, constants and conversions."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from tir_mlir import te
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.importers.emitter import FLOATS, OnnxValue, Operand
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import (
    STORAGE_TYPES,
    Input,
    OnnxEmitter,
    Results,
    dtype_of,
    onnx_op,
)
from tir_mlir.graph.importers.onnx_operators.onnx_quantized import round_to_small_type
from tir_mlir.te.expr import t_call

if TYPE_CHECKING:
    from tir_mlir.graph.builder import Value


@onnx_op("Div")
def divide(e: OnnxEmitter, x: OnnxValue, y: Operand) -> Value:
    if isinstance(y, np.ndarray) and y.dtype.kind in "iu" and isinstance(x, np.ndarray) and not y.all():
        raise GraphError("a constant is divided by 0\n  fix: another divisor")
    return e.op("divide", x, y)


@onnx_op("Pow")
def power(e: OnnxEmitter, x: OnnxValue, y: OnnxValue) -> Value:
    if isinstance(y, np.ndarray) and y.size == 1 and y.item() in (2, 0.5):
        return e.op("square" if y.item() == 2 else "sqrt", x)
    if dtype_of(x) not in FLOATS:  # in floats: exact where the result has at most 53 bits
        wide = e.op("power", e.cast(e.value(x), "float64"), e.cast(e.value(y), "float64"))
        return e.cast(wide, dtype_of(x))
    return e.op("power", x, e.cast(e.value(y), dtype_of(x)))


@onnx_op("Mod")
def remainder(e: OnnxEmitter, x: Operand, y: Operand, fmod: int = 0) -> Value:
    return e.op("mod" if fmod else "floor_mod", x, y)


def _fold(e: OnnxEmitter, operator: str, operands: Sequence[OnnxValue]) -> OnnxValue:
    """The operator on the first two, then on the result and the next one."""
    return functools.reduce(lambda x, y: e.op(operator, x, y), operands)


onnx_op("Max")(lambda e, *operands: _fold(e, "maximum", operands))
onnx_op("Min")(lambda e, *operands: _fold(e, "minimum", operands))
onnx_op("Sum")(lambda e, *operands: _fold(e, "add", operands))
onnx_op("Mean")(lambda e, *operands: e.divide(_fold(e, "add", operands), len(operands)))


@onnx_op("BitShift")
def shift(e: OnnxEmitter, x: OnnxValue, by: OnnxValue, direction: str) -> Value:
    """By a negative number, or by all bits and more: what is left is the sign of a number that moves to the right."""
    dtype, name = dtype_of(x), "left_shift" if direction == "LEFT" else "right_shift"
    bits = np.dtype(dtype).itemsize * 8
    if isinstance(by, np.ndarray) and ((by >= 0) & (by < bits)).all():
        return e.op(name, x, by)
    by = e.value(by)
    beyond = e.binary("greater_equal", by, bits, by.dtype)
    beyond = e.op("logical_or", beyond, e.binary("less", by, 0, by.dtype)) if dtype[0] == "i" else beyond
    moved = e.op(name, x, e.op("where", beyond, e.constant(0, by.dtype), by))
    is_signed = dtype[0] == "i" and direction == "RIGHT"
    rest = e.op("right_shift", x, e.constant(bits - 1, dtype)) if is_signed else e.constant(0, dtype)
    return e.op("where", beyond, rest, moved)


@onnx_op("BitCast")
def bit_cast(e: OnnxEmitter, x: OnnxValue, to: int) -> Value:
    """The bits of each element as another type of the same width."""
    import onnx

    dtype, x = onnx.helper.tensor_dtype_to_np_dtype(to).name, e.value(x)

    def reinterpret_bits(data: te.Tensor) -> te.Tensor:
        return te.compute(data.shape, lambda *i: t_call("reinterpret", dtype, data(*i)), name="bit_cast")

    return e.builder.call_te(reinterpret_bits, x)


@onnx_op("Sign")
def sign(e: OnnxEmitter, x: OnnxValue) -> Value:
    """-1, 0 or 1; of numbers without a sign 0 or 1; of NaN NaN."""
    x = e.value(x)
    if x.dtype[0] == "u":
        return e.cast(e.binary("greater", x, 0, x.dtype), x.dtype)
    return e.op("where", e.op("isnan", x), x, e.op("sign", x)) if x.dtype in FLOATS else e.op("sign", x)


@onnx_op("IsInf")
def is_infinite(e: OnnxEmitter, x: OnnxValue, detect_negative: int = 1, detect_positive: int = 1) -> Value:
    x = e.value(x)
    if detect_negative and detect_positive:
        return e.op("isinf", x)
    if not detect_negative and not detect_positive:
        return e.broadcast(e.constant(0, "bool"), x.shape)
    return e.op("equal", x, e.constant(np.inf if detect_positive else -np.inf, x.dtype))


@onnx_op("Where")
def where(e: OnnxEmitter, condition: OnnxValue, x: OnnxValue, y: OnnxValue) -> Value:
    """x where the condition holds, else y; one of them alone where that is known everywhere, and it has all sizes."""
    if isinstance(condition, np.ndarray) and condition.size and condition.min() == condition.max():
        kept, other = (x, y) if condition.flat[0] else (y, x)
        if _has_sizes_of(kept.shape, condition.shape) and _has_sizes_of(kept.shape, other.shape):
            return e.value(kept)
    return e.op("where", condition, x, y)


def _has_sizes_of(shape: Sequence[int | str], other: Sequence[int | str]) -> bool:
    """Whether another shape is broadcast to this one, and does not widen it."""
    aligned = zip(reversed(shape), reversed(other), strict=False)
    return len(other) <= len(shape) and all(b in (1, a) for a, b in aligned)


@onnx_op("Clip")
def clip(
    e: OnnxEmitter,
    x: OnnxValue,
    low: Input = None,
    high: Input = None,
    min: float | None = None,
    max: float | None = None,
) -> Value:
    """The bounds are inputs, or attributes before opset 11."""
    x = e.value(x)
    for name, bound in (("maximum", min if low is None else low), ("minimum", max if high is None else high)):
        if bound is not None:
            x = e.op(name, x, e.constant(bound, x.dtype) if isinstance(bound, float) else bound)
    return x


@onnx_op("LeakyRelu")
def leaky_relu(e: OnnxEmitter, x: Operand, alpha: float = 0.01) -> Value:
    return e.op("nn.leakyrelu", x, alpha=alpha)


@onnx_op("PRelu")
def prelu(e: OnnxEmitter, x: OnnxValue, slope: Operand) -> Value:
    x = e.value(x)
    return e.op("where", e.binary("greater", x, 0, x.dtype), x, e.op("multiply", x, slope))


@onnx_op("Elu")
def elu(e: OnnxEmitter, x: Operand, alpha: float = 1.0) -> Value:
    return e.op("nn.elu", x, alpha=alpha)


@onnx_op("Selu")
def selu(e: OnnxEmitter, x: Operand, alpha: float = 1.67326319217681885, gamma: float = 1.05070102214813232) -> Value:
    y = e.op("nn.elu", x, alpha=alpha)
    return e.multiply(y, gamma)


@onnx_op("HardSigmoid")
def hard_sigmoid(e: OnnxEmitter, x: OnnxValue, alpha: float = 0.2, beta: float = 0.5) -> Value:
    return e.clip(e.add(e.multiply(e.value(x), alpha), beta), 0, 1)


@onnx_op("Gelu")
def gelu(e: OnnxEmitter, x: Operand, approximate: str = "none") -> Value:
    """x times the normal distribution up to x, or its approximation by tanh."""
    return e.op("nn.gelu" if approximate == "none" else "nn.gelu_tanh", x)


@onnx_op("Softmax")
def softmax(e: OnnxEmitter, x: OnnxValue, axis: int | None = None) -> Value:
    return _rows(e, "nn.softmax", x, axis)


@onnx_op("LogSoftmax")
def log_softmax(e: OnnxEmitter, x: OnnxValue, axis: int | None = None) -> Value:
    return _rows(e, "nn.log_softmax", x, axis)


def _rows(e: OnnxEmitter, operator: str, x: OnnxValue, axis: int | None) -> Value:
    """Before opset 13 all axes from this one on are one row."""
    if e.opset >= 13:
        return e.op(operator, x, axis=-1 if axis is None else axis)
    axis = (1 if axis is None else axis) % len(x.shape)
    if axis == len(x.shape) - 1:
        return e.op(operator, x, axis=axis)
    flat = e.op("reshape", x, shape=(*x.shape[:axis], -1))
    return e.reshape(e.op(operator, flat, axis=axis), x.shape)


@onnx_op("Identity")
def identity(e: OnnxEmitter, x: Results) -> Results:
    return x


@onnx_op("Dropout")
def dropout(
    e: OnnxEmitter,
    x: OnnxValue,
    ratio: Input = None,
    training_mode: Input = None,
    seed: int = 0,
    is_test: int = 1,
    consumed_inputs: object = None,
) -> OnnxValue | tuple[OnnxValue, Value]:
    """The input, and a mask that is true: of inference. Since opset 10 the mask is of bools."""
    if not is_test or (
        training_mode is not None and e.known_elements(training_mode, "the training_mode of a Dropout")[0]
    ):
        raise GraphError("it draws random numbers\n  fix: export the model for inference")
    if not e.is_output_used(1):
        return x
    dtype = "bool" if e.opset >= 10 else dtype_of(x)
    chosen = e.opset not in (10, 11)  # ONNX does not say what the mask of these is; ONNX Runtime has zeros
    return x, e.broadcast(e.constant(chosen, dtype), x.shape)


@onnx_op("Cast")
def cast(e: OnnxEmitter, x: OnnxValue, to: int, saturate: int = 1, round_mode: str = "up") -> OnnxValue:
    import onnx

    if to not in onnx.TensorProto.DataType.values() or to == onnx.TensorProto.UNDEFINED:
        raise GraphError(f"to={to}, which is not an element type of ONNX\n  fix: one of TensorProto.DataType")
    return convert_dtype(e, x, onnx.helper.tensor_dtype_to_np_dtype(to), bool(saturate))


def convert_dtype(e: OnnxEmitter, x: OnnxValue, dtype: np.dtype, saturate: bool) -> OnnxValue:
    """x in an element type of ONNX."""
    if isinstance(x, np.ndarray):
        if x.dtype == object and dtype.name in ("int64", "int32"):
            return x
        if dtype.name not in STORAGE_TYPES:
            return x.astype(dtype)
    return round_to_small_type(e, x, dtype.name, saturate) if dtype.name in STORAGE_TYPES else e.cast(x, dtype.name)


@onnx_op("CastLike")
def cast_like(e: OnnxEmitter, x: OnnxValue, like: OnnxValue, saturate: int = 1, round_mode: str = "up") -> Value:
    name = e.type_of(like)
    if name in STORAGE_TYPES:
        return round_to_small_type(e, x, name, bool(saturate))
    return e.cast(e.value(x), name)
