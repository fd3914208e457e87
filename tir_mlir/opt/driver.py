"""`tir-opt`: read its arguments, parse a module, run passes, print it. See `tir-opt --help`.

Each pass is also a flag: `--tir-split="loop=i factors=4,32" --canonicalize`.
"""

from __future__ import annotations

import argparse
import functools
import inspect
import os
import runpy
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NoReturn

from mlir import ir
from mlir.dialects import llvm

from tir_mlir.dialect.ir import create, enter_context
from tir_mlir.dialect.ir.context import context
from tir_mlir.opt import crash_guard, input, pass_options, pipeline_text, upstream
from tir_mlir.opt.diagnostics import (
    Diagnostic,
    DriverError,
    SourceLines,
    UsageError,
    collect_diagnostics,
    convert_error,
    differences,
    show,
)
from tir_mlir.opt.input import InputChunk
from tir_mlir.opt.pipeline_text import PassInstance, PipelineError
from tir_mlir.opt.runner import PassRunner, PassSettings, parse_pipeline
from tir_mlir.passes.lower import lower_to_llvm
from tir_mlir.passes.lower.llvm.abi import unconverted_ops
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.runtime.dump import open_dump
from tir_mlir.runtime.tools import toolchain
from tir_mlir.script.printer import script

DESCRIPTION = """Run schedule primitives, lowering passes and upstream MLIR passes on a module.

FILE is MLIR (a TensorIR program in the encoding of dialect/README.md, or any upstream MLIR), or TVMScript if it ends in
.py; "-" is stdin. In a .py file only prim_funcs, constants and imports of the script namespaces are read."""

EPILOG = """passes, as a pipeline or as flags, in order:
  -p 'builtin.module(tir-split{loop=i factors=4,32}, tir-parallel{loop=i_0}, tir-lower, func.func(canonicalize,cse))'
  --tir-split="loop=i factors=4,32" --tir-parallel=loop=i_0 --tir-lower --canonicalize
  --list-passes lists them with their options; any pass of mlir-opt can be used as well.

names in options:
  loop=i          loop i of the function (main or the only one; func=NAME selects another)
  loop=C:i        loop i around block C, if several loops are named i
  loop=#7         the op whose tir.id is 7
  loops=k,i  factors=none,16  ann_value="text"  preserve_unit_iters=false

exit code: 0; 1 after an error; 2 after one of the command line. A failing pass writes a reproducer file."""

USAGE = 2  # the exit code of argparse


@dataclass(frozen=True)
class Passes:
    """Pipeline text, and the option that it comes from (for messages)."""

    text: str
    option: str


def _pipeline(text: str) -> Passes:
    return Passes(text, "--pass-pipeline")


def _flag(text: str) -> Passes:
    return Passes(text, "--" + text.split("{")[0])


class _OptArgumentParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"tir-opt: error: {message} (tir-opt --help)", file=sys.stderr)
        raise SystemExit(USAGE)


