"""Whether a model on a GPU computes what its graph does: each function by its kernels, the whole by its graph."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from tir_mlir.dialect.diagnostics import NotChecked
from tir_mlir.dialect.graph import encoding
from tir_mlir.dialect.ir import Buffer, enter_context, funcs, ops
from tir_mlir.dialect.ir.op_views import AllocOp, isa
from tir_mlir.equivalence import Result
from tir_mlir.equivalence.compare import compare
from tir_mlir.equivalence.machine_comparison import TRIED_WORK, MachineComparison
from tir_mlir.equivalence.work import work_of
from tir_mlir.graph.compile import compile_graph
from tir_mlir.graph.device.tiled_attention import tiled_attentions
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.bodies import bodies
from tir_mlir.graph.units.schedule_unit import schedule_for_gpu
from tir_mlir.graph.units.unit_queries import canonical_text, parse_canonical
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.gpu.tensor_cores import TF32_ERROR
from tir_mlir.schedules.programs.auto import auto
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.target import CUDA
from tir_mlir.targets.stages import BuildOptions

TILED_AFTER, TILED = "channels_last", "tiled_attention"
"""The stage before attentions are written in tiles, and that one. The one between them is for CPUs."""
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
    it was before, see `Schedule.verify(target=)`: at sizes that keep every guard of the schedule; those of an attention
    in tiles beside the operator, within a tolerance, at their own sizes. The compiled graph is compared with its source
    as `Graph.verify` does; where attentions are in tiles, up to and after these.
    """
    gpu = options.compiled_for.nvidia
    assert gpu is not None
    exact = compile_graph(source, until=TILED_AFTER, options=options)
    tiled = compile_graph(exact, until=TILED, options=options, resume_after=TILED_AFTER)
    before = compile_graph(tiled, until=SCHEDULED_AFTER, options=options, resume_after=TILED)
    kept = {function.name for function in _functions(exact)}
    written = [function.name for function in _functions(tiled) if function.name not in kept]
    checks: dict[str, Callable[[], Result]] = {
        function.name: partial(_verify_schedule, function, gpu, seed) for function in _functions(before)
    }
    for name, (operator, program) in zip(written, tiled_attentions(exact, gpu), strict=True):
        checks[name] = partial(_verify_attention, operator, program, gpu, seed)
    checks["the graph"] = partial(compiled.verify, tiled if written else source, seed)
    if written:
        checks["the graph before its attention"] = partial(exact.verify, source, seed)
    results: dict[str, Result] = {}
    unchecked: dict[str, str] = {}
    for name, check in checks.items():
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the build gave them
                results[name] = check()
        except NotChecked as error:
            unchecked[name] = str(error)
    return ModelVerification(results, unchecked, results.pop("the graph", None))


def _verify_schedule(function: PrimFunc, gpu: CUDA, seed: int) -> Result:
    """Compare the kernels of a function with its program, whose numbers tf32 holds exactly; a note tells its error."""
    sch = schedule_for_gpu(_isolate(function), gpu)[0]
    result = sch.verify(target=gpu, seed=seed)
    if _rounds_to_tf32(sch):
        result.notes.append(
            f"products in tf32: of other numbers each is wrong by up to {TF32_ERROR:.1g} of the sum of absolute values"
        )
    return result


def _rounds_to_tf32(sch: Schedule) -> bool:
    """Whether a program has operands of float32 in fragments."""
    with enter_context():
        allocs = [Buffer(op.results[0]) for op in ops(sch.mod.mlir.operation) if isa(op, AllocOp)]
        return any(b.dtype == "float32" and b.scope.startswith("mma.matrix_") for b in allocs)


def _verify_attention(operator: PrimFunc, program: IRModule, gpu: CUDA, seed: int) -> Result:
    """Compare the kernels of an attention in tiles with what the operator computes."""
    sch = Schedule(program)
    auto(sch, gpu)
    original = operator.isolated_module.mlir
    with enter_context():
        work = max(work_of(f.op, {}) for f in funcs(original))
        if work > TRIED_WORK:
            raise NotChecked(f"it has about {work:.0e} iterations; fix: verify the same model with smaller sizes")
        return compare(original, sch.mod.mlir, seed, comparison=partial(MachineComparison, gpu=gpu))


def _isolate(function: PrimFunc) -> PrimFunc:
    """A function in a module of its own, as the build schedules it."""
    return parse_canonical(canonical_text(function))


def _functions(graph: Graph) -> list[PrimFunc]:
    """The TensorIR functions that the nodes of a graph call."""
    with enter_context():
        callees = [node.callee for body in bodies(graph.func) for node in body.nodes]
        names = [c.callee for c in callees if c is not None and c.kind == encoding.CALL_TIR]
        return [graph.module[name] for name in dict.fromkeys(names)]
