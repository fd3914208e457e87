"""Upstream passes: those we use ourselves run in process, all others in an mlir-opt of their own, which may crash."""

from __future__ import annotations

import re
from dataclasses import replace

from mlir import ir
from mlir.passmanager import PassManager

from tir_mlir.dialect.errors import ToolError
from tir_mlir.passes.lower import pipelines
from tir_mlir.runtime import toolchain

from .diagnostics import Failed, of_tool
from .pipeline import Step, near, our_passes

# our pipelines hold them, or they are plain and well tried
IN_PROCESS = frozenset(
    {element.split("{")[0] for element in pipelines.names(parallel=True)}
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


def nested(step: Step) -> Step:
    """The step, inside the op its pass is for (`affine-loop-tile` -> `func.func(affine-loop-tile)`).

    Raises PipelineError for an unknown pass or option, at its place.
    """
    try:
        _manager(step)
    except ValueError as error:
        only_for = _RESTRICTED.search(str(error))
        if only_for is None or step.anchors:
            raise step.error(_reason(step, str(error))) from None
        return replace(step, anchors=(only_for[1],))
    return step


def _manager(step: Step) -> PassManager:
    return PassManager.parse(f"builtin.module({step.text})")


def _reason(step: Step, text: str) -> str:
    if "does not refer to a registered pass" in text:
        known = sorted({*IN_PROCESS, *our_passes()})
        return f"there is no pass {step.name}{near(step.name, known)}; --list-passes shows ours, `mlir-opt --help` all"
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f"{step.name}: " + "; ".join(line.removeprefix("<Pass-Options-Parser>: ") for line in lines[:2])


def run(module: ir.Module, step: Step, isolated: bool) -> ir.Module:
    """The module after an upstream pass, the same or a new one. Raises MLIRError, Failed, ToolError."""
    if step.name in IN_PROCESS and not isolated:
        _manager(step).run(module.operation)
        return module
    return _apart(module, step)


def _apart(module: ir.Module, step: Step) -> ir.Module:
    text = str(module.operation.get_asm(enable_debug_info=True))
    pipeline = f"--pass-pipeline=builtin.module({step.text})"
    done = toolchain.attempt("mlir-opt", [pipeline, "--mlir-print-debuginfo"], input=text)
    if done.returncode == 0:
        return ir.Module.parse(done.stdout)
    found = of_tool(done.stderr)
    if done.returncode > 0 and found:
        raise Failed(*found)
    said = next((line for line in done.stderr.splitlines() if "Assertion" in line or "error" in line.lower()), "")
    ended = f"mlir-opt ended with {toolchain.status(done.returncode)} in {step.name}"
    raise ToolError(f"{ended}: {said.strip()}" if said else ended)


