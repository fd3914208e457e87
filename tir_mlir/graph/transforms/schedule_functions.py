"""Schedule the TensorIR functions of a graph."""

from __future__ import annotations

import warnings
from math import prod

from mlir import ir

from tir_mlir.dialect.diagnostics import TuneWarning
from tir_mlir.dialect.graph import encoding, tensor_funcs
from tir_mlir.dialect.ir import Func, attrs, entered, funcs, is_block, is_init, symbol, walk
from tir_mlir.graph.graph import Graph
from tir_mlir.interpreter.ops.scalar_ops import flops
from tir_mlir.runtime import scheduled_programs
from tir_mlir.schedule import Schedule
from tir_mlir.schedules.programs.auto import auto
from tir_mlir.script.module import IRModule, PrimFunc, copy_function
from tir_mlir.target import Target

SCHEDULE = "graph.schedule"
"""Of a TensorIR function: where its schedule is from, in words."""
WARNINGS = "graph.warnings"
"""Of a TensorIR function: what scheduling it warned of."""


FLOPS = "graph.flops"
"""Of a TensorIR function: its float operations, where its sizes are numbers."""


def schedule_functions(graph: Graph, target: Target | str = "llvm", threads: int | None = None) -> Graph:
    """Schedule each TensorIR function that a node calls: as the records of a `tune.Database` in force have it, else by
    `schedules.auto`.

        func.func @dense(...) { three loops }
    ->  func.func @dense(...) attributes {graph.schedule = "schedules.auto (T_dense: gemm)"} { packed tiles, vectors }

    Functions with a schedule stay as they are. Warnings are kept at the function, see `schedule_notes`; those about
    records that do not apply are given as well.
    """
    scheduled = graph.clone()
    with entered():
        module = scheduled.module.mlir
        callees = [f.callee for f in tensor_funcs(module) if f.kind == encoding.CALL_TIR]
    for name in dict.fromkeys(callees):
        with entered():
            done = SCHEDULE in scheduled.module[name].func.op.attributes
        if not done:
            _schedule(scheduled.module, name, target, threads)
    return scheduled


def _schedule(module: IRModule, name: str, target: Target | str, threads: int | None) -> None:
    alone = module[name].alone
    with entered():
        flops = float_operations(module[name].func)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        if scheduled_programs.FINDER.get() is not None:
            tuned = scheduled_programs.find(alone, target, alone.mlir, threads)
            result, origin = IRModule(tuned.module), tuned.origin
        else:
            sch = Schedule(alone)
            picked = auto(sch, None if target == "llvm" else target, threads)
            words = ", ".join(f"{block}: {how or scheduled_programs.AS_GIVEN}" for block, how in picked.items())
            result, origin = sch.mod, f"schedules.auto ({words})"
    for warning in caught:
        if issubclass(warning.category, TuneWarning):
            warnings.warn(f"{name}: {warning.message}", TuneWarning, stacklevel=4)
    replace_function(module, name, result[name])
    with entered():
        func_op = module[name].func.op
        attrs.put(func_op, SCHEDULE, origin)
        if flops is not None and flops < 2**63:  # an attribute has 64 bits
            attrs.put(func_op, FLOPS, flops)
        if caught:
            attrs.put(func_op, WARNINGS, [str(w.message) for w in caught])


def replace_function(module: IRModule, name: str, function: PrimFunc) -> None:
    """Put a TensorIR function in the place of the one of a name."""
    with entered():
        if (op := symbol(module.mlir, name)) is not None:
            op.erase()
        copy_function(module.mlir, function, name)


def schedule_notes(graph: Graph) -> dict[str, tuple[str, list[str]]]:
    """Of each scheduled function: where its schedule is from, and the warnings."""
    with entered():
        return {
            f.name: (attrs.get(f.op, SCHEDULE), list(attrs.get(f.op, WARNINGS, [])))
            for f in funcs(graph.module.mlir)
            if SCHEDULE in f.op.attributes
        }


def float_operations(func: Func) -> int | None:
    """The float operations of a function before its schedule: of each block, those of its body for all its iters. None
    if a block has a symbolic extent."""
    total = 0
    for block in walk.all_blocks(func.op):
        extents = [it.extent.as_constant() for it in block.iters]
        block_flops = sum(flops(op) for op in walk.ops(block.op) if _belongs(op, block.op))
        if block_flops and any(e is None for e in extents):
            return None
        total += block_flops * prod(e for e in extents if e is not None)
    return total


def _belongs(op: ir.Operation, block: ir.Operation) -> bool:
    """Whether an op is of a block itself: not of a block in it, nor of an init."""
    for parent in walk.parents(op):
        if parent == block:
            return True
        if is_block(parent) or is_init(parent):
            return False
    return False
