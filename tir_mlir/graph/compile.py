"""The stages that compile a graph, each a Graph -> Graph that can be stopped at and printed; and the cache of what
they make, by content: the text of the module, not the arrays of weights."""

from __future__ import annotations

import inspect
import io
import json
import warnings
from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cached_property

import numpy as np
from mlir import ir

from tir_mlir.dialect.diagnostics import BuildWarning, GraphError, check_type, short_repr
from tir_mlir.dialect.graph import encoding, tensor_funcs
from tir_mlir.dialect.ir import enter_context, symbols_kept
from tir_mlir.dialect.ir.memo import given_operations
from tir_mlir.graph.device.tiled_attention import tiled_attention
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.operators import OperatorKind, foreign_operators, kind_of
from tir_mlir.graph.precision.short_attention import short_attention
from tir_mlir.graph.transforms.bodies import each_body
from tir_mlir.graph.transforms.channels_last import channels_last
from tir_mlir.graph.transforms.emulate import emulate
from tir_mlir.graph.transforms.fold_batch_norm import fold_batch_norm
from tir_mlir.graph.transforms.function_memory import find_scratch, mark_in_place
from tir_mlir.graph.transforms.fuse_ops import fuse_ops
from tir_mlir.graph.transforms.fuse_tir import fuse_tir
from tir_mlir.graph.transforms.inline_graphs import inlined_calls
from tir_mlir.graph.transforms.integers import integers
from tir_mlir.graph.transforms.legalize import legalize
from tir_mlir.graph.transforms.lift_weights import constants_to_weights, lift_weights
from tir_mlir.graph.transforms.pack_weights import pack_weights
from tir_mlir.graph.transforms.patches import patches
from tir_mlir.graph.transforms.scale_sums import scale_sums
from tir_mlir.graph.transforms.schedule_functions import schedule_functions
from tir_mlir.graph.transforms.simplify import simplify
from tir_mlir.graph.transforms.winograd import winograd
from tir_mlir.graph.units.unit_queries import options_key, start_workers
from tir_mlir.runtime.cache import fingerprint, store
from tir_mlir.runtime.scheduled_programs import FINDER
from tir_mlir.script.module import IRModule
from tir_mlir.target import resolved
from tir_mlir.targets.stages import FAST, BuildOptions


@dataclass(frozen=True)
class Stage:
    """A stage: `run(graph)` is a new graph that computes the same.

    name: `compile_graph(graph, until=name)` stops after it, and tir-opt runs it as `tir-graph-name`, with hyphens.
    run: may also take fields of `BuildOptions`, by their names.
    only_for: operators, kinds of them, and kinds of functions that are called; `compile_graph` does not run it on a
        graph without any of these. None: it is run on each graph.
    saves: what it saves when the model runs is not worth its time where the model is to be ready soon.
    by_body: it changes one graph, so that it is run on each region of branches and loops as well.
    for_cpus: what it does is of use to code for CPUs only; it is not run for GPUs; for_gpus: the other way round.
    rounds: it rounds what was exact, so that an exact comparison says nothing of it.
    """

    name: str
    help: str
    run: Callable[..., Graph]
    only_for: frozenset[str | OperatorKind] | None = None
    saves: bool = False
    by_body: bool = False
    for_cpus: bool = False
    for_gpus: bool = False
    rounds: bool = False

    @cached_property
    def options(self) -> list[str]:
        """The fields of `BuildOptions` that it takes."""
        field_names = {field.name for field in fields(BuildOptions)}
        return [name for name in inspect.signature(self.run).parameters if name in field_names]

    def __call__(self, graph: Graph, options: BuildOptions) -> Graph:
        arguments = {name: getattr(options, name) for name in self.options}
        return (
            each_body(graph, lambda body: self.run(body, **arguments)) if self.by_body else self.run(graph, **arguments)
        )


