"""The command line. Each pass is also a flag: `--tir-split="loop=i factors=4,32" --canonicalize`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NoReturn

from tir_mlir.opt.output import FORMATS

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

exit code: 0, or 1 after an error. A failing pass writes a reproducer file."""


@dataclass(frozen=True)
class Passes:
    """Pipeline text, and the option that it comes from (for messages)."""

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
    command = _Parser(
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
                      help="Python file to run first, to register tensor intrinsics")  # fmt: skip
    command.add_argument("--list-passes", action="store_true", help="list the passes of this package, and exit")
    command.add_argument("--version", action="store_true", help="print the versions of the toolchain, and exit")
    _checking(command.add_argument_group("checking"))
    _showing(command.add_argument_group("showing"))
    return command


def _checking(group: argparse._ArgumentGroup) -> None:
    _flags(group, {
        "--verify-diagnostics": "check diagnostics against `expected-error @below {{...}}` comments",
        "--split-input-file": "split the input at `// -----` lines (`# -----` in Python)",
        "--no-rules": "do not verify the rules of the encoding on input",
        "--isolated": "run every upstream pass in a separate mlir-opt process",
        "--debug": "print the Python traceback of an error",
    })  # fmt: skip
    group.add_argument("--reproducer", metavar="FILE", help="where to write the reproducer of a failing pass")


def _showing(group: argparse._ArgumentGroup) -> None:
    _flags(group, {
        "--print-ir-before-all --mlir-print-ir-before-all": "print the module before each pass to stderr",
        "--print-ir-after-all --mlir-print-ir-after-all": "print the module after each pass to stderr",
        "--mlir-print-local-scope": "print affine maps and sets inline",
        "--mlir-print-debuginfo": "print locations",
        "--mlir-print-op-generic": "print the generic op form, same as --emit=generic",
        "--timing --mlir-timing": "print the time of each pass to stderr",
    })  # fmt: skip
    group.add_argument("--dump", metavar="DIR", help="folder for the module after each pass: 00-input.mlir, ...")


def _flags(group: argparse._ArgumentGroup, helps: dict[str, str]) -> None:
    for names, text in helps.items():
        group.add_argument(*names.split(), action="store_true", help=text)


def parse(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the arguments; pass flags become pipelines. Exits for --help and on errors (code 1)."""
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
