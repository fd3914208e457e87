"""The backend of `torch.compile`: `torch.compile(model, backend="tir_mlir")`."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from tir_mlir.dialect.diagnostics import GraphError, short_repr
from tir_mlir.graph.build_model import build_model
from tir_mlir.graph.importers.aten import translations
from tir_mlir.graph.importers.torch_compile.parts import Model, PartModel, as_input, divide
from tir_mlir.graph.importers.torch_compile.shared_results import Arguments, SharedResults
from tir_mlir.graph.importers.torch_export.export_model import decompose_unknown_operators, functionalize

if TYPE_CHECKING:
    import sympy
    from torch.export import ExportedProgram
    from torch.export.dynamic_shapes import _DimHint
    from torch.utils._sympy.value_ranges import ValueRanges

    from tir_mlir.graph.graph import Graph

_OPTIONS = ("target", "threads", "optimize", "cache")
_TRAINING = "gradients are computed, and models are compiled for inference; fix: with torch.no_grad()"
Run: TypeAlias = "Callable[[Arguments], Sequence[object]]"
"""What makes the results of a call of its arguments."""
SIZES = 32
"""Combinations of sizes of a graph that are compiled; others remain with torch."""
_warned_reasons: set[str] = set()


def backend(
    graph_module: torch.fx.GraphModule,
    example_inputs: Arguments,
    *,
    options: Mapping[str, Any] | None = None,  # of the types of the parameters of `build`
    mode: str | None = None,
) -> Callable[..., object]:
    """Compile a graph of TorchDynamo: a module of torch.fx -> a function of its inputs, which returns a tuple.

        model = torch.compile(model, backend="tir_mlir", options={"threads": 4})

    options: target, threads, optimize, cache, as of `build`. The graph is compiled at the first call. One with sizes
    that vary is compiled once for all of them; where that is not possible, or sizes do not fit, for each combination
    of sizes, of which the first `SIZES` are compiled.
    Parameters and buffers are weights of the model until one is written to or replaced: from then on they are inputs.
    Operators that are not known remain with torch, and so do graphs with gradients and tensors that are not on the
    CPU; a warning says so, once for each reason. Raises GraphError for an option that there is not.
    """
    settings = dict(options or {})
    for name in settings:
        if name not in _OPTIONS:
            raise GraphError(
                f"torch.compile: the backend tir_mlir has no option {name!r}\n  fix: one of {', '.join(_OPTIONS)}"
            )
    if mode not in (None, "default"):
        raise GraphError(f"torch.compile: the backend tir_mlir has no mode {short_repr(mode)}\n  fix: leave it out")
    tensors = [value for value in example_inputs if isinstance(value, torch.Tensor)]
    if torch.is_grad_enabled() and any(tensor.requires_grad for tensor in tensors):
        return _fall_back_to_torch(graph_module, _TRAINING)
    if away := next((tensor.device for tensor in tensors if tensor.device.type != "cpu"), None):
        return _fall_back_to_torch(graph_module, f"a tensor is on the device {away}")
    placeholders = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    weights = [n for n, node in enumerate(placeholders) if _is_weight(node, example_inputs[n])]
    traced = [node.meta.get("example_value", example_inputs[n]) for n, node in enumerate(placeholders)]
    try:
        shared = SharedResults(graph_module)
    except GraphError as error:
        return _fall_back_to_torch(graph_module, str(error))
    compiled = CompiledGraph(
        shared.computed_graph(graph_module) if shared.is_needed else graph_module,
        [node.name for node in placeholders],
        weights,
        varying_sizes(traced),
        settings,
    )
    if not shared.is_needed:
        return compiled
    return lambda *args: shared.results_of_call(args, compiled(*args))


def _fall_back_to_torch(graph_module: torch.fx.GraphModule, reason: str) -> Callable[..., object]:
    _warn_once(f"a graph remains with torch: {reason}")
    return graph_module.forward


def _warn_once(reason: str) -> None:
    if reason not in _warned_reasons:
        _warned_reasons.add(reason)
        warnings.warn(f"torch.compile, backend tir_mlir: {reason}", stacklevel=3)


def _is_weight(node: torch.fx.Node, value: object) -> bool:
    """Whether an input of a graph is a parameter or a buffer of the model."""
    if isinstance(value, torch.nn.Parameter):
        return True
    source = getattr(node.meta.get("grapharg"), "source", None)
    while source is not None and isinstance(value, torch.Tensor):
        if "ParamBuffer" in type(source).__name__:
            return True
        source = getattr(source, "base", None)
    return False


@dataclass(frozen=True)
class _Version:
    """A graph compiled for some shapes and weights: `run(args)`. weights: (position, tensor, its version). fits: if
    arguments have sizes that it is for. numbers: (position, value) of those that it was compiled with."""

    run: Run
    weights: Sequence[tuple[int, torch.Tensor, int]]
    fits: Callable[[Arguments], bool] = lambda _: True
    numbers: Sequence[tuple[int, float]] = ()

    def has(self, args: Arguments) -> bool:
        """Whether the weights and numbers are still those that it was compiled with."""
        same = all(args[n] is tensor and tensor._version == version for n, tensor, version in self.weights)
        return same and all(args[n].item() == value for n, value in self.numbers)


class CompiledGraph:
    """A graph of TorchDynamo as a function."""

    def __init__(
        self,
        graph_module: torch.fx.GraphModule,
        names: Sequence[str],
        weights: Sequence[int],
        sizes: VaryingSizes | None,
        settings: Mapping[str, Any],
    ):
        self._module, self._names, self._settings = graph_module, names, settings
        self._weights, self._sizes = list(weights), sizes
        self._versions: dict[tuple[Hashable, ...] | None, _Version] = {}
        self._for_all: _Version | None = None
        self._numbers = set(numbers_among(graph_module))

    def __call__(self, *args: Any) -> Sequence[object]:
        if self._sizes is not None and (version := self._version_for_all(args)) is not None:
            return version.run(args)
        key = None if self._sizes is None else tuple([getattr(arg, "shape", arg) for arg in args])
        version = self._versions.get(key)
        if version is None and len(self._versions) >= SIZES:
            _warn_once(f"a graph has more than {SIZES} combinations of sizes, and further ones remain with torch")
            return self._module(*args)
        if version is None or not version.has(args):
            if version is not None:
                self._forget_weights()
            version = self._versions[key] = self._compile_version(args)
        return version.run(args)

    def _forget_weights(self) -> None:
        """Weights change: they are inputs from here on."""
        self._weights.clear()
        self._numbers.clear()
        self._versions.clear()
        self._for_all = None

    def _version_for_all(self, args: Arguments) -> _Version | None:
        """The version for all sizes, if there is one and the arguments fit."""
        assert self._sizes is not None
        if self._for_all is not None and not self._for_all.has(args):
            self._forget_weights()
        if self._for_all is None and self._sizes.may_be_one:
            self._for_all = self._compile_version(args, self._sizes)
        version = self._for_all
        return version if version is not None and version.fits(args) else None

    def _compile_version(self, args: Arguments, sizes: VaryingSizes | None = None) -> _Version:
        with torch.no_grad():
            self._weights = [n for n in self._weights if not args[n].is_inference()]
            try:
                program = self._export_program(args, sizes)
                written = set(program.graph_signature.buffers_to_mutate.values())
                if written:
                    self._weights = [n for n in self._weights if self._names[n] not in written]
                    program = self._export_program(args, sizes)
            except Exception as error:  # torch's errors have many classes
                if sizes is not None:
                    sizes.may_be_one = False
                    return _Version(self._module, (), lambda _: False)
                first = str(error).strip().partition("\n")[0]
                _warn_once(f"a graph remains with torch, as torch.export refuses it: {type(error).__name__}: {first}")
                return _Version(lambda args: self._module(*args), ())
            divided = divide(program, self._build_model)
        if sizes is not None and divided.left:  # with numbers for sizes less may remain with torch
            sizes.may_be_one = False
            return _Version(self._module, (), lambda _: False)
        for operator, reason in divided.left.items():
            _warn_once(f"{operator} remains with torch: {reason}")
        inputs = self._inputs(args, sizes)
        run = _caller(divided.module, program, inputs)
        if written := _mutated_positions(program, inputs):
            run = _guard_shared_memory(
                run, self._module, written, [n for n in range(len(args)) if n not in self._numbers]
            )
        fits = _Version.fits if sizes is None else sizes.check(program, inputs)
        numbers = [(n, args[n].item()) for n in self._numbers]
        weights = [(n, args[n]) for n in self._weights]
        return _Version(run, [(n, tensor, tensor._version) for n, tensor in weights], fits, numbers)

    def _inputs(self, args: Arguments, sizes: VaryingSizes | None) -> list[int]:
        """The positions of the arguments that are no weights; where sizes vary, of those that are tensors."""
        return [
            n
            for n, arg in enumerate(args)
            if n not in self._weights and n not in self._numbers and (sizes is None or isinstance(arg, torch.Tensor))
        ]

    def _build_model(self, graph: Graph) -> Model:
        return build_model(graph, **self._settings)

    def _export_program(self, args: Arguments, sizes: VaryingSizes | None) -> ExportedProgram:
        """The program of the graph, functional, in operators that are known where there are such."""
        weights = {self._names[n]: args[n].detach() for n in self._weights}
        positions = self._inputs(args, sizes)
        read = {} if sizes is None else {self._names[n]: (positions.index(t), a) for n, (t, a) in sizes.read.items()}
        numbers = {self._names[n]: FloatInput(args[n].item()) for n in self._numbers}
        module = _WithWeights(self._module, self._names, weights, read, numbers)
        shapes = None if sizes is None else (tuple(sizes.dims(n, args[n]) for n in positions),)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # of torch's own code
            inputs = _copy_shared_inputs([args[n] for n in positions])
            exported = torch.export.export(module, inputs, strict=False, dynamic_shapes=shapes)
            return decompose_unknown_operators(functionalize(exported), translations())


class _WithWeights(torch.nn.Module):
    """A graph as a function of the inputs that are no weights. read: the sizes that are read from an axis of an input,
    by name."""

    def __init__(
        self,
        graph_module: torch.fx.GraphModule,
        names: Sequence[str],
        weights: Mapping[str, torch.Tensor],
        read: Mapping[str, tuple[int, int]],
        numbers: Mapping[str, FloatInput],
    ):
        super().__init__()
        for name, tensor in weights.items():
            self.register_buffer(name, tensor)
        self.graph_module, self._names, self._read, self._numbers = graph_module, names, read, numbers

    def forward(self, *inputs: torch.Tensor) -> object:
        rest = iter(inputs)
        sizes = {name: inputs[n].shape[axis] for name, (n, axis) in self._read.items()}
        given = {**sizes, **self._numbers, **self._buffers}
        return self.graph_module(*[given[name] if name in given else next(rest) for name in self._names])


def _caller(module: torch.fx.GraphModule, program: ExportedProgram, inputs: Sequence[int]) -> Run:
    """A function of the arguments of the graph. inputs: those that the program takes."""
    indices, values = _placeholders(program, inputs)
    specs = program.graph_signature.output_specs
    kinds = {spec.kind.name for spec in specs}
    if kinds == {"USER_OUTPUT"} and (direct := _direct_call(module, indices)) is not None:
        return direct
    positions = dict(zip(program.graph_signature.user_inputs, inputs, strict=True))

    def run(args: Arguments) -> tuple[object, ...]:
        outputs = []
        results = module(*[value if n is None else args[n] for n, value in zip(indices, values, strict=True)])
        for spec, value in zip(specs, results, strict=True):
            if spec.kind.name == "USER_OUTPUT":
                outputs.append(value)
            elif spec.kind.name.endswith("MUTATION"):
                args[positions[spec.target]].copy_(value)
        return tuple(outputs)

    return run


def _mutated_positions(program: ExportedProgram, inputs: Sequence[int]) -> list[int]:
    """The positions of arguments that a program writes to."""
    positions = dict(zip(program.graph_signature.user_inputs, inputs, strict=True))
    specs = program.graph_signature.output_specs
    return [positions[spec.target] for spec in specs if spec.kind.name.endswith("MUTATION")]


def _guard_shared_memory(
    run: Run, module: torch.fx.GraphModule, written: Sequence[int], positions: Sequence[int]
) -> Run:
    """The same where no argument that is written to shares memory with another one: torch runs such calls."""

    def call(args: Arguments) -> Sequence[object]:
        memories = {n: _memory(x) for n in positions if isinstance(x := args[n], torch.Tensor)}
        counts = Counter(memories.values())
        if any(memories[n] and counts[memories[n]] > 1 for n in written):
            _warn_once("a call remains with torch: an argument that is written to shares memory with another one")
            return module(*args)
        return run(args)

    return call


def _memory(tensor: torch.Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _copy_shared_inputs(inputs: Sequence[object]) -> tuple[object, ...]:
    """Example inputs without gradients; copies of those that share memory, which torch.export does not take."""
    counts = Counter(_memory(arg) for arg in inputs if isinstance(arg, torch.Tensor))
    tensors = (arg.detach() if isinstance(arg, torch.Tensor) else arg for arg in inputs)
    return tuple(t.clone() if isinstance(t, torch.Tensor) and counts[_memory(t)] > 1 else t for t in tensors)


def _placeholders(program: ExportedProgram, inputs: Sequence[int]) -> tuple[list[int | None], list[object]]:
    """For each placeholder of a program the position of its argument, or None and its value. inputs: the positions of
    those that are the caller's, in order."""
    stored, rest = {**program.constants, **program.state_dict}, iter(inputs)
    positions: list[int | None] = []
    values: list[object] = []
    for spec in program.graph_signature.input_specs:
        is_given = spec.kind.name == "USER_INPUT"
        positions.append(next(rest) if is_given else None)
        token = spec.kind.name == "TOKEN"  # of the order of effects
        values.append(None if is_given else torch.tensor([]) if token else stored[str(spec.target)])
    return positions, values


