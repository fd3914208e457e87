"""Seed programs: random ones and those of the tests, as TVMScript and as MLIR."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

from fuzzing.programs import program
from tir_mlir import Schedule
from tir_mlir.dialect.diagnostics import TirError
from tir_mlir.script.module import IRModule
from tir_mlir.script.parser import parse

ROOT = Path(__file__).resolve().parents[3]
_PARTS = re.compile(r"^=+ .*\n", re.MULTILINE)
_CUT = re.compile(r"^[ \t]*// -----[^\n]*$", re.MULTILINE)

MATMUL = """@T.prim_func
def main(A: T.Buffer((16, 8), "float32"), B: T.Buffer((8, 12), "float32"), C: T.Buffer((16, 12), "float32")):
    T.func_attr({"tir.noalias": True})
    AB = T.alloc_buffer((16, 12), "float32", scope="shared")
    for i, j, k in T.grid(16, 12, 8):
        with T.block("AB"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            T.reads(A[vi, vk], B[vk, vj])
            T.writes(AB[vi, vj])
            with T.init():
                AB[vi, vj] = T.float32(0)
            AB[vi, vj] = AB[vi, vj] + A[vi, vk] * B[vk, vj]
    for i_0, i_1, j in T.grid(5, 4, 12):
        with T.block("C"):
            vi = T.axis.spatial(16, i_0 * 4 + i_1)
            vj = T.axis.spatial(12, j)
            T.where(i_0 * 4 + i_1 < 16)
            C[vi, vj] = T.max(AB[vi, vj] + T.float32(1), T.if_then_else(vj < 3, T.exp(AB[vi, 0]), T.float32(0)))
"""
SYMBOLIC = """@T.prim_func
def main(a: T.handle, b: T.handle, n: T.int32):
    m = T.int32()
    A = T.match_buffer(a, (n, m), "float16")
    B = T.match_buffer(b, (m,), "float16", strides=[1])
    for j in T.thread_binding(m, thread="blockIdx.x"):
        for i in T.serial(n, annotations={"k": [1, "x"]}):
            with T.block("B"):
                vj, vi = T.axis.remap("SR", [j, i])
                T.block_attr({"w": 1})
                with T.init():
                    B[vj] = T.float16(0)
                B[vj] += T.Cast("float16", T.sqrt(T.Cast("float32", A[vi, vj])))
"""
CLASS = """from tvm.script import ir as I
from tvm.script import tir as T

N = 16

@I.ir_module
class Module:
    @T.prim_func
    def main(A: T.Buffer((N, N), "int32"), B: T.Buffer((N, N), "int32")):
        with T.block("root"):
            for i in T.parallel(N):
                for j in T.vectorized(N):
                    with T.block("B"):
                        vi, vj = T.axis.remap("SS", [i, j])
                        x: T.let[T.int32] = A[vj, vi] % 7
                        B[vi, vj] = T.Select(x > 3, x // 2, T.min(x, vi * 3 + vj))

    @T.prim_func(private=True)
    def other(a: T.handle):
        A = T.match_buffer(a, (8,), "int8", align=64, offset_factor=1)
        for i in T.unroll(8):
            with T.block("A"):
                v = T.axis.spatial(8, i)
                A[v] = T.int8(v)
"""


@cache
def small() -> list[str]:
    """Return the programs of `test/tir_mlir/script/corpus.txt`."""
    made = []
    for part in _PARTS.split((ROOT / "test/tir_mlir/script/corpus.txt").read_text())[1:]:
        params, _, body = part.partition("\n")
        indented = "".join(f"    {line}\n" for line in body.splitlines())
        made.append(f"@T.prim_func\ndef main({params}):\n{indented}")
    return made


def script(random: Random) -> str:
    """Return the TVMScript of a valid, or nearly valid, program (some of the corpus is refused)."""
    match random.randrange(8):
        case 0:
            return MATMUL
        case 1:
            return SYMBOLIC
        case 2:
            return CLASS
        case 3 | 4:
            return random.choice(small())
        case _:
            return program(random).text


@cache
def mlir_files() -> list[str]:
    """Return the modules in the MLIR files of the tests, without their FileCheck lines."""
    pieces: list[str] = []
    for path in sorted((ROOT / "test").rglob("*.mlir")):
        for piece in _CUT.split(path.read_text()):
            text = re.sub(r"^\s*//.*\n", "", piece, flags=re.MULTILINE)
            if "func.func" in text and len(text) < 5000:
                pieces.append(text)
    return pieces


@cache
def linalg_files() -> list[str]:
    return [t for t in mlir_files() if "linalg." in t]


def mlir(random: Random) -> str:
    """Return MLIR text from the tests, or printed from a random program."""
    if random.random() < 0.5:
        return random.choice(mlir_files())
    return parse(random.choice((MATMUL, SYMBOLIC, program(random).text))).text()


def schedule(random: Random) -> Schedule:
    """Return a schedule of a valid program, after a few steps."""
    for _ in range(20):
        try:
            return Schedule(
                parse(MATMUL if random.random() < 0.2 else program(random, 3).text), seed=1 + random.randrange(1000)
            )
        except TirError:
            continue
    return Schedule(parse(MATMUL), seed=1)


@cache
def matmul() -> IRModule:
    return parse(MATMUL)
