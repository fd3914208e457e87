"""Recurrent layers: for each direction a loop over the sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.builder import value_list
from tir_mlir.graph.importers.emitter import OnnxValue, Operand, Size, is_number, static_size
from tir_mlir.graph.importers.layers import sized_range
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import Input, OnnxEmitter, onnx_op

if TYPE_CHECKING:
    from tir_mlir.graph.builder import GraphBuilder, Value

Gate: TypeAlias = "Callable[[OnnxEmitter, Value], Value]"


@dataclass
class _Layer:
    """One direction of a layer: its gates' weights, and what it does with a step. All in the type of the input."""

    hidden: int
    recurrences: list[
        tuple[Value, Value | None]
    ]  # (gates * hidden, hidden), and a bias (gates * hidden) or None, of each product
    activations: list[Gate]
    peepholes: list[Value] | None = None
    coupled: bool = False  # what is kept of a cell is 1 - what is taken

    def gates(self, e: OnnxEmitter, total: Value) -> list[Value]:
        count = static_size(total.shape[1], "the size of gates") // self.hidden
        return [e.slice(total, 1, n * self.hidden, (n + 1) * self.hidden) for n in range(count)]

    def recurrent(self, e: OnnxEmitter, state: Operand, product: int = 0) -> Value:
        """What the state adds to the gates of a product."""
        weights, bias = self.recurrences[product]
        y = e.op("nn.dense", state, weights)
        return y if bias is None else e.op("add", y, bias)


Step: TypeAlias = "Callable[[_Layer, OnnxEmitter, Value, Sequence[Value]], list[Value]]"
"""What the input adds to the gates, and the states -> the next states, the result first."""


def _rnn_step(layer: _Layer, e: OnnxEmitter, given: Operand, state: Sequence[Value]) -> list[Value]:
    return [layer.activations[0](e, e.op("add", given, layer.recurrent(e, state[0])))]


def _lstm_step(layer: _Layer, e: OnnxEmitter, given: Operand, state: Sequence[Value]) -> list[Value]:
    """Gates in the order input, output, forget, cell."""
    hidden, cell = state
    gates = layer.gates(e, e.op("add", given, layer.recurrent(e, hidden)))
    inner, squash, out = layer.activations

    def gate_with_peephole(number: int, cell_state: Value) -> Value:
        gate = gates[number]
        if layer.peepholes is not None:
            gate = e.op("add", gate, e.op("multiply", cell_state, layer.peepholes[number]))
        return inner(e, gate)

    taken = gate_with_peephole(0, cell)
    kept = e.op("subtract", e.constant(1, cell.dtype), taken) if layer.coupled else gate_with_peephole(2, cell)
    cell = e.op("add", e.op("multiply", kept, cell), e.op("multiply", taken, squash(e, gates[3])))
    return [e.op("multiply", gate_with_peephole(1, cell), out(e, cell)), cell]


def _gru_step(after: bool) -> Step:
    """Gates in the order update, reset, hidden. after: the reset is applied to the product with the state."""

    def step(layer: _Layer, e: OnnxEmitter, given: Value, state: Sequence[Value]) -> list[Value]:
        hidden, (inner, squash) = state[0], layer.activations
        update, reset, new = layer.gates(e, given)
        past = layer.gates(e, layer.recurrent(e, hidden))
        update, reset = inner(e, e.op("add", update, past[0])), inner(e, e.op("add", reset, past[1]))
        if after:
            kept = e.op("multiply", reset, past[2])
        else:
            kept = layer.recurrent(e, e.op("multiply", reset, hidden), 1)
        new = squash(e, e.op("add", new, kept))
        return [e.op("add", new, e.op("multiply", update, e.op("subtract", hidden, new)))]

    return step


def _activation(name: str, alpha: float | None, beta: float | None, clip: float | None) -> Gate:
    a, b = alpha, beta
    functions: dict[str, Gate] = {
        "sigmoid": lambda e, x: e.op("sigmoid", x),
        "tanh": lambda e, x: e.op("tanh", x),
        "relu": lambda e, x: e.op("nn.relu", x),
        "affine": lambda e, x: e.add(e.multiply(x, 1.0 if a is None else a), b or 0.0),
        "leakyrelu": lambda e, x: e.op("nn.leakyrelu", x, alpha=0.01 if a is None else a),
        "thresholdedrelu": lambda e, x: e.op(
            "where", e.binary("greater", x, 1.0 if a is None else a, x.dtype), x, e.constant(0, x.dtype)
        ),
        "scaledtanh": lambda e, x: e.multiply(
            e.op("tanh", e.multiply(x, 1.0 if b is None else b)), 1.0 if a is None else a
        ),
        "hardsigmoid": lambda e, x: e.clip(
            e.add(e.multiply(x, 0.2 if a is None else a), 0.5 if b is None else b), 0, 1
        ),
        "elu": lambda e, x: e.op("nn.elu", x, alpha=1.0 if a is None else a),
        "softsign": lambda e, x: e.op("nn.softsign", x),
        "softplus": lambda e, x: e.op("nn.softplus", x),
    }
    if name.lower() not in functions:
        raise GraphError(f"the activation {name} is not known\n  fix: one of {', '.join(functions)}")
    function = functions[name.lower()]
    return function if clip is None else lambda e, x: function(e, e.clip(x, -clip, clip))


