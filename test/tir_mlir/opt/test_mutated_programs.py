"""Mutated programs through the driver: the exit code is 0 or 1; no abort, no traceback, no internal error."""

import json
import random
import re
import subprocess
import sys
from pathlib import Path

import pytest
from harness import ROOT
from programs.short import each, main, nest, sblock

PROGRAM = """func.func @main(%A: memref<16x8xf32> {tir.name = "A"}, %B: memref<16xf32> {tir.name = "B"},
                %S: memref<?xf32> {tir.name = "S", tir.shape = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]},
                %n: index {tir.name = "n"})
    attributes {tir.id = 0 : i64, tir.attrs = {global_symbol = "main", tir.noalias = true}} {
  %zero = arith.constant 0.0 : f32
  %T = memref.alloc() {alignment = 64 : i64, tir.name = "T"} : memref<16x8xf32, "shared">
  affine.for %i = 0 to 5 {
    affine.for %j = 0 to 32 {
      affine.if affine_set<(d0, d1) : (127 - d0 * 32 - d1 >= 0)>(%i, %j) {
        affine.parallel (%v, %w) = ((%i * 32 + %j) floordiv 8, (%i * 32 + %j) mod 8)
            to ((%i * 32 + %j) floordiv 8 + 1, (%i * 32 + %j) mod 8 + 1) {
          %x = affine.load %A[%v, %w] : memref<16x8xf32>
          affine.store %x, %T[%v, %w] : memref<16x8xf32, "shared">
        } {tir.block = "T", tir.id = 3 : i64, tir.iters = ["S", "S"], tir.names = ["v", "w"], tir.syms = [],
           tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (16, 8)>}
      } {tir.where}
    } {tir.loop = "j", tir.id = 2 : i64}
  } {tir.loop = "i", tir.id = 1 : i64, tir.kind = "parallel", tir.annotations = {a = 1, b = ["x", {c = 2.5}]}}
  affine.for %i = 0 to 16 {
    affine.for %k = 0 to 8 {
      affine.parallel (%vi, %vk) = (%i, %k) to (%i + 1, %k + 1) {
        affine.if affine_set<(d0) : (d0 == 0)>(%vk) {
          affine.store %zero, %B[%vi] : memref<16xf32>
        } {tir.init}
        %c = affine.load %B[%vi] : memref<16xf32>
        %a = affine.load %T[%vi, %vk] : memref<16x8xf32, "shared">
        %s = arith.addf %c, %a : f32
        affine.store %s, %B[%vi] : memref<16xf32>
      } {tir.block = "B", tir.id = 6 : i64, tir.iters = ["S", "R"], tir.names = ["vi", "vk"], tir.syms = [],
         tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (16, 8)>,
         tir.reads = [{buffer = "T", min = affine_map<(d0, d1) -> (d0, 0)>, extent = affine_map<(d0, d1) -> (1, 8)>}]}
    } {tir.loop = "k", tir.id = 5 : i64}
  } {tir.loop = "i", tir.id = 4 : i64}
  affine.for %i = 0 to %n {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %zero, %S[%v] : memref<?xf32>
    } {tir.block = "S", tir.id = 8 : i64, tir.iters = ["S"], tir.names = ["v"], tir.syms = ["n"],
       tir.min = affine_map<()[s0] -> (0)>, tir.extent = affine_map<()[s0] -> (s0)>}
  } {tir.loop = "i", tir.id = 7 : i64}
  return
}
"""
SCRIPT = main(
    "A:16x8 B:16",
    "T.func_attr({'tir.noalias': True})",
    "C = T.alloc_buffer((16, 8), 'float16', scope='shared')",
    nest(
        "i:4 j:32",
        sblock(
            "C",
            "vi:16=(i * 32 + j) // 8 vj:8=(i * 32 + j) % 8",
            "C[vi, vj] = T.Cast('float16', T.exp(A[vi, vj]) + T.float32(1))",
            where="i * 32 + j < 128",
        ),
    ),
    each(
        "B i:16 k:8R",
        "T.reads(C[vi, vk])",
        "T.writes(B[vi])",
        "B[vi] = B[vi] + T.if_then_else(vk < 4, T.Cast('float32', C[vi, vk]), T.float32(2))",
        init="B[vi] = T.float32(0)",
    ),
)
TOKEN = re.compile(r"\s+|[\w.%@]+|.", re.DOTALL)
ODD = ["0", "-1", "3", "99999999999999999999999", "1.5", "true", '"x"', "[]", "{", "}", "(", ")", "%i", "%v", "index",
       "i128", "affine_map<() -> ()>", "tir.block", "tir.init", "é", "\\", "memref<0xf32>", "floordiv 0"]  # fmt: skip
REORDER = ["--tir-reorder=loops=k,B:i", "--canonicalize"]
RUNS = [["--emit=script"], ["--tir-lower"], REORDER, ["--emit=llvm"]]
SEED = 20


def mutated(text: str, rng: random.Random) -> str:
    """A text with one to three tokens changed, dropped, doubled or swapped, or cut short."""
    tokens = TOKEN.findall(text)
    for _ in range(rng.randint(1, 3)):
        a, b = (rng.choice([n for n, t in enumerate(tokens) if not t.isspace()]) for _ in range(2))
        match rng.randint(0, 5):
            case 0:
                tokens[a] = rng.choice(ODD)
            case 1:
                tokens[a] = ""
            case 2:
                tokens[a] *= 2
            case 3:
                tokens[a], tokens[b] = tokens[b], tokens[a]
            case 4:
                tokens[a] = tokens[b]
            case 5 if rng.random() < 0.2:
                del tokens[a:]
        if not any(not t.isspace() and t for t in tokens):
            break
    return "".join(tokens)


WORKER = """
import contextlib, io, json, sys
from tir_mlir.opt.driver import main
for number, (path, args) in enumerate(json.load(open(sys.argv[1]))):
    out, err = io.StringIO(), io.StringIO()
    print("begin", number, flush=True)
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main([path, "--reproducer=" + sys.argv[2], *args])
    print(json.dumps([number, code, err.getvalue()]), flush=True)
"""


@pytest.mark.nightly
@pytest.mark.parametrize(("text", "suffix", "count"), [(PROGRAM, "mlir", 200), (SCRIPT, "py", 100)])
def test_mutated_programs_are_errors_or_programs(tmp_path: Path, text: str, suffix: str, count: int):
    rng = random.Random(SEED)
    jobs = []
    for number in range(count):
        path = tmp_path / f"{number}.{suffix}"
        path.write_text(mutated(text, rng) if number else text, encoding="utf-8")
        jobs.append([str(path), RUNS[number % len(RUNS)] if suffix == "mlir" else RUNS[0]])
    listed = tmp_path / "jobs.json"
    listed.write_text(json.dumps(jobs))
    command = [sys.executable, "-X", "faulthandler", "-c", WORKER, str(listed), str(tmp_path / "reproducer.mlir")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=600, check=False)
    answers = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("[")]
    assert done.returncode == 0, f"{jobs[len(answers)]}\n{done.stderr[-3000:]}"
    assert len(answers) == count and answers[0][1] == 0, answers[0]
    for number, code, err in answers:
        assert code in (0, 1), jobs[number]
        assert "internal error" not in err and "Traceback" not in err, (jobs[number], err)
        assert code == 0 or re.search(r":\d+:\d+: error: ", err), (jobs[number], err)