def _direct_call(module: torch.fx.GraphModule, positions: Sequence[int | None]) -> Run | None:
    """The call of the model, of a program that is one; None for others. positions: see `_placeholders`."""
    nodes = list(module.graph.nodes)
    calls = [node for node in nodes if node.op == "call_module"]
    items = [node for node in nodes if node.op == "call_function"]
    (output,) = [node for node in nodes if node.op == "output"]
    if len(calls) != 1 or any(item.args[0] is not calls[0] for item in items):
        return None
    part: PartModel = getattr(module, str(calls[0].target))
    placeholders = [node for node in nodes if node.op == "placeholder"]
    operands = [placeholders.index(calls[0].args[n]) for n in part.inputs]
    taken = [position for position in map(positions.__getitem__, operands) if position is not None]
    if len(taken) < len(operands):
        return None
    results = list(output.args[0])
    if results == calls and not items:
        return lambda args: (part.model(*[as_input(args[n]) for n in taken]),)
    if not items or any(result not in items for result in results):
        return None
    order = [item.args[1] for item in results]

    def run(args: Arguments) -> tuple[object, ...]:
        values = part.model(*[as_input(args[n]) for n in taken])
        return tuple([values[n] for n in order])

    return run


@dataclass
class VaryingSizes:
    """axes: of each tensor, by position, the axes that vary. read: for each input that is a size, a tensor and an axis
    that have it. may_be_one: whether one program for all sizes has not failed yet."""

    axes: Mapping[int, Sequence[int]]
    read: Mapping[int, tuple[int, int]]
    may_be_one: bool = True

    def dims(self, position: int, tensor: torch.Tensor) -> dict[int, _DimHint]:
        """What torch.export gets to know about a tensor."""
        return {axis: torch.export.Dim.AUTO for axis in self.axes.get(position, ()) if tensor.shape[axis] > 1}

    def check(self, program: ExportedProgram, positions: Sequence[int]) -> Callable[[Arguments], bool]:
        """Whether arguments have sizes that a program is made for. positions: of its inputs among the arguments."""
        nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
        values = [nodes[name].meta["val"] for name in program.graph_signature.user_inputs]
        sizes = [(n, a, size) for n, value in zip(positions, values, strict=True) for a, size in enumerate(value.shape)]
        exprs = [(n, a, size if isinstance(size, int) else size.node.expr) for n, a, size in sizes]
        fixed = [(n, a, int(expr)) for n, a, expr in exprs if isinstance(expr, int) or expr.is_Integer]
        named = [(n, a, expr) for n, a, expr in exprs if not isinstance(expr, int) and not expr.is_Integer]
        if not all(expr.is_Symbol for _, _, expr in named):
            return lambda _: False
        limits = {s: (int(r.lower), int(r.upper) if r.upper.is_Integer else None) for s, r in _ranges(program)}

        def fits(args: Arguments) -> bool:
            if any(args[n].shape[a] != size for n, a, size in fixed):
                return False
            values: dict[sympy.Symbol, int] = {}
            shapes = [(args[n].shape[a], symbol) for n, a, symbol in named]
            if any(values.setdefault(symbol, size) != size for size, symbol in shapes):
                return False
            pairs = [(limits[symbol], size) for symbol, size in values.items() if symbol in limits]
            return all(least <= size and (end is None or size <= end) for (least, end), size in pairs)

        return fits


