"""Calls of LLVM's intrinsics that LLVM would abort on, or refuse, are errors with the line of the program."""

import pytest
from programs.parsed import parse
from programs.short import main, sblock

from tir_mlir import build
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.target import AVX2, AVX512_VNNI, NEON, NEON_DOTPROD, ZEN4

PROGRAM = """
@T.prim_func
def main(A: T.Buffer((64,), "{dtype}"), B: T.Buffer((64,), "{dtype}")):
    B[0:{lanes}] = T.call_llvm_pure_intrin("{dtype}x{lanes}", "{name}", {args})
"""
THIRDS = "A[0:4], A[0:4], A[0:4]"


def program(name: str, args: str, dtype: str = "float32", lanes: int = 4):
    return parse(PROGRAM.format(dtype=dtype, lanes=lanes, name=name, args=args))


WRONG = {
    "unknown": (program("llvm.x86.some", "A[0:4]"), "LLVM has no intrinsic of this name"),
    "arity": (program("llvm.fma", "A[0:4]"), 'has 1 operands but "llvm.fma" expects 3'),
    "types": (program("llvm.fma", "A[0:4], A[0:8], A[0:4]"), "does not match any of the overloads"),
    "result": (program("llvm.assume", "A[0] > 1.0"), "actually returns void"),
    "lanes": (
        program("llvm.x86.avx512.vpdpbusd.512", "A[0:16], A[0:16], A[0:16]", "int32", 8),
        "returns <8 x i32> but .* actually returns <16 x i32>",
    ),
    "immediate": (program("llvm.x86.sse41.round.ps", 'A[0:4], T.Cast("int32", A[0])'), "must be a constant"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_wrong_call_is_an_error_at_its_line(name: str) -> None:
    module, message = WRONG[name]
    with pytest.raises(BuildError, match=rf'<script>:4: the intrinsic "llvm\..*": .*{message}'):
        build(module, target=AVX512_VNNI)


@pytest.mark.parametrize("without", [AVX2, NEON], ids=["avx2", "neon"])
def test_a_cpu_without_the_instruction_is_named(without) -> None:
    names = {"x86_64": ("llvm.x86.avx512.vpdpbusd.512", 16), "aarch64": ("llvm.aarch64.neon.sdot", 4)}
    name, lanes = names[without.arch]
    module = program(name, ", ".join([f"A[0:{lanes}]"] * 3), "int32", lanes)
    with pytest.raises(BuildError, match=rf"the CPU {without.cpu} \({without.triple}\) has no instruction for it"):
        build(module, target=without)


def test_a_cpu_with_the_instruction_gets_it() -> None:
    for target, name, lanes, word in (
        (AVX512_VNNI, "llvm.x86.avx512.vpdpbusd.512", 16, "vpdpbusd"),
        (NEON_DOTPROD, "llvm.aarch64.neon.sdot", 4, "sdot"),
    ):
        module = program(name, ", ".join([f"A[0:{lanes}]"] * 3), "int32", lanes)
        assert word in build(module, target=target).assembly


def test_instruction_sets_that_code_avoids_serve_intrinsics() -> None:
    module = program("llvm.x86.vgf2p8mulb.512", "A[0:64], A[0:64]", "int8", 64)
    assert "vgf2p8mulb" in build(module, target=ZEN4).assembly


def test_an_immediate_argument_is_a_part_of_the_instruction() -> None:
    module = program("llvm.x86.sse41.round.ps", "A[0:4], 1")
    assert "round" in build(module, target=AVX2).assembly


WASM = main(
    "X:8:int16 Y:4:int32",
    sblock("Y", "", "Y[0:4] = T.call_llvm_pure_intrin('int32x4', 'llvm.wasm.dot', X[0:8], X[0:8])"),
)


def test_code_of_clang():
    assert "i32x4.dot_i16x8_s" in build(parse(WASM), target="wasm_simd").assembly
    with pytest.raises(
        BuildError, match=r"\"llvm.wasm.dot\": the CPU generic-rv64 \(riscv64-.*\) has no instruction for it"
    ):
        build(parse(WASM), target="rvv")
