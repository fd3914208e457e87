"""Recurrent layers, written out: a step for each element of the sequence."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.emitter import static
from tir_mlir.graph.fronts.onnx_operators.onnx_emitter import OnnxEmitter, onnx_op

STEPS = 1024
"""The longest sequence that is written out."""

Gate = Callable[[Any], Any]


@dataclass
class _Layer:
    """One direction of a layer: its gates' weights, and what it does with a step. All in the type of the input."""

    e: OnnxEmitter
    hidden: int
    gates: int
    weights: Any  # (gates * hidden, inputs)
    recurrence: Any  # (gates * hidden, hidden)
    biases: tuple[Any, Any] | None  # of the input and of the state, (gates * hidden) each
    activations: list[Gate]
    peepholes: list[Any] | None = None

    def inputs(self, x: Any) -> Any:
        """x (steps, batch, inputs) -> what it adds to the gates, (steps, batch, gates * hidden)."""
        steps, batch, size = x.shape
        flat = self.e.op("nn.dense", self.e.reshape(x, (steps * batch, size)), self.weights)
        flat = flat if self.biases is None else self.e.op("add", flat, self.biases[0])
        return self.e.reshape(flat, (steps, batch, self.gates * self.hidden))

    def gate(self, total: Any, number: int) -> Any:
        return self.e.slice(total, 1, number * self.hidden, (number + 1) * self.hidden)

    def recurrent(self, state: Any, first: int = 0, last: int | None = None) -> Any:
        """What the state adds to the gates first..last, with their bias."""
        begin, end = first * self.hidden, (self.gates if last is None else last) * self.hidden
        y = self.e.op("nn.dense", state, self.e.slice(self.recurrence, 0, begin, end))
        return y if self.biases is None else self.e.op("add", y, self.e.slice(self.biases[1], 0, begin, end))


def _rnn_step(layer: _Layer, given: Any, state: list[Any]) -> list[Any]:
    return [layer.activations[0](layer.e.op("add", given, layer.recurrent(state[0])))]


def _lstm_step(layer: _Layer, given: Any, state: list[Any]) -> list[Any]:
    """Gates in the order input, output, forget, cell."""
    e, (hidden, cell) = layer.e, state
    total = e.op("add", given, layer.recurrent(hidden))
    inner, squash, out = layer.activations

    def seen(number: int, cell_state: Any, peephole: int) -> Any:
        gate = layer.gate(total, number)
        if layer.peepholes is not None:
            gate = e.op("add", gate, e.op("multiply", cell_state, layer.peepholes[peephole]))
        return inner(gate)

    taken, kept = seen(0, cell, 0), seen(2, cell, 2)
    cell = e.op("add", e.op("multiply", kept, cell), e.op("multiply", taken, squash(layer.gate(total, 3))))
    return [e.op("multiply", seen(1, cell, 1), out(cell)), cell]


def _gru_step(after: bool) -> Any:
    """Gates in the order update, reset, hidden. after: the reset is applied to the product with the state."""

    def step(layer: _Layer, given: Any, state: list[Any]) -> list[Any]:
        e, (hidden,) = layer.e, state
        inner, squash = layer.activations
        both = e.op("add", e.slice(given, 1, 0, 2 * layer.hidden), layer.recurrent(hidden, 0, 2))
        update, reset = inner(layer.gate(both, 0)), inner(layer.gate(both, 1))
        if after:
            past = e.op("multiply", reset, layer.recurrent(hidden, 2, 3))
        else:
            past = layer.recurrent(e.op("multiply", reset, hidden), 2, 3)
        new = squash(e.op("add", layer.gate(given, 2), past))
        return [e.op("add", new, e.op("multiply", update, e.op("subtract", hidden, new)))]

    return step


