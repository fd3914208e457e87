"""`Model`: a compiled graph, called with its inputs."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from tir_mlir.dialect.diagnostics import ArgumentError, check_type, short_repr
from tir_mlir.dialect.graph import TensorType, encoding
from tir_mlir.dialect.ir import attrs, enter_context
from tir_mlir.dialect.symbolic import sources
from tir_mlir.graph import size_code
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.memory.buffer_assignment import ExecutionPlan
from tir_mlir.graph.memory.cut_results import checking_caller, slicing_caller, with_nones
from tir_mlir.graph.memory.data_sizes import upper_bound
from tir_mlir.graph.memory.frames import ArrayFrame
from tir_mlir.graph.memory.lower_main import output_shapes
from tir_mlir.graph.model_parts import ModelMemory, joined_parts, memory_of
from tir_mlir.graph.profiling.profile import Profile, profile
from tir_mlir.graph.shipping.export_model import export_model
from tir_mlir.graph.size_code import value
from tir_mlir.graph.transforms.schedule_functions import schedule_notes, with_plain_schedules
from tir_mlir.runtime.aligned_arrays import empty, empty_array_maker
from tir_mlir.runtime.call import fast_entry
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.timing import Timing
from tir_mlir.targets.stages import BuildOptions

if TYPE_CHECKING:
    from tir_mlir.graph.memory.frames import Array, Runner

T = TypeVar("T")
LARGE = 4096
"""Bytes from which an output starts at a cache line; NumPy's own arrays start at 16 bytes."""


SHAPES = 256
"""Combinations of input shapes that are remembered in a thread."""


class _Frames(threading.local):
    """Of each thread: what calls on inputs of a shape need, and the arena."""

    def __init__(self) -> None:
        self.made: dict[Hashable, Runner] = {}
        self.arena: np.ndarray | None = None


