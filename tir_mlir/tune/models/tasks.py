"""What of a model is tuned: its distinct functions, and the time that they take in a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.graph import size_code
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.buffer_assignment import PlannedCall
from tir_mlir.graph.model import Model
from tir_mlir.graph.transforms.schedule_functions import SCHEDULE
from tir_mlir.runtime.call.signature import BufferParam, signatures
from tir_mlir.script.module import IRModule
from tir_mlir.tune.records.program_identity import identity

if TYPE_CHECKING:
    from tir_mlir.graph.memory.frames import Array


@dataclass(frozen=True)
class TuningTask:
    """A function that a model calls; several, if they differ in names only.

    functions: their names.
    calls: in a run.
    seconds, least: of all calls of a run, with the library's schedule, and as the roofs of the machine allow.
    sizes: of its shape variables, in the call that takes most time.
    """

    functions: tuple[str, ...]
    program: IRModule
    calls: int
    seconds: float
    least: float
    sizes: dict[str, int]

    @property
    def name(self) -> str:
        return self.functions[0]


@dataclass
class _Found:
    """What a run says about a function."""

    program: IRModule
    functions: dict[str, None]
    times: list[tuple[float, PlannedCall]]
    least: float = 0.0


def tasks_of(prepared: Graph, model: Model, inputs: Sequence[Array], rounds: int) -> list[TuningTask]:
    """The functions of a model that have no schedule of their own yet, most time first.

    prepared: the graph before its functions are scheduled; model: what it was built to.
    """
    groups: dict[str, _Found] = {}
    sizes = model.sizes_of(inputs)
    for timed, call in zip(model.profile(*inputs, rounds=rounds), model.plan.every_call, strict=True):
        if call.packed or _is_done(prepared, call.callee):
            continue
        program = standalone_module(prepared.module, call.callee)
        group = groups.setdefault(identity(program).program, _Found(program, {}, []))
        group.functions[call.callee] = None
        group.times.append((timed.seconds, call))
        group.least += timed.fraction * timed.seconds if timed.fraction is not None else 0.0
    tasks = [_task(group, sizes) for group in groups.values()]
    return sorted(tasks, key=lambda task: -task.seconds)


def _task(group: _Found, sizes: dict[str, int]) -> TuningTask:
    slowest = max(group.times, key=lambda timed_call: timed_call[0])[1]
    return TuningTask(
        tuple(group.functions),
        group.program,
        len(group.times),
        sum(seconds for seconds, _ in group.times),
        group.least,
        variables(group.program, [size_shape(p.type.shape, sizes) for p in (*slowest.inputs, *slowest.outputs)]),
    )


def standalone_module(module: IRModule, name: str) -> IRModule:
    """A function in a module of its own, in which it can be run."""
    alone = module[name].isolated_module
    with enter_context():
        attributes = alone[name].func.op.attributes
        if "sym_visibility" in attributes:
            del attributes["sym_visibility"]
    return alone


def _is_done(prepared: Graph, name: str) -> bool:
    with enter_context():
        return attrs.get(prepared.module[name].func.op, SCHEDULE) is not None


def size_shape(shape: Sequence[size_code.Size], sizes: dict[str, int]) -> tuple[int, ...]:
    """A shape with numbers instead of named sizes."""
    return tuple(size_code.value(size, sizes) for size in shape)


def variables(program: IRModule, shapes: Sequence[tuple[int, ...]]) -> dict[str, int]:
    """The shape variables of a program whose arguments have these shapes."""
    with enter_context():
        (signature,) = signatures(program.mlir).values()
    positions: dict[str, int] = {}
    for param, shape in zip(signature.params, shapes, strict=True):
        for dim, extent in zip(param.dims if isinstance(param, BufferParam) else (), shape, strict=True):
            if dim.text in dim.symbols:
                positions.setdefault(dim.text, extent)
    return positions
