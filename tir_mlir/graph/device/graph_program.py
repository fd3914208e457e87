"""A planned graph as launches of kernels: what `HostProgram` is for one function, for the calls of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.dialect.graph import TensorType
from tir_mlir.graph import size_code
from tir_mlir.graph.device.copy_kernels import WORD
from tir_mlir.graph.memory.arena import LINE
from tir_mlir.graph.memory.buffer_assignment import (
    ARENA,
    INPUT,
    OUTPUT,
    WEIGHT,
    BufferSlot,
    ExecutionPlan,
    byte_size,
)
from tir_mlir.graph.memory.data_sizes import storage_type
from tir_mlir.graph.units.kernels_unit import FunctionKernels
from tir_mlir.runtime.drivers.device_driver import Launch
from tir_mlir.runtime.gpu.host_program import DeviceBuffer, LaunchArgument
from tir_mlir.runtime.gpu.loaded_code import LoadedCode

KNOWN = 64
"""Combinations of sizes whose launches are remembered."""


@dataclass(frozen=True)
class HeldBuffer:
    """Memory of a model that stays on the device between calls: so many bytes of its weights or its arena."""

    space: str
    offset: int
    bytes: int


@dataclass(frozen=True)
class GraphLaunch:
    """A launch of a model: the name of the value that it computes, the function that it is of, and its arguments."""

    value: str
    function: FunctionKernels
    launch: Launch
    arguments: tuple[LaunchArgument | HeldBuffer, ...]


@dataclass(frozen=True)
class GraphStep:
    """A call of a function: the name of its first result, and the memory of its parameters in order."""

    name: str
    function: FunctionKernels
    slots: tuple[BufferSlot, ...]


class GraphProgram:
    """The launches of a planned graph, by the sizes of a call.

    functions: by the callees of the plan; copies: the functions that copy bytes, and words.
    """

    def __init__(
        self,
        plan: ExecutionPlan,
        functions: Mapping[str, FunctionKernels],
        copies: tuple[FunctionKernels, FunctionKernels],
    ):
        self.plan, self.functions = plan, functions
        made = {number: len(plan.inputs) + n for n, (number, _) in enumerate(plan.made_outputs)}
        self._params = {(INPUT, n): n for n in range(len(plan.inputs))} | {(OUTPUT, n): p for n, p in made.items()}
        self._calls = [GraphStep(c.name, functions[c.callee], (*c.inputs, *c.outputs)) for c in plan.calls]
        self._copy_bytes, self._copy_words = copies
        self._known: dict[tuple[tuple[str, int], ...], tuple[list[GraphLaunch], int]] = {}

    @property
    def code(self) -> LoadedCode:
        """The code of one of the functions."""
        return self._copy_words.code

    @property
    def written(self) -> set[int]:
        """The numbers of the parameters, inputs and outputs, that are written."""
        targets = [slot for call in self.plan.calls for slot in call.outputs]
        targets += [target for _, target in self.plan.copies]
        return {self._params[s.space, s.index] for s in targets if (s.space, s.index) in self._params}

    @property
    def alignments(self) -> dict[int, int]:
        """By number of a parameter, what kernels take its address to be a multiple of, beyond its elements."""
        found: dict[int, int] = {}
        for step in self._calls:
            for number, alignment in step.function.program.alignments.items():
                slot = step.slots[number]
                if (param := self._params.get((slot.space, slot.index))) is not None:
                    found[param] = max(alignment, found.get(param, 1))
        return found

    def launches(self, sizes: Mapping[str, int]) -> tuple[list[GraphLaunch], int]:
        """The launches of a call, and the bytes of its arena: that of the plan, then what functions need for
        themselves, which those of each call lay over those of the ones before it."""
        key = tuple(sorted(sizes.items()))
        if key not in self._known:
            if len(self._known) >= KNOWN:
                self._known.clear()
            self._known[key] = self._launches(sizes)
        return self._known[key]

    def _launches(self, sizes: Mapping[str, int]) -> tuple[list[GraphLaunch], int]:
        offsets, planned = self.plan.arena.layout(sizes)
        end = most = _align(planned)
        launches: list[GraphLaunch] = []
        for step in self.steps(sizes):
            call = step.function.program.prepare([slot_shape(slot.type, sizes) for slot in step.slots])
            if call.has_tensor_maps:
                raise BuildError(
                    f"{step.name}: its kernels copy by the TMA, and models pass buffers, not tensor maps; fix: "
                    "double_buffer instead of tma_pipeline in schedules of models"
                )
            own, at = [], end
            for size in call.temporaries:
                own.append(HeldBuffer(ARENA, at, size))
                at += _align(size)
            most = max(most, at)
            buffers = [self._buffer(slot, sizes, offsets) for slot in step.slots]
            launches += [
                GraphLaunch(step.name, step.function, launch.launch, _rebase(launch.arguments, buffers, own))
                for launch in call.launches
                if launch.blocks
            ]
        return launches, most

    def steps(self, sizes: Mapping[str, int]) -> list[GraphStep]:
        """The calls of functions, then the copies, in order."""
        return [*self._calls, *(self._copy(source, target, sizes) for source, target in self.plan.copies)]

    def _copy(self, source: BufferSlot, target: BufferSlot, sizes: Mapping[str, int]) -> GraphStep:
        """A copy of the bytes of a tensor."""
        size = _bytes(target.type, sizes)
        unit, function = (WORD, self._copy_words) if size % WORD == 0 else (1, self._copy_bytes)
        type_ = TensorType((size // unit,), "int32" if unit == WORD else "int8")
        slots = replace(source, type=type_), replace(target, type=type_)
        return GraphStep("copy", function, slots)

    def _buffer(self, slot: BufferSlot, sizes: Mapping[str, int], offsets: Sequence[int]) -> DeviceBuffer | HeldBuffer:
        if (param := self._params.get((slot.space, slot.index))) is not None:
            return DeviceBuffer(param, False, slot_shape(slot.type, sizes))
        offset = slot.index if slot.space == WEIGHT else offsets[slot.index]
        return HeldBuffer(slot.space, offset, _bytes(storage_type(slot.type, self.plan.bounds), sizes))


def _rebase(
    arguments: Sequence[LaunchArgument], buffers: Sequence[DeviceBuffer | HeldBuffer], own: Sequence[HeldBuffer]
) -> tuple[LaunchArgument | HeldBuffer, ...]:
    """Arguments with the memory of the model instead of the parameters and buffers of the function."""
    rebased: list[LaunchArgument | HeldBuffer] = []
    for argument in arguments:
        if isinstance(argument, DeviceBuffer):
            rebased.append(own[argument.number] if argument.is_temporary else buffers[argument.number])
        else:
            rebased.append(argument)
    return tuple(rebased)


def slot_shape(type_: TensorType, sizes: Mapping[str, int]) -> tuple[int, ...]:
    """The shape of a tensor where the sizes have these values."""
    return tuple(size_code.value(size, sizes) for size in type_.shape)


def _bytes(type_: TensorType, sizes: Mapping[str, int]) -> int:
    return size_code.value(byte_size(type_), sizes)


def _align(size: int) -> int:
    return -(-size // LINE) * LINE
