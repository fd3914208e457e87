"""Code for other CPUs has their vector instructions, in their width."""

import dataclasses
import re

import numpy as np
import pytest
from programs.products import product, widened
from programs.short import each, main

from tir_mlir import Schedule, build, schedules
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.runtime.tools import toolchain
from tir_mlir.script.parser import parse
from tir_mlir.target import AVX2, NEON, RVV, SSE2, WASM_SIMD, Target, named

AVX_VNNI = dataclasses.replace(AVX2, features=AVX2.features | {"avxvnni"})
M, N, K = 24, 64, 48
CODE = {
    ("float32", "sse2"): r"mulps\s.*%xmm",
    ("float32", "avx2"): r"vfmadd231ps\s.*%ymm",
    ("float32", "avx512"): r"vfmadd231ps\s.*%zmm",
    ("float32", "neon"): r"fmla\tv\d+\.4s",
    ("float32", "sapphire_rapids"): r"vfmadd231ps\s.*%zmm",
    ("float32", "zen4"): r"vfmadd231ps\s.*%zmm",
    ("float32", "neon_i8mm"): r"fmla\tv\d+\.4s",
    ("float32", "neoverse_v1"): r"fmla\tv\d+\.4s, v\d+\.4s, v\d+\.s\[",
    ("float32", "sve"): r"fmla\tz\d+\.s, p\d+/m",
    ("float32", "sme"): r"fmla\tv\d+\.4s",
    ("float32", "rvv"): r"vfmacc\.vf\tv\d+",
    ("float32", "rvv_128"): r"vfmacc\.vf\tv\d+",
    ("float32", "wasm_simd"): r"f32x4\.mul",
    ("float64", "avx512"): r"vfmadd231pd\s.*%zmm",
    ("float64", "neon"): r"fmla\tv\d+\.2d",
    ("float64", "sve"): r"fmla\tz\d+\.d, p\d+/m",
    ("float64", "rvv"): r"vfmacc\.vf\tv\d+",
    ("float64", "wasm_simd"): r"f64x2\.mul",
    ("float16", "avx2"): r"vcvtph2ps\s.*%ymm",
    ("float16", "avx512"): r"vcvtph2ps\s.*%zmm",
    ("float16", "neon"): r"fcvtl\tv\d+\.4s",
    ("float16", "sapphire_rapids"): r"vcvtph2psx?\s.*%zmm",
    ("float16", "sve"): r"fcvt\tz\d+\.s, p\d+/m, z\d+\.h",
    ("int8", "sse2"): r"pmaddwd\s.*%xmm",
    ("int8", "avx2"): r"vpmaddwd\s.*%ymm",
    ("int8", "avx512"): r"vpmaddwd\s.*%zmm",
    ("int8", "avx512_vnni"): r"vpdpbusd\s.*%zmm",
    ("int8", AVX_VNNI): r"vpdpbusd\s.*%ymm",
    ("int8", "neon"): r"smlal2?\tv\d+\.4s",
    ("int8", "neon_dotprod"): r"sdot\tv\d+\.4s, v\d+\.16b, v\d+\.4b\[0\]",
    ("int8", "sapphire_rapids"): r"tdpbssd",
    ("int8", "zen4"): r"vpdpbusd\s.*%zmm",
    ("int8", "neon_i8mm"): r"smmla\tv\d+\.4s, v\d+\.16b, v\d+\.16b",
    ("int8", "rvv"): r"vw?macc\.v[vx]\tv\d+",
    ("int8", "wasm_simd"): r"i32x4\.dot_i16x8_s",
}
SUMS = {"float16": "float32", "int8": "int32"}


@pytest.mark.parametrize(("dtype", "cpu"), CODE)
@pytest.mark.few(4)
def test_products(dtype, cpu):
    sch = Schedule(widened(M, N, K, dtype, SUMS[dtype]) if dtype in SUMS else product(M, N, K, dtype))
    schedules.gemm(sch, "C", target=cpu, threads=1)
    assert re.search(CODE[dtype, cpu], build(sch, target=cpu).assembly)


ADD = main("X:64x64 Y:64x64", each("Y:64x64", "Y[vi, vj] = X[vi, vj] + T.float32(1)"))


@pytest.mark.parametrize(
    ("cpu", "add"),
    [
        ("avx2", r"vaddps\s.*%ymm"),
        ("avx512", r"vaddps\s.*%zmm"),
        ("sapphire_rapids", r"vaddps\s.*%zmm"),
        ("zen4", r"vaddps\s.*%zmm"),
        ("neon", r"fadd\tv\d+\.4s"),
        ("neon_i8mm", r"fadd\tv\d+\.4s"),
        ("sve", r"fadd\tz\d+\.s"),
        ("sme", r"fadd\tv\d+\.4s"),
        ("rvv", r"vfadd\.v[fv]\tv\d+"),
        ("rvv_128", r"vfadd\.v[fv]\tv\d+"),
        ("wasm_simd", r"f32x4\.add"),
    ],
)
@pytest.mark.few(4)
def test_elements(cpu, add):
    sch = Schedule(parse(ADD))
    schedules.elementwise(sch, "Y", target=cpu, threads=1)
    assert re.search(add, build(sch, target=cpu).assembly)


def test_vectors_of_risc_v_have_the_length_of_the_target():
    assert "zvl256b" in build(parse(ADD), target="rvv").assembly
    assert "zvl256b" not in build(parse(ADD), target="rvv_128").assembly


