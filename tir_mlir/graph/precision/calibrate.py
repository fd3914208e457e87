"""Round the weights and the activations of a graph to 8 bits, by the numbers that its layers see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError, check_type, short_repr
from tir_mlir.dialect.graph import TensorType, create, free_name
from tir_mlir.dialect.ir import enter_context
from tir_mlir.extensions import implement
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.precision.formats import Format, hindrance, round_per_tensor, round_weight
from tir_mlir.graph.precision.integer_bias import round_biases
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
from tir_mlir.graph.precision.ranges import ActivationRange, Codes, QuantizationParameters, codes_of, method_of
from tir_mlir.graph.precision.rounding import Calibration, LayerError, errors
from tir_mlir.graph.rewrite import NodeCall, Rewriter
from tir_mlir.graph.transforms.clean import clean
from tir_mlir.graph.transforms.fold_batch_norm import fold_batch_norm
from tir_mlir.graph.transforms.simplify import simplify

HOW = Format("int8")


@implement(Graph.calibrate)
def calibrate(
    graph: Graph,
    batches: Iterable[Any],
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
    folded first. For machines that have no other: activations="int8"; symmetric: -127 to 127 without a zero point;
    per_channel=False: one scale for a weight; bias="int32": a weight that is added to a product is rounded
    to steps of its sums, and added to them. threads: of the models that are built to see the numbers.
    `calibration` of the result tells the error of each layer alone, on the same batches, the worst first. Raises
    GraphError for no batches, an unknown method, numbers that are not finite, or a name that no layer has.
    """
    check_type(graph, Graph, "calibrate", "graph", "a Graph (from_torch, GraphBuilder make one)")
    check_type(batches, Iterable, "calibrate", "batches", "a list of inputs of the graph")
    method, percentile = method_of(method, percentile)
    inputs = [tuple(b) if isinstance(b, (tuple, list)) else (b,) for b in batches]
    if not inputs:
        raise GraphError("calibrate: no batches; fix: pass arrays like those that the model will see")
    if bias not in ("float32", "int32"):
        raise GraphError(f"calibrate: bias={short_repr(bias)}; fix: float32 or int32")
    how = _How(codes_of(activations, symmetric), per_channel, bias == "int32")
    plain = with_computed_weights(fold_batch_norm(simplify(graph)))
    layers, kept = _layers(plain, keep)
    ranges = _ranges(plain, layers, inputs, method, threads) if layers else []
    steps = [seen.steps(method, percentile, how.codes) for seen in ranges]
    result = clean(_quantize_layers(plain, layers, steps, how))
    with enter_context():
        keep_read_weights(result)
    layer_errors = _errors(plain, layers, steps, inputs, how, threads) if layers else ()
    result.calibration = Calibration(tuple(sorted(layer_errors, key=lambda layer: -layer.relative)), kept, method)
    return result


@dataclass(frozen=True)
class _How:
    """What layers are rounded to. per_channel: of weights; integer_bias: what is added to products is int32."""

    codes: Codes
    per_channel: bool
    integer_bias: bool


def _layers(graph: Graph, keep: Choice) -> tuple[list[int], dict[str, str]]:
    """The numbers of the layers to round, among the uses of weights, and why others remain."""
    chosen, kept, layers = WeightSelection(None, keep), dict[str, str](), list[int]()
    with enter_context():
        rewriter = Rewriter(graph)
        uses = list(uses_of(rewriter))
        chosen.check(list(dict.fromkeys(use.name for use in uses)))
        for number, use in enumerate(uses):
            weight = array_of(graph, use)
            if not chosen(use.name, weight.shape):
                kept[use.name] = "it was not chosen"
            elif why := hindrance(weight, HOW, use.axis):
                kept[use.name] = why
            elif use.call.is_weight(use.call.args[0]) or len(use.call.args) != 2:
                kept[use.name] = "what it multiplies is not an activation"
            else:
                layers.append(number)
    return layers, kept


