"""The layers of a graph: products and convolutions, with what is done to their sums behind them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from math import prod

import numpy as np
from mlir import ir

from tir_mlir.accel.offload.requantization import Requantization
from tir_mlir.dialect.graph import Node, encoding
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.precision.calibrate import weight_array
from tir_mlir.graph.rewrite import NodeCall, Rewriter, is_kind, uses

IS_LAYER = is_kind(OperatorKind.CONVOLUTION, OperatorKind.PRODUCT)


@dataclass(frozen=True)
class LayerEnd:
    """Where a layer may end: at a value that is its sums, with what was added to them, or these rounded."""

    value: NodeCall
    biases: tuple[tuple[ir.Value, int], ...] = ()
    """Weights of the length of the last axis, each with its sign."""
    rounding: Requantization | None = None


def multiplications(call: NodeCall) -> int:
    """The products that a layer adds up; 0 for what is not a layer, and where a size is symbolic."""
    if call.op.short == "nn.attention":
        return _attention_multiplications(call)
    if kind_of(call.op.short) not in (OperatorKind.CONVOLUTION, OperatorKind.PRODUCT):
        return 0
    made, kernel = call.shape, call.shape_of(call.args[1])
    if any(isinstance(size, str) for size in (*made, *kernel)):
        return 0
    outputs = prod(map(int, made))
    if kind_of(call.op.short) is OperatorKind.CONVOLUTION:
        layout = str(call.attrs["kernel_layout"])
        channels = [int(n) for n, axis in zip(kernel, layout, strict=False) if axis == "O"]
        return outputs * prod(map(int, kernel)) // max(1, prod(channels))
    return outputs * int(call.shape_of(call.args[0])[-1])


def _attention_multiplications(call: NodeCall) -> int:
    """Each query times each key, and each of these times each value."""
    query, key = (call.shape_of(value) for value in call.args[:2])
    if any(isinstance(size, str) for size in (*query, *key, *call.shape)):
        return 0
    layout = str(call.attrs.get("layout", "BSHD"))
    keys = int(key[layout.index("S")])
    return keys * (prod(map(int, query)) + prod(map(int, call.shape)))


class LayerReader:
    """Reads what follows the layers of a graph whose computed weights are arrays."""

    def __init__(self, graph: Graph, rewriter: Rewriter):
        self.graph, self.rewriter = graph, rewriter

    def ends(self, layer: NodeCall, axis: int) -> list[LayerEnd]:
        """Where a layer with channels along an axis may end, the most first."""
        ends = [LayerEnd(layer, tuple((value, 1) for value in layer.args[2:]))]
        while (end := self._add(ends[-1], axis)) is not None:
            ends.append(end)
        if (rounded := self._round(ends[-1])) is not None:
            ends.append(rounded)
        return ends[::-1]

    def _add(self, end: LayerEnd, axis: int) -> LayerEnd | None:
        """The end behind the addition of one number a channel."""
        reader = self._only_reader(end.value)
        if reader is None or reader.op.short not in ("add", "subtract") or reader.shape != end.value.shape:
            return None
        mine = reader.args.index(end.value.node.results[0])
        added = reader.args[1 - mine]
        if (reader.op.short == "subtract" and mine) or not self._is_vector(reader, added, axis):
            return None
        sign = -1 if reader.op.short == "subtract" else 1
        return replace(end, value=reader, biases=(*end.biases, (added, sign)))

    def _is_vector(self, call: NodeCall, value: ir.Value, axis: int) -> bool:
        """Whether a weight has a number for each index of an axis."""
        shape, made = call.shape_of(value), call.shape
        behind = len(made) - axis
        sizes = [1] * (len(made) - len(shape)) + list(shape)
        others = sizes[: len(made) - behind] + sizes[len(made) - behind + 1 :]
        return call.is_weight(value) and sizes[len(made) - behind] == made[axis] and all(s == 1 for s in others)

    def _round(self, end: LayerEnd) -> LayerEnd | None:
        """The end behind `round_to(activation(astype(sums, "float32") * scale))`."""
        wide = self._only_reader(end.value)
        scaled = self._only_reader(wide) if wide is not None and wide.op.short == "astype" else None
        if wide is None or scaled is None or scaled.op.short != "multiply" or wide.struct_info.dtype != "float32":
            return None
        scale = self._number(scaled, wide)
        if scale is None or not scale > 0:
            return None
        low, high, at = -np.inf, np.inf, scaled
        while (reader := self._only_reader(at)) is not None and reader.op.short != "round_to":
            bounds = self._bounds(reader, at)
            if bounds is None:
                return None
            low, high = (float(np.clip(bound, *bounds)) for bound in (low, high))
            at = reader
        shift = None if reader is None else 0.0 if len(reader.args) == 1 else self._number(reader, at)
        if reader is None or shift is None:
            return None
        limits, zero = np.iinfo(reader.attrs["out_dtype"]), int(shift)
        least, greatest = (
            int(np.clip(np.rint(np.float32(b)) + zero, limits.min, limits.max)) for b in (low, high)
        )  # rounding never changes an order: what bounds a number bounds the rounded one when it is rounded too
        return replace(
            end, value=reader, rounding=Requantization(scale, zero, least, greatest, reader.struct_info.dtype)
        )

    def _bounds(self, call: NodeCall, operand: NodeCall) -> tuple[float, float] | None:
        """The bounds that an operator puts on a number; None for another one."""
        if call.op.short == "nn.relu":
            return 0.0, np.inf
        if call.op.short == "nn.relu6":
            return 0.0, 6.0
        if call.op.short in ("minimum", "maximum") and (number := self._number(call, operand)) is not None:
            return (-np.inf, number) if call.op.short == "minimum" else (number, np.inf)
        return None

    def _only_reader(self, call: NodeCall) -> NodeCall | None:
        """The call that alone reads a value."""
        readers = {use.owner.operation for use in call.node.results[0].uses}
        node = Node(readers.pop()) if uses(call.node.results[0]) == 1 else None
        is_node = node is not None and encoding.NAMES in node.op.attributes and len(node.results) == 1
        return self.rewriter.call(node) if node is not None and is_node else None

    def _number(self, call: NodeCall, operand: NodeCall) -> float | None:
        """The other operand of a call, where it is a weight of one number."""
        (other,) = [v for v in call.args if v != operand.node.results[0]] or [None]
        array = None if other is None else weight_array(self.graph, self.rewriter, other)
        return float(array.reshape(-1)[0]) if array is not None and array.size == 1 else None


def layers_of(rewriter: Rewriter) -> Iterator[NodeCall]:
    """The products and convolutions of a graph, in order."""
    for call, _ in rewriter.calls(IS_LAYER(varg_default_wildcard=True)):
        yield call
