"""Products and convolutions of quantised tensors in integers, between the conversions that a graph has around them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from mlir import ir

from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, is_homogeneous, kind_of
from tir_mlir.graph.rewrite import Matches, NodeCall, Rule, apply_rules, is_kind, is_op, uses, wildcard
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.lift_weights import constant_array

SHORT = ("int8", "uint8")
"""The integers that products and convolutions multiply."""


def integers(graph: Graph) -> Graph:
    """Compute convolutions and products of dequantised tensors on the integers, and round their sums once.

        lv = R.dequantize(x, x_scale, x_zero)            s = x_scale * w_scale / scale
        lv1 = R.dequantize(w, w_scale)                   lv = R.nn.conv2d(x, w, out_dtype="int32", pad_value=x_zero)
        lv2 = R.nn.conv2d(lv, lv1) + bias          ->    lv1 = lv - x_zero * R.sum(w)
        lv3 = R.quantize(R.nn.relu(lv2), scale, zero)    lv2 = R.nn.relu(R.astype(lv1, "float32") * s + bias / scale)
                                                         lv3 = R.round_to(lv2, "uint8", zero_point=zero)

    Sums of integers are exact; they are scaled in float32 and rounded to the nearest, ties to even. The graph before
    rounds in each step, so a result may differ where a number is about halfway between two: by one step. Weights are
    int8 with zero point 0 and a scale for the tensor or for each output channel; activations are int8 or uint8 with one
    scale, and a zero point that is a constant. Reshapes, permutations, maxima of windows and concatenations are of the
    integers, too. What is added as int32 with the scale R.multiply(x_scale, w_scale), or a constant that is this
    product, is added to the sums. What has other operands remains as it is.
    """
    return clean(apply_rules(clean(apply_rules(graph, FIRST)), RULES))


def quotients_first(graph: Graph) -> Graph:
    """Divide by the scales of quantised numbers before bounds and maxima, which is the same as scales are positive.

        quantize(R.nn.relu(x), scale, zero)       ->   quantize(R.nn.relu(x / scale), 1.0, zero)
        R.nn.max_pool2d(dequantize(x, scale))     ->   dequantize(R.nn.max_pool2d(x), scale)

    That is the part of `integers` that a comparison over a field cannot show, whose order is not kept by products.
    """
    return clean(apply_rules(clean(apply_rules(graph, [_BEFORE_MOVES])), _QUOTIENT_RULES))


def _product(call: NodeCall, _: Matches) -> ir.Value | None:
    """conv2d(dequantize(x), dequantize(w)) -> astype(conv2d(x, w) - zero * sum(w), "float32") * scales"""
    found = _sum(call)
    return None if found is None else _scale(call, *found)


def _fold_bias(call: NodeCall, _: Matches) -> ir.Value | None:
    """conv2d(dequantize(x, s), dequantize(w, t)) + dequantize(b, s * t) -> astype(conv2d(x, w) + b) * s * t"""
    for value, added in (call.args, call.args[::-1]):
        product = call.defining_call(value, _PRODUCT)
        shaped = call.defining_call(added, is_op("reshape"))
        bias = call.defining_call(added if shaped is None else shaped.args[0], _DEQUANTIZE)
        if product is None or bias is None or uses(value) != 1 or _zero(bias) != 0:
            continue
        x, w = (product.defining_call(operand, _DEQUANTIZE) for operand in product.args[:2])
        if x is None or w is None or call.type_of(bias.args[0]).dtype != "int32":
            continue
        if not _is_product(call, bias.args[1], (x.args[1], w.args[1])):
            continue
        if (found := _sum(product)) is not None:
            total, scale = found
            number = bias.args[0] if shaped is None else call.reshape(bias.args[0], call.shape_of(added))
            return _scale(call, call.emit("add", [total, number]), scale)
    return None


def _is_product(call: NodeCall, value: ir.Value, factors: tuple[ir.Value, ir.Value]) -> bool:
    """Whether a scale is known to be the product of two: it is computed so, or all are constants."""
    factor = call.defining_call(value, is_op("multiply"))
    if factor is not None:
        return all(_equal(call, a, b) for a, b in zip(factor.args, factors, strict=True))
    nodes = [call.rewriter.definition(v) for v in (value, *factors)]
    arrays = [constant_array(n.node) for n in nodes if n is not None and n.kind == "constant"]
    return len(arrays) == 3 and np.array_equal(arrays[0], arrays[1] * arrays[2])


def _equal(call: NodeCall, a: ir.Value, b: ir.Value) -> bool:
    """Whether two values are known to be the same: one value, or equal constants."""
    first, second = (call.rewriter.definition(v) for v in (a, b))
    if a == b or first is None or second is None or {first.kind, second.kind} != {"constant"}:
        return bool(a == b)
    return np.array_equal(constant_array(first.node), constant_array(second.node))


def _scale(call: NodeCall, total: ir.Value, scale: ir.Value) -> ir.Value:
    made = replace(call.type_of(total), dtype="float32")
    return call.emit("multiply", [call.emit("astype", [total], {"dtype": "float32"}, made), scale], makes=made)


def _factors(call: NodeCall) -> tuple[NodeCall, NodeCall] | None:
    """The conversions of the factors of a product that is computed in integers; None where it is not."""
    x, w = (call.defining_call(value, _DEQUANTIZE) for value in call.args[:2])
    if x is None or w is None or len(call.args) != 2 or call.struct_info.dtype != "float32":
        return None
    if call.type_of(x.args[0]).dtype not in SHORT or call.type_of(w.args[0]).dtype != "int8":
        return None
    zero, channel, single = _zero(x), _channels(call), _is_single(w, w.args[1])
    if zero is None or _zero(w) != 0 or not _is_single(x, x.args[1]):
        return None
    if channel is None:
        return (x, w) if single and zero == 0 else None
    return (x, w) if single or w.attrs["axis"] % len(w.shape) == channel[0] else None


def _sum(call: NodeCall) -> tuple[ir.Value, ir.Value] | None:
    """The sums of integers of a product of dequantised tensors, and their scales; None where it is none."""
    factors = _factors(call)
    if factors is None:
        return None
    x, w = factors
    zero, channel = _zero(x), _channels(call)
    if channel is None:
        return _sum_of_one_scale(call, x, w)
    of_weight, of_result = channel
    padding = {"pad_value": zero} if is_convolution(call) and zero else {}
    made = replace(call.struct_info, dtype="int32")
    total = call.emit_same([x.args[0], w.args[0]], {**call.attrs, **padding, "out_dtype": "int32"}, made)
    if zero:
        less = _reshape_along_axis(call, _sums(call, w.args[0], zero, of_weight), of_result)
        total = call.emit("subtract", [total, less], makes=made)
    scale = call.emit("multiply", [x.args[1], w.args[1]])
    return total, (scale if _is_single(w, w.args[1]) else _reshape_along_axis(call, scale, of_result))


def _sum_of_one_scale(call: NodeCall, x: NodeCall, w: NodeCall) -> tuple[ir.Value, ir.Value]:
    """The sums of a product whose channels are not known, such as one of two activations, and their scale."""
    made = replace(call.struct_info, dtype="int32")
    total = call.emit_same([x.args[0], w.args[0]], {**call.attrs, "out_dtype": "int32"}, made)
    return total, call.emit("multiply", [x.args[1], w.args[1]])


def is_convolution(call: NodeCall) -> bool:
    """Whether a call is a convolution."""
    return kind_of(call.op.short) is OperatorKind.CONVOLUTION


def _channels(call: NodeCall) -> tuple[int, int] | None:
    """The axes of the output channels in the weight and in the result of a product; None where they are blocked, or
    where each row has its own weight."""
    rank = len(call.shape)
    if is_convolution(call):
        kernel, result = call.attrs["kernel_layout"], call.attrs.get("out_layout") or call.attrs["data_layout"]
        plain = all(name.isalpha() and name.isupper() for name in (kernel, result))
        return (kernel.index("O"), result.index("C")) if plain else None
    if len(call.shape_of(call.args[1])) != 2 or len(call.shape_of(call.args[0])) < 2:
        return None
    return (0 if call.op.short == "nn.dense" else 1), rank - 1


def _sums(call: NodeCall, weight: ir.Value, zero: int, channel: int) -> ir.Value:
    """zero * the sums of the weights of each output channel, in int32."""
    wide = call.emit("astype", [weight], {"dtype": "int32"}, replace(call.type_of(weight), dtype="int32"))
    others = [axis for axis in range(len(call.shape_of(weight))) if axis != channel]
    total = call.emit("sum", [wide], {"axis": others})
    return call.emit("multiply", [total, call.number(zero, total)], makes=call.type_of(total))


def _reshape_along_axis(call: NodeCall, vector: ir.Value, axis: int) -> ir.Value:
    """A vector as a tensor that varies along one axis of a result."""
    (size,) = call.shape_of(vector)
    rank = len(call.shape)
    return vector if axis == rank - 1 else call.reshape(vector, [size if a == axis else 1 for a in range(rank)])


def _is_single(call: NodeCall, value: ir.Value) -> bool:
    """Whether a value is one number."""
    return all(size == 1 for size in call.shape_of(value))


def _zero(call: NodeCall) -> int | None:
    """The zero point of a conversion, if it is a constant number."""
    if len(call.args) < 3:
        return 0
    node = call.rewriter.definition(call.args[2])
    if node is None or node.kind != "constant":
        return None
    array = constant_array(node.node)
    return int(array) if array.ndim == 0 else 0 if not array.any() else None


def _may_be_positive(call: NodeCall, scale: ir.Value) -> bool:
    """Whether a scale is not known to be negative or 0: a division by such a number does not keep the order."""
    node = call.rewriter.definition(scale)
    return node is None or node.kind != "constant" or bool(np.all(constant_array(node.node) > 0))


# --- rounding ---------------------------------------------------------------------------------------------------------


def _rounding(call: NodeCall, _: Matches) -> ir.Value | None:
    """quantize(a * s + b, scale, zero) -> round_to(a * (s / scale) + b / scale, zero)"""
    zero = _zero(call)
    if zero is None or not _is_single(call, call.args[1]) or not call.is_weight(call.args[1]):
        return None
    if call.type_of(call.args[0]).dtype != "float32" or not _may_be_positive(call, call.args[1]):
        return None
    if not _can_divide(call, call.args[0]):
        return None
    value = _divide_by_scale(call, call.args[0], call.args[1])
    dtype = call.struct_info.dtype
    limits = np.iinfo(dtype)
    known = dtype if limits.min <= zero <= limits.max else "int32"  # of numbers of `dtype` casts are known to be exact
    shift = [call.number(zero, dtype=known)] if zero else []  # an operand: layers that differ in it are one function
    return call.emit("round_to", [value, *shift], {"out_dtype": dtype}, call.struct_info)


def _quotient(call: NodeCall, _: Matches) -> ir.Value | None:
    """quantize(relu(x), scale, zero) -> quantize(relu(x / scale), 1.0, zero), where `_rounding` moves the scale"""
    value, scale = call.args[:2]
    if not _is_single(call, scale) or not call.is_weight(scale) or call.is_weight(value):
        return None
    if call.type_of(value).dtype != "float32" or not _may_be_positive(call, scale):
        return None
    inner = call.rewriter.definition(value)
    if _zero(call) is None or inner is None or not _is_bound(inner.op.short) or not _will_divide(call, value):
        return None
    return call.emit("quantize", [_quotient_of(call, value, scale), call.number(1, scale), *call.args[2:]], call.attrs)


def _will_divide(call: NodeCall, value: ir.Value) -> bool:
    """`_can_divide`, before products are in integers."""
    inner = call.rewriter.definition(value)
    if inner is None or call.is_weight(value) or uses(value) != 1:
        return _can_divide(call, value)
    if _is_bound(inner.op.short):
        return all(_will_divide(call, v) for v in inner.args)
    if kind_of(inner.op.short) not in _PRODUCT_KINDS:
        return _can_divide(call, value)
    factors = _factors(inner)
    return factors is not None and all(inner.is_weight(f.args[1]) for f in factors)


def _is_bound(name: str) -> bool:
    return name == "nn.relu6" or is_homogeneous(name)


def _quotient_of(call: NodeCall, value: ir.Value, scale: ir.Value) -> ir.Value:
    """A value over a scale, with the divisions below what `_divide_by_scale` moves them below."""
    inner = None if call.is_weight(value) else call.rewriter.definition(value)
    if inner is None or not _is_bound(inner.op.short):
        return call.emit("divide", [value, scale], makes=call.type_of(value))
    args = [_quotient_of(call, v, scale) for v in inner.args]
    if inner.op.short != "nn.relu6":
        return call.emit(inner.op.short, args, inner.attrs, inner.struct_info)
    top = call.emit("divide", [call.number(6, value), scale])
    return call.emit("minimum", [call.emit("nn.relu", args, makes=inner.struct_info), top], makes=inner.struct_info)


def _can_divide(call: NodeCall, value: ir.Value) -> bool:
    """Whether a value divided by a number costs nothing: the number goes into scales that are weights."""
    if call.is_weight(value):
        return True
    inner = call.rewriter.definition(value)
    if inner is None or (uses(value) != 1 and inner.op.short != "dequantize"):
        return False
    if _is_bound(inner.op.short):
        return all(_can_divide(call, v) for v in inner.args)
    if inner.op.short == "multiply":
        return any(call.is_weight(v) for v in inner.args)
    return inner.op.short == "dequantize" and call.is_weight(inner.args[1])


def _divide_by_scale(call: NodeCall, value: ir.Value, scale: ir.Value) -> ir.Value:
    """A value over a scale, see `_divides`."""
    if call.is_weight(value):
        return _divide_weight_or_zero(call, value, scale)
    inner = call.rewriter.definition(value)
    if inner is None:
        raise AssertionError("what divides is computed")
    if is_homogeneous(inner.op.short):
        args = [_divide_by_scale(call, v, scale) for v in inner.args]
        return call.emit(inner.op.short, args, inner.attrs, inner.struct_info)
    if inner.op.short == "nn.relu6":
        top = call.emit("divide", [call.number(6, value), scale])
        value = call.emit("nn.relu", [_divide_by_scale(call, inner.args[0], scale)], makes=inner.struct_info)
        return call.emit("minimum", [value, top], makes=inner.struct_info)
    number = 1 if inner.op.short == "dequantize" or call.is_weight(inner.args[1]) else 0
    args = [_divide_weight(call, v, scale) if n == number else v for n, v in enumerate(inner.args)]
    return call.emit(inner.op.short, args, inner.attrs, inner.struct_info)


def _divide_weight_or_zero(call: NodeCall, value: ir.Value, scale: ir.Value) -> ir.Value:
    constant = call.rewriter.definition(value)
    if constant is not None and constant.kind == "constant" and not np.any(constant_array(constant.node)):
        return value  # a bound of 0 remains a number
    return _divide_weight(call, value, scale)


def _divide_weight(call: NodeCall, weight: ir.Value, scale: ir.Value) -> ir.Value:
    """A weight over a scale that is one number: times its reciprocal, as compiled code divides by what is shared."""
    if call.shape_of(weight) == call.shape_of(scale):
        return call.emit("divide", [weight, scale])
    reciprocal = call.emit("reciprocal", [scale], makes=call.type_of(scale))
    return call.emit("multiply", [weight, reciprocal])


def _quantize_before_moving(call: NodeCall, _: Matches) -> ir.Value | None:
    """quantize(permute_dims(x), scale) -> permute_dims(quantize(x, scale)), so that sums are rounded where they are"""
    value, moves = call.args[0], list[NodeCall]()
    while (move := call.defining_call(value, _ORDERS)) is not None and uses(value) == 1:
        moves.append(move)
        value = move.args[0]
    if not moves or call.is_weight(value) or not all(_is_single(call, v) for v in call.args[1:]):
        return None
    result = call.emit("quantize", [value, *call.args[1:]], call.attrs | {"axis": -1})
    for move in reversed(moves):
        result = call.emit(move.op.short, [result], move.attrs)
    return result


# --- what moves elements ----------------------------------------------------------------------------------------------


def _sink_dequantize(call: NodeCall, matches: Matches) -> ir.Value | None:
    """max_pool2d(dequantize(x)) -> dequantize(max_pool2d(x)), reshapes and permutations"""
    inner = call.call_of(matches[_INNER])
    if not all(_is_single(inner, v) for v in inner.args[1:]) or not _may_be_positive(inner, inner.args[1]):
        return None
    return call.emit("dequantize", [call.emit_same(inner.args[:1]), *inner.args[1:]], inner.attrs | {"axis": -1})


def _quantize_parts(call: NodeCall, _: Matches) -> ir.Value | None:
    """quantize(concat(dequantize(a), dequantize(b)), scale) -> concat(quantize(dequantize(a), scale), ..)"""
    inner = call.defining_call(call.args[0], is_op("concat"))
    if inner is None or uses(call.args[0]) != 1 or not _is_single(call, call.args[1]) or _zero(call) is None:
        return None
    if not all(call.defining_call(value, _DEQUANTIZE) for value in inner.args):
        return None
    parts = [call.emit("quantize", [value, *call.args[1:]], call.attrs) for value in inner.args]
    return call.emit("concat", parts, inner.attrs)


def _cancel_round_trip(call: NodeCall, matches: Matches) -> ir.Value | None:
    """quantize(dequantize(x, scale, zero), scale, zero) -> x"""
    inner = call.call_of(matches[_INNER])
    same = inner.args[1] == call.args[1] and _zero(inner) is not None and _zero(inner) == _zero(call)
    fits = call.type_of(inner.args[0]).dtype == call.struct_info.dtype and call.is_weight(call.args[1])
    return inner.args[0] if same and fits and _is_single(call, call.args[1]) else None


_DEQUANTIZE = is_op("dequantize")
_PRODUCT_KINDS = frozenset({OperatorKind.CONVOLUTION, OperatorKind.PRODUCT})
_PRODUCT = is_kind(*_PRODUCT_KINDS)
_INNER = _DEQUANTIZE(varg_default_wildcard=True)
_MOVES = (
    is_op("reshape") | is_op("permute_dims") | is_op("nn.max_pool1d") | is_op("nn.max_pool2d") | is_op("nn.max_pool3d")
)
_ORDERS = is_op("reshape") | is_op("permute_dims")
_SCALE, _ZERO = wildcard(), wildcard()
_BEFORE_MOVES = Rule(is_op("quantize")(varg_default_wildcard=True), _quantize_before_moving)
FIRST = [
    Rule(is_op("add")(varg_default_wildcard=True), _fold_bias),
    _BEFORE_MOVES,
]
RULES = [
    Rule(_MOVES(_INNER), _sink_dequantize),
    Rule(is_op("quantize")(_INNER, _SCALE) | is_op("quantize")(_INNER, _SCALE, _ZERO), _cancel_round_trip),
    Rule(_PRODUCT(varg_default_wildcard=True), _product),
    Rule(is_op("quantize")(varg_default_wildcard=True), _quantize_parts),
    Rule(is_op("quantize")(varg_default_wildcard=True), _rounding),
]
_QUOTIENT_RULES = [
    Rule(_MOVES(_INNER), _sink_dequantize),
    Rule(is_op("quantize")(varg_default_wildcard=True), _quotient),
]