def _ranges(program: ExportedProgram) -> list[tuple[sympy.Symbol, ValueRanges]]:
    return [(s, r) for s, r in program.range_constraints.items() if s.is_Symbol and r.lower.is_Integer]


def varying_sizes(traced: Sequence[object]) -> VaryingSizes | None:
    """The sizes that vary among inputs as TorchDynamo traced them; None if there are none. One that no tensor has
    cannot be read: then graphs are compiled for each combination."""
    axes: dict[int, list[int]] = {}
    first: dict[sympy.Basic, tuple[int, int]] = {}
    for position, value in enumerate(traced):
        for axis, size in enumerate(value.shape if isinstance(value, torch.Tensor) else ()):
            if isinstance(size, torch.SymInt):
                axes.setdefault(position, []).append(axis)
                first.setdefault(size.node.expr, (position, axis))
    numbers = {n: value.node.expr for n, value in enumerate(traced) if isinstance(value, torch.SymInt)}
    if not axes and not numbers:
        return None
    read = {n: first[expr] for n, expr in numbers.items() if expr in first}
    return VaryingSizes(axes, read, len(read) == len(numbers))


@dataclass(frozen=True)
class FloatInput:
    """Instead of a tensor that TorchDynamo made of a float: the graph reads it by `item()`."""

    value: float

    def item(self) -> float:
        return self.value


def numbers_among(graph_module: torch.fx.GraphModule) -> list[int]:
    """The positions of inputs that are floats, passed as tensors that the graph only reads by `item()`."""
    placeholders = [node for node in graph_module.graph.nodes if node.op == "placeholder"]
    return [n for n, node in enumerate(placeholders) if node.users and all(map(_reads_number, node.users))]


def _reads_number(user: torch.fx.Node) -> bool:
    value = user.args[0].meta.get("example_value") if isinstance(user.args[0], torch.fx.Node) else None
    is_float = isinstance(value, torch.Tensor) and value.dim() == 0 and value.dtype == torch.float64
    return user.op == "call_method" and user.target == "item" and is_float
