"""The weights of a model in one buffer: given ones are copied, those of the graph that computes weights are computed,
node by node, by NumPy and by the functions that are compiled for the other nodes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from math import prod
from typing import TypeAlias

import numpy as np
from mlir import ir

from tir_mlir.build import build_by_function
from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import Node, TensorFunc, TensorType, encoding, node_of
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory import arena
from tir_mlir.graph.memory.arena import ArenaRequest
from tir_mlir.graph.memory.buffer_assignment import (
    ARENA,
    INPUT,
    OUTPUT,
    BufferSlot,
    ExecutionPlan,
    PlannedCall,
    is_view,
)
from tir_mlir.graph.memory.calls_in_place import scratch_sizes
from tir_mlir.graph.memory.frames import numpy_type
from tir_mlir.graph.memory.lower_main import lower_main
from tir_mlir.graph.operators import array_rule
from tir_mlir.graph.transforms.lift_weights import constant_array, derived_types, weights_graph
from tir_mlir.runtime.aligned_arrays import copy_into, empty
from tir_mlir.runtime.dump import Dump
from tir_mlir.targets.stages import BuildOptions

WeightFunction: TypeAlias = tuple[Callable[..., None], int]
"""A compiled function, and the bytes that it needs for itself."""


def bound_weights(graph: Graph, plan: ExecutionPlan, functions: Mapping[str, WeightFunction]) -> np.ndarray:
    """All weights in one buffer, each at the start of a cache line. plan: of the graph; functions: the compiled
    functions of `compiled_nodes`, by their names."""
    memory = empty(plan.weight_bytes, "int8")
    views = {name: _view(memory, offset, type_) for name, (offset, type_) in plan.weights.items()}
    with enter_context():
        weights_func = weights_graph(graph)
        derived = {} if weights_func is None else derived_types(weights_func)
        for name, (_, type_) in plan.weights.items():
            if name not in derived:
                copy_into(views[name], given_weight(graph, name, type_))
        if weights_func is not None:
            values = _WeightValues(graph, weights_func, functions)
            for name, value in zip(derived, weights_func.outputs, strict=True):
                if name in views:
                    values.store(value, views[name])
    return memory


def computed_weights(graph: Graph, functions: Mapping[str, WeightFunction]) -> list[np.ndarray]:
    """What the graph that computes weights returns, each in an array of its own."""
    with enter_context():
        weights_func = weights_graph(graph)
        assert weights_func is not None
        values = _WeightValues(graph, weights_func, functions)
        return [values.store(value, None) for value in weights_func.outputs]


def weight_functions(
    graph: Graph, options: BuildOptions | None = None, states: Dump | None = None
) -> dict[str, WeightFunction]:
    """The compiled functions of what NumPy does not compute in the graph that computes weights, by the names of
    `compiled_nodes`, each with the bytes that it needs for itself. states: of the build that they are a part of."""
    with enter_context():
        weights_func = weights_graph(graph)
        plans = {} if weights_func is None else compiled_nodes(weights_func, graph.module.mlir)
        if not plans:
            return {}
        module = lower_main(graph.module.mlir, plans)
    with nullcontext() if states is None else states.part("weights") as own_states:
        if own_states is not None:
            own_states.write("lower-main", module)
        library = build_by_function(module, options, own_states)
    return {name: (library[name], plan.arena.total) for name, plan in plans.items()}


def compiled_nodes(weights_func: TensorFunc, module: ir.Module) -> dict[str, ExecutionPlan]:
    """The plans of one call of each function that is compiled for the graph that computes weights, by name: inputs,
    results, then the memory that it needs for itself."""
    scratch = scratch_sizes(module)
    plans: dict[str, ExecutionPlan] = {}
    for node in weights_func.nodes:
        callee = node.callee
        if callee is not None and callee.kind == encoding.CALL_TIR and callee.name not in plans:
            inputs, outputs = [weights_func.type_of(value) for value in node.inputs], node.types
            plans[callee.name] = _plan(callee.callee, inputs, outputs, scratch.get(callee.callee, 0))
    return plans


def _plan(callee: str, inputs: Sequence[TensorType], outputs: Sequence[TensorType], scratch: int) -> ExecutionPlan:
    plan = ExecutionPlan([(f"x{n}", type_) for n, type_ in enumerate(inputs)], list(outputs))
    plan.arena = arena.plan([ArenaRequest(scratch, 0, 0)] if scratch else [])
    sources, results = (
        tuple(BufferSlot(space, n, type_) for n, type_ in enumerate(types))
        for space, types in ((INPUT, inputs), (OUTPUT, outputs))
    )
    scratch_place = BufferSlot(ARENA, plan.arena.slots[0], TensorType((scratch,), "int8")) if scratch else None
    plan.calls = [PlannedCall(callee, callee, sources, results, scratch=scratch_place)]
    return plan


class _WeightValues:
    """The values of the graph that computes weights: each is computed when it is needed first, and released after its
    last reader, so that few are in memory at a time."""

    def __init__(self, graph: Graph, func: TensorFunc, functions: Mapping[str, WeightFunction]):
        self.graph, self.func, self.functions = graph, func, functions
        self.arrays: dict[ir.Value, np.ndarray] = {}
        self.readers: dict[ir.Value, int] = {}
        for value in (*(v for node in func.nodes for v in node.inputs), *func.outputs):
            self.readers[value] = self.readers.get(value, 0) + 1

    def store(self, value: ir.Value, target: np.ndarray | None) -> np.ndarray:
        """Compute a result of the graph into an array of its shape; None: into a new one."""
        type_ = self.func.type_of(value)
        target = empty(_shape(type_), type_.dtype) if target is None else target
        array = self._array_of(value, target)
        if array is not target:
            copy_into(target, array)
        self._release(value)
        if self.readers[value]:
            self.arrays[value] = target
        return target

    def _array_of(self, value: ir.Value, target: np.ndarray | None = None) -> np.ndarray:
        """An array of a value. target: where it may be computed."""
        if value not in self.arrays:
            waiting = [value]
            while waiting:  # a stack, as graphs may be deeper than Python's
                missing = [v for v in self._operands(waiting[-1]) if v not in self.arrays]
                if missing:
                    waiting += missing
                    continue
                last = waiting.pop()
                if last not in self.arrays:
                    self._compute(last, target if last == value else None)
        return self.arrays[value]

    def _operands(self, value: ir.Value) -> list[ir.Value]:
        node = node_of(value)
        return [] if node is None else node.inputs

    def _compute(self, value: ir.Value, target: np.ndarray | None) -> None:
        node = node_of(value)
        if node is None:
            number = ir.BlockArgument(value).arg_number
            self.arrays[value] = given_weight(self.graph, self.func.input_name(number), self.func.input_type(number))
            return
        operands = [self.arrays[v] for v in node.inputs]
        results = _run(self.func, node, operands, target, self.functions)
        self.arrays |= zip(node.results, results, strict=True)
        for operand in node.inputs:
            self._release(operand)
        for result in node.results:
            if result not in self.readers:
                del self.arrays[result]

    def _release(self, value: ir.Value) -> None:
        self.readers[value] -= 1
        if not self.readers[value]:
            self.arrays.pop(value, None)


def _run(
    func: TensorFunc,
    node: Node,
    operands: Sequence[np.ndarray],
    target: np.ndarray | None,
    functions: Mapping[str, WeightFunction],
) -> list[np.ndarray]:
    """The results of a node. target: where its only result may be."""
    if node.kind == "constant":
        return [constant_array(node)]
    if is_view(node):
        return [_reshape(operands[0], _shape(node.types[0]))]
    rule = array_rule(func, node)
    if rule is None:
        return _run_function(node, operands, target, functions)
    with np.errstate(all="ignore"):  # as in compiled code
        results = rule.compute(*operands, out=target, **node.attributes)
    return results if isinstance(results, list) else [results]


def _run_function(
    node: Node, operands: Sequence[np.ndarray], target: np.ndarray | None, functions: Mapping[str, WeightFunction]
) -> list[np.ndarray]:
    """What the compiled function of a node computes."""
    callee = node.callee
    assert callee is not None
    run, scratch = functions[callee.name]
    is_whole = target is not None and len(node.types) == 1
    outputs = [target] if is_whole else [empty(_shape(t), t.dtype) for t in node.types]
    run(*map(_row_major, operands), *outputs, empty(0, "int8"), empty(scratch, "int8"))
    return outputs  # pyright: ignore[reportReturnType]


def _row_major(array: np.ndarray) -> np.ndarray:
    if array.flags.c_contiguous and array.flags.aligned:
        return array
    copy = empty(array.shape, array.dtype)
    copy_into(copy, array)
    return copy


def _reshape(array: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    """The elements in their order in another shape."""
    same_order = [size for size in array.shape if size != 1] == [size for size in shape if size != 1]
    return (array if same_order else _row_major(array)).reshape(shape)


def _shape(type_: TensorType) -> tuple[int, ...]:
    return tuple(int(size) for size in type_.shape)


def given_weight(graph: Graph, name: str, type_: TensorType) -> np.ndarray:
    """The array of a weight. Raises GraphError if the graph has none, or one of another type."""
    if name not in graph.weights:
        raise GraphError(f"the graph has no array for the weight {name}; fix: graph.weights[{name!r}] = array")
    array = graph.weights[name]
    dtype = "bfloat16" if type_.dtype == "bfloat16" and array.dtype == np.uint16 else str(array.dtype)
    if (array_type := TensorType(array.shape, dtype)) != type_:
        raise GraphError(f"the weight {name} is {type_} in the graph, its array is {array_type}")
    return array


def _view(memory: np.ndarray, offset: int, type_: TensorType) -> np.ndarray:
    element = numpy_type(type_.dtype)
    size = prod(_shape(type_)) * element.itemsize
    return memory[offset : offset + size].view(element).reshape(_shape(type_))