def _activation(e: OnnxEmitter, name: str, alpha: float | None, beta: float | None, clip: float | None) -> Gate:
    a, b = alpha, beta
    functions: dict[str, Gate] = {
        "sigmoid": lambda x: e.op("sigmoid", x),
        "tanh": lambda x: e.op("tanh", x),
        "relu": lambda x: e.op("nn.relu", x),
        "affine": lambda x: e.add(e.multiply(x, 1.0 if a is None else a), b or 0.0),
        "leakyrelu": lambda x: e.op("nn.leakyrelu", x, alpha=0.01 if a is None else a),
        "thresholdedrelu": lambda x: e.op("where", e.binary("greater", x, 1.0 if a is None else a, x.dtype), x, 0.0),
        "scaledtanh": lambda x: e.multiply(
            e.op("tanh", e.multiply(x, 1.0 if b is None else b)), 1.0 if a is None else a
        ),
        "hardsigmoid": lambda x: e.clip(e.add(e.multiply(x, 0.2 if a is None else a), 0.5 if b is None else b), 0, 1),
        "elu": lambda x: e.op("nn.elu", x, alpha=1.0 if a is None else a),
        "softsign": lambda x: e.op("nn.softsign", x),
        "softplus": lambda x: e.op("nn.softplus", x),
    }
    if name.lower() not in functions:
        raise GraphError(f"the activation {name} is not known\n  fix: one of {', '.join(functions)}")
    function = functions[name.lower()]
    return function if clip is None else lambda x: function(e.clip(x, -clip, clip))


@dataclass
class _Options:
    """The attributes that all recurrent layers have."""

    hidden_size: int | None = None
    direction: str = "forward"
    activations: Any = None
    activation_alpha: Any = None
    activation_beta: Any = None
    clip: float | None = None
    layout: int = 0

    def of_direction(self, e: OnnxEmitter, number: int, defaults: list[str]) -> list[Gate]:
        """The activations of a direction. Numbers for them are in their order, for those that take some."""
        names = list(self.activations or defaults * 2)
        alphas, betas = list(self.activation_alpha or []), list(self.activation_beta or [])
        of_all = []
        for name in names:
            alpha = alphas.pop(0) if alphas and name.lower() in _WITH_ALPHA else None
            beta = betas.pop(0) if betas and name.lower() in _WITH_BETA else None
            of_all.append(_activation(e, name, alpha, beta, self.clip))
        count = len(defaults)
        return of_all[number * count : (number + 1) * count]


_WITH_ALPHA = ("affine", "leakyrelu", "thresholdedrelu", "scaledtanh", "hardsigmoid", "elu")
_WITH_BETA = ("affine", "scaledtanh", "hardsigmoid")


def _layer_results(
    e: OnnxEmitter,
    operands: Sequence[Any],
    options: _Options,
    gates: int,
    defaults: list[str],
    step: Any,
    states: Sequence[Any],
    peepholes: Any = None,
) -> list[Any]:
    """All states of all steps (steps, directions, batch, hidden), and the last of each state."""
    x, weights, recurrence = map(e.value, operands[:3])
    biases, lengths = (None if v is None else e.value(v) for v in operands[3:])
    x = e.permute(x, [1, 0, 2]) if options.layout else x
    steps, batch = static(x.shape[0], "the length of a sequence"), x.shape[1]
    if steps > STEPS or steps == 0:
        raise GraphError(f"a sequence of {steps} steps is not written out\n  fix: 1 to {STEPS} steps")
    directions, hidden = weights.shape[0], recurrence.shape[2]
    if directions != 1 + (options.direction == "bidirectional"):
        raise GraphError(f"weights of {directions} directions, and the direction is {options.direction}")
    states = [s if s is None or not options.layout else e.permute(e.value(s), [1, 0, 2]) for s in states]
    outputs, finals = [], []
    for number in range(directions):
        layer = _Layer(e, hidden, gates, _part(e, weights, number), _part(e, recurrence, number), None, [])
        if biases is not None:
            both = _part(e, biases, number)
            layer.biases = e.slice(both, 0, 0, gates * hidden), e.slice(both, 0, gates * hidden, 2 * gates * hidden)
        layer.activations = options.of_direction(e, number, defaults)
        if peepholes is not None:
            part = _part(e, e.value(peepholes), number)
            layer.peepholes = [e.slice(part, 0, n * hidden, (n + 1) * hidden) for n in range(3)]
        zero = e.broadcast(e.constant(0, x.dtype), (batch, hidden))
        first = [zero if s is None else _part(e, e.value(s), number) for s in states]
        backward = options.direction == "reverse" or number == 1
        every, last = _run(layer, step, x, first, lengths, backward)
        outputs.append(every)
        finals.append(last)
    every = e.op("stack", *outputs, axis=1)
    lasts = [e.op("stack", *(f[n] for f in finals), axis=0) for n in range(len(states))]
    if options.layout:
        every, lasts = e.permute(every, [2, 0, 1, 3]), [e.permute(s, [1, 0, 2]) for s in lasts]
    return [every, *lasts]


