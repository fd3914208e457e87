"""The command line. Passes are flags too, run in their order: `--tir-split="loop=i factors=4,32" --canonicalize`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from tir_mlir.opt.output import FORMATS

DESCRIPTION = """Run schedule primitives, lowering passes and upstream MLIR passes on a module.

FILE holds MLIR (a TensorIR program in the encoding of dialect/README.md, or any upstream MLIR) or, as a .py file,
TVMScript; "-" is stdin. Of a .py file only programs, constants and imports of the script languages are looked at."""

EPILOG = """passes, in a pipeline or as flags in the order they are to run:
  -p 'builtin.module(tir-split{loop=i factors=4,32}, tir-parallel{loop=i_0}, tir-lower, func.func(canonicalize,cse))'
  --tir-split="loop=i factors=4,32" --tir-parallel=loop=i_0 --tir-lower --canonicalize
  --list-passes names them with their options; every pass of mlir-opt can be used.

names in options:
  loop=i          the loop i of the function (main, or the only one; func=NAME for another)
  loop=C:i        the loop i around block C, where several loops are called i
  loop=#7         the op whose tir.id is 7
  loops=k,i  factors=none,16  ann_value="text"  preserve_unit_iters=false

exit code: 0, or 1 after any error. A pass that fails leaves a file that reproduces it."""


@dataclass(frozen=True)
class Passes:
    """Passes as text, and the option they came in (for messages)."""

    text: str
    option: str


def _pipeline(text: str) -> Passes:
    return Passes(text, "--pass-pipeline")


def _flag(text: str) -> Passes:
    return Passes(text, "--" + text.split("{")[0])


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        print(f"tir-opt: error: {message} (tir-opt --help)", file=sys.stderr)
        raise SystemExit(1)


def parser() -> argparse.ArgumentParser:
    """The parser of everything but pass flags."""
    made = _Parser(
        "tir-opt",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    made.add_argument("file", nargs="?", default="-", metavar="FILE", help='input; "-" or nothing: stdin')
    made.add_argument("-o", dest="output", metavar="FILE", help="write the result there instead of to stdout")
    made.add_argument("-p", "--pass-pipeline", dest="passes", action="append", default=[], type=_pipeline,
                      metavar="TEXT", help="passes to run, in order")  # fmt: skip
    made.add_argument("--pass-flag", dest="passes", action="append", type=_flag, help=argparse.SUPPRESS)
    made.add_argument("--emit", choices=FORMATS, default="mlir", help="what to print (mlir; llvm lowers first)")
    made.add_argument("--import", dest="imports", action="append", default=[], metavar="FILE.py",
                      help="run a Python file first, to register tensor intrinsics")  # fmt: skip
    made.add_argument("--list-passes", action="store_true", help="our passes, one line each")
    made.add_argument("--version", action="store_true", help="each part of the toolchain and where it comes from")
    _checking(made.add_argument_group("checking"))
    _showing(made.add_argument_group("showing"))
    return made


def _checking(group: argparse._ArgumentGroup) -> None:
    _flags(group, {
        "--verify-diagnostics": "compare errors with `expected-error @below {{...}}` comments",
        "--split-input-file": "cut the input at `// -----` lines (`# -----` in Python)",
        "--no-rules": "read programs without checking the rules of the encoding",
        "--isolated": "run every upstream pass in an mlir-opt of its own",
        "--debug": "show the Python traceback of an error",
    })  # fmt: skip
    group.add_argument("--reproducer", metavar="FILE", help="where a failing pass is saved (a new temporary file)")


def _showing(group: argparse._ArgumentGroup) -> None:
    _flags(group, {
        "--print-ir-before-all --mlir-print-ir-before-all": "the module before each pass, on stderr",
        "--print-ir-after-all --mlir-print-ir-after-all": "the module after each pass, on stderr",
        "--mlir-print-local-scope": "maps and sets written where they are used",
        "--mlir-print-debuginfo": "locations in the output",
        "--mlir-print-op-generic": "the generic form, as --emit=generic",
        "--timing --mlir-timing": "seconds by pass, on stderr",
    })  # fmt: skip


def _flags(group: argparse._ArgumentGroup, helps: dict[str, str]) -> None:
    for names, text in helps.items():
        group.add_argument(*names.split(), action="store_true", help=text)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """The arguments; pass flags have become pipelines. Exits for --help and for mistakes (code 1)."""
    made = parser()
    return made.parse_args([_as_pipeline(token, made) for token in argv])


def _as_pipeline(token: str, made: argparse.ArgumentParser) -> str:
    """`--canonicalize`, `--tir-split=loop=i` -> `--pass-flag=...`; other arguments as they are."""
    name, equals, options = token.partition("=")
    if not name.startswith("--") or len(name) < 4 or name in made._option_string_actions:
        return token
    options = options.strip()
    if len(options) > 1 and options[0] == "{" and options[-1] == "}":
        options = options[1:-1]
    return f"--pass-flag={name[2:]}" + (f"{{{options}}}" if equals and options else "")
