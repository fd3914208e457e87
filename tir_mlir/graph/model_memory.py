"""The memory of a model: its weights in one buffer, and the size of its arena."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.dialect.graph import TensorType
from tir_mlir.dialect.ir import entered
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.places import Plan
from tir_mlir.graph.transforms.lift_weights import derived_types, prepares
from tir_mlir.runtime.aligned import empty
from tir_mlir.runtime.library import Library


@dataclass(frozen=True)
class Memory:
    """Bytes. arena: of a thread, or its size by slot where it depends on named sizes; unshared: what the buffers in it
    would take side by side, where sizes are numbers; buffers: how many; scratch: what each thread of the function
    that needs most allocates while it runs, for buffers of constant size that are not in the arena."""

    weights: int
    arena: int | str
    unshared: int
    buffers: int
    scratch: int = 0

    def __repr__(self) -> str:
        arena = f"{self.arena:,} bytes" if isinstance(self.arena, int) else self.arena
        side = f", {self.unshared:,} bytes side by side" if isinstance(self.arena, int) else ""
        scratch = f"\nscratch: {self.scratch:,} bytes in a call" if self.scratch else ""
        return f"weights: {self.weights:,} bytes\narena: {arena} for {self.buffers} buffers{side}{scratch}"


def memory_of(plan: Plan, scratch: int = 0) -> Memory:
    """The memory of a plan. scratch: bytes that its functions allocate."""
    arena = plan.arena
    if arena.offsets is not None:
        size: int | str = arena.total
    else:
        slots = [list(map(str, sizes)) for sizes in arena.members]
        size = " + ".join(f"max({', '.join(sizes)})" if len(sizes) > 1 else sizes[0] for sizes in slots)
    return Memory(plan.weight_bytes, size, arena.unshared, len(arena.requests), scratch)


def bound_weights(graph: Graph, plans: Mapping[str, Plan], computing: Library | None) -> np.ndarray:
    """All weights in one buffer, each at the start of a cache line. computing: has the function of the graph that
    computes weights, if there is one."""
    plan = plans[graph.name]
    memory = empty(plan.weight_bytes, "int8")
    with entered():
        weights_func = prepares(graph)
        derived = {} if weights_func is None else derived_types(weights_func)
        name = None if weights_func is None else weights_func.name
    for weight, (offset, type_) in plan.weights.items():
        if weight not in derived:
            array = given_weight(graph, weight, type_)
            np.copyto(_view(memory, offset, array.shape, array.dtype), array)
    if name is not None and computing is not None:
        _compute(graph, plans[name], computing[name], memory, list(derived), plan)
    return memory


def _compute(graph: Graph, weights_plan: Plan, run: object, memory: np.ndarray, names: list[str], plan: Plan) -> None:
    """Run the graph that computes weights; its outputs are places in the buffer of weights."""
    arrays = [given_weight(graph, name, type_) for name, type_ in weights_plan.inputs]
    inputs = [a if a.flags.c_contiguous and a.flags.aligned else a.copy() for a in arrays]
    outputs = []
    for name, type_ in zip(names, weights_plan.outputs, strict=True):
        shape = tuple(int(size) for size in type_.shape)
        offset = plan.weights[name][0] if name in plan.weights else None
        outputs.append(empty(shape, type_.dtype) if offset is None else _view(memory, offset, shape, type_.dtype))
    run(*inputs, *outputs, empty(weights_plan.weight_bytes, "int8"), empty(weights_plan.arena.total, "int8"))  # pyright: ignore[reportCallIssue]


def given_weight(graph: Graph, name: str, type_: TensorType) -> np.ndarray:
    """The array of a weight. Raises GraphError if the graph has none, or one of another type."""
    if name not in graph.weights:
        raise GraphError(f"the graph has no array for the weight {name}; fix: graph.weights[{name!r}] = array")
    array = graph.weights[name]
    dtype = "bfloat16" if type_.dtype == "bfloat16" and array.dtype == np.uint16 else str(array.dtype)
    if (array_type := TensorType(array.shape, dtype)) != type_:
        raise GraphError(f"the weight {name} is {type_} in the graph, its array is {array_type}")
    return array


def _view(memory: np.ndarray, offset: int, shape: tuple[int, ...], dtype: object) -> np.ndarray:
    element = np.dtype("uint16" if dtype == "bfloat16" else dtype)  # pyright: ignore[reportArgumentType, reportCallIssue]
    size = int(np.prod(shape)) * element.itemsize
    return memory[offset : offset + size].view(element).reshape(shape)
