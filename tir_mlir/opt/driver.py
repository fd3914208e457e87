"""`tir-opt`: parse a module, run passes, print it. See `tir-opt --help`."""

from __future__ import annotations

import argparse
import functools
import runpy
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field

from tir_mlir.dialect.ir import entered
from tir_mlir.dialect.ir.context import context
from tir_mlir.opt import (
    command_line,
    crash_guard,
    input,
    output,
    pass_options,
    pipeline_text,
    upstream,
    verify_diagnostics,
)
from tir_mlir.opt.diagnostics import Diagnostic, DriverError, Reader, collected, of_error, show
from tir_mlir.opt.input import InputChunk
from tir_mlir.opt.pipeline_text import PassInstance, PipelineError
from tir_mlir.opt.runner import Runner, Settings
from tir_mlir.runtime.dump import opened


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tir-opt` with these arguments, by default those of the process. Returns the exit code."""
    if argv is None:
        return crash_guard.run_guarded(lambda: run(sys.argv[1:]))
    return run(argv)


def run(argv: Sequence[str]) -> int:
    """`main` without the guarding child process."""
    args = command_line.parse(argv)
    try:
        if args.version or args.list_passes:
            output.write(output.versions() if args.version else output.passes(), None)
            return 0
        with entered():
            return Driver(args).run()
    except DriverError as error:
        _report(error.diagnostics, Reader(args.file, ""))
    except BrokenPipeError:
        output.drop_stdout()
    except KeyboardInterrupt:
        print("tir-opt: interrupted", file=sys.stderr)
    return 1


def steps_of(texts: Sequence[command_line.Passes]) -> list[PassInstance]:
    """Parse and check the pipelines of the command line. Raises DriverError."""
    steps: list[PassInstance] = []
    for pipeline in texts:
        try:
            for step in pipeline_text.parse(pipeline.text):
                pass_options.check(step)
                steps.append(upstream.nested(step) if step.kind == "upstream" else step)
        except PipelineError as error:
            message = f"{error}\n{error.text}\n{' ' * error.offset}^"
            raise DriverError(Diagnostic("error", message, pipeline.option, 1, error.offset + 1)) from None
    return steps


@dataclass
class Driver:
    """One run of the tool: all chunks of the input through all passes."""

    args: argparse.Namespace
    steps: list[PassInstance] = field(default_factory=list)
    seconds: list[tuple[str, float]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)  # reproducers to write

    def run(self) -> int:
        """Read, run, write. Returns the exit code. Raises DriverError if the input cannot be read."""
        self._load_imports()
        self.steps = steps_of(self.args.passes)
        pieces = input.read(self.args.file, self.args.split_input_file)
        carried = crash_guard.pipeline_of(pieces[0].text)
        if carried is not None and not self.args.passes:
            self.steps = steps_of([command_line.Passes(carried, "// pipeline")])
        results, good = [], True
        for piece in pieces:
            result, fine = self._piece(piece)
            good = good and fine
            if result is not None:
                results.append(result)
        if self.args.timing:
            print(output.timing(self.seconds), file=sys.stderr)
        if results and (good or not self.args.output):
            comment = "#" if self.args.emit == "script" else ";" if self.args.emit == "llvm" else "//"
            output.write(f"{comment} -----\n".join(results), self.args.output)
        return 0 if good else 1

    def _load_imports(self) -> None:
        for path in self.args.imports:
            try:
                runpy.run_path(path)
            except Exception as error:  # noqa: BLE001  the user's own code
                frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
                line = frames[-1].lineno or 1 if frames else getattr(error, "lineno", None) or 1
                raise DriverError(Diagnostic("error", f"{type(error).__name__}: {error}", path, line, 1)) from None

    def _piece(self, piece: InputChunk) -> tuple[str | None, bool]:
        """The result of one chunk, and whether it succeeded."""
        reader = Reader(piece.name, piece.text)
        with collected(context()) as emitted:
            result, errors = self._result(piece, emitted)
        if not self.args.verify_diagnostics:
            _report([*emitted, *errors], reader)
            self._leave_reproducers()
            return result, not errors
        wrong = verify_diagnostics.differences(piece.text, piece.name, [*emitted, *errors])
        _report(wrong, reader)
        return (None if wrong else result), not wrong

    def _result(self, piece: InputChunk, emitted: list[Diagnostic]) -> tuple[str | None, list[Diagnostic]]:
        """Process one chunk: the output text or the errors; warnings are added to `emitted`."""
        runner: Runner | None = None
        reproducer = [""]
        crash_guard.note(f"{piece.name}:1:1: while reading it")
        try:
            runner = Runner(input.module_of(piece, not self.args.no_rules), self._settings())
            runner.before_step = functools.partial(self._remember, piece, runner, reproducer)
            with opened(self.args.dump, "tir-opt") as states:
                if states is not None:
                    states.write("input", runner.module)
                    runner.follow = states.write
                runner.run(self.steps)
            crash_guard.note(f"{piece.name}:1:1: while printing the result", runner.asm())
            return output.text(runner, self.args.emit), []
        except (KeyboardInterrupt, BrokenPipeError):
            raise
        except Exception as error:  # noqa: BLE001  reported below, never a traceback
            if self.args.debug:
                traceback.print_exc()
            if runner is not None and len(runner.seconds) < len(self.steps):
                self.failed.append(reproducer[0])
            return None, of_error(error)
        finally:
            if runner is not None:
                emitted += runner.emitted
                self.seconds += runner.seconds

    def _remember(self, piece: InputChunk, runner: Runner, reproducer: list[str], number: int) -> None:
        """Keep the module as text before a pass: one that fails may leave it half rewritten, or abort."""
        module = str(runner.module.operation.get_asm())
        reproducer[0] = crash_guard.content(module, self.steps[number:])
        crash_guard.note(f"{piece.name}:1:1: in {self.steps[number].name}", reproducer[0])

    def _leave_reproducers(self) -> None:
        """Write a reproducer for each pass that failed."""
        for text in self.failed:
            try:
                path = crash_guard.save(text, self.args.reproducer)
                print(f"tir-opt: the failing pass and the module before it are saved: tir-opt {path}", file=sys.stderr)
            except OSError as error:
                print(f"tir-opt: cannot write the reproducer: {error}", file=sys.stderr)
        self.failed.clear()

    def _settings(self) -> Settings:
        a = self.args
        return Settings(
            print_before=a.print_ir_before_all,
            print_after=a.print_ir_after_all,
            local_scope=a.mlir_print_local_scope,
            debug_info=a.mlir_print_debuginfo,
            generic=a.mlir_print_op_generic,
            isolated=a.isolated,
        )


def _report(diagnostics: Sequence[Diagnostic], reader: Reader) -> None:
    for diagnostic in diagnostics:
        show(diagnostic, reader)


if __name__ == "__main__":
    sys.exit(main())
