"""Schedule the TensorIR functions of a graph."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from tir_mlir.dialect.computation.float_operations import float_operations
from tir_mlir.dialect.diagnostics import TuneWarning
from tir_mlir.dialect.graph import encoding, tensor_funcs
from tir_mlir.dialect.ir import attrs, enter_context, erase_symbol, funcs, symbol, symbols_kept
from tir_mlir.graph.graph import Graph
from tir_mlir.graph.transforms.lift_weights import weight_callees
from tir_mlir.graph.units.schedule_unit import ScheduledFunction, plain_schedules, schedules
from tir_mlir.runtime import scheduled_programs
from tir_mlir.script.module import IRModule, PrimFunc, copy_function
from tir_mlir.target import AnyTarget, resolved
from tir_mlir.targets.stages import FAST, FULL, BuildOptions

SCHEDULE = "graph.schedule"
"""Of a TensorIR function: where its schedule is from, in words."""
WARNINGS = "graph.warnings"
"""Of a TensorIR function: what scheduling it warned of."""


FLOPS = "graph.flops"
"""Of a TensorIR function: its float operations, where its sizes are numbers."""


def schedule_functions(
    graph: Graph,
    target: AnyTarget | str = "llvm",
    threads: int | None = None,
    cache: bool = False,
    optimize: str = FULL,
) -> Graph:
    """Schedule each TensorIR function that a node calls: as the records of a `tune.Database` in force have it, else by
    `schedules.auto`. optimize: "fast" is by `schedules.plain`, and with few passes of LLVM.

        func.func @dense(...) { three loops }
    ->  func.func @dense(...) attributes {graph.schedule = "schedules.auto (T_dense: gemm)"} { packed tiles, vectors }

    Functions with a schedule remain as they are. Warnings are kept at the function, see `schedule_notes`; those about
    records that do not apply are given as well. cache: keep schedules by the text of the function; not those of
    records, which may change. For a GPU, the functions of the graph that computes weights are scheduled for this CPU,
    where it runs.
    """
    scheduled = graph.clone()
    module = scheduled.module.mlir
    options = BuildOptions(target=target, threads=threads, cache=cache, optimize=optimize)
    with enter_context(), symbols_kept(module):
        of_weights = frozenset[str]() if resolved(target).is_cpu else weight_callees(scheduled)
        callees = [f.callee for f in tensor_funcs(module) if f.kind == encoding.CALL_TIR]
        functions = [scheduled.module[name] for name in dict.fromkeys(callees)]
        functions = [function for function in functions if SCHEDULE not in function.func.op.attributes]
    here = [function for function in functions if function.name in of_weights]
    _schedule_each(scheduled.module, here, replace(options, target="llvm"))
    _schedule_each(scheduled.module, [f for f in functions if f.name not in of_weights], options)
    return scheduled


def _schedule_each(module: IRModule, functions: Sequence[PrimFunc], options: BuildOptions) -> None:
    """Replace functions of a module by scheduled ones."""
    if scheduled_programs.FINDER.get() is None or options.optimize == FAST:
        found = schedules(functions, options)
    else:
        found = [_schedule_from_records(function, options.target, options.threads) for function in functions]
    with enter_context(), symbols_kept(module.mlir):
        for function, one in zip(functions, found, strict=True):
            _put(module, function.name, one)


def with_plain_schedules(graph: Graph, target: AnyTarget | str, threads: int | None = None) -> Graph:
    """The graph with plain schedules for the functions whose code is written directly: for those who lower them."""
    with enter_context():
        names = [f.name for f in funcs(graph.module.mlir) if attrs.DIRECT in f.op.attributes]
    if not names:
        return graph
    scheduled = graph.clone()
    with enter_context(), symbols_kept(scheduled.module.mlir):
        functions = [scheduled.module[name] for name in names]
        for function in functions:
            del function.func.op.attributes[attrs.DIRECT]
    options = BuildOptions(target=target, threads=threads, cache=False, optimize=FAST)
    for name, one in zip(names, plain_schedules(functions, options), strict=True):
        with enter_context(), symbols_kept(scheduled.module.mlir):
            _put(scheduled.module, name, one)
    return scheduled


def _schedule_from_records(function: PrimFunc, target: AnyTarget | str, threads: int | None) -> ScheduledFunction:
    """A function as the records in force have it."""
    alone = function.isolated_module
    with enter_context():
        flops = float_operations(function.func)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        tuned = scheduled_programs.find(alone, target, alone.mlir, threads)
    for warning in caught:
        if issubclass(warning.category, TuneWarning):
            warnings.warn(f"{function.name}: {warning.message}", TuneWarning, stacklevel=4)
    result = IRModule(tuned.module)[function.name]
    return ScheduledFunction(result, tuned.origin, flops, [str(warning.message) for warning in caught])


def _put(module: IRModule, name: str, scheduled: ScheduledFunction) -> None:
    """Replace the one of a name by a scheduled function, with what there is to tell about it."""
    replace_function(module, name, scheduled.function)
    with enter_context():
        func_op = module[name].func.op
        attrs.put(func_op, SCHEDULE, scheduled.origin)
        if scheduled.flops is not None and scheduled.flops < 2**63:  # an attribute has 64 bits
            attrs.put(func_op, FLOPS, scheduled.flops)
        if scheduled.warnings:
            attrs.put(func_op, WARNINGS, scheduled.warnings)


def replace_function(module: IRModule, name: str, function: PrimFunc) -> None:
    """Replace the one of a name by a TensorIR function."""
    with enter_context():
        if (op := symbol(module.mlir, name)) is not None:
            erase_symbol(op)
        copy_function(module.mlir, function, name)


def schedule_notes(graph: Graph) -> dict[str, tuple[str, list[str]]]:
    """Of each scheduled function: where its schedule is from, and the warnings."""
    with enter_context():
        return {
            f.name: (attrs.get(f.op, SCHEDULE), list(attrs.get(f.op, WARNINGS, [])))
            for f in funcs(graph.module.mlir)
            if SCHEDULE in f.op.attributes
        }
