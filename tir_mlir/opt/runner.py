"""Running a pipeline on a module: primitives through `Schedule`, lowering passes, upstream passes."""

from __future__ import annotations

import sys
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from mlir import ir

from tir_mlir.dialect.diagnostics import NotProvable, ScheduleError, TirError
from tir_mlir.dialect.ir import clone_module, enter_context, walk
from tir_mlir.dialect.verify import check_mlir
from tir_mlir.opt import input, pass_options, pipeline_text, upstream
from tir_mlir.opt.diagnostics import Diagnostic, DriverError, SourcePosition, convert_error, diagnostic_of_message
from tir_mlir.opt.name_lookup import HandleLookup, NotFound
from tir_mlir.opt.pipeline_text import PassInstance, PipelineError
from tir_mlir.passes.lower import lower_to_llvm
from tir_mlir.schedule import Schedule
from tir_mlir.schedule.refusal import culprit_id
from tir_mlir.script.parser.verify_parsed import file_position


@dataclass(frozen=True)
class PassSettings:
    """Options of the command line for running and printing."""

    print_before: bool = False
    print_after: bool = False
    local_scope: bool = False
    debug_info: bool = False
    generic: bool = False
    isolated: bool = False


@dataclass
class PassRunner:
    """Runs passes on a module.

    step: the number of the current pass.
    seconds: the time of each; `follow(name, module)` is called after each.
    """

    module: ir.Module
    settings: PassSettings
    seconds: list[tuple[str, float]] = field(default_factory=list)
    emitted: list[Diagnostic] = field(default_factory=list)
    before_step: Callable[[int], None] = lambda _: None
    follow: Callable[[str, ir.Module], None] = lambda _, __: None
    step: int = 0
    _schedule: Schedule | None = None

    def run(self, steps: list[PassInstance]) -> None:
        """Run all passes. Raises DriverError; `step` is then the number of the failing pass.

        A pass that rewrites in place may leave the module half rewritten: the driver keeps the text from before.
        """
        for self.step, step in enumerate(steps):
            self._print("Before", step, self.settings.print_before)
            self.before_step(self.step)
            start = time.perf_counter()
            try:
                with warnings.catch_warnings(record=True) as caught:
                    warnings.simplefilter("always")
                    self._run(step)
            except DriverError:
                raise
            except RecursionError:
                raise DriverError(Diagnostic("error", f"{step.name}: the program is nested too deeply")) from None
            except Exception as error:
                raise DriverError(*self._failure(step, error)) from error
            self.emitted += [diagnostic_of_message(str(w.message), "warning") for w in caught]
            self.seconds.append((step.name, time.perf_counter() - start))
            self._print("After", step, self.settings.print_after)
            self.follow(step.name, self.module)
        self.leave_schedule()

    def leave_schedule(self) -> None:
        """Take the module back from the schedule."""
        self._schedule = None

    def asm(self) -> str:
        """The module as MLIR text."""
        s = self.settings
        asm = self.module.operation.get_asm(
            use_local_scope=s.local_scope, enable_debug_info=s.debug_info, print_generic_op_form=s.generic
        )
        return str(asm)

    def _run(self, step: PassInstance) -> None:
        if step.kind == "primitive":
            self._primitive(step)
            return
        self.leave_schedule()
        if step.kind == "upstream":
            self.module, warned = upstream.run(self.module, step, self.settings.isolated)
            self.emitted += warned
        elif step.name == pipeline_text.VERIFY:
            input.as_program(self.module)
        elif step.name == pipeline_text.LOWER_TO_LLVM:
            lower_to_llvm(self.module)
        else:
            module_pass = pipeline_text.module_pass(step.name)
            assert module_pass is not None
            module_pass.run(self.module, **dict(pass_options.split_pairs(step.options)))
            check_mlir(self.module.operation)

    def _primitive(self, step: PassInstance) -> None:
        name = pipeline_text.primitive_name(step.name)
        if self._schedule is None:
            input.as_program(self.module)
            self._schedule = Schedule(self.module, error_render_level="fast")
        arguments = pass_options.parse_arguments(name, step.options)
        positional, keywords = arguments.call_arguments(HandleLookup(self._schedule, arguments.function))
        method = getattr(self._schedule, name, None)  # an imported primitive has none
        if method is not None:
            method(*positional, **keywords)
        else:
            self._schedule.executor.apply(name, *positional, **keywords)
        self.module = self._schedule.mod.mlir

    def _failure(self, step: PassInstance, error: Exception) -> list[Diagnostic]:
        """The error of a pass, located at the offending op."""
        culprit = None
        if isinstance(error, ScheduleError):
            culprit = _culprit(self.module, error)
        elif isinstance(error, NotFound):
            culprit = error.culprit.op if error.culprit is not None else None
            error = TirError(f"{step.name}: {error}")
        elif isinstance(error, pass_options.InvalidOption) or type(error) is TirError:
            error = TirError(f"{step.name}: {error}")
        elif isinstance(error, NotProvable):
            error = TirError(f"{step.name}: not provable: {error}")
        return convert_error(error, source_position(culprit, self.module))

    def _print(self, when: str, step: PassInstance, enabled: bool) -> None:
        if enabled:
            print(f"// -----// IR Dump {when} {step.text} //----- //\n{self.asm()}", file=sys.stderr)


def _culprit(module: ir.Module, error: ScheduleError) -> ir.Operation | None:
    """The offending op of an error, in the module before the pass."""
    cause = error.__cause__ or error.__context__  # raised `from None`
    number = getattr(cause, "op_id", None)
    if number is None:
        number = culprit_id(getattr(cause, "culprit", None))
    return walk.find(module, number) if number is not None else None


def source_position(op: Any, module: ir.Module) -> SourcePosition | None:
    """The source location of an op, else of an op nested in it, else of an ancestor."""
    candidates = [] if op is None else [*walk.ops(op), *walk.parents(op)]
    for candidate in [*candidates, *(o.operation for o in module.body.operations)]:
        position = file_position(candidate.location)
        if position[1]:
            return position
    return None


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
