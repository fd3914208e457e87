"""A pipeline of `tir-opt` from Python."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.dialect.ir import clone_module, enter_context
from tir_mlir.opt import pass_options, pipeline_text, upstream
from tir_mlir.opt.diagnostics import DriverError
from tir_mlir.opt.pipeline_text import PassInstance, PipelineError
from tir_mlir.opt.runner import PassRunner, PassSettings


def run_passes(module: ir.Module, pipeline: str) -> ir.Module:
    """A module and a pipeline of primitives, lowering passes and upstream passes -> a new module; the given one
    remains.

        run_passes(sch.mod.mlir, "tir-split{loop=i factors=none,8}, tir-lower, func.func(canonicalize)")

    The same as `tir-opt -p`. Raises TirError for an unknown pass or option, and for a pass that fails; a crash of an
    upstream pass is such a failure. A module of another context is copied into the one of this process.
    """
    if not isinstance(module, ir.Module):
        kind = type(module).__name__
        raise TypeError(f"run_passes takes an ir.Module (ir.Module.parse(text), or sch.mod.mlir), not {kind}")
    with enter_context():
        runner = PassRunner(clone_module(module), PassSettings())
        try:
            runner.run(parse_pipeline(pipeline))
        except (DriverError, PipelineError) as error:
            raise TirError(str(error)) from error
        return runner.module


def parse_pipeline(pipeline: str) -> list[PassInstance]:
    """The passes of a pipeline, with checked options. Raises PipelineError."""
    steps = []
    for step in pipeline_text.parse(pipeline):
        pass_options.check(step)
        steps.append(upstream.nest_pass(step) if step.kind == "upstream" else step)
    return steps
