"""Round the weights of a graph to fewer bits."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.dialect.graph import TensorType, create, encoding, free_name, node_of, tensor_func
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.model_weights import computed_weights, weight_functions
from tir_mlir.graph.operators import OperatorKind, kind_of
from tir_mlir.graph.precision.formats import (
    BFLOAT16,
    INT4,
    Format,
    Rounded,
    format_of,
    hindrance,
    packed_group,
    placeholder_weight,
    round_weight,
)
from tir_mlir.graph.precision.rounding import Rounding, WeightError, weight_error
from tir_mlir.graph.rewrite import NodeCall, Rewriter, is_kind, is_op, wildcard
from tir_mlir.graph.transforms.channels_last import channels_last
from tir_mlir.graph.transforms.clean import clean, erase_dead_nodes
from tir_mlir.graph.transforms.fold_batch_norm import fold_batch_norm
from tir_mlir.graph.transforms.lift_weights import (
    DERIVES,
    constants_to_weights,
    drop_unused_inputs,
    lift_weights,
    stored_weights,
    weights_graph,
)
from tir_mlir.graph.transforms.simplify import simplify

if TYPE_CHECKING:
    from tir_mlir.graph.operators.attributes import PlainAttribute

_W = wildcard()
_PRODUCT = is_kind(OperatorKind.PRODUCT, OperatorKind.CONVOLUTION)(varg_default_wildcard=True)
"""The calls whose second operand is rounded."""
_TRANSPOSED = is_op("permute_dims")(_W).where(
    lambda call: len(call.shape) == 2 and call.attrs.get("axes") in (None, [1, 0])
)
Choice = Sequence[str] | Callable[[str, tuple[int, ...]], bool]
"""Names of weights, with `*` for any letters, or a function of name and shape."""


def quantize_weights(
    graph: Graph,
    dtype: str,
    group: int | None = None,
    *,
    activations: str | None = None,
    only: Choice | None = None,
    keep: Choice = (),
) -> Graph:
    """Round the weights of products and convolutions, which are stored in fewer bits and widened where they are read.

        lv = R.nn.dense(x, w)      ->      lv = R.nn.dense(x, R.astype(w_bfloat16, "float32"))          "bfloat16"
                                           lv = R.nn.dense(x, R.astype(w_int8, "float32")) * w_scale    "int8"
                                           lv = R.nn.dense(x, R.dequantize_group(w_int4, w_scale))      "int4"

    dtype: "bfloat16" ("bf16"); "int8", with a scale for each output channel; "int4", with a scale for each group of a
    row, as "int8" has too if group is given. activations: what products multiply is rounded too, in each call:
    "bfloat16" for weights of bfloat16; "int8" for weights of integers of dense layers, with a step for each row, and
    sums in int32: of a row, or, with `group`, of a group, which has one scale. only: the weights to round, as names or
    a function of name and shape (default: all that can be); keep: weights to leave alone. Norms, biases and embeddings
    remain as they are. Batch normalization is folded first.
    `rounding` of the result tells the error of each weight, and why others were kept; `compare` that of the outputs on
    given inputs. Raises GraphError for an unknown format, a name that no weight of a product has, or a weight that
    `only` names and the format cannot store.
    """
    how = format_of(dtype, group, activations)
    quantized = with_computed_weights(channels_last(fold_batch_norm(simplify(graph)))).clone()
    with enter_context():
        _Quantize(quantized, how, WeightSelection(only, keep)).run()
    quantized = clean(quantized)
    with enter_context():
        keep_read_weights(quantized)
    return quantized


def quantize_without_values(graph: Graph, how: Format) -> tuple[Graph, dict[str, bool]]:
    """The graph that `quantize_weights` makes of one whose weights have shapes and no values yet, in bfloat16 or a
    format of groups; and the names of the weights that are rounded: whether each is read transposed. The arrays of
    rounded weights have no values; the names of those of each are the attribute STORED of the graph. What is computed
    from other weights is left in the graph."""
    quantized = channels_last(fold_batch_norm(simplify(graph))).clone()
    with enter_context():
        (state := _QuantizeWithoutValues(quantized, how, WeightSelection(None, ()))).run()
    quantized = clean(quantized)
    with enter_context():
        keep_read_weights(quantized)
    return quantized, {name: transposed for name, transposed, _ in state.stored}


@dataclass(frozen=True)
class WeightUse:
    """A weight of a product: its call, the parameter of the graph, its name, the axis of the channels, and whether the
    product reads it transposed: (inputs, outputs)."""

    call: NodeCall
    value: ir.Value
    name: str
    axis: int
    transposed: bool = False


class WeightSelection:
    """Which weights to round."""

    def __init__(self, only: Choice | None, keep: Choice):
        self.only, self.keep = only, keep

    def __call__(self, name: str, shape: tuple[int, ...]) -> bool:
        return (self.only is None or _picks(self.only, name, shape)) and not _picks(self.keep, name, shape)

    def check(self, names: Sequence[str]) -> None:
        """Raise GraphError for a pattern that fits none of these names."""
        for choice in (self.only, self.keep):
            for pattern in () if choice is None or callable(choice) else choice:
                if not any(fnmatchcase(name, pattern) for name in names):
                    weight_names = ", ".join(names) or "none"
                    raise GraphError(f"no product has a weight {short_repr(pattern)}; fix: one of {weight_names}")

    def insists(self) -> bool:
        """Whether the weights were named."""
        return self.only is not None and not callable(self.only)


def _picks(choice: Choice, name: str, shape: tuple[int, ...]) -> bool:
    if callable(choice):
        return bool(choice(name, shape))
    return any(fnmatchcase(name, pattern) for pattern in choice)


class _Quantize:
    """The state of rounding the weights of one graph, in place."""

    def __init__(self, graph: Graph, how: Format, chosen: WeightSelection):
        self.graph, self.how, self.chosen = graph, how, chosen
        self.rewriter = Rewriter(graph)
        self.stored: dict[tuple[str, bool, int], tuple[ir.Value, ir.Value | None]] = {}
        self.errors: dict[str, WeightError] = {}
        self.kept: dict[str, str] = {}

    def run(self) -> None:
        uses = list(uses_of(self.rewriter))
        self.chosen.check(list(dict.fromkeys(use.name for use in uses)))
        for use in uses:
            weight = array_of(self.graph, use)
            if not self.chosen(use.name, weight.shape):
                self.kept[use.name] = "it was not chosen"
            elif why := hindrance(weight, self.how, use.axis):
                if self.chosen.insists():
                    raise GraphError(f"the weight {use.name} cannot be stored as {self.how}: {why}")
                self.kept[use.name] = why
            else:
                self._replace(use, weight)
        previous = self.graph.rounding or Rounding()
        self.graph.rounding = previous.merge(Rounding(tuple(self.errors.values()), self.kept))

    def _replace(self, use: WeightUse, weight: np.ndarray) -> None:
        key = use.name, use.transposed, use.axis
        if key not in self.stored:
            self.stored[key] = self._add(use.name, self._round_weight(use, weight))
        stored, scale = self.stored[key]
        use.call.replace(rounded_product(use.call, self.how, stored, scale))

    def _round_weight(self, use: WeightUse, weight: np.ndarray) -> Rounded:
        found = round_weight(weight, self.how, use.axis)
        self.errors[use.name] = weight_error(use.name, weight, found, self.how)
        return found

    def _add(self, name: str, rounded_weight: Rounded) -> tuple[ir.Value, ir.Value | None]:
        """Add the arrays of a rounded weight as weights."""
        dtype = BFLOAT16 if self.how.name == BFLOAT16 else rounded_weight.stored.dtype.name
        stored = self._weight(f"{name}.{self.how.name}", rounded_weight.stored, dtype, name)
        scale = (
            None
            if rounded_weight.scale is None
            else self._weight(f"{name}.scale", rounded_weight.scale, "float32", name)
        )
        return stored, scale

    def _weight(self, hint: str, array: np.ndarray, dtype: str, original: str) -> ir.Value:
        name, func = free_name(hint, self.graph.weights), self.rewriter.func
        self.graph.weights[name] = array
        stored = attrs.get(func.op, encoding.STORED, {})
        attrs.put(func.op, encoding.STORED, {**stored, original: [*stored.get(original, []), name]})
        return create.add_input(func, name, TensorType(array.shape, dtype), name)


class _QuantizeWithoutValues(_Quantize):
    """The same for weights without values."""

    def _round_weight(self, use: WeightUse, weight: np.ndarray) -> Rounded:
        return placeholder_weight((weight.shape[0], weight.shape[1]), self.how)


def uses_of(rewriter: Rewriter) -> Iterator[WeightUse]:
    """The weights of products that were not rounded before."""
    func, stored = rewriter.func, stored_weights(rewriter.func.op)
    for call, _ in rewriter.calls(_PRODUCT):
        value, turned = call.args[1], call.op.short == "matmul"
        if turned and (bindings := _TRANSPOSED.find_matches(value, rewriter.definition)):
            value, turned = bindings[_W], False
        if not isinstance(value, ir.BlockArgument):
            continue
        number = ir.BlockArgument(value).arg_number
        name, type_ = func.weight(number), func.input_type(number)
        if name is None or name in stored or type_.dtype != "float32":
            continue
        axis = _channel(call) if is_convolution(call) else 0 if type_.ndim == 2 else None
        if axis is not None:
            yield WeightUse(call, value, name, axis, turned)


def array_of(graph: Graph, use: WeightUse) -> np.ndarray:
    """The numbers of a weight, of a dense layer as (outputs, inputs)."""
    array = graph.weights[use.name]
    return np.ascontiguousarray(array.T) if use.transposed else array


def _channel(call: NodeCall) -> int | None:
    """The axis of the output channels in the weight of a convolution; None where it is blocked."""
    layouts = (call.attrs["kernel_layout"], call.attrs.get("out_layout") or call.attrs["data_layout"])
    return layouts[0].index("O") if all(x.isalpha() and x.isupper() for x in layouts) else None


LEAST = 1e-30
"""The least step of rounded activations: those of a row of zeros."""


def is_convolution(call: NodeCall) -> bool:
    return kind_of(call.op.short) is OperatorKind.CONVOLUTION


def rounded_product(call: NodeCall, how: Format, stored: ir.Value, scale: ir.Value | None) -> ir.Value:
    """The result of a product with a rounded weight, before its node. See `quantize_weights`."""
    product = _without_bias(call, how, stored, scale)
    return product if len(call.args) == 2 else call.emit("add", [product, call.args[2]])


def _without_bias(call: NodeCall, how: Format, stored: ir.Value, scale: ir.Value | None) -> ir.Value:
    if how.activations is not None and scale is None:
        return _bfloat16_product(call, stored)
    if how.activations is not None and scale is not None and not is_convolution(call):
        return _integer_product(call, how, stored, scale)
    emit = call.emit
    if how.group is not None and scale is not None:
        group_attrs = {"group_size": how.group, "bits": 4 if how.name == INT4 else 8}
        return product_of(call, call.args[0], emit("dequantize_group", [stored, scale], group_attrs))
    product = product_of(call, call.args[0], emit("astype", [stored], {"dtype": "float32"}))
    return product if scale is None else emit("multiply", [product, _reshape_channel_scales(call, scale)])


def product_of(call: NodeCall, lhs: ir.Value, rhs: ir.Value, **overrides: PlainAttribute) -> ir.Value:
    """The operator of a node with other operands; a matmul by a dense layer, whose weight is (outputs, inputs)."""
    dense = call.op.short == "matmul"
    attributes = {} if dense else call.attrs
    return call.emit("nn.dense" if dense else call.op.short, [lhs, rhs], {**attributes, **overrides})


def _bfloat16_product(call: NodeCall, stored: ir.Value) -> ir.Value:
    """R.nn.dense(R.astype(x, "bfloat16"), w_bfloat16, out_dtype="float32")"""
    lhs = call.emit("astype", call.args[:1], {"dtype": BFLOAT16})
    return product_of(call, lhs, stored, out_dtype="float32")


def _integer_product(call: NodeCall, how: Format, stored: ir.Value, scale: ir.Value) -> ir.Value:
    """step = max(abs(x)) / 127 of each row; R.nn.dense(int8(round(x / step)), w, out_dtype="int32") * step * scale, or
    R.dense_groups(int8(round(x / step)), w, scale) * step"""
    emit, x = call.emit, call.args[0]
    top = emit("max", [emit("abs", [x])], {"axis": [-1], "keepdims": True})
    step = emit("multiply", [top, call.number(1 / 127, top)])
    step = emit("maximum", [step, call.number(LEAST, step)])
    steps = emit("round", [emit("divide", [x, step])])  # -127 to 127: 127 steps are the largest
    lhs = emit("astype", [steps], {"dtype": "int8"})
    if how.group is not None:
        group_attrs = {"group_size": how.group, "bits": 4 if how.name == INT4 else 8}
        return emit("multiply", [emit("dense_groups", [lhs, stored, scale], group_attrs), step])
    rhs = _unpack_int4(call, stored) if how.name == INT4 else stored
    sums = emit("astype", [product_of(call, lhs, rhs, out_dtype="int32")], {"dtype": "float32"})
    return emit("multiply", [emit("multiply", [sums, step]), scale])


def _unpack_int4(call: NodeCall, stored: ir.Value) -> ir.Value:
    columns = 2 * int(call.type_of(stored).shape[-1])
    return call.emit("unpack_int4", [stored], {"group_size": packed_group(columns)})


def _reshape_channel_scales(call: NodeCall, scale: ir.Value) -> ir.Value:
    """The scales of the channels of a result, for a product with it."""
    attributes, rank = call.attrs, len(call.shape)
    layout = (attributes.get("out_layout") or attributes["data_layout"]) if is_convolution(call) else None
    if layout is None or layout.index("C") == rank - 1:
        return scale
    (channels,) = call.type_of(scale).shape
    shape = [channels if letter == "C" else 1 for letter in layout]
    return call.emit("reshape", [scale], {"shape": shape})


def with_computed_weights(graph: Graph) -> Graph:
    """Compute what depends on weights only, and make it weights.

        func.func @main(%x, %w {graph.weight = "w"}) { %0 = multiply(%w, %w) ; %1 = dense(%x, %0) ; return %1 }
    ->  func.func @main(%x, %0 {graph.weight = "w"}) { %1 = dense(%x, %0) ; return %1 }

    A computed weight has the name of the one that it is computed from, if that is not read itself any more. Weights
    that are no longer read have no arrays in the result.
    """
    lifted = lift_weights(constants_to_weights(graph))
    with enter_context():
        weights_func = weights_graph(lifted)
        if weights_func is None:
            return graph
        name, derived = weights_func.name, list(attrs.get(weights_func.op, DERIVES))
        sources = dict(zip(derived, map(_source, weights_func.outputs), strict=True))
        sources = {name: None if n is None else weights_func.input_name(n) for name, n in sources.items()}
    arrays = _compute_outputs(lifted)
    clone = lifted.clone()
    with enter_context():
        tensor_func(clone.module.mlir, name).op.erase()
        clone.weights |= dict(zip(derived, arrays, strict=True))
        keep_read_weights(clone)
        for name, source in sources.items():
            if name in clone.weights and source is not None and source not in clone.weights:
                _rename(clone, name, source)
    return clean(clone)


def keep_read_weights(graph: Graph) -> None:
    """Drop the weights that no node reads, in place."""
    func = graph.func
    drop_unused_inputs(func)
    read = {func.weight(n) for n in range(len(func.inputs))}
    graph.weights = {name: array for name, array in graph.weights.items() if name in read}
    graph.from_text &= frozenset(graph.weights)


def _source(value: ir.Value) -> int | None:
    """The number of the input, of as many elements, that a value is computed from; None if there is none."""
    if isinstance(value, ir.BlockArgument):
        return ir.BlockArgument(value).arg_number
    node, count = node_of(value), _count(value)
    operands = [v for v in (node.inputs if node is not None else []) if _count(v) == count]
    return _source(operands[0]) if operands else None


def _count(value: ir.Value) -> int:
    return prod(ir.RankedTensorType(value.type).shape)


def _rename(graph: Graph, name: str, new_name: str) -> None:
    """Give a weight another name."""
    func = graph.func
    facts = attrs.argument_attrs(func.op)
    for number in range(len(facts)):
        if func.weight(number) == name:
            named = {encoding.WEIGHT: ir.StringAttr.get(new_name), attrs.NAME: ir.StringAttr.get(new_name)}
            facts[number] = {**facts[number], **named}
    func.op.attributes["arg_attrs"] = ir.ArrayAttr.get([ir.DictAttr.get(f) for f in facts])
    graph.weights[new_name] = graph.weights.pop(name)


def _compute_outputs(lifted: Graph) -> list[np.ndarray]:
    """The outputs of the graph that computes weights."""
    alone = lifted.clone()
    with enter_context():
        create.set_outputs(alone.func, [])
        erase_dead_nodes(alone.func)
    compiled = compile_graph(alone, resume_after="lift_weights")
    return computed_weights(compiled, weight_functions(compiled))