class Model:
    """A compiled graph: `model(x)` runs it. Several threads may call it; each has an arena of its own.

    graph: after the last stage of compilation; plan: where its values lie; library: the native function; schedules:
    of each TensorIR function, where its schedule is from and what it warned of; timing: seconds of each stage.
    rounding: the errors of the weights that were rounded, else None.
    """

    def __init__(
        self,
        graph: Graph,
        plan: ExecutionPlan,
        library: Library,
        weights: np.ndarray,
        timing: Timing,
        options: BuildOptions,
    ):
        check_type(graph, Graph, "Model", "graph", "a compiled Graph (build(graph) makes a Model)")
        self.graph, self.plan, self.library, self.timing = graph, plan, library, timing
        self.options = options
        self.schedules = schedule_notes(graph)
        self.rounding = graph.rounding
        self.name = graph.name
        self._inputs = [name for name, _ in self.plan.inputs]
        self._weights = weights
        self._frames = _Frames()
        self._symbols = self.plan.symbols
        self._sources = sources([type_.shape for _, type_ in self.plan.inputs])
        with enter_context():
            self._ranges: dict[str, list[int]] = attrs.get(graph.func.op, encoding.RANGES, {})
            self._counts: dict[str, int] = attrs.get(graph.func.op, encoding.COUNTS, {})
            self._checks: list[str] = attrs.get(graph.func.op, encoding.CHECKS, [])
            self._nones: list[int] = attrs.get(graph.func.op, encoding.NONES, [])
        self._prepare()

    def _prepare(self) -> None:
        """What calls need, whatever the shapes of their inputs."""
        run = joined_parts(self.name, self.plan, self.library, self.sizes_of)
        types = [*(type_ for _, type_ in self.plan.inputs), *self.plan.outputs]
        self._run = _accept_bfloat16_tensors(run) if any(type_.dtype == "bfloat16" for type_ in types) else run

    # --- calls --------------------------------------------------------------------------------------------------------

    def __call__(self, /, *args: Array, **named: Array) -> Any:
        """Run the model on its inputs, by position or name: arrays in, arrays out; torch tensors in, tensors out.

        Returns the output, or a tuple of them, with None where a model of torch returns None; they are new in each
        call. Raises ArgumentError, also where a check of the model (`torch._check`) fails.
        """
        if named or len(args) != len(self._inputs):
            args = self._order_arguments(args, named)
        key = type(args[0]) if args else None
        if self._symbols:
            try:
                key = (key, *[a.shape for a in args])
            except AttributeError:
                self._refuse_without_shape(args)
                raise
        try:
            call = self._frames.made[key]
        except KeyError:
            call = self._first_call(args, key)
        return call(args)

    def _refuse_without_shape(self, args: Sequence[Array]) -> None:
        for name, arg in zip(self._inputs, args, strict=True):
            if not hasattr(arg, "shape"):
                raise ArgumentError(f"{self.name}: {name} is {short_repr(arg)}; fix: an array or a tensor")

    def _first_call(self, args: Sequence[Array], key: Hashable) -> Runner:
        """What runs the model on inputs of these shapes in this thread; remembered."""
        if len(self._frames.made) >= SHAPES:
            self._frames.made.clear()
        runner = self._runner(args)
        count = len(self._results)
        if self._checks:
            runner = checking_caller(runner, self.name, self._checks, count + len(self._counts))
        if self._counts:
            runner = slicing_caller(runner, self.plan, self._counts, self.sizes_of(args), count)
        if self._nones:
            runner = with_nones(runner, self._nones)
        self._frames.made[key] = runner
        return runner

    def _runner(self, args: Sequence[Array]) -> Runner:
        """What runs the function on inputs of these shapes."""
        outputs, arena = self._new_frame(args, _is_torch(args))
        sources = [self.plan.donated.get(number) for number in range(len(outputs))]
        return caller(self._run, outputs, self._weights, arena, len(self._inputs), sources)

    def _new_frame(self, args: Sequence[Array], torch: bool) -> tuple[list[Callable[[], Array]], np.ndarray]:
        """How to make the outputs, and the arena, for inputs of these shapes."""
        sizes = self.sizes_of(args)
        arena = self._arena(self.plan.arena.layout(sizes)[1])
        shapes = zip(output_shapes(self.plan, sizes), self.plan.outputs, strict=True)
        return [_maker(shape, type_, torch) for shape, type_ in shapes], arena

    def _arena(self, size: int) -> np.ndarray:
        """The arena of this thread: the largest one needed so far serves all shapes."""
        arena = self._frames.arena
        if arena is None or arena.nbytes < size:
            self._frames.made.clear()  # they hold the smaller arena
            arena = self._frames.arena = empty(size, "int8")
        return arena

    def free(self) -> None:
        """Give back the memory that calls work in: the arenas of all threads, as large as the largest inputs so far
        needed. Calls that run keep theirs until they end; the next ones allocate anew."""
        self._frames = _Frames()

    def sizes_of(self, args: Sequence[Array]) -> dict[str, int]:
        """The values of the named sizes, from the shapes of inputs."""
        sizes: dict[str, int] = {}
        for size, source in self._sources.items():
            name, type_ = self.plan.inputs[source.tensor]
            shape = getattr(args[source.tensor], "shape", ())
            if len(shape) == len(type_.shape):
                sizes[size] = source.value(int(shape[source.axis]))
                if (expected := value(type_.shape[source.axis], sizes)) != shape[source.axis]:
                    next_lower = f"it is {type_.shape[source.axis]}, of which {expected} is the next lower one"
                    raise ArgumentError(f"{self!r}: axis {source.axis} of {name} is {shape[source.axis]}; {next_lower}")
        missing = [s for s in self._symbols if s not in sizes]
        if missing:
            raise ArgumentError(f"{self!r}: no argument has the shape that gives the size {missing[0]}")
        for size, (least, greatest) in self._ranges.items():
            if not all(name in sizes for name in size_code.symbols(size)):
                continue
            number = value(size, sizes)
            if not least <= number <= (greatest if greatest >= 0 else number):
                allowed = f"{least} to {greatest}" if greatest >= 0 else f"at least {least}"
                raise ArgumentError(f"{self!r}: the size {size} is {number}; the graph is made for {allowed}")
        return sizes

    def _order_arguments(self, args: Sequence[T], named: Mapping[str, T]) -> tuple[T, ...]:
        """Arguments in the order of the inputs. Raises ArgumentError for one missing, unknown or given twice."""
        takes = f"{self.name} takes {', '.join(self._inputs) or 'no inputs'}"
        if len(args) > len(self._inputs):
            raise ArgumentError(f"{takes}: {len(args)} arguments are too many")
        for name in named:
            if name not in self._inputs:
                raise ArgumentError(f"{takes}; it has no input {name!r}")
            if self._inputs.index(name) < len(args):
                raise ArgumentError(f"{takes}; {name!r} is given twice, by position and by name")
        missing = [name for name in self._inputs[len(args) :] if name not in named]
        if missing:
            raise ArgumentError(f"{takes}; no argument for {', '.join(missing)}")
        return (*args, *(named[name] for name in self._inputs[len(args) :]))

    def profile(self, *args: Array, rounds: int = 20) -> Profile:
        """Run the model call by call on these inputs, and tell the time of each call: prints as a table by function,
        with GFLOP/s, GB/s, and the fraction of what the machine's roofs allow. Sizes that data decide on are their
        greatest. Raises ArgumentError."""
        self(*args)  # checks them
        sizes = self.sizes_of(args)
        sizes |= {name: size_code.value(upper_bound(name, self.plan.bounds), sizes) for name in self.plan.bounds}
        outputs = [make() for make in self._new_frame(args, False)[0]]
        arena = self._arena(self.plan.arena.layout(sizes)[1])
        frame = ArrayFrame(self.plan, sizes, tuple(map(_bits, args)), outputs, self._weights, arena)
        return profile(self.graph, self.plan, frame, self.options, rounds)

    def export(self, folder: str | Path, name: str | None = None) -> list[Path]:
        """Write the model to a folder as files that need no Python; `name`: in C, default the folder's name.

        For this machine: NAME.so and libNAME.a (compiled code and loader), NAME.h, NAME.c (the loader),
        NAME.safetensors (weights, mapped into memory), NAME_kernels.h, example.c. For a target with a triple:
        NAME_kernels.o instead of the libraries; for WebAssembly NAME.wasm, NAME.js and the weights. Returns the paths.
        Raises BuildError for a model that calls functions of Python.
        """
        graph = with_plain_schedules(self.graph, self.options.target)
        return export_model(graph, self.plan, self._weights, folder, name, self.options)

    # --- facts --------------------------------------------------------------------------------------------------------

    @property
    def memory(self) -> ModelMemory:
        """What it takes: weights, the arena of a thread, what the arena would be without sharing, and scratch."""
        return memory_of(self.plan, self.library.scratch)

    @property
    def signature(self) -> str:
        """Its inputs and outputs as text: "main(x: (1, 784) float32) -> (1, 10) float32"."""
        inputs = ", ".join(f"{name}: {type_}" for name, type_ in self.plan.inputs)
        results = list(map(str, self._results))
        for position in self._nones:
            results.insert(position, "None")
        return f"{self.name}({inputs}) -> {', '.join(results)}"

    @property
    def _results(self) -> Sequence[TensorType]:
        """The types of the results that are returned: counts and checks follow them."""
        return self.plan.outputs[: len(self.plan.outputs) - len(self._counts) - bool(self._checks)]

    def __repr__(self) -> str:
        return f"<model {self.signature}>"

    __reduce_ex__ = fast_entry.refuse_pickle


