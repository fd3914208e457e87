"""The command line of the search: `python -m tir_mlir.tune FILE.py --trials 64`."""

from __future__ import annotations

import argparse
import runpy
import sys
import traceback
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from tir_mlir.dialect.diagnostics import TirError, TuneError
from tir_mlir.dialect.ir import enter_context
from tir_mlir.graph.expressions import Function
from tir_mlir.graph.importers.onnx_model.from_onnx import from_onnx
from tir_mlir.opt import input as opt_input
from tir_mlir.opt.diagnostics import DriverError, SourceLines, convert_error, show
from tir_mlir.script.module import IRModule, PrimFunc
from tir_mlir.tune.models.given_model import given_model
from tir_mlir.tune.models.tune_model import tune_model
from tir_mlir.tune.report.progress import listener_of
from tir_mlir.tune.search.cluster_workers import connect
from tir_mlir.tune.search.search_worker import SearchWorker
from tir_mlir.tune.search.tune_entry import tune

if TYPE_CHECKING:
    from tir_mlir.graph.graph import Graph
    from tir_mlir.graph.memory.frames import Array
    from tir_mlir.tune.models.best_model import BestOfModel

DESCRIPTION = """Search for the best schedule of a program, and keep it in a folder of records.

FILE is TVMScript (.py; only its prim_funcs are read, nothing else of it is executed) or MLIR (.mlir), or FILE.py:NAME:
the file is executed, and NAME is the program, an IRModule or a PrimFunc, or a function that returns one.

A model is tuned function by function, where it spends its time: FILE.onnx, or FILE.py:NAME of a Graph, a module of R,
or (torch module, (x, ...)); a graph may have inputs with it, too: (graph, [x]).

Ctrl-C ends the search and keeps everything; a second one skips the last measurements. The same command goes on."""

EPILOG = """the best record of a program:
  tir_mlir.tune.Database("tuned").best(program)

exit code: 0, 1 after an error, 130 after Ctrl-C."""
INTERRUPTED = 130
PROGRAM_TRIALS = 64


class _TuneParser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"tune: error: {message} (python -m tir_mlir.tune --help)", file=sys.stderr)
        raise SystemExit(1)


def parser() -> argparse.ArgumentParser:
    """The options: those of `tune.tune`."""
    options = _TuneParser(
        "python -m tir_mlir.tune",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    options.add_argument("file", metavar="FILE", nargs="?", help="the program")
    options.add_argument("--function", metavar="NAME", help="tune this function of the program only")
    options.add_argument("--import", dest="imports", action="append", default=[], metavar="FILE.py",
                      help="Python file to run first, to register tensor intrinsics")  # fmt: skip
    _add_search_options(options.add_argument_group("search"))
    _add_storage_options(options.add_argument_group("keeping"))
    _add_machine_options(options.add_argument_group("machine"))
    _add_worker_options(options.add_argument_group("worker"))
    return options


def _add_search_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--trials", type=int, metavar="N", help="candidates to try, default 64, of a model 256")
    group.add_argument(
        "--space", metavar="FILE.py:NAME", help="function over a Schedule; default: the library's schedules"
    )
    group.add_argument("--sampler", default="tpe", metavar="NAME", help="tpe (default), random, gp, cmaes, qmc, nsga2")
    group.add_argument("--seed", type=int, metavar="N", help="seed of the sampler and the data")
    group.add_argument(
        "--size", action="append", default=[], type=_size, metavar="NAME=N", help="value of a shape variable"
    )


def _add_storage_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--work-dir", default="tuned", metavar="DIR", help='folder of records and studies, default "tuned"'
    )
    group.add_argument("--storage", metavar="URL", help="database of the study, instead of a journal in the folder")
    group.add_argument("--resume", action=argparse.BooleanOptionalAction, default=True,
                       help="go on with what an earlier run of this search left; the default")  # fmt: skip
    group.add_argument("--plot", type=_html_path, metavar="PAGE.html",
                       help="draw the history, the importance of decisions and the time by stage")  # fmt: skip


def _add_machine_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument("--target", metavar="NAME", help="a predefined CPU; default: this machine")
    group.add_argument("--threads", type=int, metavar="N", help="threads of the program; default: the cores")
    group.add_argument(
        "--builders", type=int, metavar="N", help="processes that build side by side; default: the cores"
    )
    group.add_argument("--timeout", type=float, metavar="S", help="CPU seconds to build, and to run, one candidate")
    group.add_argument("--stop-after", type=float, metavar="S", help="seconds after which no candidate is started")
    group.add_argument("--ssh", action="append", default=[], metavar="HOST",
                       help="board that runs candidates, by its name for ssh; with --target; repeatable")  # fmt: skip
    group.add_argument("--cluster", metavar="ADDRESS", help="scheduler of a dask cluster whose workers take part; "
                       "with --storage")  # fmt: skip
    group.add_argument("--predict", action=argparse.BooleanOptionalAction, default=None,
                       help="measure what is predicted to be fastest; default: where that saves time")  # fmt: skip
    group.add_argument("--progress", action=argparse.BooleanOptionalAction, default=None,
                       help="live table; default: in a terminal")  # fmt: skip


def _add_worker_options(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--worker", metavar="URL", help="no FILE: take part in the searches of this database (--storage)"
    )
    group.add_argument("--idle", type=float, metavar="S", help="end after so many seconds without work; default: never")