STAGES: list[Stage] = [
    Stage(
        "inline_calls",
        "Replace the calls of other graphs by what these do",
        inlined_calls,
        frozenset({encoding.GRAPH, encoding.GROUP}),
    ),
    Stage("simplify", "Remove what does nothing or is undone; one product for all rows", simplify, by_body=True),
    Stage(
        "fold_batch_norm",
        "Fold batch normalization into the weights before it",
        fold_batch_norm,
        frozenset({"nn.batch_norm"}),
        by_body=True,
    ),
    Stage(
        "integers",
        "Compute products and convolutions of quantised tensors in integers",
        integers,
        frozenset({"dequantize"}),
        by_body=True,
    ),
    Stage(
        "channels_last",
        "Compute convolutions of images in NHWC",
        channels_last,
        frozenset({OperatorKind.CONVOLUTION}),
        by_body=True,
    ),
    Stage(
        "scale_sums",
        "Scale and round sums of integers in one operator",
        scale_sums,
        frozenset({"astype"}),
        by_body=True,
    ),
    Stage(
        "winograd",
        "Compute convolutions with windows of 3 x 3 with fewer multiplications",
        winograd,
        frozenset({OperatorKind.CONVOLUTION}),
        saves=True,
        by_body=True,
        for_cpus=True,
    ),
    Stage(
        "patches",
        "Compute convolutions of short numbers as products with patches",
        patches,
        frozenset({OperatorKind.CONVOLUTION}),
        by_body=True,
        for_cpus=True,
    ),
    Stage(
        "tiled_attention",
        "Compute attention of short floats in tiles, for tensor cores",
        tiled_attention,
        frozenset({"nn.attention"}),
        by_body=True,
        for_gpus=True,
        rounds=True,
    ),
    Stage(
        "short_attention",
        "Round weights of attention to short floats, for tiles and dot products of a CPU",
        short_attention,
        frozenset({"nn.attention"}),
        by_body=True,
        for_cpus=True,
        rounds=True,
    ),
    Stage("constants", "Make weights of constants; their values are not in the text", constants_to_weights),
    Stage("lift_weights", "Move what depends on weights only to a graph of its own", lift_weights),
    Stage("legalize", "Make a TensorIR function of each operator; reshapes become views", legalize),
    Stage(
        "fuse_ops", "Group products and row-wise operators with the pointwise ones around them", fuse_ops, by_body=True
    ),
    Stage("fuse_tir", "Make one TensorIR function of each group", fuse_tir),
    Stage("pack_weights", "Store weights in the panels that products read", pack_weights, for_cpus=True),
    Stage("schedule", "Schedule each TensorIR function that the graph calls", schedule_functions),
    Stage("emulate", "Make loops of a CPU of kernels, for an emulated GPU", emulate),
    Stage(
        "scratch",
        "Plan the buffers of TensorIR functions with the memory of the graph",
        find_scratch,
        saves=True,
        for_cpus=True,
    ),
    Stage(
        "in_place",
        "Let functions write results where inputs were",
        mark_in_place,
        saves=True,
        by_body=True,
        for_cpus=True,
    ),
]
"""In order. A stage does not read or change the arrays of weights: what the stages make is kept in the cache by the
text of the graph. After the last one, memory is planned and the graph is lowered to one function."""


_OWN = tuple(STAGES)


def are_own_stages() -> bool:
    """Whether the stages are those of this package: what others make depends on more than the text of the graph."""
    return tuple(STAGES) == _OWN


def compile_graph(
    graph: Graph,
    until: str | None = None,
    options: BuildOptions | None = None,
    resume_after: str | None = None,
    verify: bool = False,
    follow: Callable[[str, ir.Module], None] | None = None,
) -> Graph:
    """Run the stages in order, up to and including `until` (None: the last), from the one behind `resume_after` (None:
    the first). verify: compare the graph after each stage with the one before it, exactly. follow: is called after each
    stage, with its name and the module.

    Raises GraphError for an unknown stage and for one that changes what is computed, and what a stage raises. Warns of
    a stage that rounds what was exact, if verify.
    """
    check_type(graph, Graph, "compile_graph", "graph", "a Graph (from_torch, GraphBuilder make one)")
    options = options or BuildOptions(cache=False)
    is_cpu = resolved(options.target).is_cpu
    first = 0 if resume_after is None else _number(resume_after) + 1
    last = len(STAGES) if until is None else _number(until) + 1
    has, scanned = frozenset[str | OperatorKind](), None
    if first == 0 and are_own_stages() and last > _number(_FIRST_WITH_WORKERS):
        with enter_context():
            start_workers(len(graph.module.mlir.body.operations))
    for stage in STAGES[first:last]:
        if stage.only_for is not None and scanned is not graph:
            has, scanned = _nodes_of(graph), graph
        idle = stage.only_for is not None and has.isdisjoint(stage.only_for)
        idle = idle or (stage.saves and options.optimize == FAST) or (stage.for_gpus if is_cpu else stage.for_cpus)
        lowered = graph if idle else stage(graph, options)
        if verify and not idle:
            _verify_stage(stage, lowered, graph)
        graph = lowered
        if follow is not None:
            with enter_context():
                follow(stage.name, graph.module.mlir)
    return graph


