"""Recurrent layers in an exported program: one operator each, where torch writes out every step."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

_KINDS = {"lstm": "LSTM", "gru": "GRU", "rnn_tanh": "RNN_TANH", "rnn_relu": "RNN_RELU"}


@contextlib.contextmanager
def keep_recurrent_calls() -> Iterator[None]:
    """nn.LSTM, GRU and RNN call `tir_mlir::recurrent`, which has no code: it is to be exported, not run.

    Sequences that are packed, and states that are projected, are left to torch.
    """
    functions: Any = torch._VF
    former = {name: getattr(functions, name) for name in _KINDS}
    try:
        for name, function in former.items():
            setattr(functions, name, _intercept_call(_KINDS[name], function))
        yield
    finally:
        for name in former:
            delattr(functions, name)


def _intercept_call(kind: str, function: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any) -> Any:
        if len(args) != 9 or not isinstance(args[3], bool):  # of a packed sequence: its sizes are the second
            return function(*args)
        x, state, weights, biases, layers, _, training, bidirectional, batch_first = args
        states = list(state) if isinstance(state, (tuple, list)) else [state]
        directions = 1 + bidirectional
        if training or len(weights) != layers * directions * (4 if biases else 2):
            return function(*args)
        results = _recurrent(kind, x, states, list(weights), biases, layers, bidirectional, batch_first)
        return tuple(results)

    return call


@torch.library.custom_op("tir_mlir::recurrent", mutates_args=())
def _recurrent(
    kind: str,
    input: torch.Tensor,  # as torch's operators name it
    states: Sequence[torch.Tensor],
    weights: Sequence[torch.Tensor],
    biases: bool,
    layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> list[torch.Tensor]:
    raise NotImplementedError("tir_mlir::recurrent is exported, not run")


@_recurrent.register_fake
def _(
    kind: str,
    input: torch.Tensor,
    states: Sequence[torch.Tensor],
    weights: Sequence[torch.Tensor],
    biases: bool,
    layers: int,
    bidirectional: bool,
    batch_first: bool,
) -> list[torch.Tensor]:
    hidden = states[0].shape[-1] * (1 + bidirectional)
    return [input.new_empty(*input.shape[:-1], hidden), *(torch.empty_like(state) for state in states)]