def _part(e: OnnxEmitter, x: Any, number: int) -> Any:
    return e.reshape(e.slice(x, 0, number, number + 1), x.shape[1:])


def _run(layer: _Layer, step: Any, x: Any, state: list[Any], lengths: Any, backward: bool) -> tuple[Any, list[Any]]:
    """The first state of each step, joined, and the states after the last step of each row.

    Rows that are shorter than the sequence keep their state behind their end, and 0 stands there in the result.
    """
    e, given, steps = layer.e, layer.inputs(x), x.shape[0]
    results: list[Any] = [None] * steps
    lengths = None if lengths is None else e.reshape(lengths, (lengths.shape[0], 1))
    for n in range(steps)[::-1] if backward else range(steps):
        new = step(layer, _part(e, given, n), state)
        if lengths is None:
            results[n], state = new[0], new
            continue
        runs = e.binary("greater", lengths, n, lengths.dtype)
        state = [e.op("where", runs, now, before) for now, before in zip(new, state, strict=True)]
        results[n] = e.op("where", runs, new[0], e.constant(0, x.dtype))
    return e.op("stack", *results, axis=0), state


@onnx_op("RNN")
def rnn(
    e: OnnxEmitter,
    x: Any,
    weights: Any,
    recurrence: Any,
    biases: Any = None,
    lengths: Any = None,
    initial: Any = None,
    output_sequence: int = 0,
    **options: Any,
) -> Any:
    """h = f(x W + h R + biases), all of them and the last."""
    operands = x, weights, recurrence, biases, lengths
    return tuple(_layer_results(e, operands, _Options(**options), 1, ["Tanh"], _rnn_step, [initial]))


@onnx_op("GRU")
def gru(
    e: OnnxEmitter,
    x: Any,
    weights: Any,
    recurrence: Any,
    biases: Any = None,
    lengths: Any = None,
    initial: Any = None,
    linear_before_reset: int = 0,
    output_sequence: int = 0,
    **options: Any,
) -> Any:
    """The gated recurrent unit: all its states and the last."""
    operands, step = (x, weights, recurrence, biases, lengths), _gru_step(bool(linear_before_reset))
    return tuple(_layer_results(e, operands, _Options(**options), 3, ["Sigmoid", "Tanh"], step, [initial]))


@onnx_op("LSTM")
def lstm(
    e: OnnxEmitter,
    x: Any,
    weights: Any,
    recurrence: Any,
    biases: Any = None,
    lengths: Any = None,
    initial: Any = None,
    initial_cell: Any = None,
    peepholes: Any = None,
    input_forget: int = 0,
    output_sequence: int = 0,
    **options: Any,
) -> Any:
    """Long short-term memory: all its hidden states, and the last hidden and cell state."""
    if input_forget:
        raise GraphError("input_forget=1 is not supported\n  fix: export the model with separate gates")
    operands, defaults = (x, weights, recurrence, biases, lengths), ["Sigmoid", "Tanh", "Tanh"]
    states = [initial, initial_cell]
    return tuple(_layer_results(e, operands, _Options(**options), 4, defaults, _lstm_step, states, peepholes))
