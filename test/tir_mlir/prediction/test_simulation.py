"""Cycles of code on cores: by llvm-mca where its model is right, corrected where it is wrong, in order for RISC-V."""

import pytest

from tir_mlir import target
from tir_mlir.errors import BuildError
from tir_mlir.prediction import core_of, vector_core
from tir_mlir.prediction.executions import CodePiece
from tir_mlir.prediction.simulation import simulate


def cycles(cpu, *code):
    piece = CodePiece("f", "b", 1, 8, 8.0, code, True, True)
    return simulate([piece], core_of(cpu), cpu)[0]


def apart(form, count=16):
    """Instructions that write different registers."""
    return [form.format(n) for n in range(count)]


FMA = "vfmadd231ps\t%zmm30, %zmm31, %zmm{}"
DOT = "vpdpbusd\t%zmm30, %zmm31, %zmm{}"
TILE = "tdpbssd\t%tmm4, %tmm5, %tmm{}"


@pytest.mark.parametrize(
    ("cpu", "form", "each"),
    [  # measured on Zen 1 and 4; those of others are their makers'
        (target.ZEN1, "vfmadd231ps\t%ymm14, %ymm15, %ymm{}", 1.0),
        (target.ZEN1, "vpmaddwd\t%ymm14, %ymm15, %ymm{}", 2.0),
        (target.ZEN1, "vmovups\t{}(%rax), %ymm3", 1.0),
        (target.ZEN1, "vmovups\t%ymm3, {}(%rax)", 2.0),
        (target.ZEN1, "vmovups\t%xmm3, {}(%rax)", 1.0),
        (target.ZEN1, "vbroadcastss\t{}(%rax), %ymm3", 0.5),
        (target.ZEN1, "vpmovsxbw\t{}(%rax), %ymm3", 2.0),
        (target.ZEN1, "vcvtps2dq\t%ymm14, %ymm{}", 2.0),
        (target.ZEN1, "vmaskmovps\t{}(%rax), %ymm14, %ymm3", 10.0),
        (target.ZEN4, FMA, 1.0),
        (target.ZEN4, DOT, 1.0),
        (target.ZEN4, "vmovups\t{}(%rax), %zmm3", 1.0),
        (target.ZEN4, "vmovups\t%zmm3, {}(%rax)", 2.0),
        (target.ZEN5, FMA, 0.5),
        (target.SKYLAKE_AVX512, FMA, 0.5),
        (target.ICELAKE, DOT, 0.5),
        (target.SAPPHIRE_RAPIDS, FMA, 0.5),
        (target.ZEN3, "vfmadd231ps\t%ymm14, %ymm15, %ymm{}", 0.5),
        (target.ZEN3, "vpmovsxbw\t{}(%rax), %ymm3", 0.5),
        (target.NEOVERSE_V1, "usdot\tz{}.s, z30.b, z31.b", 0.5),
        (target.NEOVERSE_N1, "fmla\tv{}.4s, v30.4s, v31.4s", 0.5),
        (target.NEOVERSE_V2, "fmla\tv{}.4s, v30.4s, v31.4s", 0.25),
        (target.APPLE_M1, "fmla\tv{}.4s, v30.4s, v31.4s", 0.25),
    ],
)
def test_throughput(cpu, form, each):
    count = 12
    assert cycles(cpu, *apart(form, count)).cycles == pytest.approx(each * count, rel=0.1)


def test_a_chain_waits_and_says_so():
    found = cycles(target.ZEN4, FMA.format(0), FMA.format(0))
    assert found.cycles == pytest.approx(8, rel=0.1) and found.limit == "latency"
    assert cycles(target.ZEN4, *apart(FMA)).limit == "multiply-adds"


def test_tiles_have_a_unit_of_their_own():
    found = cycles(target.SAPPHIRE_RAPIDS, *apart(TILE, 4), "tileloadd\t(%rax,%rcx), %tmm4")
    assert (found.cycles, found.limit) == (64.0, "tile products")
    assert found.bounds["loads"] == 8


def test_riscv_issues_in_order():
    core = core_of(target.SPACEMIT_X60)
    setting = "vsetvli\tzero, a0, e32, m1, ta, ma"
    chain = vector_core.cycles(["vfmacc.vv\tv0, v8, v9"] * 4, core, setting)
    free = vector_core.cycles(apart("vfmacc.vv\tv{}, v30, v31", 8), core, setting)
    assert (chain.limit, chain.cycles) == ("latency", 16)
    assert (free.limit, free.cycles) == ("multiply-adds", 16)
    assert vector_core.cycles(apart("vfmacc.vv\tv{}, v28, v24", 1), core, setting.replace("m1", "m4")).cycles == 8


def test_a_cpu_without_a_model_is_refused():
    with pytest.raises(BuildError, match=r"no model of the core of 'generic', wasm32; known: haswell, .*fix: target="):
        core_of(target.WASM_SIMD)
