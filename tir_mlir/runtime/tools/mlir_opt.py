"""A substitute for mlir-opt on MLIR's Python bindings, run as a subprocess if the tool is not installed.

Reads a module from stdin, runs a pipeline and prints the result. Diagnostics go to stderr in mlir-opt's format; an
abort in MLIR ends only the subprocess.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mlir import ir
from mlir.passmanager import PassManager

_ERRORS: tuple[type[Exception], ...] = (getattr(ir, "MLIRError"), ValueError)  # noqa: B009  not in the stubs


def main() -> None:
    """The command-line entry; exits with 1 if parsing or a pass fails."""
    parser = argparse.ArgumentParser(prog="mlir-opt")
    parser.add_argument("-o", dest="output", default="-")
    parser.add_argument("--pass-pipeline", default="")
    parser.add_argument("--mlir-print-debuginfo", action="store_true")
    options = parser.parse_args()
    printed = _run(sys.stdin.read(), options.pass_pipeline, options.mlir_print_debuginfo)
    if printed is None:
        sys.exit(1)
    if options.output == "-":
        sys.stdout.write(printed + "\n")
    else:
        Path(options.output).write_text(printed)


def _run(text: str, pipeline: str, debug_info: bool) -> str | None:
    """The module after the pipeline; None after an error, which is reported on stderr."""
    context = ir.Context()
    with context, ir.Location.unknown():
        context.emit_error_diagnostics = True  # to the handler, which is attached for the context's lifetime
        context.attach_diagnostic_handler(_write)
        try:
            module = ir.Module.parse(text)
            if pipeline:
                PassManager.parse(pipeline).run(module.operation)
        except _ERRORS as error:
            if isinstance(error, ValueError):  # a malformed pipeline
                print(f"<unknown>:0: error: {error}", file=sys.stderr)
            return None
        return str(module.operation.get_asm(enable_debug_info=debug_info))


def _write(diagnostic: ir.Diagnostic, indent: str = "") -> bool:
    location = str(diagnostic.location).removeprefix("loc(").removesuffix(")").replace('"', "")
    severity = str(diagnostic.severity).rpartition(".")[2].lower()
    print(f"{location if location != 'unknown' else '<unknown>:0'}: {severity}: {diagnostic.message}", file=sys.stderr)
    for note in diagnostic.notes:
        _write(note)
    return True
