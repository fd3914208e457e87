"""Whether a model on a GPU computes what its graph does: each function by its kernels, the whole by its graph."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field

from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.ir import enter_context
from tir_mlir.equivalence import Result
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.bodies import bodies
from tir_mlir.graph.units.schedule_unit import schedule_for_gpu
from tir_mlir.graph.units.unit_queries import canonical_text, parse_canonical
from tir_mlir.script.module import PrimFunc
from tir_mlir.targets.stages import BuildOptions

SCHEDULED_AFTER = "pack_weights"
"""The stage of a graph before its functions are scheduled."""


@dataclass(frozen=True)
class ModelVerification:
    """The results of a check, by function; truthy if all of them are equal. unchecked: why others were not checked.
    whole: whether the graph with these functions computes what the original one does."""

    functions: dict[str, Result]
    unchecked: dict[str, str] = field(default_factory=dict)
    whole: Result | None = None

    def __bool__(self) -> bool:
        return all(self.functions.values()) and self.whole is not None and bool(self.whole)

    def __str__(self) -> str:
        lines = [f"{name}: {result}" for name, result in self.functions.items()]
        lines += [f"{name}: not checked: {why}" for name, why in self.unchecked.items()]
        return "\n".join([*lines, f"graph: {'not checked' if self.whole is None else self.whole}"])

    __repr__ = __str__


def verify_model(source: Graph, compiled: Graph, options: BuildOptions, seed: int = 0) -> ModelVerification:
    """Check that a graph, compiled for a GPU, computes what its source does.

    Each function is scheduled again, as the build did, and its kernels run on the PTX machine beside the program that
    it was before, see `Schedule.verify(target=)`: at sizes that keep every guard of the schedule. The compiled graph is
    compared with its source as `Graph.verify` does.
    """
    gpu = options.compiled_for.nvidia
    assert gpu is not None
    before = compile_graph(source, until=SCHEDULED_AFTER, options=options)
    results: dict[str, Result] = {}
    unchecked: dict[str, str] = {}
    for function in _functions(before):
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the build gave them
                results[function.name] = schedule_for_gpu(_isolate(function), gpu)[0].verify(target=gpu, seed=seed)
        except NotChecked as error:
            unchecked[function.name] = str(error)
    try:
        whole = compiled.verify(source, seed)
    except NotChecked as error:
        unchecked["the graph"], whole = str(error), None
    return ModelVerification(results, unchecked, whole)


def _isolate(function: PrimFunc) -> PrimFunc:
    """A function in a module of its own, as the build schedules it."""
    return parse_canonical(canonical_text(function))


def _functions(graph: Graph) -> list[PrimFunc]:
    """The TensorIR functions that the nodes of a graph call."""
    with enter_context():
        callees = [node.callee for body in bodies(graph.func) for node in body.nodes]
        names = [c.callee for c in callees if c is not None and c.kind == encoding.CALL_TIR]
        return [graph.module[name] for name in dict.fromkeys(names)]
