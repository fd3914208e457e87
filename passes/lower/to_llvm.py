"""Lower a module from TensorIR to the LLVM dialect; run passes by name, ours with options and upstream ones."""

from __future__ import annotations

import atexit
import re
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mlir import ir
from mlir.passmanager import PassManager

from tir_mlir.dialect.calls import body_symbol
from tir_mlir.dialect.diagnostics import CheckedSite, LoweringError
from tir_mlir.dialect.ir import attrs, enter_context, llvm_intrinsics
from tir_mlir.dialect.ir.lowering_op_views import UnrealizedCastOp
from tir_mlir.dialect.ir.op_views import isa
from tir_mlir.passes.lower import pipeline
from tir_mlir.passes.lower.llvm import abi, bare_pointers
from tir_mlir.passes.lower.llvm.rounded_casts import ROUNDS_IN_CASTS
from tir_mlir.passes.lower.loops.registers import REGISTERS
from tir_mlir.passes.lower.loops.thread_conditions import THREAD_WORK
from tir_mlir.passes.lower.memory import checks
from tir_mlir.passes.lower.memory.allocs import STATIC_MEMORY
from tir_mlir.passes.lower.registry import LOWERINGS, called_programs, content_of, location_text

KEEP_ROLLED, MARKS = "tir-lower-keep-rolled", "tir-lower-keep-rolled-marks"
CPU_TARGETS = ("llvm", "cpu")


def lower_to_llvm(
    module: ir.Module,
    *,
    target: str | None = None,
    timing: dict[str, float] | None = None,
    registers: tuple[int, int] | None = None,
    sites: list[CheckedSite] | None = None,
    follow: Callable[[str, ir.Module], None] | None = None,
    static_memory: bool = False,
    thread_work: int = 0,
    rounds_in_casts: bool = False,
) -> int:
    """Lower a module in place to the LLVM dialect, ready for ExecutionEngine and mlir-translate.

    Public functions get a C interface (`_mlir_ciface_NAME`, one pointer to a memref descriptor for each argument).
    `timing` collects seconds by pass; with `registers` (bits of a vector register, number of registers) a
    LoweringWarning reports tiles that do not fit. With `sites`, accesses that are not proved inside their buffer are
    checked when they run; the list receives them. `follow(name, module)` is called after each pass; the upstream ones
    then run one by one. With `static_memory`, buffers of constant size are memory of the module, not of the heap.
    `thread_work`: see `tir-lower-thread-conditions`; `rounds_in_casts`: `tir-lower-rounded-casts`. Returns the maximal
    constant-size heap use of a function, in bytes. Raises LoweringError for a target other than the CPU, and for ops
    that cannot be lowered.
    """
    if (target or "llvm").split()[0] not in CPU_TARGETS:
        raise LoweringError(f'target "{target}" is not supported by this lowering; use "llvm" (the CPU)')
    clock = PassTimer(timing, follow, module)
    with enter_context():
        promised, called = abi.noalias_functions(module), called_programs(module)
        units = bare_pointers.unit_parameters(module)
        attrs.put(module.operation, REGISTERS, registers)
        if static_memory:
            attrs.put(module.operation, STATIC_MEMORY, True)
        if sites is not None:
            clock.run("tir-lower-checks-mark", lambda: checks.mark(module))
        facts = {THREAD_WORK: thread_work or None, ROUNDS_IN_CASTS: rounds_in_casts or None}
        results = _run_passes(module, clock, single=follow is not None, facts=facts)
        _set_interface(module, results["tir-lower-nest-functions"], promised, called, units)
        if sites is not None:
            sites += results["tir-lower-checks"]
        _check_converted(module)
    return results["tir-lower-allocs"]


def _run_passes(module: ir.Module, clock: PassTimer, single: bool, facts: Mapping[str, object]) -> dict[str, Any]:
    """Run all passes; the results of ours by name. `single`: the upstream ones run one by one. facts: attributes that
    the module has for those after our own."""
    content = content_of(module)
    bf16 = "bf16" in content.elements  # no pass makes the first one
    results = {
        name: clock.run(name, lambda name=name: LOWERINGS[name].run_if_needed(module, content))
        for name in pipeline.MODULE_PASSES
    }
    math = llvm_intrinsics.CALL in content.ops or any(name.startswith("math.") for name in content.ops)
    for key, value in facts.items():
        attrs.put(module.operation, key, value)
    module.operation.verify()  # once: what the passes after it make is checked by LLVM
    for run in pipeline.stages(results["tir-lower-parallel"], math, bf16, single=single):
        if run[0] == MARKS and not results[KEEP_ROLLED] and not single:
            continue
        if run[0].startswith("tir-"):
            results[run[0]] = clock.run(run[0], lambda run=run: LOWERINGS[run[0]].run_if_needed(module, content))
        else:
            clock.run(f"upstream:{run[-1]}", lambda run=run: run_upstream(module, run, verify=single))
    return results


