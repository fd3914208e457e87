"""Branches and loops: written out where the condition, or the number of turns, is known; else regions of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.builder import value_list
from tir_mlir.graph.importers.data_sizes import first_rows
from tir_mlir.graph.importers.emitter import OnnxValue, axis_in
from tir_mlir.graph.importers.onnx_operators.onnx_data_sizes import fresh_size
from tir_mlir.graph.importers.onnx_operators.onnx_emitter import (
    Input,
    NeedsValue,
    OnnxEmitter,
    Result,
    TensorSequence,
    onnx_op,
)

if TYPE_CHECKING:
    import onnx

    from tir_mlir.graph.builder import GraphBuilder, Value


MAX_UNROLLED_ITERATIONS, MAX_COUNTED_ITERATIONS = 256, 4096
"""The most turns of a loop that are written out; that are counted by computing its condition."""


@onnx_op("If")
def branch(
    e: OnnxEmitter, condition: OnnxValue, then_branch: onnx.GraphProto, else_branch: onnx.GraphProto
) -> tuple[Result, ...]:
    """The results of a side; of a condition on data the sequences of both are of the same length."""
    if isinstance(condition, np.ndarray):
        chosen = then_branch if e.known_elements(condition, "the condition of an If")[0] else else_branch
        return tuple(e.graph_results(chosen, []))
    counted: dict[int, tuple[int, str]] = {}
    lengths: list[list[int | None]] = []

    def side(graph: onnx.GraphProto, region: GraphBuilder) -> list[Any]:
        made = e.graph_results(graph, [], region)
        lengths.append([len(x) if isinstance(x, TensorSequence) else None for x in made])
        return [v for x in made for v in (x if isinstance(x, TensorSequence) else [x])]

    def count(*made: Sequence[Value]) -> dict[int, tuple[int, str]]:
        if lengths[0] != lengths[1]:
            raise NeedsValue(
                f"an If on data whose sides return sequences of different lengths, {lengths[0]} and {lengths[1]}\n"
                "  fix: make its condition a constant, or of an input: from_onnx(..., values={name: array})",
                condition,
            )
        axes = [_differing_axis(*pair) for pair in zip(*made, strict=False)]
        counted.update({n: (axis, fresh_size(e)) for n, axis in enumerate(axes) if axis is not None})
        return counted

    then, otherwise = partial(side, then_branch), partial(side, else_branch)
    results = value_list(e.builder.branch(condition, then, otherwise, counted=count, name_hint=e.name or "lv"))
    e.inputs += [results[number] for number in counted]  # they carry their sizes
    flat = iter(results)
    return tuple(next(flat) if n is None else TensorSequence(next(flat) for _ in range(n)) for n in lengths[0])


def _differing_axis(then: Value, otherwise: Value) -> int | None:
    """The axis whose size the side of a branch that runs decides on, if there is one and all others are equal."""
    pairs = list(zip(then.shape, otherwise.shape, strict=False))
    differing = [axis for axis, (left, right) in enumerate(pairs) if left != right]
    return differing[0] if len(differing) == 1 and len(then.shape) == len(otherwise.shape) else None


@onnx_op("Loop")
def loop(
    e: OnnxEmitter, trips: Input = None, condition: Input = None, *state: OnnxValue, body: onnx.GraphProto
) -> Sequence[Result]:
    """The state after all iterations, and of each result of an iteration all of them, along a new first axis."""
    if not _is_unrollable(trips, condition, body):
        return _runtime_loop(e, trips, condition, state, body)
    most = None if trips is None else e.known_integer(trips, "the number of turns of a Loop")
    going = True if condition is None else bool(e.known_elements(condition, "the condition of a Loop")[0])
    carried, scanned, iteration = list(state), [], 0
    while going and (most is None or iteration < most):
        if iteration >= MAX_UNROLLED_ITERATIONS:
            raise GraphError(
                f"a Loop of more than {MAX_UNROLLED_ITERATIONS} turns is not written out\n  fix: compute on whole "
                "tensors"
            )
        first = np.asarray(True) if condition is None else condition
        again, *results = e.graph_results(body, [np.asarray(iteration, "int64"), first, *carried])
        carried, iteration = results[: len(state)], iteration + 1
        scanned.append(results[len(state) :])
        condition = again
        is_last = most is not None and iteration >= most
        going = is_last or bool(e.known_elements(again, "the condition of a Loop")[0])
    count = len(body.output) - 1 - len(state)
    if count and not scanned:
        raise GraphError(
            "the results of a Loop without an iteration have no shape\n  fix: a Loop of at least one iteration"
        )
    return (*carried, *(e.op("stack", *(r[n] for r in scanned), axis=0) for n in range(count)))


def _is_unrollable(trips: Input, condition: Input, body: onnx.GraphProto) -> bool:
    """Whether the number of turns of a loop is known, and small."""
    if any(x is not None and not isinstance(x, np.ndarray) for x in (trips, condition)):
        return False
    counted = trips is not None and _always_continues(body)
    return int(np.asarray(trips).reshape(-1)[0]) <= MAX_UNROLLED_ITERATIONS if counted else not _tests_state(body)


def _always_continues(body: onnx.GraphProto) -> bool:
    """Whether the body of a loop returns the condition that it is given, or true."""
    name, given = body.output[0].name, body.input[1].name
    makers = {output: node for node in body.node for output in node.output}
    while name in makers and makers[name].op_type == "Identity":
        name = makers[name].input[0]
    constants = {x.name: x for x in body.initializer}
    return name == given or name in constants or (name in makers and makers[name].op_type == "Constant")


def _tests_state(body: onnx.GraphProto) -> bool:
    """Whether the next condition depends on what the loop carries, or on the iteration."""
    inputs = {x.name for x in body.input}
    needed = {name for node in _needed_nodes(body, {body.output[0].name}) for name in node.input} | {
        body.output[0].name
    }
    return bool(needed & (inputs - {body.input[1].name}))


def _trip_count(
    e: OnnxEmitter, trips: Input, condition: Input, state: Sequence[OnnxValue], body: onnx.GraphProto
) -> int | None:
    """The turns of a loop whose condition is of known numbers only, such as a counter that is carried; else None."""
    names = [x.name for x in body.input][2:]
    results = [x.name for x in body.output][1:]
    needed, carried = {body.output[0].name}, list[int]()
    while True:
        nodes = _needed_nodes(body, needed)
        reads = needed | {name for node in nodes for name in node.input}
        found = [n for n, name in enumerate(names) if name in reads]
        if found == carried:
            break
        carried, needed = found, needed | {results[n] for n in found}
    if any(not isinstance(state[n], np.ndarray) for n in carried) or any(
        x is not None and not isinstance(x, np.ndarray) for x in (trips, condition)
    ):
        return None
    part = type(body)()
    part.CopyFrom(body)
    del part.node[:], part.output[:]
    part.node.extend(nodes)
    part.output.extend([body.output[0], *(body.output[n + 1] for n in carried)])
    most = (
        MAX_COUNTED_ITERATIONS if trips is None else min(int(np.asarray(trips).reshape(-1)[0]), MAX_COUNTED_ITERATIONS)
    )
    values, going, iteration = list(state), condition is None or all(e.known_elements(condition, "")), 0
    while going and iteration < most:
        again, *after = e.graph_results(part, [np.asarray(iteration, "int64"), np.asarray(True), *values])
        if not all(isinstance(x, np.ndarray) for x in (again, *after)):
            return None
        for n, x in zip(carried, after, strict=True):
            values[n] = x
        going, iteration = bool(again.all()), iteration + 1
    return None if iteration == MAX_COUNTED_ITERATIONS else iteration


def _needed_nodes(body: onnx.GraphProto, names: set[str]) -> list[onnx.NodeProto]:
    """The nodes of a body that some of its results need."""
    needed, nodes = set(names), []
    for node in reversed(body.node):
        if needed & set(node.output):
            needed |= set(node.input)
            nodes.append(node)
    return nodes[::-1]


def _runtime_loop(
    e: OnnxEmitter, trips: Input, condition: Input, state: Sequence[OnnxValue], body: onnx.GraphProto
) -> Sequence[Value]:
    """A loop whose number of turns is known when the model runs, as one of the graph."""
    if any(isinstance(x, list) for x in state):
        raise GraphError("a Loop on data carries tensors only\n  fix: tensors of one shape, instead of a sequence")
    tests = not _always_continues(body)
    if tests and (counted := _trip_count(e, trips, condition, state, body)) is not None:
        tests, trips, condition = False, np.asarray(counted), None
    known = trips is None or isinstance(trips, np.ndarray)
    steps = min(e.known_integer(trips, ""), 2**63 - 1) if isinstance(trips, np.ndarray) else trips
    rows = len(body.output) - 1 - len(state)
    if rows and not known:
        raise NeedsValue(
            "the number of turns of a Loop that stacks rows is computed by the model\n"
            "  fix: make it a constant, or of an input: from_onnx(..., values={name: array})",
            trips,
        )
    if rows and (tests or condition is not None):
        most = None if trips is None else e.known_integer(trips, "")
        return _stacking_loop(e, most, np.asarray(True) if condition is None else condition, state, body)
    first = None
    if tests or not known or condition is not None or trips is None:
        first = e.value(np.asarray(True) if condition is None else condition)

    def iteration(region: GraphBuilder, number: Value, *carried: Value) -> list[Value]:
        again, *results = e.graph_results(body, [number, np.asarray(True), *carried], region)
        return [again, *results] if first is not None else results

    values = [e.value(x) for x in state]
    return value_list(e.builder.loop(iteration, values, steps=steps, condition=first, name_hint=e.name or "lv"))


def _stacking_loop(
    e: OnnxEmitter, steps: int | None, condition: OnnxValue, state: Sequence[OnnxValue], body: onnx.GraphProto
) -> list[Value]:
    """A loop that data end and that stacks rows: all turns that there may be, of which those behind its end are cut."""
    if steps is None or steps > MAX_COUNTED_ITERATIONS:
        raise GraphError(
            f"a Loop with a condition that stacks rows has at most {MAX_COUNTED_ITERATIONS} turns\n  fix: give it "
            "a number of turns"
        )

    def iteration(region: GraphBuilder, number: Value, going: Value, *carried: Value) -> list[Value]:
        again, *results = e.graph_results(body, [number, np.asarray(True), *carried], region)
        inner = OnnxEmitter(region, e.opset)
        kept = [inner.op("where", going, new, old) for new, old in zip(results, carried, strict=False)]
        return [inner.op("logical_and", going, inner.reshape(again, ())), *kept, *results[len(carried) :], going]

    first = e.reshape(e.value(condition), ())
    values = [first, *(e.value(x) for x in state)]
    _, *results, ran = value_list(e.builder.loop(iteration, values, steps=steps, name_hint=e.name or "lv"))
    count, size = e.op("sum", e.cast(ran, "int64"), axis=[0], keepdims=False), fresh_size(e)
    carried, rows = results[: len(state)], results[len(state) :]
    return [*carried, *(first_rows(e, x, count, size) for x in rows)]


@onnx_op("Scan")
def scan(
    e: OnnxEmitter,
    *operands: OnnxValue,
    body: onnx.GraphProto,
    num_scan_inputs: int,
    scan_input_axes: Sequence[int] | None = None,
    scan_input_directions: Sequence[int] | None = None,
    scan_output_axes: Sequence[int] | None = None,
    scan_output_directions: Sequence[int] | None = None,
    directions: Sequence[int] | None = None,
) -> Sequence[Result]:
    """The state after an iteration for each slice of the scanned operands, and the results of the iterations along
    an axis."""
    if e.opset < 9:
        raise GraphError("a Scan of opset 8 is not supported\n  fix: export the model for opset 9 or newer")
    state, scanned = list(operands[:-num_scan_inputs]), [e.value(x) for x in operands[-num_scan_inputs:]]
    axes = [axis_in(a, len(x.shape)) for a, x in zip(scan_input_axes or [0] * len(scanned), scanned, strict=True)]
    turns, backward = scanned[0].shape[axes[0]], scan_input_directions or directions or [0] * len(scanned)
    count = len(body.output) - len(state)
    out_axes, reverse = scan_output_axes or [0] * count, scan_output_directions or [0] * count
    if not isinstance(turns, int) or not 0 < turns <= MAX_UNROLLED_ITERATIONS:
        rows = [_move_axis_first(e, x, a, bool(b)) for x, a, b in zip(scanned, axes, backward, strict=True)]
        return _scan_loop(e, body, state, rows, list(zip(out_axes, reverse, strict=True)))
    results = []
    for iteration in range(turns):
        slices = [
            _slice(e, x, a, turns - 1 - iteration if b else iteration)
            for x, a, b in zip(scanned, axes, backward, strict=True)
        ]
        values = e.graph_results(body, [*state, *slices])
        state = values[: len(state)]
        results.append(values[len(state) :])
    stacked = [
        e.op("stack", *[r[n] for r in (results[::-1] if reverse[n] else results)], axis=out_axes[n])
        for n in range(count)
    ]
    return (*state, *stacked)


def _move_axis_first(e: OnnxEmitter, x: Value, axis: int, backward: bool) -> Value:
    """x with an axis moved to the front, from its end on if backward."""
    moved = e.permute(x, [axis, *(n for n in range(len(x.shape)) if n != axis)])
    return e.op("flip", moved, axis=0) if backward else moved


def _scan_loop(
    e: OnnxEmitter,
    body: onnx.GraphProto,
    state: Sequence[OnnxValue],
    rows: Sequence[Value],
    ends: list[tuple[int, int]],
) -> Sequence[Value]:
    """A Scan as a loop of the graph. ends: of each stacked result the axis, and whether it goes backward."""

    def iteration(region: GraphBuilder, _: Value, *operands: Value) -> list[Value]:
        return e.graph_results(body, list(operands), region)

    results = value_list(e.builder.loop(iteration, [e.value(x) for x in state], rows, name_hint=e.name or "lv"))
    stacked = []
    for x, (axis, reverse) in zip(results[len(state) :], ends, strict=True):
        x = e.op("flip", x, axis=0) if reverse else x
        order = list(range(1, len(x.shape)))
        order.insert(axis_in(axis, len(x.shape)), 0)
        stacked.append(e.permute(x, order))
    return (*results[: len(state)], *stacked)


def _slice(e: OnnxEmitter, x: Value, axis: int, position: int) -> Value:
    part = e.slice(x, axis, position, position + 1)
    return e.reshape(part, [s for n, s in enumerate(x.shape) if n != axis])
