"""Programs that must work after `pip install tir-mlir` without extras; run by tools/check_base.py."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from tir_mlir import Schedule, build, create_llvm, from_linalg, interpret, schedules, target
from tir_mlir.dialect.diagnostics import ToolError
from tir_mlir.examples import matmul as chapter
from tir_mlir.script import tir as T

KERNEL = "define float @plus_one(float %x) {\n  %y = fadd float %x, 1.0\n  ret float %y\n}\n"
LINALG = """
func.func @main(%a: memref<8x8xf32>, %b: memref<8x8xf32>, %c: memref<8x8xf32>) {
  linalg.matmul ins(%a, %b : memref<8x8xf32>, memref<8x8xf32>) outs(%c : memref<8x8xf32>)
  return
}
"""
ADD = "func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  return %0 : i32\n}\n"


@T.prim_func
def product(A: T.Buffer((64, 64), "float32"), B: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")):
    for i, j, k in T.grid(64, 64, 64):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]


@T.prim_func
def shifted(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32")):
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = T.call_extern("float32", "plus_one", A[vi])


@T.prim_func
def rounded(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "bfloat16")):
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = T.cast(A[vi], "bfloat16")


def arrays(*shapes: tuple[int, ...]) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [rng.random(shape, dtype=np.float32) for shape in shapes]


def scheduled_and_parallel() -> None:
    sch = Schedule(product)
    i, j, k = sch.get_loops("C")
    j_0, j_1 = sch.split(j, factors=[None, 16])
    sch.reorder(i, j_0, k, j_1)
    sch.decompose_reduction("C", k)
    sch.vectorize(j_1)
    sch.parallel(i)
    assert sch.verify()
    a, b, c = arrays((64, 64), (64, 64), (64, 64))
    lib = build(sch)
    lib(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    assert "define" in lib.llvm_ir and "main" in lib.assembly
    interpret(product, a, b, d := np.empty_like(c))
    np.testing.assert_allclose(d, c, rtol=1e-5)


def recipe_and_other_cpu() -> None:
    sch = Schedule(product)
    schedules.gemm(sch, "C")
    a, b, c = arrays((64, 64), (64, 64), (64, 64))
    build(sch)(a, b, c)
    np.testing.assert_allclose(c, a @ b, rtol=1e-5)
    with tempfile.TemporaryDirectory() as folder:
        assert len(build(product, target=target.NEON).export(f"{folder}/matmul.o")) == 2


def kernels_in_mlir_and_llvm_ir() -> None:
    sch = chapter.schedule_matmul(32, 32, 32)  # tensorized to tmm16, whose kernel is MLIR
    a, b, c = arrays((32, 32), (32, 32), (32, 32))
    build(sch)(a, b, c)
    np.testing.assert_allclose(c, a @ b.T, rtol=1e-5)
    sch = Schedule(shifted)
    sch.annotate(sch.get_loops("B")[0], "pragma_import_llvm", KERNEL)
    (a, b) = arrays((64,), (64,))
    build(sch)(a, b)
    np.testing.assert_array_equal(b, a + np.float32(1))


def bfloat16() -> None:
    (a,) = arrays((64,))
    b = np.empty(64, np.uint16)
    interpret(rounded, a, b)
    c = np.empty(64, np.uint16)
    build(rounded)(a, c)
    np.testing.assert_array_equal(b, c)


def linalg() -> None:
    mod = from_linalg(LINALG)
    a, b, c = arrays((8, 8), (8, 8), (8, 8))
    expected = c + a @ b
    build(mod)(a, b, c)
    np.testing.assert_allclose(c, expected, rtol=1e-5)


def tir_opt() -> None:
    command = [sys.executable, "-m", "tir_mlir.opt"]
    text = Schedule(product).mod.text()
    lowered = subprocess.run([*command, "-", "--tir-lower"], input=text, capture_output=True, text=True, check=True)
    assert "emit_c_interface" in lowered.stdout and "tir.block" not in lowered.stdout
    other = subprocess.run(
        [*command, "-", "--int-range-optimizations"], input=ADD, capture_output=True, text=True, check=True
    )
    assert "arith.addi" in other.stdout
    versions = subprocess.run([*command, "--version"], capture_output=True, text=True, check=True).stdout
    assert "pip install 'tir-mlir[c]'" in versions and "pip install 'tir-mlir[tools]'" in versions


def errors_name_the_extra() -> None:
    has_compiler = shutil.which("cc") and shutil.which("ar")  # of the system: it links instead of zig
    lacks = ("tools of MLIR", "tools") if has_compiler else ("tools of MLIR and a C compiler", "c,tools")
    for call, said in (
        (lambda: create_llvm("int f(void) { return 1; }"), "create_llvm needs a C compiler: pip install 'tir-mlir[c]'"),
        (
            lambda: build(product, driver="tools"),
            "build(..., driver=\"tools\") needs the {}: pip install 'tir-mlir[{}]'".format(*lacks),
        ),
    ):
        try:
            call()
        except ToolError as error:
            assert str(error).splitlines()[0] == said, error
        else:
            raise AssertionError(f"no error: {said}")


def main() -> None:
    package = Path(str(importlib.util.find_spec("tir_mlir").origin))  # type: ignore[union-attr]
    assert "site-packages" in str(package), package
    assert importlib.util.find_spec("ziglang") is None
    work = (scheduled_and_parallel, recipe_and_other_cpu, kernels_in_mlir_and_llvm_ir, bfloat16, linalg, tir_opt)
    for one in (*work, errors_name_the_extra):
        one()
        print(f"  {one.__name__}")


if __name__ == "__main__":
    main()