@dataclass
class _Options:
    """The attributes that all recurrent layers have."""

    hidden_size: int | None = None
    direction: str = "forward"
    activations: Sequence[str] | None = None
    activation_alpha: Sequence[float] | None = None
    activation_beta: Sequence[float] | None = None
    clip: float | None = None
    layout: int = 0

    def of_direction(self, number: int, defaults: list[str]) -> list[Gate]:
        """The activations of a direction. Numbers for them are in their order, for those that take some."""
        names = list(self.activations or defaults * 2)
        alphas, betas = list(self.activation_alpha or []), list(self.activation_beta or [])
        of_all, count = [], len(defaults)
        for name in names:
            alpha = alphas.pop(0) if alphas and name.lower() in _WITH_ALPHA else None
            beta = betas.pop(0) if betas and name.lower() in _WITH_BETA else None
            clip = self.clip if len(of_all) % count < 2 else None  # ONNX Runtime does not clip the cell of an LSTM
            of_all.append(_activation(name, alpha, beta, clip))
        return of_all[number * count : (number + 1) * count]


_WITH_ALPHA = ("affine", "leakyrelu", "thresholdedrelu", "scaledtanh", "hardsigmoid", "elu")
_WITH_BETA = ("affine", "scaledtanh", "hardsigmoid")


@dataclass(frozen=True)
class _Kind:
    """What tells one recurrent layer from another: the gates of each product with the state, and a step."""

    products: list[range]
    activations: list[str]
    step: Step

    @property
    def gates(self) -> int:
        return self.products[-1].stop


class _Operands(NamedTuple):
    """The input, the weights and the recurrence; what there may be."""

    always: tuple[OnnxValue, OnnxValue, OnnxValue]
    biases: Input
    lengths: Input


def _layer_results(
    e: OnnxEmitter,
    kind: _Kind,
    operands: _Operands,
    options: _Options,
    states: Sequence[Input],
    peepholes: Input = None,
    coupled: bool = False,
) -> list[Value]:
    """All states of all steps (steps, directions, batch, hidden), and the last of each state."""
    x, weights, recurrence = (e.value(v) for v in operands.always)
    biases, lengths = e.value(operands.biases), e.value(operands.lengths)
    x = e.permute(x, [1, 0, 2]) if options.layout else x
    if is_number(x.shape[0], 0):
        raise GraphError("a sequence of 0 steps\n  fix: a sequence of at least one step")
    directions = static_size(weights.shape[0], "the number of directions")
    hidden = static_size(recurrence.shape[2], "the size of the state")
    if directions != 1 + (options.direction == "bidirectional"):
        raise GraphError(f"weights of {directions} directions, and the direction is {options.direction}")
    states = [s if s is None or not options.layout else e.permute(e.value(s), [1, 0, 2]) for s in states]
    rows = None if lengths is None else _running_rows(e, lengths, x.shape[0])
    zero = e.broadcast(e.constant(0, x.dtype), (x.shape[1], hidden))
    outputs, finals = [], []
    for number in range(directions):
        both = None if biases is None else _part(e, biases, number)
        given = e.op("nn.dense", x, _part(e, weights, number))
        given = given if both is None else e.op("add", given, e.slice(both, 0, 0, kind.gates * hidden))
        products, activations = _products(e, kind, _part(e, recurrence, number), both), kind.activations
        layer = _Layer(hidden, products, options.of_direction(number, activations), coupled=coupled)
        if peepholes is not None:
            part = _part(e, e.value(peepholes), number)
            layer.peepholes = [e.slice(part, 0, n * hidden, (n + 1) * hidden) for n in range(3)]
        first = [zero if s is None else _part(e, e.value(s), number) for s in states]
        every, last = _run_layer(e, layer, kind.step, given, first, rows, number == 1 or options.direction == "reverse")
        outputs.append(every)
        finals.append(last)
    every = e.op("stack", *outputs, axis=1)
    lasts = [e.op("stack", *(f[n] for f in finals), axis=0) for n in range(len(states))]
    if options.layout:
        every, lasts = e.permute(every, [2, 0, 1, 3]), [e.permute(s, [1, 0, 2]) for s in lasts]
    return [every, *lasts]