def test_scalable_registers_have_a_least_length():
    assert "vscale_range(2,16)" in build(parse(ADD), target="sve").llvm_ir
    assert "vscale_range" not in build(parse(ADD), target="neon").llvm_ir


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


X86 = ("sse2", "avx2", "avx512", "avx512_vnni", "zen4", "sapphire_rapids")


@pytest.mark.few(4)
@pytest.mark.parametrize("cpu", X86)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
def test_products_run_where_the_cpu_has_the_instructions(dtype, cpu):
    if reason := named(cpu).hindrance:
        pytest.skip(reason)
    sums = SUMS.get(dtype, dtype)
    sch = Schedule(widened(17, 35, 29, dtype, sums) if dtype in SUMS else product(17, 35, 29, dtype))
    schedules.gemm(sch, "C", target=cpu, threads=1)
    low, high = (-128, 128) if dtype == "int8" else (-4, 5)
    random = np.random.default_rng(13)
    a, b = (random.integers(low, high, s).astype(dtype) for s in ((17, 29), (29, 35)))
    c = np.zeros((17, 35), sums)
    build(sch, target=cpu)(a, b, c)
    np.testing.assert_array_equal(c, a.astype(sums) @ b.astype(sums))


def test_other_code_is_written_not_run(tmp_path):
    target = NEON if not NEON.runs_here else AVX2
    lib = build(parse(ADD), target=target)
    with pytest.raises(BuildError, match=r"main was built for .*-linux-gnu, which this machine cannot run: it is"):
        lib(np.zeros((64, 64), "float32"), np.zeros((64, 64), "float32"))
    obj, header = lib.export(tmp_path / "out" / "add.o")
    assert obj.read_bytes()[:4] == b"\x7fELF"
    assert "int add(const float *X, float *Y);" in header.read_text()
    with pytest.raises(BuildError, match=r"add.so: a shared library for .* needs a linker for it; fix: .* add.o"):
        lib.export(tmp_path / "out" / "add.so")


def test_a_cpu_that_llvm_does_not_know():
    with pytest.raises(BuildError, match=r"clang makes no code for .* of avr7-unknown-linux-gnu"):
        build(parse(ADD), target=Target(128, 32, arch="avr7", triple="avr7-unknown-linux-gnu"))
    with pytest.raises(BuildError, match='needs driver="jit"'):
        build(parse(ADD), target=NEON, driver="tools")


@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"cpu": "nobody"}, "LLVM knows no CPU 'nobody' for x86_64-unknown-linux-gnu; `llc .* -mcpu=help`"),
        ({"features": frozenset({"nobody"})}, r"LLVM knows no instruction set '\+nobody'"),
        ({"cpu": "i386"}, "LLVM makes no code for the CPU 'i386'"),
        ({"triple": "a\0b"}, "is not a valid LLVM name"),
        ({"triple": "nobody"}, "clang makes no code for .* of nobody"),
    ],
)
def test_names_that_llvm_does_not_know(facts, message):
    """Some of these end the process when LLVM is asked for code."""
    with pytest.raises(BuildError, match=message):
        build(product(4, 4, 4), dataclasses.replace(AVX2, **facts))


@pytest.mark.parametrize("target", [RVV, WASM_SIMD], ids=["rvv", "wasm"])
@pytest.mark.parametrize(
    ("facts", "message"),
    [
        ({"cpu": "nobody"}, "clang makes no code for the CPU 'nobody'"),
        ({"features": frozenset({"nobody"})}, r"LLVM knows no instruction set '\+nobody'"),
    ],
)
def test_names_that_clang_does_not_know(target, facts, message):
    with pytest.raises(BuildError, match=message):
        build(product(4, 4, 4), dataclasses.replace(target, **facts))


def test_without_clang(monkeypatch):
    def missing(names, purpose):
        raise toolchain.MissingTool(f"{purpose} needs a C compiler: pip install 'tir-mlir[c]'")

    monkeypatch.setattr(toolchain, "require", missing)
    with pytest.raises(toolchain.MissingTool, match=r"code for riscv64-unknown-linux-gnu needs a C compiler: pip"):
        build(product(4, 4, 4), target=dataclasses.replace(RVV, vector_bits=512))


EF_RISCV_FLOAT_ABI = 0x6
"""The bits of an ELF header's flags: 0 soft, 2 single, 4 double."""


@pytest.mark.parametrize(
    ("arch", "features", "abi"),
    [
        ("riscv64", "mac", 0),
        ("riscv64", "mafc", 2),
        ("riscv64", "mafdc", 4),
        ("riscv32", "mac", 0),
        ("riscv32", "mafdc", 4),
    ],
)
def test_the_float_abi_of_riscv(tmp_path, arch, features, abi):
    """Registers for floats are used in calls only where the CPU has them: a linker refuses a mixture."""
    cpu = {"riscv64": "generic-rv64", "riscv32": "generic-rv32"}[arch]
    core = Target(64, 0, arch=arch, features=frozenset(features), triple=f"{arch}-unknown-elf", cpu=cpu)
    build(parse(main("A:8 C:8", each("C", "C[vi] = A[vi] * 2.0"))), target=core).export(tmp_path / "kernel.o")
    header = (tmp_path / "kernel.o").read_bytes()
    flags = int.from_bytes(header[0x30:0x34] if arch == "riscv64" else header[0x24:0x28], "little")
    assert flags & EF_RISCV_FLOAT_ABI == abi
