"""The parts of a model: the memory that it takes; native parts, with calls of Python between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph import size_code
from tir_mlir.graph.memory import buffer_assignment
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan, PlannedCall
from tir_mlir.graph.memory.frames import ArrayFrame
from tir_mlir.graph.packed_functions import packed_function
from tir_mlir.runtime.call.function import PREFIX
from tir_mlir.runtime.drivers import shared_libraries
from tir_mlir.visual import graph_picture
from tir_mlir.visual.graph_picture import ArenaBuffer
from tir_mlir.visual.svg import Picture

if TYPE_CHECKING:
    import numpy as np

    from tir_mlir.graph.memory.frames import Array


@dataclass(frozen=True)
class ModelMemory:
    """Bytes.

    arena: of a thread, or its size by slot where it depends on named sizes.
    unshared: what the buffers in it would take side by side, where sizes are numbers.
    buffers: how many.
    scratch: what each thread of the function that needs most allocates while it runs, for buffers of constant size that
        are not in the arena.
    drawn: where each buffer lies, and when it is alive, where sizes are numbers.
    """

    weights: int
    arena: int | str
    unshared: int
    buffers: int
    scratch: int = 0
    drawn: tuple[ArenaBuffer, ...] = field(default=(), repr=False)

    def plot(self) -> Picture:
        """Draw the arena: calls from left to right, bytes from the bottom up, one rectangle a buffer.

        Errors: ValueError for an arena whose size depends on named sizes, and for a model without buffers.
        """
        if not isinstance(self.arena, int):
            raise ValueError(f"the arena has {self.arena} bytes: it is drawn for a model of sizes that are numbers")
        return graph_picture.draw_arena(self.drawn, self.arena, self.unshared, "The arena of the model")

    def __repr__(self) -> str:
        arena = f"{self.arena:,} bytes" if isinstance(self.arena, int) else self.arena
        side = f", {self.unshared:,} bytes side by side" if isinstance(self.arena, int) else ""
        scratch = f"\nscratch: {self.scratch:,} bytes in a call" if self.scratch else ""
        return f"weights: {self.weights:,} bytes\narena: {arena} for {self.buffers} buffers{side}{scratch}"


def memory_of(plan: ExecutionPlan, scratch: int = 0) -> ModelMemory:
    """The memory of a plan. scratch: bytes that its functions allocate."""
    arena = plan.arena
    drawn: tuple[ArenaBuffer, ...] = ()
    if arena.offsets is not None:
        size: int | str = arena.total
        where = [(arena.offsets[slot], request) for slot, request in zip(arena.slots, arena.requests, strict=True)]
        drawn = tuple(ArenaBuffer(offset, size_code.value(r.size, {}), r.first, r.last) for offset, r in where)
    else:
        slots = [list(map(str, sizes)) for sizes in arena.members]
        size = " + ".join(f"max({', '.join(sizes)})" if len(sizes) > 1 else sizes[0] for sizes in slots)
    return ModelMemory(plan.weight_bytes, size, arena.unshared_bytes, len(arena.requests), scratch, drawn)


def python_calls(plan: ExecutionPlan) -> set[str]:
    """The registered functions of Python that a plan calls."""
    return {call.callee for call in plan.calls if call.packed and packed_function(call.callee) is not None}


def check_packed(plan: ExecutionPlan, libs: Sequence[str | Path]) -> None:
    """Raise GraphError for a packed function that neither Python nor a library has."""
    inner_calls = [call for call in plan.every_call if call.packed and call not in plan.calls]
    if apart := next((call.callee for call in inner_calls if packed_function(call.callee) is not None), None):
        raise GraphError(
            f"a branch or a loop of the graph calls {apart} of Python, and runs as native code; fix: the call outside "
            "of it, or a function of C with libs=[...]"
        )
    if plan.bounds and (apart := next(iter(python_calls(plan)), None)):
        raise GraphError(
            f"data decide on the size {next(iter(plan.bounds))} of the graph, which runs as one native function, and "
            f"{apart} is of Python; fix: a function of C with libs=[...]"
        )
    for call in plan.every_call:
        if call.packed and packed_function(call.callee) is None:
            symbol = f"{PREFIX}{call.callee}"
            if not shared_libraries.is_defined(symbol, [str(lib) for lib in libs]):
                raise GraphError(
                    f"the graph calls the packed function {call.callee}, which is not registered; fix: "
                    f'register_packed("{call.callee}", f), or libs=[...] with a library that has {symbol}'
                )


def named_parts(name: str, plan: ExecutionPlan) -> dict[str, ExecutionPlan]:
    """The native functions of a plan, by name: one, or one for each part between calls of Python."""
    apart = python_calls(plan)
    if not apart:
        return {name: plan}
    native = [part for part in buffer_assignment.parts(plan, apart) if isinstance(part, ExecutionPlan)]
    if not native:  # a library has a function
        return {name: replace(plan, calls=[])}
    return {f"{name}_part{number}": part for number, part in enumerate(native)}


def joined_parts(
    name: str,
    plan: ExecutionPlan,
    library: Mapping[str, Callable[..., None]],
    sizes: Callable[[Sequence[Array]], dict[str, int]],
) -> Callable[..., None]:
    """What runs the whole plan, called as the one native function of a model would be."""
    apart = python_calls(plan)
    if not apart:
        return library[name]
    native = iter(named_parts(name, plan))
    steps = [
        part if isinstance(part, PlannedCall) else library[next(native)]
        for part in buffer_assignment.parts(plan, apart)
    ]
    count = len(plan.inputs)

    def run(*args: np.ndarray) -> None:
        results = iter(args[count:-2])
        outputs = [args[plan.donated[n]] if n in plan.donated else next(results) for n in range(len(plan.outputs))]
        frame = ArrayFrame(plan, sizes(args[:count]), args[:count], outputs, args[-2], args[-1])
        for step in steps:
            if isinstance(step, PlannedCall):
                _call(step, frame)
            else:
                step(*args)

    return run


def _call(call: PlannedCall, frame: ArrayFrame) -> None:
    function = packed_function(call.callee)
    if function is None:
        raise GraphError(f"the packed function {call.callee} is not registered any more")
    function(*map(frame.array, (*call.inputs, *call.outputs)))