def _is_torch(args: Sequence[Array]) -> bool:
    return bool(args) and type(args[0]) is not np.ndarray and type(args[0]).__module__.startswith("torch")


def _accept_bfloat16_tensors(run: Callable[..., None]) -> Callable[..., None]:
    """A function on arrays, which takes torch tensors of bfloat16 too: what no other library has is passed as bits."""
    return lambda *args: run(*map(_bits, args))


def _bits(tensor: Array) -> Array:
    """A view of a torch tensor of bfloat16 as uint16; others as they are."""
    if isinstance(tensor, np.ndarray) or str(getattr(tensor, "dtype", "")) != "torch.bfloat16":
        return tensor
    import torch

    return tensor.detach().view(torch.uint16)


def _maker(shape: tuple[int, ...], type_: TensorType, torch: bool) -> Callable[[], Array]:
    """A function that allocates an output."""
    if torch:
        import torch as library

        dtype = getattr(library, type_.dtype)
        return partial(library.empty, shape, dtype=dtype)
    dtype = np.dtype("uint16" if type_.dtype == "bfloat16" else type_.dtype)
    if int(np.prod(shape)) * dtype.itemsize >= LARGE:
        return empty_array_maker(shape, dtype)
    return partial(np.empty, shape, dtype)


def caller(
    run: Callable[..., None],
    makers: Sequence[Callable[[], Array]],
    weights: np.ndarray,
    arena: np.ndarray,
    inputs: int,
    sources: Sequence[int | None] = (),
) -> Runner:
    """A function of the inputs that runs `run(inputs..., outputs..., weights, arena)`, and returns the output, or a
    tuple of several. makers: what makes each output. inputs: their number."""
    if any(source is not None for source in sources):
        return _donated_result_caller(run, makers, weights, arena, sources)
    if len(makers) != 1:
        return _multi_result_caller(run, makers, weights, arena)
    (make,) = makers
    if inputs == 1:
        return _single_result_caller(run, make, weights, arena)

    def call(args: Sequence[Array]) -> Array | tuple[Array, ...]:
        outs = make()
        run(*args, outs, weights, arena)
        return outs

    return call


def _single_result_caller(
    run: Callable[..., None], make: Callable[[], Array], weights: np.ndarray, arena: np.ndarray
) -> Runner:
    """The same for one input and one output: no list of arguments is made, which takes 0.15 us."""

    def call(args: Sequence[Array]) -> Array | tuple[Array, ...]:
        out = make()
        run(args[0], out, weights, arena)
        return out

    return call


def _donated_result_caller(
    run: Callable[..., None],
    makers: Sequence[Callable[[], Array]],
    weights: np.ndarray,
    arena: np.ndarray,
    sources: Sequence[int | None],
) -> Runner:
    """The same for outputs of which some are inputs that were written to."""
    new_results = [number for number, source in enumerate(sources) if source is None]

    def call(args: Sequence[Array]) -> Array | tuple[Array, ...]:
        pairs = zip(makers, sources, strict=True)
        outs = tuple([make() if source is None else args[source] for make, source in pairs])
        run(*args, *(outs[number] for number in new_results), weights, arena)
        return outs if len(outs) != 1 else outs[0]

    return call


def _multi_result_caller(
    run: Callable[..., None], makers: Sequence[Callable[[], Array]], weights: np.ndarray, arena: np.ndarray
) -> Runner:
    def call(args: Sequence[Array]) -> Array | tuple[Array, ...]:
        outs = tuple([make() for make in makers])
        run(*args, *outs, weights, arena)
        return outs

    return call
