"""`DeviceModel`: a model whose kernels run on a GPU."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from tir_mlir.dialect.diagnostics import BuildError, DeviceMemoryError
from tir_mlir.graph import size_code
from tir_mlir.graph.device.graph_function import GraphFunction, graph_signature
from tir_mlir.graph.device.graph_program import GraphProgram
from tir_mlir.graph.device.held_memory import HeldMemory
from tir_mlir.graph.device.model_report import ModelReport, report_model
from tir_mlir.graph.device.verify_model import ModelVerification, verify_model
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.buffer_assignment import byte_size
from tir_mlir.graph.memory.lower_main import output_shapes
from tir_mlir.graph.model import Model
from tir_mlir.graph.model_parts import ModelMemory, memory_of
from tir_mlir.runtime.aligned_arrays import empty
from tir_mlir.runtime.call import fast_entry
from tir_mlir.runtime.drivers.device_driver import active
from tir_mlir.runtime.gpu import tensors
from tir_mlir.runtime.gpu.device_array import DeviceArray
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.timing import Timing
from tir_mlir.targets.stages import BuildOptions

if TYPE_CHECKING:
    from tir_mlir.graph.memory.frames import Array, Runner
    from tir_mlir.runtime.call.signature import ProgramFunction

GROWTH = 1.5
"""How much larger an arena becomes than the one that was too small: a cache that grows by a row a call needs few."""


class _Functions(threading.local):
    """Of each thread: its function, as the arena is its own, and the bytes of that."""

    function: ProgramFunction | None = None
    bytes: int = 0


class DeviceModel(Model):
    """A model for a GPU. Its weights are copied to a device once; a call starts all kernels, without Python between
    them where the driver has native code.

    Inputs are arrays on a GPU (`__dlpack__`), in place, or NumPy arrays, which are copied. Results are of the package
    of the first input: torch, cupy, NumPy, else `DeviceArray`s. With NumPy arrays a call waits for the kernels; else
    what is started on the stream of the inputs later sees the results.
    source: the graph that was built, with its weights as they are rounded; program: the launches.
    """

    def __init__(
        self,
        source: Graph,
        graph: Graph,
        program: GraphProgram,
        library: Library,
        weights: np.ndarray,
        timing: Timing,
        options: BuildOptions,
    ):
        self.source, self.program = source, program
        super().__init__(graph, program.plan, library, weights, timing, options)

    def _prepare(self) -> None:
        self._signature = graph_signature(self.name, self.program)
        self._functions = _Functions()
        self._held_weights = HeldMemory(self.plan.weight_bytes, self._weights)

    def _runner(self, args: Sequence[Array]) -> Runner:
        sizes = self.sizes_of(args)
        function = self._function(self.program.launches(sizes)[1])
        shapes = zip(output_shapes(self.plan, sizes), self.plan.outputs, strict=True)
        makers = [partial(_like, shape, type_.dtype) for shape, type_ in shapes]
        sources = [self.plan.donated.get(number) for number in range(len(makers))]
        return _explaining_caller(_caller(function, makers, sources), self.name, self.program, sizes)

    def _function(self, size: int) -> ProgramFunction:
        """The function of this thread, with an arena of at least so many bytes."""
        own = self._functions
        if own.function is None or own.bytes < size:
            self._frames.made.clear()  # they hold the smaller arena
            own.bytes = size if own.function is None else max(size, int(GROWTH * own.bytes))
            arena = HeldMemory(own.bytes, by_stream=True)
            function = GraphFunction(self._signature, self.program, self._held_weights, arena)
            own.function = fast_entry.callable_for(function, self._signature, fast_entry.KERNELS, True)
        return own.function

    def free(self) -> None:
        super().free()
        self._functions = _Functions()

    @property
    def memory(self) -> ModelMemory:
        own = 0 if self._symbols else self.program.launches({})[1] - self.plan.arena.total
        return memory_of(self.plan, own)

    def report(self, *inputs: Array, gpu: str | None = None) -> ModelReport:
        """The time that each function of the model is predicted to take on a GPU, without one: prints as a table.

        gpu: "A100", "H200", see `Library.predict`. inputs: only needed for their shapes, by a model with named sizes.
        """
        return report_model(self.program, self.sizes_of(inputs) if self._symbols else {}, gpu)

    def verify(self, seed: int = 0) -> ModelVerification:
        """Check that the model computes what its graph does: the kernels of each function on the PTX machine, at sizes
        that keep the guards of its schedule, and the compiled graph as `Graph.verify` does; some seconds a function."""
        return verify_model(self.source, self.graph, self.options, seed)

    def profile(self, *args: Array, rounds: int = 20) -> NoReturn:
        """Raises BuildError: kernels of a model overlap with what starts them; `report` tells about each."""
        raise BuildError(
            f"{self.name}: profile times calls on a CPU; fix: model.report(), which tells about each kernel"
        )

    def export(self, folder: str | Path, name: str | None = None) -> NoReturn:
        """Raises BuildError: there is no loader in C for a model on a GPU."""
        raise BuildError(
            f"{self.name}: a model is exported for a CPU; fix: build it without a target, or model.library.export("
            '"f.ptx"), which writes its kernels'
        )


def _caller(function: ProgramFunction, makers: Sequence[Callable[[Any], Any]], sources: Sequence[int | None]) -> Runner:
    """A function of the inputs that returns the output, or a tuple of several. makers: of each output, from what it is
    to be like; sources: of each output the input that it is, if any."""
    new_results = [number for number, source in enumerate(sources) if source is None]

    def call(args: Sequence[Array]) -> Any:
        first = args[0] if args else None
        outs = tuple([m(first) if s is None else args[s] for m, s in zip(makers, sources, strict=True)])
        function(*args, *[outs[number] for number in new_results])
        return outs if len(outs) != 1 else outs[0]

    return call


def _explaining_caller(run: Runner, name: str, program: GraphProgram, sizes: Mapping[str, int]) -> Runner:
    """A function that says what the model needs where a device has no room for it. It holds no model, so that memory is
    given back as soon as the model is not needed."""

    def call(args: Sequence[Array]) -> Any:
        try:
            return run(args)
        except DeviceMemoryError as error:
            plan, arena = program.plan, program.launches(sizes)[1]
            types = [*(type_ for _, type_ in plan.inputs), *plan.outputs]
            given = sum(size_code.value(byte_size(type_), sizes) for type_ in types)
            raise DeviceMemoryError(
                f"{name}: {error}; the model needs {plan.weight_bytes:,} bytes for weights, {arena:,} for its arena "
                f"and {given:,} for inputs and outputs on the device; fix: a smaller batch, "
                'weights="bfloat16" or weights="int8" of build, or a device with more memory'
            ) from None

    return call


def _like(shape: tuple[int, ...], dtype: str, first: Any) -> Any:
    """An array for an output, of the package and on the device of the first input."""
    package = tensors.package_of(first)
    if first is None or package == "numpy":
        return empty(shape, dtype)
    if package == "torch":
        torch = sys.modules["torch"]
        return torch.empty(shape, dtype=getattr(torch, dtype), device=first.device)
    if package == "cupy" and dtype != "bfloat16":
        with first.device:
            return sys.modules["cupy"].empty(shape, dtype)
    driver, device = active(), tensors.device_of(first)
    number = driver.current_device() if device is None else device[1]
    return DeviceArray(driver, number, driver.current_stream(number), shape, dtype)