def parser() -> argparse.ArgumentParser:
    """The parser of everything but pass flags."""
    command = _OptArgumentParser(
        "tir-opt",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    command.add_argument("file", nargs="?", default="-", metavar="FILE", help='input file; "-" (the default) is stdin')
    command.add_argument("-o", dest="output", metavar="FILE", help="output file (default: stdout)")
    command.add_argument("-p", "--pass-pipeline", dest="passes", action="append", default=[], type=_pipeline,
                      metavar="TEXT", help="pass pipeline to run")  # fmt: skip
    command.add_argument("--pass-flag", dest="passes", action="append", type=_flag, help=argparse.SUPPRESS)
    command.add_argument("--emit", choices=FORMATS, default="mlir", help="output format; llvm lowers first")
    command.add_argument("--import", dest="imports", action="append", default=[], metavar="FILE.py",
                      help="Python file to run first, to register intrinsics, primitives and passes")  # fmt: skip
    command.add_argument("--list-passes", action="store_true", help="list the passes of this package, and exit")
    command.add_argument("--version", action="store_true", help="print the versions of the toolchain, and exit")
    _add_check_flags(command.add_argument_group("checking"))
    _add_output_flags(command.add_argument_group("showing"))
    return command


def _add_check_flags(group: argparse._ArgumentGroup) -> None:
    _add_flags(group, {
        "--verify-diagnostics": "check diagnostics against `expected-error @below {{...}}` comments",
        "--split-input-file": "split the input at `// -----` lines (`# -----` in Python)",
        "--no-rules": "do not verify the rules of the encoding on input",
        "--isolated": "run every upstream pass in a separate mlir-opt process",
        "--debug": "print the Python traceback of an error",
    })  # fmt: skip
    group.add_argument("--reproducer", metavar="FILE", help="where to write the reproducer of a failing pass")


def _add_output_flags(group: argparse._ArgumentGroup) -> None:
    _add_flags(group, {
        "--print-ir-before-all --mlir-print-ir-before-all": "print the module before each pass to stderr",
        "--print-ir-after-all --mlir-print-ir-after-all": "print the module after each pass to stderr",
        "--mlir-print-local-scope": "print affine maps and sets inline",
        "--mlir-print-debuginfo": "print locations",
        "--mlir-print-op-generic": "print the generic op form, same as --emit=generic",
        "--timing --mlir-timing": "print the time of each pass to stderr",
    })  # fmt: skip
    group.add_argument("--dump", metavar="DIR", help="folder for the module after each pass: 00-input.mlir, ...")


def _add_flags(group: argparse._ArgumentGroup, helps: dict[str, str]) -> None:
    for names, text in helps.items():
        group.add_argument(*names.split(), action="store_true", help=text)


def arguments_of(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; pass flags become pipelines. Exits for --help and on errors."""
    command = parser()
    return command.parse_args([_as_pipeline(token, command) for token in argv])


def _as_pipeline(token: str, command: argparse.ArgumentParser) -> str:
    """`--canonicalize`, `--tir-split=loop=i` -> `--pass-flag=...`; other arguments as they are."""
    name, equals, options = token.partition("=")
    if not name.startswith("--") or len(name) < 4 or name in command._option_string_actions:
        return token
    options = options.strip()
    if len(options) > 1 and options[0] == "{" and options[-1] == "}":
        options = options[1:-1]
    return f"--pass-flag={name[2:]}" + (f"{{{options}}}" if equals and options else "")


# --- the run of the tool ----------------------------------------------------------------------------------------------


def main(argv: Sequence[str] | None = None) -> int:
    """Run `tir-opt` with these arguments, by default those of the process. Returns the exit code."""
    if argv is None:
        return crash_guard.run_guarded(lambda: run(sys.argv[1:]))
    return run(argv)


def run(argv: Sequence[str]) -> int:
    """`main` without the guarding child process."""
    args = arguments_of(argv)
    try:
        if args.version:
            write_result(toolchain_versions(), None)
            return 0
        with enter_context():
            load_imports(args.imports)
            if args.list_passes:
                write_result(listing(), None)
                return 0
            return OptDriver(args).run()
    except DriverError as error:
        _report(error.diagnostics, SourceLines(args.file, ""))
        return USAGE if isinstance(error, UsageError) else 1
    except BrokenPipeError:
        drop_stdout()
    except KeyboardInterrupt:
        print("tir-opt: interrupted", file=sys.stderr)
    return 1


def load_imports(paths: Sequence[str]) -> None:
    """Run files that register passes and intrinsics. Raises DriverError at the line of a file that fails."""
    for path in paths:
        try:
            runpy.run_path(path)
        except Exception as error:
            frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
            line = frames[-1].lineno or 1 if frames else getattr(error, "lineno", None) or 1
            raise DriverError(Diagnostic("error", f"{type(error).__name__}: {error}", path, line, 1)) from None


def steps_of(texts: Sequence[Passes]) -> list[PassInstance]:
    """Parse and check the pipelines of the command line. Raises UsageError."""
    steps: list[PassInstance] = []
    for pipeline in texts:
        try:
            steps += parse_pipeline(pipeline.text)
        except PipelineError as error:
            message = f"{error}\n{error.text}\n{' ' * error.offset}^"
            raise UsageError(Diagnostic("error", message, pipeline.option, 1, error.offset + 1)) from None
    return steps


@dataclass
class OptDriver:
    """One run of the tool: all chunks of the input through all passes."""

    args: argparse.Namespace
    steps: list[PassInstance] = field(default_factory=list)
    seconds: list[tuple[str, float]] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)  # reproducers to write

    def run(self) -> int:
        """Read, run, write. Returns the exit code. Raises DriverError if the input cannot be read."""
        self.steps = steps_of(self.args.passes)
        pieces = input.read(self.args.file, self.args.split_input_file)
        carried = crash_guard.pipeline_of(pieces[0].text)
        if carried is not None and not self.args.passes:
            self.steps = steps_of([Passes(carried, "// pipeline")])
        results, good = [], True
        for piece in pieces:
            result, fine = self._run_chunk(piece)
            good = good and fine
            if result is not None:
                results.append(result)
        if self.args.timing:
            print(timing_table(self.seconds), file=sys.stderr)
        if results and (good or not self.args.output):
            comment = "#" if self.args.emit == "script" else ";" if self.args.emit == "llvm" else "//"
            write_result(f"{comment} -----\n".join(results), self.args.output)
        return 0 if good else 1

    def _run_chunk(self, piece: InputChunk) -> tuple[str | None, bool]:
        """The result of one chunk, and whether it succeeded."""
        reader = SourceLines(piece.name, piece.text)
        with collect_diagnostics(context()) as emitted:
            result, errors = self._result(piece, emitted)
        if not self.args.verify_diagnostics:
            _report([*emitted, *errors], reader)
            self._leave_reproducers()
            return result, not errors
        wrong = differences(piece.text, piece.name, [*emitted, *errors])
        _report(wrong, reader)
        return (None if wrong else result), not wrong

    def _result(self, piece: InputChunk, emitted: list[Diagnostic]) -> tuple[str | None, list[Diagnostic]]:
        """Process one chunk: the output text or the errors; warnings are added to `emitted`."""
        runner: PassRunner | None = None
        reproducer = [""]
        crash_guard.note(f"{piece.name}:1:1: while reading it")
        try:
            runner = PassRunner(input.module_of(piece, not self.args.no_rules), self._settings())
            runner.before_step = functools.partial(self._remember, piece, runner, reproducer)
            with open_dump(self.args.dump, "tir-opt") as states:
                if states is not None:
                    states.write("input", runner.module)
                    runner.follow = states.write
                runner.run(self.steps)
            crash_guard.note(f"{piece.name}:1:1: while printing the result", runner.asm())
            return module_text(runner, self.args.emit), []
        except (KeyboardInterrupt, BrokenPipeError):
            raise
        except Exception as error:
            if self.args.debug:
                traceback.print_exc()
            if runner is not None and len(runner.seconds) < len(self.steps):
                self.failed.append(reproducer[0])
            return None, convert_error(error)
        finally:
            if runner is not None:
                emitted += runner.emitted
                self.seconds += runner.seconds

    def _remember(self, piece: InputChunk, runner: PassRunner, reproducer: list[str], number: int) -> None:
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

    def _settings(self) -> PassSettings:
        a = self.args
        return PassSettings(
            print_before=a.print_ir_before_all,
            print_after=a.print_ir_after_all,
            local_scope=a.mlir_print_local_scope,
            debug_info=a.mlir_print_debuginfo,
            generic=a.mlir_print_op_generic,
            isolated=a.isolated,
        )


def _report(diagnostics: Sequence[Diagnostic], reader: SourceLines) -> None:
    for diagnostic in diagnostics:
        show(diagnostic, reader)


# --- output: MLIR, generic MLIR, TVMScript or LLVM IR; listings of passes, versions and timing ------------------------


FORMATS = ("mlir", "script", "generic", "llvm")


def module_text(runner: PassRunner, form: str) -> str:
    """Print the module in a format; `llvm` lowers it first. Raises TirError, MLIRError."""
    if form == "script":
        input.as_program(runner.module)
        return script(runner.module, show_meta=True) + "\n"
    if form == "llvm":
        return _llvm(runner.module)
    runner.settings = replace(runner.settings, generic=runner.settings.generic or form == "generic")
    asm = runner.asm()
    return asm if asm.endswith("\n") else asm + "\n"


def _llvm(module: ir.Module) -> str:
    if unconverted_ops(module):
        module = create.clone_module(module)
        lower_to_llvm(module)
    return llvm.translate_module_to_llvmir(module.operation)  # pyright: ignore[reportAttributeAccessIssue]


def write_result(result: str, path: str | None) -> None:
    """Write to a file or stdout. Raises DriverError, or BrokenPipeError."""
    to_stdout = path is None or path == "-"
    name = "<stdout>" if path is None or path == "-" else path
    try:
        if not to_stdout:
            Path(name).write_text(result, encoding="utf-8")
        elif sys.stdout is None:  # closed by the caller
            raise OSError("it is closed")
        else:
            sys.stdout.write(result)
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if to_stdout and sys.stdout is not None:
            drop_stdout()
        raise DriverError(Diagnostic("error", f"cannot be written: {error.strerror or error}", name)) from None


def drop_stdout() -> None:
    """After a failed write: prevent a second error when Python flushes stdout at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def listing() -> str:
    """The passes of this package, one per line, then the upstream passes that run in process."""
    docs = pipeline_text.our_passes()
    steps = {pipeline_text.pass_name(p.name) for p in PRIMITIVES.values() if not p.pure}
    lines = ["schedule primitives:"]
    lines += [f"  {name + _options(name):68} {docs[name]}" for name in docs if name in steps]
    lines += ["", "passes on a whole module:"]
    on_modules = {name: doc for name, doc in docs.items() if name not in steps}
    on_graphs = {name: on_modules.pop(name) for name in pipeline_text.graph_passes()}
    lines += [f"  {name + _options(name):40} {doc}" for name, doc in on_modules.items()]
    lines += ["", "passes on a graph:"]
    lines += [f"  {name + _options(name):68} {doc}" for name, doc in on_graphs.items()]
    lines += ["", "upstream passes that run in this process (all others run in a separate mlir-opt process):"]
    lines += [f"  {name}" for name in sorted(upstream.IN_PROCESS) if not name.startswith("tir-")]
    return "\n".join(lines) + "\n"


def _options(name: str) -> str:
    """`{loop= factors= [preserve_unit_iters=]}`."""
    primitive = PRIMITIVES.get(pipeline_text.primitive_name(name))
    module_pass = pipeline_text.module_pass(name)
    if primitive is not None and module_pass is None:
        return "{" + " ".join(pass_options.summary(primitive)) + "}"
    if module_pass is None:
        return ""
    options = list(inspect.signature(module_pass.run).parameters)[1:]
    return "{" + " ".join(f"[{k}=]" for k in options) + "}" if options else ""


def toolchain_versions() -> str:
    """The parts of the toolchain, with versions and origins."""
    from tir_mlir import __version__

    by_part = {"tir-opt": __version__, **toolchain.versions()}
    width = max(map(len, by_part))
    return "".join(f"{name:{width}}  {text}\n" for name, text in by_part.items())


def timing_table(seconds: Sequence[tuple[str, float]]) -> str:
    """A table of seconds by pass, in the order of running."""
    total = sum(s for _, s in seconds)
    rows = [f"  {s:9.4f}  {100 * s / total if total else 0:5.1f}%  {name}" for name, s in seconds]
    return "\n".join(["  seconds   share   pass", *rows, f"  {total:9.4f}  100.0%  total"])


if __name__ == "__main__":
    sys.exit(main())