def _html_path(text: str) -> str:
    if not text.endswith(".html"):
        raise argparse.ArgumentTypeError(f"{text!r} does not end in .html")
    return text


def _size(text: str) -> tuple[str, int]:
    name, _equals, value = text.partition("=")
    if not name.isidentifier() or not value.isdigit():
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=NUMBER")
    return name, int(value)


def main(argv: Sequence[str] | None = None) -> int:
    """Run with these arguments, by default those of the process. Returns the exit code."""
    args = parser().parse_args(argv)
    warnings.showwarning = _show_warning
    try:
        for path in args.imports:
            run_file(path)
        if args.worker:
            return run_worker(args)
        if args.file is None:
            parser().error("the following arguments are required: FILE, or --worker URL")
        program = program_of(args.file)
        model = given_model(program)
        best = search_model(model, args) if model else tune(select_function(program, args.function), **options_of(args))
        print(best)
        if args.plot:
            best.plot().save(args.plot)
    except KeyboardInterrupt:
        print("tune: interrupted; the same command goes on", file=sys.stderr)
        return INTERRUPTED
    except DriverError as error:
        for diagnostic in error.diagnostics:
            show(diagnostic, SourceLines(str(args.file), ""))
        return 1
    except (TirError, OSError) as error:
        print(f"tune: error: {error}", file=sys.stderr)
        return 1
    return INTERRUPTED if best.interrupted else 0


def run_worker(args: argparse.Namespace) -> int:
    """Be a worker."""
    if args.file is not None:
        parser().error("--worker takes its programs from the database, no FILE")
    spaces: dict[str, Any] = {args.space.rpartition(":")[2]: load_object(args.space)} if args.space else {}
    announce = partial(print, "tune: takes part in", flush=True)
    with listener_of(args.progress) as listener:
        ran = SearchWorker(args.worker, spaces, args.builders, args.idle, announce, tuple(args.ssh)).work(listener)
    print(f"tune: {ran} trials")
    return 0


def options_of(args: argparse.Namespace) -> dict[str, Any]:
    """The arguments of `tune.tune`. Raises TuneError for a space that is not there."""
    names = ("trials", "sampler", "seed", "work_dir", "storage", "resume", "target", "threads", "builders", "timeout",
             "stop_after", "ssh", "predict", "progress")  # fmt: skip
    options = {name: getattr(args, name) for name in names}
    options["trials"] = PROGRAM_TRIALS if args.trials is None else args.trials
    space = load_object(args.space) if args.space else None
    cluster = connect(args.cluster) if args.cluster else None
    return options | {"space": space, "sizes": dict(args.size), "cluster": cluster}


def search_model(model: tuple[Graph, Sequence[Array] | None], args: argparse.Namespace) -> BestOfModel:
    """The search over a model. Raises TuneError for options that are not for models."""
    of_programs = ("function", "space", "ssh", "cluster", "predict")
    for name in of_programs:
        if getattr(args, name):
            raise TuneError(f"--{name} is for programs, not for models; fix: leave it out")
    options = {name: value for name, value in options_of(args).items() if name not in of_programs}
    if args.trials is None:
        del options["trials"]
    return tune_model(*model, **options)


def program_of(source: str) -> Any:
    """The program or the model in a file, or the one that a file makes. Raises DriverError, TuneError, GraphError."""
    if source.endswith(".onnx"):
        return from_onnx(source)
    if ".py:" in source:
        definition = load_object(source)
        if isinstance(definition, (IRModule, PrimFunc, Function)) or hasattr(definition, "state_dict"):
            return definition
        return definition() if callable(definition) else definition
    with enter_context():
        (chunk,) = opt_input.read(source, False)
        try:
            module = opt_input.module_of(chunk)
            opt_input.as_program(module)
        except TirError as error:
            raise DriverError(*convert_error(error)) from error
        return IRModule(module)


def select_function(program: Any, function: str | None) -> Any:
    """One function of a program, alone."""
    if function is None:
        return program
    if not isinstance(program, IRModule) or function not in program:
        functions = ", ".join(program) if isinstance(program, IRModule) else "no functions"
        raise TuneError(f"the program has no function {function!r}; it has {functions}")
    return program[function].isolated_module


def load_object(source: str) -> Any:
    """What `FILE.py:NAME` names: the file is executed. Raises TuneError."""
    path, colon, name = source.rpartition(":")
    if not colon or not name.isidentifier():
        raise TuneError(f"{source!r} is not FILE.py:NAME")
    namespace = run_file(path)
    if name not in namespace:
        raise TuneError(f"{path} has no {name!r}")
    return namespace[name]


def run_file(path: str) -> dict[str, object]:
    """The names that a Python file defines. Raises TuneError with the line for what it raises."""
    if not Path(path).is_file():
        raise TuneError(f"no file {path}")
    try:
        return runpy.run_path(path, run_name=Path(path).stem)
    except Exception as error:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == path]
        location = f"{path}:{lines[-1]}" if lines else path
        raise TuneError(f"{location} raised {type(error).__name__}: {error}") from error


def _show_warning(message: Warning | str, category: type[Warning], *location: object) -> None:
    print(f"tune: warning: {message}", file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