def _verify_stage(stage: Stage, lowered: Graph, graph: Graph) -> None:
    """Compare a graph with the one before the stage. Errors: GraphError; of a stage that rounds, a warning."""
    comparison = lowered.verify(graph)
    if comparison:
        return
    if not stage.rounds:
        raise GraphError(f"the stage {stage.name} changes what the graph computes: {comparison.difference}")
    warnings.warn(
        f"the stage {stage.name} rounds, so that an exact comparison finds a difference; fix: "
        f'after = compile_graph(graph, until="{stage.name}"), and compare outputs: after.compare(graph, x)',
        BuildWarning,
        stacklevel=3,
    )


_FIRST_WITH_WORKERS = "legalize"


def _nodes_of(graph: Graph) -> frozenset[str | OperatorKind]:
    """What the nodes of a graph, and of the graphs of its module, are: see `Stage.only_for`."""
    with enter_context(), symbols_kept(graph.module.mlir):
        nodes = [node for func in tensor_funcs(graph.module.mlir) if func.is_graph for node in func.nodes]
        names = {name for node in nodes if (name := node.operator) is not None}
        return frozenset(names | {kind_of(name) for name in names} | {node.kind for node in nodes})


def _number(name: str) -> int:
    """The position of a stage in the list. Errors: GraphError."""
    names = [stage.name for stage in STAGES]
    if name not in names:
        raise GraphError(f"no stage {short_repr(name)}; fix: one of {', '.join(names)}")
    return names.index(name)


BEFORE_SCHEDULES = "pack_weights"
"""The last stage that no record of a search changes."""


def compiled_by_content(graph: Graph, options: BuildOptions, until: str | None = None) -> Graph:
    """The graph after all stages, or those until one of them, from the cache if the same graph was compiled before,
    with whatever weights.

    Schedules are not cached while a `tune.Database` is in force, whose records may change; nothing is with stages or
    operators of others.
    """
    if not store.limit() or not are_own_stages():
        return compile_graph(graph, until, options)
    if FINDER.get() is not None and until is None:
        return compile_graph(
            _load_or_compile(graph, options, BEFORE_SCHEDULES), options=options, resume_after=BEFORE_SCHEDULES
        )
    return _load_or_compile(graph, options, until)


def _load_or_compile(graph: Graph, options: BuildOptions, until: str | None) -> Graph:
    with enter_context():
        text = str(graph.module.mlir)
    if any(name in text for name in foreign_operators()):
        return compile_graph(graph, until, options)
    asked_for = options_key(options), options.optimize, str(given_operations())
    name = store.digest(fingerprint.installation(), fingerprint.package(), text, graph.name, *asked_for, str(until))
    serialized = store.load("graphs", name)
    if serialized is None:
        compiled = compile_graph(graph, until, options)
        if not _is_of_text(compiled, graph):
            return compiled
        serialized = _to_bytes(compiled)
        if fingerprint.package_unchanged():
            store.save("graphs", name, serialized)
    return _from_bytes(
        serialized, graph
    )  # of a graph just made too: both builds then have the same text, and the same code


def _is_of_text(compiled: Graph, graph: Graph) -> bool:
    """Whether a compiled graph has the arrays of the original, and else only constants of its text."""
    return all(
        name in compiled.from_text if name not in graph.weights else array is graph.weights[name]
        for name, array in compiled.weights.items()
    )


def _to_bytes(compiled: Graph) -> bytes:
    """The module as text, and the arrays of constants, with their lengths before them."""
    with enter_context():
        text = str(compiled.module.mlir).encode()
    names = sorted(compiled.from_text & set(compiled.weights))
    arrays = io.BytesIO()
    np.savez(arrays, *(compiled.weights[name] for name in names), allow_pickle=False)
    head = json.dumps({"text": len(text), "names": names}).encode()
    return b"\n".join((head, text + arrays.getvalue()))


def _from_bytes(serialized: bytes, graph: Graph) -> Graph:
    line, _, body = serialized.partition(b"\n")
    head = json.loads(line)
    with np.load(io.BytesIO(body[head["text"] :]), allow_pickle=False) as arrays:
        constants = {name: arrays[f"arr_{number}"] for number, name in enumerate(head["names"])}
    with enter_context():
        module = ir.Module.parse(body[: head["text"]].decode())
        compiled = Graph(IRModule(module), {**graph.weights, **constants}, graph.name)
    compiled.from_text, compiled.rounding = frozenset(constants), graph.rounding
    return compiled