def _products(e: OnnxEmitter, kind: _Kind, recurrence: Value, both: Value | None) -> list[tuple[Value, Value | None]]:
    """The weights and the bias of each product with the state. both: the biases of the input, then of the state."""
    hidden, found = static_size(recurrence.shape[1], "the size of the state"), []
    for gates in kind.products:
        begin, end = gates.start * hidden, gates.stop * hidden
        skipped = kind.gates * hidden
        bias = None if both is None else e.slice(both, 0, skipped + begin, skipped + end)
        found.append((e.slice(recurrence, 0, begin, end), bias))
    return found


def _running_rows(e: OnnxEmitter, lengths: Value, steps: Size) -> Value:
    """For each step the rows of the batch whose sequence has it: bool (steps, batch, 1)."""
    if isinstance(steps, int):
        numbers = e.constant(np.arange(steps).reshape(-1, 1, 1), lengths.dtype)
    else:
        count = e.sizes([steps])[0]
        numbers = e.reshape(sized_range(e, 0, count, 1, lengths.dtype, e.name or "steps"), (steps, 1, 1))
    return e.op("less", numbers, e.reshape(lengths, (1, lengths.shape[0], 1)))


def _part(e: OnnxEmitter, x: Value, number: int) -> Value:
    return e.reshape(e.slice(x, 0, number, number + 1), x.shape[1:])


def _run_layer(
    e: OnnxEmitter, layer: _Layer, step: Step, given: Value, first: Sequence[Value], rows: Value | None, backward: bool
) -> tuple[Value, list[Value]]:
    """The first state of each step, joined, and the states after the last step of each row.

    given: what the inputs add to the gates, (steps, batch, gates * hidden). Rows that are shorter than the sequence
    keep their state behind their end, and 0 stands there in the result.
    """

    def advance_state(
        inner: OnnxEmitter, state: Sequence[Value], row: Value, runs: Operand | None = None
    ) -> list[Value]:
        new = step(layer, inner, row, state)
        if runs is None:
            return [*new, new[0]]
        kept = [inner.op("where", runs, now, before) for now, before in zip(new, state, strict=True)]
        return [*kept, inner.op("where", runs, new[0], inner.constant(0, new[0].dtype))]

    scanned = [given] if rows is None else [given, rows]
    if is_number(given.shape[0], 1):
        *last, only = advance_state(e, first, *(_part(e, x, 0) for x in scanned))
        return e.op("stack", only, axis=0), last

    def iteration(region: GraphBuilder, _: Value, *values: Value) -> list[Value]:
        return advance_state(OnnxEmitter(region, e.opset), values[: len(first)], *values[len(first) :])

    values = e.builder.loop(iteration, first, scanned, backward=backward, name_hint=e.name or "lv")
    *last, every = value_list(values)
    return every, last


@onnx_op("RNN")
def rnn(
    e: OnnxEmitter,
    x: OnnxValue,
    weights: OnnxValue,
    recurrence: OnnxValue,
    biases: Input = None,
    lengths: Input = None,
    initial: Input = None,
    output_sequence: int = 0,
    **options: Any,
) -> tuple[Value, ...]:
    """h = f(x W + h R + biases), all of them and the last."""
    kind, operands = _Kind([range(1)], ["Tanh"], _rnn_step), _Operands((x, weights, recurrence), biases, lengths)
    return tuple(_layer_results(e, kind, operands, _Options(**options), [initial]))


@onnx_op("GRU")
def gru(
    e: OnnxEmitter,
    x: OnnxValue,
    weights: OnnxValue,
    recurrence: OnnxValue,
    biases: Input = None,
    lengths: Input = None,
    initial: Input = None,
    linear_before_reset: int = 0,
    output_sequence: int = 0,
    **options: Any,
) -> tuple[Value, ...]:
    """The gated recurrent unit: all its states and the last."""
    after = bool(linear_before_reset)
    products = [range(3)] if after else [range(2), range(2, 3)]
    kind, operands = (
        _Kind(products, ["Sigmoid", "Tanh"], _gru_step(after)),
        _Operands((x, weights, recurrence), biases, lengths),
    )
    return tuple(_layer_results(e, kind, operands, _Options(**options), [initial]))


@onnx_op("LSTM")
def lstm(
    e: OnnxEmitter,
    x: OnnxValue,
    weights: OnnxValue,
    recurrence: OnnxValue,
    biases: Input = None,
    lengths: Input = None,
    initial: Input = None,
    initial_cell: Input = None,
    peepholes: Input = None,
    input_forget: int = 0,
    output_sequence: int = 0,
    **options: Any,
) -> tuple[Value, ...]:
    """Long short-term memory: all its hidden states, and the last hidden and cell state."""
    operands, kind = (
        _Operands((x, weights, recurrence), biases, lengths),
        _Kind([range(4)], ["Sigmoid", "Tanh", "Tanh"], _lstm_step),
    )
    states = [initial, initial_cell]
    return tuple(_layer_results(e, kind, operands, _Options(**options), states, peepholes, bool(input_forget)))
