"""Run kernels on this CPU: the stage of graphs that are built for an emulated GPU."""

from __future__ import annotations

from tir_mlir.dialect.ir import attrs, enter_context, funcs, symbols_kept
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.lift_weights import weight_callees
from tir_mlir.graph.transforms.schedule_functions import FLOPS, SCHEDULE, WARNINGS, replace_function
from tir_mlir.graph.units.emulation_unit import emulated_functions
from tir_mlir.target import AnyTarget, resolved
from tir_mlir.targets.stages import BuildOptions


def emulate(graph: Graph, target: AnyTarget | str = "llvm", cache: bool = False) -> Graph:
    """Make loops of a CPU of the functions that are bound to blocks and threads, where the target is an emulated GPU.

        func.func @dense(...) { for blockIdx.x: for threadIdx.x: ... }
    ->  func.func @dense(...) { for parallel block: for thread: ... }

    Threads are split at barriers, see `targets.emulated`. Raises LoweringError for what the GPU does not run.
    """
    gpu = resolved(target).nvidia
    if gpu is None or not gpu.emulated:
        return graph
    emulated = graph.clone()
    module = emulated.module.mlir
    with enter_context(), symbols_kept(module):
        here = weight_callees(emulated)
        names = [f.name for f in funcs(module) if SCHEDULE in f.op.attributes and f.name not in here]
        functions = [emulated.module[name] for name in names]
        found = emulated_functions(functions, BuildOptions(target=target, cache=cache))
        for name, function in zip(names, found, strict=True):
            facts = {key: emulated.module[name].func.op.attributes[key] for key in _facts(emulated, name)}
            replace_function(emulated.module, name, function)
            for key, value in facts.items():
                emulated.module[name].func.op.attributes[key] = value
    return emulated


def _facts(graph: Graph, name: str) -> list[str]:
    """What is known of a function that remains true of it."""
    return [key for key in (SCHEDULE, WARNINGS, FLOPS, attrs.ID) if key in graph.module[name].func.op.attributes]
