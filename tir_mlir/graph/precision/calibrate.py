"""Round the weights and the activations of a graph to 8 bits, by the numbers that its layers see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError, check_type, short_repr
from tir_mlir.dialect.graph import TensorType, create, free_name
from tir_mlir.dialect.ir import enter_context
from tir_mlir.extensions import implement
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind
from tir_mlir.graph.precision.attention_products import IS_ATTENTION, attention_hindrance, attention_products
from tir_mlir.graph.precision.formats import Format, hindrance, round_per_tensor, round_weight
from tir_mlir.graph.precision.quantize_weights import (
    Choice,
    WeightSelection,
    WeightUse,
    array_of,
    keep_read_weights,
    product_of,
    uses_of,
    with_computed_weights,
)
from tir_mlir.graph.precision.rounding import Calibration, LayerError, errors
from tir_mlir.graph.rewrite import NodeCall, Rewriter, is_kind, is_op
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.fold_batch_norm import fold_batch_norm
from tir_mlir.graph.transforms.lift_weights import constant_array
from tir_mlir.graph.transforms.simplify import simplify
from tir_mlir.targets.stages import FAST

if TYPE_CHECKING:
    from tir_mlir.graph.memory.frames import Array

_PRODUCT = is_kind(OperatorKind.CONVOLUTION, OperatorKind.PRODUCT)
_DEQUANTIZE, _RESHAPE = is_op("dequantize"), is_op("reshape")
METHODS = ("min-max", "percentile", "entropy")
BINS = 2048
"""The bins of a histogram."""
SHARES = np.linspace(1.0, 0.2, 65)
"""Of the whole range: the parts that the entropy is computed of."""
HOW = Format("int8")


@implement(Graph.calibrate)
def calibrate(
    graph: Graph,
    batches: Iterable[Array | Sequence[Array]],
    method: str = "min-max",
    *,
    percentile: float = 99.99,
    keep: Choice = (),
    activations: str = "uint8",
    symmetric: bool = False,
    per_channel: bool = True,
    bias: str = "float32",
    threads: int | None = None,
) -> Graph:
    """Round what products and convolutions multiply to 8 bits: weights to int8, with a scale for each output channel,
    activations to uint8, with one scale and zero point.

        lv = R.nn.conv2d(x, w)    ->    lv = R.dequantize(R.quantize(x, scale, zero), scale, zero)
                                        lv1 = R.nn.conv2d(lv, R.dequantize(w_int8, w_scale))

    Such a graph is built to products of integers, see `transforms.integers`. batches: inputs of the graph, one array or
    a tuple of arrays each, that stand for those it will see. method: the range of an activation: "min-max", all numbers
    seen; "percentile", but for so many of the largest; "entropy", the part whose rounded numbers tell the most. keep:
    weights of layers that remain in float32, as names with `*` or a function of name and shape. Batch normalization is
    folded first. For machines that have no other: activations="int8"; symmetric: -127 to 127 without a zero point, so
    that products of two activations are rounded, too, and those of attention, see `attention_products`: their names are
    those of their nodes; per_channel=False: one scale for a weight; bias="int32": a weight that is added to a product
    is rounded to steps of its sums, and added to them. threads: of the models that are built to see the numbers.
    `calibration` of the result tells the error of each layer alone, the worst first; they are measured when they are
    first read, on the same batches, which it keeps. Raises GraphError for no batches, an unknown method, numbers that
    are not finite, or a name that no layer has.
    """
    check_type(graph, Graph, "calibrate", "graph", "a Graph (from_torch, GraphBuilder make one)")
    check_type(batches, Iterable, "calibrate", "batches", "a list of inputs of the graph")
    method, percentile = method_of(method, percentile)
    inputs = [tuple(b) if isinstance(b, Sequence) else (b,) for b in batches]
    if not inputs:
        raise GraphError("calibrate: no batches; fix: pass arrays like those that the model will see")
    if bias not in ("float32", "int32"):
        raise GraphError(f"calibrate: bias={short_repr(bias)}; fix: float32 or int32")
    how = _How(codes_of(activations, symmetric), per_channel, bias == "int32")
    plain = with_computed_weights(fold_batch_norm(simplify(graph)))
    plain, layers, kept = _layers(plain, WeightSelection(None, keep), how)
    ranges = _ranges(plain, layers, inputs, method, threads) if layers else []
    steps = [[seen.steps(method, percentile, how.codes) for seen in each] for each in ranges]
    result = clean(_quantize_layers(plain, layers, steps, how))
    with enter_context():
        keep_read_weights(result)
        products = _products(Rewriter(plain))
        names = tuple(products[number].name for number in layers)
    measure = partial(_errors, plain, layers, steps, inputs, how, threads)
    result.calibration = Calibration(names, kept, method, measure)
    return result


@dataclass(frozen=True)
class _How:
    """What layers are rounded to. per_channel: of weights; integer_bias: what is added to products is int32."""

    codes: Codes
    per_channel: bool
    integer_bias: bool


@dataclass(frozen=True)
class _Layer:
    """A product or a convolution of an activation, and a weight or another activation. name: of the weight, or of the
    node."""

    call: NodeCall
    name: str
    weight: WeightUse | None

    @property
    def activations(self) -> list[ir.Value]:
        """The operands that are rounded in each call."""
        return self.call.args[: 1 if self.weight is not None else 2]


def _products(rewriter: Rewriter) -> list[_Layer]:
    """The products of a graph whose operands may be rounded, in order."""
    weights = {use.call: use for use in uses_of(rewriter)}
    layers = []
    for call, _ in rewriter.calls(_PRODUCT(varg_default_wildcard=True)):
        if call in weights:
            layers.append(_Layer(call, weights[call].name, weights[call]))
        elif call.op.short == "matmul" and not any(map(call.is_weight, call.args)):
            layers.append(_Layer(call, call.node.names[0], None))
    return layers


def _layers(graph: Graph, chosen: WeightSelection, how: _How) -> tuple[Graph, list[int], dict[str, str]]:
    """The graph with chosen attentions as products, the numbers of the layers to round among its products, and why
    others remain."""
    kept, layers = dict[str, str](), list[int]()
    with enter_context():
        rewriter = Rewriter(graph)
        attentions = [call for call, _ in rewriter.calls(IS_ATTENTION(varg_default_wildcard=True))]
        named = [layer.name for layer in _products(rewriter) if layer.weight is not None or how.codes.symmetric]
        named += [call.node.names[0] for call in attentions if how.codes.symmetric]
        chosen.check(list(dict.fromkeys(named)))
        for call in attentions if how.codes.symmetric else []:
            name = call.node.names[0]
            why = attention_hindrance(call) if chosen(name, _shape(call)) else "it was not chosen"
            if why is not None:
                kept[name] = why
    if len(kept) < len(attentions) and how.codes.symmetric:
        graph = attention_products(graph, lambda call: call.node.names[0] not in kept)
    with enter_context():
        for number, layer in enumerate(_products(Rewriter(graph))):
            if (why := _hindrance(graph, layer, chosen, how)) is None:
                layers.append(number)
            elif layer.weight is not None or how.codes.symmetric:
                kept[layer.name] = why
    return graph, layers, kept


def _shape(call: NodeCall) -> tuple[int, ...]:
    return tuple(size for size in call.shape if isinstance(size, int))


def _hindrance(graph: Graph, layer: _Layer, chosen: WeightSelection, how: _How) -> str | None:
    """Why a layer is not rounded, in words; None if it is."""
    call, use = layer.call, layer.weight
    if use is None:
        if not how.codes.symmetric:
            return "a product of two activations with zero points"
        types = [call.struct_info.dtype, *(call.type_of(value).dtype for value in call.args)]
        if {*types} != {"float32"}:
            return f"it is {types[0]}, not float32"
        return None if chosen(layer.name, _shape(call)) else "it was not chosen"
    weight = array_of(graph, use)
    if not chosen(use.name, weight.shape):
        return "it was not chosen"
    if why := hindrance(weight, HOW, use.axis):
        return why
    is_product = not call.is_weight(call.args[0]) and len(call.args) == 2
    return None if is_product else "what it multiplies is not an activation"


def _ranges(
    graph: Graph, layers: Sequence[int], batches: Sequence[Sequence[Array]], method: str, threads: int | None
) -> list[list[ActivationRange]]:
    """The numbers that each layer reads: of each of its activations."""
    seen = graph.clone()
    with enter_context():
        products = _products(Rewriter(seen))
        values = [products[number].activations for number in layers]
        names = {value: products[n].name for n, each in zip(layers, values, strict=True) for value in reversed(each)}
        different = list(names)
        create.set_outputs(seen.func, different)
        numbers = [[different.index(value) for value in each] for each in values]
        named = list(names.values())
    ranges = [ActivationRange() for _ in different]
    run = _runner(clean(seen), threads)
    for batch in batches:
        for found, name, array in zip(ranges, named, run(batch), strict=True):
            found.widen(array, name)
    if method != "min-max":
        for batch in batches:
            for found, array in zip(ranges, run(batch), strict=True):
                found.count(array)
    return [[ranges[number] for number in each] for each in numbers]


def _runner(graph: Graph, threads: int | None) -> Callable[[Sequence[Array]], list[np.ndarray]]:
    """A function of a batch that returns the outputs, as float32 arrays. It is built fast: that takes a third of a full
    build, and its calls take 1.1 times as long."""
    model = graph.build_model(threads=threads, optimize=FAST)

    def run(batch: Sequence[Array]) -> list[np.ndarray]:
        outputs = model(*batch)
        return [np.asarray(y, np.float32) for y in (outputs if isinstance(outputs, tuple) else (outputs,))]

    return run


def _quantize_layers(
    graph: Graph, layers: Sequence[int], steps: Sequence[Sequence[QuantizationParameters]], how: _How
) -> Graph:
    """The graph with conversions around what its layers multiply; all that reads such an activation behind the first of
    them reads it rounded."""
    result = graph.clone()
    with enter_context():
        rounding = _Rounding(result, how)
        for number, each in zip(layers, steps, strict=True):
            layer = rounding.layers[number]
            new = [value for value in dict.fromkeys(layer.activations) if value not in rounding.activations]
            layer.call.replace(rounding.product(layer, each))
            for value in new:
                rounding.replace_behind(layer.call, value)
        if how.integer_bias:
            round_biases(result)
    return result


class _Rounding:
    """The state of rounding the layers of one graph, in place."""

    def __init__(self, graph: Graph, how: _How):
        self.how = how
        self.graph, self.rewriter = graph, Rewriter(graph)
        self.layers = _products(self.rewriter)
        self.activations: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}
        self.weights: dict[tuple[str, bool, int], tuple[ir.Value, ir.Value]] = {}

    def product(self, layer: _Layer, steps: Sequence[QuantizationParameters]) -> ir.Value:
        """The product of a layer, on rounded operands."""
        call = layer.call
        operands = [self._activation(call, v, step) for v, step in zip(layer.activations, steps, strict=True)]
        if layer.weight is None:
            return call.emit_same(operands)
        return product_of(call, operands[0], self._rounded_weight(layer.weight))

    def _activation(self, call: NodeCall, value: ir.Value, step: QuantizationParameters) -> ir.Value:
        """An activation, rounded before the first call that reads it so."""
        if value not in self.activations:
            scale, zero = call.number(step.scale, value), self._integer(call, step.zero)
            steps = [scale, zero] if step.zero or not self.how.codes.symmetric else [scale]
            quantized = call.emit("quantize", [value, *steps], {"out_dtype": self.how.codes.dtype})
            self.activations[value] = quantized, call.emit("dequantize", [quantized, *steps])
        return self.activations[value][1]

    def _rounded_weight(self, use: WeightUse) -> ir.Value:
        key = use.name, use.transposed, use.axis
        if key not in self.weights:
            array = array_of(self.graph, use)
            numbers = round_weight(array, HOW, use.axis) if self.how.per_channel else round_per_tensor(array)
            arrays = {"int8": numbers.stored, "scale": numbers.scale}
            self.weights[key] = tuple(self._weight(f"{use.name}.{n}", array) for n, array in arrays.items())  # type: ignore[assignment]
        return use.call.emit("dequantize", list(self.weights[key]), {"axis": use.axis})

    def replace_behind(self, call: NodeCall, value: ir.Value) -> None:
        """Let what reads an activation behind a call read it rounded."""
        quantized, dequantized = self.activations[value]
        behind = False
        later = set()
        for node in self.rewriter.func.nodes:
            behind = behind or node == call.node
            if behind:
                later.add(node.op)
        own = ir.OpResult(quantized).owner
        uses = [use for use in value.uses if use.owner.operation in later and use.owner.operation != own]
        for use in uses:
            use.owner.operands[use.operand_number] = dequantized

    def _integer(self, call: NodeCall, number: int) -> ir.Value:
        with ir.InsertionPoint(call.node.op):
            return self.rewriter.add(create.constant(np.asarray(number, "int32"), call.node.names[0]))

    def _weight(self, hint: str, array: np.ndarray) -> ir.Value:
        name = free_name(hint, self.graph.weights)
        self.graph.weights[name] = array
        added = create.add_input(self.rewriter.func, name, TensorType(array.shape, array.dtype.name), name)
        self.rewriter.weights.add(added)
        return added


def _errors(
    graph: Graph,
    layers: Sequence[int],
    steps: Sequence[Sequence[QuantizationParameters]],
    batches: Sequence[Sequence[Array]],
    how: _How,
    threads: int | None,
) -> list[LayerError]:
    """The error of each layer, as if it alone were rounded: of its product compared with that in float32."""
    both = graph.clone()
    with enter_context():
        rounding = _Rounding(both, how)
        chosen = [rounding.layers[number] for number in layers]
        products = [rounding.product(layer, each) for layer, each in zip(chosen, steps, strict=True)]
        create.set_outputs(
            both.func, [v for layer, p in zip(chosen, products, strict=True) for v in (layer.call.node.results[0], p)]
        )
        names = [layer.name for layer in chosen]
    run, found = _runner(clean(both), threads), list[list[tuple[float, float]]]()
    for batch in batches:
        outputs = run(batch)
        found.append([errors(mine, plain) for plain, mine in zip(outputs[::2], outputs[1::2], strict=True)])
    means = np.mean(np.asarray(found), axis=0)
    return [
        LayerError(name, float(relative), float(largest), each[0].scale, each[0].zero)
        for name, (relative, largest), each in zip(names, means, steps, strict=True)
    ]


@dataclass(frozen=True)
class QuantizationParameters:
    """What an integer q stands for: (q - zero) * scale."""

    scale: float
    zero: int


@dataclass(frozen=True)
class Codes:
    """The integers that activations are rounded to. symmetric: as many of both signs, and 0 stands for 0."""

    dtype: str = "uint8"
    symmetric: bool = False

    @property
    def min_code(self) -> int:
        return 0 if self.dtype == "uint8" else -127 if self.symmetric else -128

    @property
    def max_code(self) -> int:
        return 255 if self.dtype == "uint8" else 127

    def steps(self, low: float, high: float) -> QuantizationParameters:
        """The steps of a range, which has 0 in it."""
        low, high = min(low, 0.0), max(high, 0.0)
        if self.symmetric:
            return QuantizationParameters(float(np.float32(max(-low, high) / self.max_code)) or 1.0, 0)
        scale = float(np.float32((high - low) / (self.max_code - self.min_code))) or 1.0
        return QuantizationParameters(
            scale, int(np.clip(np.rint(self.min_code - low / scale), self.min_code, self.max_code))
        )


class ActivationRange:
    """The numbers of one activation so far: the least, the greatest, and a histogram between them."""

    def __init__(self) -> None:
        self.low, self.high = 0.0, 0.0
        self.counts = np.zeros(BINS, np.int64)

    def widen(self, numbers: np.ndarray, name: str) -> None:
        """Take numbers in. Errors: GraphError for one that is not finite."""
        low, high = float(numbers.min(initial=0)), float(numbers.max(initial=0))
        if not np.isfinite([low, high]).all():
            raise GraphError(f"calibrate: {name} multiplies numbers that are not finite; fix: pass other batches")
        self.low, self.high = min(self.low, low), max(self.high, high)

    def count(self, numbers: np.ndarray) -> None:
        """Count numbers, once the range is known."""
        if self.high > self.low:
            self.counts += np.histogram(numbers, BINS, (self.low, self.high))[0]

    def steps(self, method: str, percentile: float, codes: Codes) -> QuantizationParameters:
        """The steps by a method of `METHODS`."""
        if method == "min-max" or self.high == self.low:
            return codes.steps(self.low, self.high)
        edges = np.linspace(self.low, self.high, BINS + 1)
        is_percentile = method == "percentile"
        return codes.steps(*(_percentile(self.counts, edges, percentile) if is_percentile else self._entropy(codes)))

    def _entropy(self, codes: Codes) -> tuple[float, float]:
        """The part of the range whose rounded numbers tell the most of the numbers."""
        counts = self.counts.copy()
        counts[min(BINS - 1, int(-self.low / (self.high - self.low) * BINS))] = 0  # 0 is exact in every range
        divergences = [_divergence(counts, self.low, self.high, share, codes) for share in SHARES]
        share = float(SHARES[int(np.argmin(divergences))])
        return self.low * share, self.high * share


def method_of(method: object, percentile: object) -> tuple[str, float]:
    """A method, and the percentage of numbers within. Errors: GraphError."""
    if not isinstance(method, str) or method not in METHODS:
        raise GraphError(f"calibrate: no method {short_repr(method)}; fix: one of {', '.join(METHODS)}")
    if isinstance(percentile, bool) or not isinstance(percentile, (int, float)) or not 50 < percentile <= 100:
        raise GraphError(f"calibrate: percentile={short_repr(percentile)}; fix: a number above 50, up to 100")
    return method, float(percentile)


def codes_of(activations: object, symmetric: object) -> Codes:
    """The integers of activations. Errors: GraphError."""
    if not isinstance(activations, str) or activations not in ("uint8", "int8"):
        raise GraphError(f"calibrate: activations={short_repr(activations)}; fix: uint8 or int8")
    if symmetric and activations == "uint8":
        raise GraphError('calibrate: symmetric steps of uint8, which has no negative numbers; fix: activations="int8"')
    return Codes(activations, bool(symmetric))


def _percentile(counts: np.ndarray, edges: np.ndarray, percentile: float) -> tuple[float, float]:
    """The range without so many of the numbers on either side, half of the rest each."""
    share = np.cumsum(counts) / max(1, counts.sum())
    outside = (100 - percentile) / 200
    first, last = np.searchsorted(share, outside, "right"), np.searchsorted(share, 1 - outside)
    return float(edges[first]), float(edges[min(int(last) + 1, BINS)])


def _divergence(counts: np.ndarray, low: float, high: float, share: float, codes: Codes) -> float:
    """The divergence (Kullback, Leibler 1951) of numbers that are rounded within a part of their range, from all."""
    centers = (np.arange(BINS) + 0.5) * ((high - low) / BINS) + low
    steps, levels = codes.steps(low * share, high * share), codes.max_code - codes.min_code
    rounded = np.clip(np.rint(centers / steps.scale) + steps.zero - codes.min_code, 0, levels).astype(int)
    total = np.bincount(rounded, counts, levels + 1)
    inside = (centers >= low * share) & (centers <= high * share) & (counts > 0)
    shared = np.bincount(rounded[inside], minlength=levels + 1)
    spread = np.where(inside, total[rounded] / np.maximum(shared[rounded], 1), 0.0)
    p, q = counts / max(1, counts.sum()), spread / max(1.0, spread.sum())
    seen = p > 0
    return float((p[seen] * np.log(p[seen] / np.maximum(q[seen], 1e-9))).sum())


def round_biases(graph: Graph) -> None:
    """Let weights that are added to products of dequantised tensors be multiples of the steps of their sums, in place.

    y = R.nn.dense(R.dequantize(x, s), R.dequantize(w, t))       bias_int32 = round(bias / (s * t))
    R.add(y, bias)                                         ->    R.add(y, R.dequantize(bias_int32, R.multiply(s, t)))
    """
    rewriter = Rewriter(graph)
    for call, _ in list(rewriter.calls(is_op("add")(varg_default_wildcard=True))):
        for number in (0, 1):
            product = call.defining_call(call.args[number], _PRODUCT)
            bias = None if product is None else _integer_bias(graph, rewriter, call, product, call.args[1 - number])
            if bias is not None:
                call.replace(call.emit_same([call.args[number], bias]))
                break


def _integer_bias(
    graph: Graph, rewriter: Rewriter, call: NodeCall, product: NodeCall, added: ir.Value
) -> ir.Value | None:
    """What is added, rounded; None where it is not a weight of one number a channel, or the product is of floats."""
    x, w = (product.defining_call(value, _DEQUANTIZE) for value in product.args[:2])
    shaped = call.defining_call(added, _RESHAPE)
    base = added if shaped is None else shaped.args[0]
    name = rewriter.func.weight(base.arg_number) if isinstance(base, ir.BlockArgument) else None
    if x is None or w is None or name is None or call.type_of(base).dtype != "float32":
        return None
    steps = weight_array(graph, rewriter, x.args[1]), weight_array(graph, rewriter, w.args[1])
    bias = graph.weights[name].reshape(-1)
    if steps[0] is None or steps[1] is None or not np.isfinite(bias).all() or _size(call, w) not in (1, len(bias)):
        return None
    scale = steps[0].reshape(-1) * steps[1].reshape(-1)
    limits = np.iinfo(np.int32)
    rounded = np.clip(np.rint(bias.astype(np.float64) / scale), limits.min, limits.max).astype(np.int32)
    new_name = free_name(f"{name}.int32", graph.weights)
    graph.weights[new_name] = rounded
    stored = create.add_input(rewriter.func, new_name, TensorType(rounded.shape, "int32"), new_name)
    rewriter.weights.add(stored)
    factor = call.emit("multiply", [x.args[1], w.args[1]])
    wide = call.emit("dequantize", [stored, factor], {"axis": 0})
    return wide if call.shape_of(wide) == call.shape_of(added) else call.reshape(wide, call.shape_of(added))


def _size(call: NodeCall, dequantized: NodeCall) -> int:
    return prod(int(size) for size in call.shape_of(dequantized.args[1]))


def weight_array(graph: Graph, rewriter: Rewriter, value: ir.Value) -> np.ndarray | None:
    """The numbers of a weight or a constant; None for what is computed, even of weights."""
    if isinstance(value, ir.BlockArgument):
        name = rewriter.func.weight(value.arg_number)
        return None if name is None else graph.weights.get(name)
    node = rewriter.definition(value)
    return constant_array(node.node) if node is not None and node.kind == "constant" else None
