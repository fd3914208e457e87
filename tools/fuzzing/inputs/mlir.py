"""Valid, nearly valid and invalid MLIR: loaded as a program, and run through `tir-opt` with random pipelines."""

from __future__ import annotations

import contextlib
import os
import tempfile
import traceback
from functools import cache
from pathlib import Path
from random import Random
from typing import NoReturn

from fuzzing.inputs import corpus, pipelines, texts
from fuzzing.inputs.judging import Fault, described, short, tried
from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.dialect.ir import clone_module, enter_context
from tir_mlir.opt import crash_guard
from tir_mlir.opt.driver import main
from tir_mlir.passes.lower import lower_to_llvm
from tir_mlir.processes.forked import run_in_copy
from tir_mlir.script.module import IRModule

ODD = (
    *texts.NUMBERS, "true", '"x"', "[]", "{", "}", "(", ")", "%i", "%v", "%A", "%0", "@main", "^bb0", "index",
    "i128", "i0", "f32", "bf16", "f8E4M3FN", "vector<4xf32>", "tensor<4xf32>", "memref<0xf32>", "memref<?xf32>",
    "memref<*xf32>", "memref<-1xf32>", 'memref<4xf32, "shared">', "memref<4xf32, 3>", "memref<4xf32, strided<[0]>>",
    "!llvm.ptr", "!tir.x", "#tir", "none", "unit", "affine_map<() -> ()>", "affine_map<(d0) -> (d0 floordiv 0)>",
    "affine_map<(d0) -> (d0 mod -2)>", "affine_map<(d0)[s0] -> (d0 * s0)>",
    "affine_map<() -> (9223372036854775807)>", "affine_set<(d0) : (d0 >= 0)>", "affine_set<() : (0 == 1)>",
    "dense<1.0>", "loc(unknown)", 'loc("f":1:2)', "tir.block", "tir.init", "tir.loop", "tir.id", "tir.iters",
    "tir.names", "tir.min", "tir.extent", "tir.kind", "tir.reads", "tir.where", "tir.name", "tir.annotations",
    "tir.syms", "tir.shape", "tir.attrs", "floordiv 0", "mod 0", "step 0", "step -1", "min", "max", "->", "=", ":",
    ",", "affine.for", "affine.parallel", "affine.if", "scf.for", "func.func", "return", "arith.constant",
    "unregistered.op", '"tir.x"() : () -> ()', "memref.alloc", "attributes", "private", "iter_args",
)  # fmt: skip
FLAGS = (
    "--emit=script", "--emit=generic", "--emit=llvm", "--emit=mlir", "--no-rules", "--split-input-file",
    "--verify-diagnostics", "--print-ir-before-all", "--print-ir-after-all", "--mlir-print-local-scope",
    "--mlir-print-debuginfo", "--nobody", "--timing", "--mlir-print-op-generic", "--list-passes",
    "--import=nobody.py", "-x", "--emit=x",
)  # fmt: skip


def case(random: Random) -> str:
    """Load a text as a program, or run it through `tir-opt`."""
    text = texts.changed(random, corpus.mlir(random), ODD)
    return _read(random, text) if random.random() < 0.35 else _run(random, text)


def _read(random: Random, text: str) -> str:
    text = text + "\n"
    word, got = tried(short(text), lambda: IRModule.from_mlir(text))
    if word != "accepted":
        if not isinstance(got, ScriptError):
            raise Fault(f"a refusal without a location: {described(got)}\n{short(text)}")
        return word
    tried(short(text), got.script)  # may be refused: not every valid module can be printed as TVMScript
    tried(short(text), lambda: Schedule(got).get_block("root"))
    if random.random() < 0.2:
        tried(short(text), lambda: lowered(got))
    return word


def lowered(module: IRModule) -> None:
    with enter_context():
        lower_to_llvm(clone_module(module.mlir))


def _run(random: Random, text: str) -> str:
    arguments = [pipelines.one(random) for _ in range(random.choice((0, 1, 1, 1, 2, 3)))]
    arguments += [random.choice(FLAGS) for _ in range(random.choice((0, 0, 0, 1, 1, 2)))]
    random.shuffle(arguments)
    data = text.encode(errors="replace")
    if random.random() < 0.02:
        at = random.randrange(len(data) + 1)
        data = data[:at] + bytes([random.randrange(256)]) + data[at:]
    elif random.random() < 0.01:
        data = b"ML\xefR" + data
    return through_tool(data, "mlir", arguments, text)


def through_tool(data: bytes, suffix: str, arguments: list[str], text: str) -> str:
    """Run `tir-opt` on a file in a child process; exit code 0, or 1 or 2 with an error message."""
    path = _folder() / f"input{os.getpid()}.{suffix}"
    path.write_bytes(data)
    shown = f"tir-opt {' '.join(map(repr, arguments))}\n{short(text)}"
    code, said, doing = _in_child([str(path), f"--reproducer={path}.again", *arguments], path)
    if code < 0 and ": in tir-" not in doing:
        return "survived"  # MLIR crashed in its parser or an upstream pass; tir-opt survives and reports where
    if code not in (0, 1, 2) or "internal error" in said or "Traceback" in said:
        raise Fault(f"tir-opt exited with {code}:\n{said[-2000:]}\n{shown}")
    if code and "error" not in said and "expected-" not in said:
        raise Fault(f"tir-opt exited with {code} without an error message:\n{said[-2000:]}\n{shown}")
    return "refused" if code else "accepted"


def _in_child(arguments: list[str], path: Path) -> tuple[int, str, str]:
    """Return the exit code of `tir-opt` (negative: the signal that killed it), its output, and its last action."""
    said, journal = path.with_suffix(".err"), path.with_suffix(".journal")
    journal.write_text("")

    def run() -> NoReturn:
        os.environ[crash_guard.JOURNAL] = str(journal)
        code = 1
        with said.open("w", errors="replace") as err, open(os.devnull, "w") as out:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                try:
                    code = main(arguments)
                except SystemExit as stop:
                    code = int(stop.code or 0)
                except BaseException:
                    traceback.print_exc(file=err)
        os._exit(code)

    return run_in_copy(run), said.read_text(), journal.read_text().partition("\n")[0]


@cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="tir-fuzz-"))