def _ranges(
    graph: Graph, layers: Sequence[int], batches: Sequence[Any], method: str, threads: int | None
) -> list[ActivationRange]:
    """The numbers that each layer reads."""
    seen = graph.clone()
    with enter_context():
        uses = list(uses_of(Rewriter(seen)))
        values = [uses[number].call.args[0] for number in layers]
        names = [uses[number].name for number in layers]
        different = list(dict.fromkeys(values))
        create.set_outputs(seen.func, different)
        numbers = [different.index(value) for value in values]
    ranges = [ActivationRange() for _ in different]
    run = _runner(clean(seen), threads)
    for batch in batches:
        for number, (found, array) in enumerate(zip(ranges, run(batch), strict=True)):
            found.widen(array, names[numbers.index(number)])
    if method != "min-max":
        for batch in batches:
            for found, array in zip(ranges, run(batch), strict=True):
                found.count(array)
    return [ranges[number] for number in numbers]


def _runner(graph: Graph, threads: int | None) -> Any:
    """A function of a batch that returns the outputs, as float32 arrays."""
    model = graph.build_model(threads=threads)

    def run(batch: Sequence[Any]) -> list[np.ndarray]:
        outputs = model(*batch)
        return [np.asarray(y, np.float32) for y in (outputs if isinstance(outputs, tuple) else (outputs,))]

    return run


def _quantize_layers(graph: Graph, layers: Sequence[int], steps: Sequence[QuantizationParameters], how: _How) -> Graph:
    """The graph with conversions around what its layers multiply; all that reads such an activation behind the first of
    them reads it rounded."""
    result = graph.clone()
    with enter_context():
        rounding = _Rounding(result, how)
        for number, step in zip(layers, steps, strict=True):
            use = rounding.uses[number]
            value, known = use.call.args[0], len(rounding.activations)
            product = rounding.product(use, step)
            use.call.replace(product)
            if len(rounding.activations) > known:
                rounding.replace_behind(use.call, value)
        if how.integer_bias:
            round_biases(result)
    return result


class _Rounding:
    """The state of rounding the layers of one graph, in place."""

    def __init__(self, graph: Graph, how: _How):
        self.how = how
        self.graph, self.rewriter = graph, Rewriter(graph)
        self.uses = list(uses_of(self.rewriter))
        self.activations: dict[ir.Value, tuple[ir.Value, ir.Value]] = {}
        self.scales: dict[ir.Value, ir.Value] = {}
        self.weights: dict[tuple[str, bool, int], tuple[ir.Value, ir.Value]] = {}

    def product(self, use: WeightUse, step: QuantizationParameters) -> ir.Value:
        """The product of a use, on rounded operands."""
        value, call = use.call.args[0], use.call
        if value not in self.activations:
            scale, zero = call.number(step.scale, value), self._integer(call, step.zero)
            steps = [scale, zero] if step.zero or not self.how.codes.symmetric else [scale]
            quantized = call.emit("quantize", [value, *steps], {"out_dtype": self.how.codes.dtype})
            self.activations[value] = quantized, call.emit("dequantize", [quantized, *steps])
            self.scales[value] = scale
        key = use.name, use.transposed, use.axis
        if key not in self.weights:
            array = array_of(self.graph, use)
            numbers = round_weight(array, HOW, use.axis) if self.how.per_channel else round_per_tensor(array)
            arrays = {"int8": numbers.stored, "scale": numbers.scale}
            self.weights[key] = tuple(self._weight(f"{use.name}.{n}", array) for n, array in arrays.items())  # type: ignore[assignment]
        weight = call.emit("dequantize", list(self.weights[key]), {"axis": use.axis})
        return product_of(call, self.activations[value][1], weight)

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
    steps: Sequence[QuantizationParameters],
    batches: Sequence[Any],
    how: _How,
    threads: int | None,
) -> list[LayerError]:
    """The error of each layer, as if it alone were rounded: of its product beside that in float32."""
    both = graph.clone()
    with enter_context():
        rounding = _Rounding(both, how)
        uses = [rounding.uses[number] for number in layers]
        products = [rounding.product(use, step) for use, step in zip(uses, steps, strict=True)]
        create.set_outputs(
            both.func, [v for use, p in zip(uses, products, strict=True) for v in (use.call.node.results[0], p)]
        )
        names = [use.name for use in uses]
    run, found = _runner(clean(both), threads), list[list[tuple[float, float]]]()
    for batch in batches:
        outputs = run(batch)
        found.append([errors(mine, plain) for plain, mine in zip(outputs[::2], outputs[1::2], strict=True)])
    means = np.mean(np.asarray(found), axis=0)
    return [
        LayerError(name, float(relative), float(largest), step.scale, step.zero)
        for name, (relative, largest), step in zip(names, means, steps, strict=True)
    ]
