"""Output: MLIR, generic MLIR, TVMScript or LLVM IR; listings of passes, versions and timing."""

from __future__ import annotations

import inspect
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from mlir import ir
from mlir.dialects import llvm

from tir_mlir.dialect.ir import create
from tir_mlir.opt import input, pass_options, pipeline_text, upstream
from tir_mlir.opt.diagnostics import Diagnostic, DriverError
from tir_mlir.opt.runner import Runner
from tir_mlir.passes.lower import lower_to_llvm
from tir_mlir.passes.lower.llvm.abi import unconverted_ops
from tir_mlir.passes.schedule import PRIMITIVES
from tir_mlir.runtime.tools import toolchain
from tir_mlir.script.printer import script

FORMATS = ("mlir", "script", "generic", "llvm")


def text(runner: Runner, form: str) -> str:
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


def write(result: str, path: str | None) -> None:
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


def passes() -> str:
    """The passes of this package, one per line, then the upstream passes that run in process."""
    docs = pipeline_text.our_passes()
    steps = {pipeline_text.pass_name(p.name) for p in PRIMITIVES.values() if not p.pure}
    lines = ["schedule primitives:"]
    lines += [f"  {name + _options(name):68} {docs[name]}" for name in docs if name in steps]
    lines += ["", "passes on a whole module:"]
    on_modules = {name: text for name, text in docs.items() if name not in steps}
    on_graphs = {name: on_modules.pop(name) for name in pipeline_text.graph_passes()}
    lines += [f"  {name + _options(name):40} {text}" for name, text in on_modules.items()]
    lines += ["", "passes on a graph:"]
    lines += [f"  {name + _options(name):68} {text}" for name, text in on_graphs.items()]
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


def versions() -> str:
    """The parts of the toolchain, with versions and origins."""
    from tir_mlir import __version__

    by_part = {"tir-opt": __version__, **toolchain.versions()}
    width = max(map(len, by_part))
    return "".join(f"{name:{width}}  {text}\n" for name, text in by_part.items())


def timing(seconds: Sequence[tuple[str, float]]) -> str:
    """A table of seconds by pass, in the order of running."""
    total = sum(s for _, s in seconds)
    rows = [f"  {s:9.4f}  {100 * s / total if total else 0:5.1f}%  {name}" for name, s in seconds]
    return "\n".join(["  seconds   share   pass", *rows, f"  {total:9.4f}  100.0%  total"])
