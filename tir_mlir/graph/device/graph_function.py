"""A model on a device as one function of its inputs and outputs: all its launches are started by one call."""

from __future__ import annotations

from tir_mlir.dialect.graph import TensorType
from tir_mlir.dialect.symbolic import sources
from tir_mlir.graph import size_code
from tir_mlir.graph.device.graph_program import GraphProgram, HeldBuffer
from tir_mlir.graph.device.held_memory import HeldMemory
from tir_mlir.graph.memory.buffer_assignment import WEIGHT, ExecutionPlan
from tir_mlir.graph.memory.data_sizes import storage_type
from tir_mlir.graph.memory.lower_main import output_name
from tir_mlir.runtime.call.arrays import PackedArguments
from tir_mlir.runtime.call.signature import BufferDim, BufferParam, CallSignature
from tir_mlir.runtime.drivers.device_driver import DeviceDriver
from tir_mlir.runtime.gpu.function import KernelFunction
from tir_mlir.runtime.gpu.host_program import PreparedCall, PreparedLaunch


class GraphFunction(KernelFunction):
    """Takes the inputs, then the outputs of a graph. A prepared call is for one stream, whose arena it works in."""

    def __init__(self, signature: CallSignature, program: GraphProgram, weights: HeldMemory, arena: HeldMemory):
        super().__init__(signature, program.code, program.alignments)
        self._program, self._weights, self._arena = program, weights, arena

    def bound_to(self, stream: int) -> tuple[int, ...]:
        return (stream,)

    def prepare_call(self, driver: DeviceDriver, device: int, stream: int, packed: PackedArguments) -> PreparedCall:
        shapes = {slot.index: slot.tail[1 : 1 + len(slot.tail) // 2] for slot in packed.plan}
        launches, _ = self._program.launches(sizes_of_shapes(self._program.plan, shapes))

        def address(buffer: HeldBuffer) -> int:
            memory = self._weights if buffer.space == WEIGHT else self._arena
            return memory.address(driver, device, stream, buffer)

        call = PreparedCall()
        for each in launches:
            arguments = tuple(address(a) if isinstance(a, HeldBuffer) else a for a in each.arguments)
            call.launches.append(PreparedLaunch(each.launch, arguments, each.function.code))
        return call


def sizes_of_shapes(plan: ExecutionPlan, shapes: dict[int, tuple[int, ...]]) -> dict[str, int]:
    """The named sizes of a call, from the shapes of its inputs, by number."""
    found = sources([type_.shape for _, type_ in plan.inputs]).items()
    return {size: source.value(shapes[source.tensor][source.axis]) for size, source in found}


def graph_signature(name: str, program: GraphProgram) -> CallSignature:
    """The signature of a planned graph on a device: its inputs, then its outputs."""
    plan, written = program.plan, program.written
    outputs = [(output_name(n, plan), storage_type(type_, plan.bounds)) for n, type_ in plan.made_outputs]
    params = [(*named, n in written) for n, named in enumerate([*plan.inputs, *outputs])]
    return CallSignature(name, tuple(_param(*param) for param in params), True)


def _param(name: str, type_: TensorType, written: bool) -> BufferParam:
    dims = tuple(_dim(size) for size in type_.shape)
    return BufferParam(name, type_.dtype, dims, None, 0, written)


def _dim(size: int | str) -> BufferDim:
    symbols = tuple(size_code.symbols(size))
    return BufferDim(str(size), symbols, lambda sizes: size_code.value(size, sizes))