def _set_interface(
    module: ir.Module,
    parts: Mapping[str, Any],
    promised: dict[str, list[int]],
    called: set[str],
    units: Mapping[str, Sequence[ir.Type]],
) -> None:
    """Mark what the functions of a module promise of their pointers, and pass those of code units bare.

    `parts`: the functions of nests, by name; `promised`: the ranks of parameters that alias nothing, by function.
    """
    promised |= {name: part.ranks for name, part in parts.items() if body_symbol(part.caller) in promised}
    abi.set_noalias(module, promised)
    abi.forbid_inlining(module, {*parts, *(part.caller for part in parts.values()), *called} - units.keys())
    bare_pointers.pass_bare_pointers(module, units)


class PassTimer:
    """Seconds by pass, if requested. `follow(name, module)` is called after each."""

    def __init__(
        self, seconds: dict[str, float] | None, follow: Callable[[str, ir.Module], None] | None, module: ir.Module
    ):
        self.seconds, self._follow, self._module = seconds, follow, module

    def run(self, name: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        answer = work()
        if self.seconds is not None:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.perf_counter() - start
        if self._follow is not None:
            self._follow(name.removeprefix("upstream:"), self._module)
        return answer


_idle: dict[tuple[ir.Context, tuple[str, ...], bool], list[PassManager]] = {}
"""Pass managers that no thread uses: their patterns take longer to make than the passes run on a small program."""
atexit.register(_idle.clear)  # before their context goes


def run_upstream(module: ir.Module, passes: tuple[str, ...], verify: bool = True) -> None:
    """Run upstream passes; their diagnostics become a LoweringError. verify: check the module after each."""
    key = (module.context, passes, verify)
    idle = _idle.setdefault(key, [])
    try:
        try:
            manager = idle.pop()
        except IndexError:
            manager = PassManager.parse(pipeline.pipeline_text(passes))
        manager.enable_verifier(verify)
        manager.run(module.operation)
        idle.append(manager)
    except ir.MLIRError as error:  # pyright: ignore[reportAttributeAccessIssue]
        messages = "; ".join(f"{d.location}: {d.message}" for d in error.error_diagnostics) or str(error)
        raise LoweringError(f"upstream passes {', '.join(passes)} failed: {messages}") from error


def _check_converted(module: ir.Module) -> None:
    """Refuse ops that the upstream conversions silently left unconverted."""
    unconverted = abi.unconverted_ops(module)
    if not unconverted:
        return
    culprit = next((op for op in unconverted if not isa(op, UnrealizedCastOp)), unconverted[0])
    kinds = ", ".join(sorted({op.name for op in unconverted}))
    raise LoweringError(
        f"{location_text(culprit)}: cannot lower {culprit.name} to LLVM (unconverted ops: {kinds}). Use "
        "affine, arith, math, memref, scf or vector ops, or lower it before."
    )


Follow = Callable[[str, ir.Module], None]


def run_named(
    module: ir.Module,
    names: Sequence[str],
    options: Mapping[str, Mapping[str, Any]],
    *,
    timing: dict[str, float] | None = None,
    follow: Follow | None = None,
) -> None:
    """Run passes over a module in place. options: of ours, by name. `timing` collects seconds by pass; `follow(name,
    module)` is called after each."""
    clock = PassTimer(timing, follow, module)
    with enter_context():
        for name in names:
            if name in LOWERINGS:
                clock.run(name, lambda name=name: LOWERINGS[name].run(module, **options.get(name, {})))
            else:
                clock.run(f"upstream:{_last_conversion(name)}", lambda name=name: run_upstream(module, (name,)))


def _last_conversion(passes: str) -> str:
    """The last conversion of a run of upstream passes, or the last pass."""
    names = re.findall(r"[a-z][a-z-]+(?=[,{)]|$)", passes)
    return next((name for name in reversed(names) if name.startswith("convert-")), names[-1])
