"""Recurrent layers of torch: a loop over the sequence for each direction of each layer."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeAlias

from tir_mlir.graph.builder import value_list
from tir_mlir.graph.importers.aten.aten_table import aten
from tir_mlir.graph.importers.aten.torch_emitter import TorchEmitter
from tir_mlir.graph.importers.emitter import static_size

if TYPE_CHECKING:
    from tir_mlir.graph.builder import GraphBuilder, Value

_Step: TypeAlias = "Callable[[TorchEmitter, Value, Value, Sequence[Value]], list[Value]]"
"""What the input adds to the gates, what the state does, the states -> the next states, the result first."""


@aten("tir_mlir.recurrent")
def recurrent(
    e: TorchEmitter,
    kind: str,
    x: Value,
    states: Sequence[Value],
    weights: Sequence[Value],
    biases: bool,
    layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> list[Value]:
    """The results of all steps of the last layer, and the last states of all layers and directions.

    kind: LSTM, GRU, RNN_TANH or RNN_RELU. states: (layers * directions, batch, hidden) each. weights: of the input and
    of the state, and if `biases` the bias of each, for each direction of each layer.
    """
    x = e.permute(x, [1, 0, 2]) if batch_first else x
    of_each, directions = 4 if biases else 2, 1 + bidirectional
    lasts: list[list[Value]] = []
    for layer in range(layers):
        results = []
        for backward in range(directions):
            number = layer * directions + backward
            own = weights[number * of_each : (number + 1) * of_each]
            *last, every = _direction(e, kind, x, [_part(e, s, number) for s in states], own, bool(backward))
            results.append(every)
            lasts.append(last)
        x = results[0] if directions == 1 else e.op("concat", *results, axis=2)
    joined = [e.op("stack", *(last[n] for last in lasts), axis=0) for n in range(len(states))]
    return [e.permute(x, [1, 0, 2]) if batch_first else x, *joined]


def _direction(
    e: TorchEmitter, kind: str, x: Value, first: Sequence[Value], weights: Sequence[Value], backward: bool
) -> list[Value]:
    """The last states of a direction of a layer, and its results of all steps."""
    of_input, of_state, *biases = weights
    given = e.op("nn.dense", x, of_input)
    given = e.op("add", given, biases[0]) if biases else given

    def one(region: GraphBuilder, _: Value, *values: Value) -> list[Value]:
        *state, row = values
        inner = TorchEmitter(region, e.sizes)
        inner.node = e.node
        past = inner.op("nn.dense", state[0], of_state)
        past = inner.op("add", past, biases[1]) if biases else past
        following = _STEPS[kind](inner, row, past, state)
        return [*following, following[0]]

    return value_list(e.builder.loop(one, first, [given], backward=backward, name_hint=e.node.name))


def _part(e: TorchEmitter, x: Value, number: int) -> Value:
    return e.reshape(e.slice(x, 0, number, number + 1), x.shape[1:])


def _gates(e: TorchEmitter, total: Value, count: int) -> list[Value]:
    size = static_size(total.shape[1], "the size of gates") // count
    return [e.slice(total, 1, n * size, (n + 1) * size) for n in range(count)]


def _lstm(e: TorchEmitter, given: Value, past: Value, state: Sequence[Value]) -> list[Value]:
    taken, kept, new, out = _gates(e, e.op("add", given, past), 4)
    added = e.op("multiply", e.op("sigmoid", taken), e.op("tanh", new))
    cell = e.op("add", e.op("multiply", e.op("sigmoid", kept), state[1]), added)
    return [e.op("multiply", e.op("sigmoid", out), e.op("tanh", cell)), cell]


def _gru(e: TorchEmitter, given: Value, past: Value, state: Sequence[Value]) -> list[Value]:
    (reset, update, new), (reset_past, update_past, new_past) = _gates(e, given, 3), _gates(e, past, 3)
    reset = e.op("sigmoid", e.op("add", reset, reset_past))
    update = e.op("sigmoid", e.op("add", update, update_past))
    new = e.op("tanh", e.op("add", new, e.op("multiply", reset, new_past)))
    return [e.op("add", new, e.op("multiply", update, e.op("subtract", state[0], new)))]


_STEPS: dict[str, _Step] = {
    "LSTM": _lstm,
    "GRU": _gru,
    "RNN_TANH": lambda e, given, past, _: [e.op("tanh", e.op("add", given, past))],
    "RNN_RELU": lambda e, given, past, _: [e.op("nn.relu", e.op("add", given, past))],
}
