"""Code for other CPUs has their vector instructions, in their width."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from programs.products import product, widened

from tir_mlir import Schedule, build, schedules
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.script.parser import parse
from tir_mlir.target import AVX2, AVX512, AVX512_VNNI, NEON, NEON_DOTPROD, SSE2, Target

M, N, K = 24, 64, 48
CODE = {
    ("float32", "sse2"): (SSE2, r"mulps\s.*%xmm"),
    ("float32", "avx2"): (AVX2, r"vfmadd231ps\s.*%ymm"),
    ("float32", "avx512"): (AVX512, r"vfmadd231ps\s.*%zmm"),
    ("float32", "neon"): (NEON, r"fmla\tv\d+\.4s"),
    ("float64", "avx512"): (AVX512, r"vfmadd231pd\s.*%zmm"),
    ("float64", "neon"): (NEON, r"fmla\tv\d+\.2d"),
    ("float16", "avx2"): (AVX2, r"vcvtph2ps\s.*%ymm"),
    ("float16", "avx512"): (AVX512, r"vcvtph2ps\s.*%zmm"),
    ("float16", "neon"): (NEON, r"fcvtl\tv\d+\.4s"),
    ("int8", "sse2"): (SSE2, r"pmaddwd\s.*%xmm"),
    ("int8", "avx2"): (AVX2, r"vpmaddwd\s.*%ymm"),
    ("int8", "avx512"): (AVX512, r"vpmaddwd\s.*%zmm"),
    ("int8", "vnni"): (AVX512_VNNI, r"vpdpwssd\s.*%zmm"),
    ("int8", "neon"): (NEON, r"smlal2?\tv\d+\.4s"),
    ("int8", "dotprod"): (NEON_DOTPROD, r"sdot\tv\d+\.4s"),
}
SUMS = {"float16": "float32", "int8": "int32"}


@pytest.mark.parametrize(("dtype", "cpu"), CODE)
def test_products(dtype, cpu):
    target, instruction = CODE[dtype, cpu]
    sch = Schedule(widened(M, N, K, dtype, SUMS[dtype]) if dtype in SUMS else product(M, N, K, dtype))
    schedules.gemm(sch, "C", target=target, threads=1)
    assert re.search(instruction, build(sch, target=target).assembly)


ADD = """
@T.prim_func
def main(X: T.Buffer((64, 64), "float32"), Y: T.Buffer((64, 64), "float32")):
    for i, j in T.grid(64, 64):
        with T.block("Y"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = X[vi, vj] + T.float32(1)
"""


@pytest.mark.parametrize(
    ("target", "add"),
    [(AVX2, r"vaddps\s.*%ymm"), (AVX512, r"vaddps\s.*%zmm"), (NEON, r"fadd\tv\d+\.4s")],
    ids=["avx2", "avx512", "neon"],
)
def test_elements(target, add):
    sch = Schedule(parse(ADD))
    schedules.elementwise(sch, "Y", target=target, threads=1)
    assert re.search(add, build(sch, target=target).assembly)


def test_a_cpu_whose_instruction_sets_are_all_here_runs():
    plain = Target(128, 16, arch=SSE2.arch, triple=SSE2.triple, cpu=SSE2.cpu)
    if not plain.runs_here:
        pytest.skip("no 64-bit x86 under Linux")
    sch = Schedule(parse(ADD))
    schedules.elementwise(sch, "Y", target=plain, threads=1)
    x = np.arange(64 * 64, dtype="float32").reshape(64, 64)
    y = np.zeros_like(x)
    lib = build(sch, target=plain)
    lib(x, y)
    np.testing.assert_array_equal(y, x + 1)
    assert "ymm" not in lib.assembly


def test_other_code_is_written_not_run(tmp_path):
    target = NEON if not NEON.runs_here else AVX2
    lib = build(parse(ADD), target=target)
    with pytest.raises(BuildError, match="main was built for .*-linux-gnu .* cannot run"):
        lib(np.zeros((64, 64), "float32"), np.zeros((64, 64), "float32"))
    obj, header = lib.export(tmp_path / "out" / "add.o")
    assert obj.read_bytes()[:4] == b"\x7fELF"
    assert "void _mlir_ciface_main(tir_float32_2d *X, tir_float32_2d *Y);" in header.read_text()


def test_a_cpu_that_llvm_does_not_know():
    with pytest.raises(BuildError, match="LLVM has no code generator for mips64"):
        build(parse(ADD), target=Target(128, 32, arch="mips64", triple="mips64-unknown-linux-gnu"))
    with pytest.raises(BuildError, match='wants driver="jit"'):
        build(parse(ADD), target=NEON, driver="tools")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"cpu": "nobody"}, "LLVM knows no CPU 'nobody' for x86_64-unknown-linux-gnu; `llc .* -mcpu=help`"),
        ({"features": frozenset({"nobody"})}, r"LLVM knows no instruction set '\+nobody'"),
        ({"cpu": "i386"}, "LLVM makes no code for the CPU 'i386'"),
        ({"triple": "a\0b"}, "is not a valid LLVM name"),
        ({"triple": "nobody"}, "no code generator for nobody"),
    ],
)
def test_names_that_llvm_does_not_know(facts, message):
    """Some of these end the process when LLVM is asked for code."""
    with pytest.raises(BuildError, match=message):
        build(product(4, 4, 4), dataclasses.replace(AVX2, **facts))
