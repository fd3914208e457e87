"""The result as text: MLIR, generic MLIR, TVMScript or LLVM IR."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

from mlir import ir
from mlir.dialects import llvm

from tir_mlir.dialect import create
from tir_mlir.optdriver import reading
from tir_mlir.optdriver.diagnostics import Diagnostic, Failed
from tir_mlir.optdriver.running import Runner
from tir_mlir.passes.lower import lower_to_llvm
from tir_mlir.passes.lower.abi import foreign_ops
from tir_mlir.script.printer import script

FORMATS = ("mlir", "script", "generic", "llvm")


def text(runner: Runner, form: str) -> str:
    """The module in a form; a program on its way to `llvm` is lowered first. Raises TirError, MLIRError."""
    if form == "script":
        reading.as_program(runner.module)
        return script(runner.module) + "\n"
    if form == "llvm":
        return _llvm(runner.module)
    runner.settings = replace(runner.settings, generic=runner.settings.generic or form == "generic")
    asm = runner.asm()
    return asm if asm.endswith("\n") else asm + "\n"


def _llvm(module: ir.Module) -> str:
    if foreign_ops(module):
        module = create.clone_module(module)
        lower_to_llvm(module)
    return llvm.translate_module_to_llvmir(module.operation)  # pyright: ignore[reportAttributeAccessIssue]


def write(result: str, path: str | None) -> None:
    """To a file or stdout. Raises Failed when it cannot be written; BrokenPipeError is the caller's."""
    to_stdout = path is None or path == "-"
    name = "<stdout>" if path is None or path == "-" else path
    try:
        if not to_stdout:
            Path(name).write_text(result, encoding="utf-8")
        elif sys.stdout is None:  # closed before we started
            raise OSError("it is closed")
        else:
            sys.stdout.write(result)
            sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        if to_stdout and sys.stdout is not None:
            drop_stdout()
        raise Failed(Diagnostic("error", f"cannot be written: {error.strerror or error}", name)) from None


def drop_stdout() -> None:
    """After a failed write: keep Python from complaining once more when it flushes at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
