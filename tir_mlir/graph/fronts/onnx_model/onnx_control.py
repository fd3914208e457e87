"""Branches whose condition is known, and loops whose number of turns is: written out."""

from __future__ import annotations

from typing import Any

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.emitter import axis_in, static
from tir_mlir.graph.fronts.onnx_model.onnx_emitter import NeedsValue, OnnxEmitter, onnx_op

_BRANCH = "control flow on data: a graph is one block\n  fix: export the model with Where of both results"
TURNS = 256
"""The most turns of a loop that are written out."""


@onnx_op("If")
def branch(e: OnnxEmitter, condition: Any, then_branch: Any, else_branch: Any) -> Any:
    if not isinstance(condition, np.ndarray):
        raise NeedsValue(_BRANCH, condition)
    chosen = then_branch if e.known(condition, "the condition of an If")[0] else else_branch
    return tuple(e.graph_results(chosen, []))


@onnx_op("Loop")
def loop(e: OnnxEmitter, trips: Any = None, condition: Any = None, *state: Any, body: Any) -> Any:
    """The state after all turns, and of each result of a turn all of them, along a new first axis."""
    most = None if trips is None else int(e.known(trips, "the number of turns of a Loop")[0])
    going = True if condition is None else bool(e.known(condition, "the condition of a Loop")[0])
    carried, scanned, turn = list(state), [], 0
    while going and (most is None or turn < most):
        if turn >= TURNS:
            raise GraphError(f"a Loop of more than {TURNS} turns is not written out\n  fix: compute on whole tensors")
        first = np.asarray(True) if condition is None else condition
        again, *results = e.graph_results(body, [np.asarray(turn, "int64"), first, *carried])
        carried, turn = results[: len(state)], turn + 1
        scanned.append(results[len(state) :])
        condition = again
        is_last = most is not None and turn >= most
        going = is_last or bool(e.known(again, "the condition of a Loop")[0])
    count = len(body.output) - 1 - len(state)
    if count and not scanned:
        raise GraphError("the results of a Loop without a turn have no shape\n  fix: a Loop of at least one turn")
    return (*carried, *(e.op("stack", *(r[n] for r in scanned), axis=0) for n in range(count)))


@onnx_op("Scan")
def scan(
    e: OnnxEmitter,
    *operands: Any,
    body: Any,
    num_scan_inputs: int,
    scan_input_axes: Any = None,
    scan_input_directions: Any = None,
    scan_output_axes: Any = None,
    scan_output_directions: Any = None,
    directions: Any = None,
) -> Any:
    """The state after a turn for each slice of the scanned operands, and the results of the turns along an axis."""
    if e.opset < 9:
        raise GraphError("a Scan of opset 8 is not supported\n  fix: export the model for opset 9 or newer")
    state, scanned = list(operands[:-num_scan_inputs]), [e.value(x) for x in operands[-num_scan_inputs:]]
    axes = [axis_in(a, len(x.shape)) for a, x in zip(scan_input_axes or [0] * len(scanned), scanned, strict=True)]
    turns = static(scanned[0].shape[axes[0]], "the number of turns of a Scan")
    if not 0 < turns <= TURNS:
        raise GraphError(f"a Scan of {turns} turns is not written out\n  fix: compute on whole tensors")
    backward = scan_input_directions or [0] * len(scanned)
    results = []
    for turn in range(turns):
        slices = [
            _slice(e, x, a, turns - 1 - turn if b else turn) for x, a, b in zip(scanned, axes, backward, strict=True)
        ]
        values = e.graph_results(body, [*state, *slices])
        state = values[: len(state)]
        results.append(values[len(state) :])
    count = len(body.output) - len(state)
    out_axes, reverse = scan_output_axes or [0] * count, scan_output_directions or [0] * count
    stacked = [
        e.op("stack", *[r[n] for r in (results[::-1] if reverse[n] else results)], axis=out_axes[n])
        for n in range(count)
    ]
    return (*state, *stacked)


def _slice(e: OnnxEmitter, x: Any, axis: int, place: int) -> Any:
    part = e.slice(x, axis, place, place + 1)
    return e.reshape(part, [s for n, s in enumerate(x.shape) if n != axis])
