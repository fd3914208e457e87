"""Object files for CPUs without an operating system: no heap, no memory of threads, no C library, the right ABI."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tir_mlir import build
from tir_mlir.script import tir as T
from tir_mlir.target import AVX2, WASM_SIMD, Target
from tir_mlir.target.predefined import RVV


def riscv(bits: int, features: str) -> Target:
    arch = f"riscv{bits}"
    return Target(
        bits, 32, arch=arch, features=frozenset(features), triple=f"{arch}-unknown-elf", cpu=f"generic-rv{bits}"
    )


CPUS = {
    "rv64imac": riscv(64, "mac"),
    "rv64gc": riscv(64, "mafdc"),
    "rv32imac": riscv(32, "mac"),
    "cortex-m4": Target(32, 16, arch="thumb", triple="thumbv7em-none-eabi", cpu="cortex-m4"),
    "x86-64": Target(128, 16, arch="x86_64", triple="x86_64-unknown-none-elf", cpu="x86-64"),
}
FLOATS = {"rv64imac": "soft-float ABI", "rv64gc": "double-float ABI", "rv32imac": "soft-float ABI"}


@T.prim_func
def copy_and_clear(A: T.Buffer((3000,), "int32"), B: T.Buffer((3000,), "int32"), C: T.Buffer((3000,), "int32")):
    S = T.alloc_buffer((3000,), "int32")
    for i in range(3000):
        with T.block("S"):
            vi = T.axis.spatial(3000, i)
            S[vi] = A[2999 - vi] * 2
    for i in T.parallel(3000):
        with T.block("B"):
            vi = T.axis.spatial(3000, i)
            B[vi] = S[2999 - vi]
    for i in range(3000):
        with T.block("C"):
            vi = T.axis.spatial(3000, i)
            C[vi] = 0


def tool_output(*words: str | Path) -> str:
    if shutil.which(str(words[0])) is None:
        pytest.skip(f"needs {words[0]}: apt-get install binutils")
    return subprocess.run(list(words), check=True, capture_output=True, text=True).stdout


@pytest.mark.parametrize("cpu", CPUS)
def test_an_object_needs_nothing(tmp_path: Path, cpu: str) -> None:
    obj, _ = build(copy_and_clear, target=CPUS[cpu]).export(tmp_path / "copies.o")
    assert tool_output("nm", "-u", obj).split() == []
    sections = tool_output("readelf", "-hS", obj)
    assert ".tbss" not in sections and FLOATS.get(cpu, "") in sections


def test_which_targets_have_no_system() -> None:
    assert all(cpu.is_bare for cpu in CPUS.values())
    assert not any(cpu.is_bare for cpu in (AVX2, RVV, WASM_SIMD, Target(256, 16)))
