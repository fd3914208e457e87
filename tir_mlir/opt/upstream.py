"""Upstream passes: those used by this package run in process, all others in a subprocess, which may crash."""

from __future__ import annotations

import re
from dataclasses import replace

from mlir import ir
from mlir.passmanager import PassManager

from tir_mlir.dialect.diagnostics import ToolError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.opt.diagnostics import MLIR_ERROR, Diagnostic, DriverError, collect_diagnostics, parse_tool_output
from tir_mlir.opt.pipeline_text import PassInstance, our_passes, suggestion
from tir_mlir.passes.lower.pipeline import pass_names
from tir_mlir.processes import status
from tir_mlir.runtime.tools import toolchain

# used in our pipelines, or known to be robust
IN_PROCESS = frozenset(
    {element.split("{")[0] for element in pass_names(parallel=True)}
    | {
        "affine-loop-invariant-code-motion",
        "affine-loop-unroll",
        "affine-scalrep",
        "affine-simplify-structures",
        "control-flow-sink",
        "loop-invariant-code-motion",
        "remove-dead-values",
        "sccp",
        "strip-debuginfo",
        "symbol-dce",
    }
)

_RESTRICTED = re.compile(r"restricted to '([\w.]+)' on a PassManager intended to run on 'builtin.module'")


def nest_pass(step: PassInstance) -> PassInstance:
    """Nest a pass in the op that it is restricted to (`affine-loop-tile` -> `func.func(affine-loop-tile)`).

    Raises PipelineError for an unknown pass or option, with its position.
    """
    try:
        manager = _manager(step)
    except ValueError as error:
        only_for = _RESTRICTED.search(str(error))
        if only_for is None or step.anchors:
            raise step.error(_reason(step, str(error))) from None
        return replace(step, anchors=(only_for[1],))
    return step if step.anchors or _takes_modules(manager) else replace(step, anchors=("func.func",))


def _takes_modules(manager: PassManager) -> bool:
    """Whether a pass runs on a module; interface passes for functions report this only when run."""
    with enter_context():
        try:
            manager.run(ir.Module.create().operation)
        except MLIR_ERROR as error:
            return "unable to schedule pass" not in str(error)
    return True


def _manager(step: PassInstance) -> PassManager:
    return PassManager.parse(f"builtin.module({step.text})")


def _reason(step: PassInstance, text: str) -> str:
    if "does not refer to a registered pass" in text:
        names = sorted({*IN_PROCESS, *our_passes()})
        return (
            f"unknown pass {step.name}{suggestion(step.name, names)}; --list-passes shows ours, `mlir-opt --help` all"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{step.name}: " + "; ".join(line.removeprefix("<Pass-Options-Parser>: ") for line in lines[:2])


def run(module: ir.Module, step: PassInstance, isolated: bool) -> tuple[ir.Module, list[Diagnostic]]:
    """Run an upstream pass. Returns the module (the same or a new one) and warnings.

    A pass that emits an error but succeeds counts as failed. Raises DriverError, ToolError.
    """
    work = _run_in_subprocess if isolated or step.name not in IN_PROCESS else _run_in_process
    result, emitted = work(module, step)
    if any(d.severity == "error" for d in emitted):
        raise DriverError(*emitted)
    return result, emitted


def _run_in_process(module: ir.Module, step: PassInstance) -> tuple[ir.Module, list[Diagnostic]]:
    context = module.context
    with collect_diagnostics(context) as emitted:
        # otherwise the bindings abort if a pass emits an error and succeeds
        context.emit_error_diagnostics = True
        try:
            _manager(step).run(module.operation)
        except MLIR_ERROR as error:
            if not any(d.severity == "error" for d in emitted):
                emitted.append(Diagnostic("error", f"{step.name}: {str(error).splitlines()[0]}"))
        finally:
            context.emit_error_diagnostics = False
    return module, emitted


def _run_in_subprocess(module: ir.Module, step: PassInstance) -> tuple[ir.Module, list[Diagnostic]]:
    text = str(module.operation.get_asm(enable_debug_info=True))
    pipeline = f"--pass-pipeline=builtin.module({step.text})"
    done = toolchain.attempt("mlir-opt", [pipeline, "--mlir-print-debuginfo"], input=text)
    emitted = parse_tool_output(done.stderr)
    if any(d.severity == "error" for d in emitted) and done.returncode >= 0:
        return module, emitted
    if done.returncode == 0:
        return ir.Module.parse(done.stdout), emitted
    reason = next((line for line in done.stderr.splitlines() if "Assertion" in line or "error" in line.lower()), "")
    ended = f"mlir-opt ended with {status(done.returncode)} in {step.name}"
    raise ToolError(f"{ended}: {reason.strip()}" if reason else ended)
