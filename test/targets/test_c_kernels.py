"""Kernels in C for other CPUs, with the vector functions of their compilers."""

import re

import numpy as np
import pytest
from harness import webassembly
from harness.emulate import arm, riscv, run
from programs.short import each, main

from tir_mlir import Schedule, TensorIntrin, build, create_llvm
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.script.parser import parse

AXPY = """
@T.prim_func
def {name}(x: T.handle, y: T.handle):
    X = T.match_buffer(x, (64,), "float32")
    Y = T.match_buffer(y, (64,), "float32")
    with T.block("root"):
        {body}
"""
DESC = """for i in range(64):
            with T.block("Y"):
                vi = T.axis.spatial(64, i)
                Y[vi] = Y[vi] + X[vi] * T.float32(3)"""
IMPL = """T.reads(X[0:64], Y[0:64])
        T.writes(Y[0:64])
        T.call_extern("int32", "axpy", Y.access_ptr("rw"), X.access_ptr("r"), T.float32(3), 64)"""
MAIN = main("X:4x64 Y:4x64", each("Y r:4 i:64", "Y[vr, vi] = Y[vr, vi] + X[vr, vi] * T.float32(3)"))
PLAIN = """
int axpy(float *y, const float *x, float a, int n) { for (int i = 0; i < n; ++i) y[i] += a * x[i]; return 0; }
"""
NEON = """
#include <arm_neon.h>
int axpy(float *y, const float *x, float a, int n) {
  for (int i = 0; i < n; i += 4) vst1q_f32(y + i, vfmaq_n_f32(vld1q_f32(y + i), vld1q_f32(x + i), a));
  return 0;
}
"""
RVV = """
#include <riscv_vector.h>
int axpy(float *y, const float *x, float a, int n) {
  for (int i = 0; i < n;) {
    size_t l = __riscv_vsetvl_e32m1(n - i);
    vfloat32m1_t sum = __riscv_vfmacc_vf_f32m1(__riscv_vle32_v_f32m1(y + i, l), a, __riscv_vle32_v_f32m1(x + i, l), l);
    __riscv_vse32_v_f32m1(y + i, sum, l);
    i += l;
  }
  return 0;
}
"""
WASM = """
#include <wasm_simd128.h>
int axpy(float *y, const float *x, float a, int n) {
  for (int i = 0; i < n; i += 4) {
    v128_t product = wasm_f32x4_mul(wasm_v128_load(x + i), wasm_f32x4_splat(a));
    wasm_v128_store(y + i, wasm_f32x4_add(wasm_v128_load(y + i), product));
  }
  return 0;
}
"""
KERNELS = {"neon": NEON, "rvv": RVV, "wasm_simd": WASM}


def scheduled(source, target=None):
    name = "axpy64"
    if not TensorIntrin.get(name, True):
        desc, impl = (parse(AXPY.format(name=n, body=b))[n] for n, b in (("desc", DESC), ("impl", IMPL)))
        TensorIntrin.register(name, desc, impl)
    sch = Schedule(parse(MAIN))
    row, elements = sch.get_loops(sch.get_block("Y"))
    sch.tensorize(elements, name)
    sch.annotate(row, "pragma_import_llvm", create_llvm(source, target=target))
    return sch


def result(lib, target, folder):
    x, y = np.random.default_rng(14).integers(-9, 9, (2, 4, 64)).astype("float32")
    if target == "wasm_simd":
        found = webassembly.run(lib.export(folder / "f.wasm")[0], "main", [x, y])
    else:
        found = run(lib, [x, y], folder, {"neon": arm(), "rvv": riscv()}[target])
    return found[1], y + 3 * x


CODE = {"neon": r"fmla\tv\d+\.4s", "rvv": r"vfma\w+\.vf", "wasm_simd": r"f32x4\.mul"}


@pytest.mark.parametrize("target", KERNELS)
def test_the_kernel_is_in_the_code(target):
    assert re.search(CODE[target], build(scheduled(KERNELS[target], target), target=target).assembly)


@arm().missing
@riscv().missing
@pytest.mark.slow
@pytest.mark.parametrize("source", ["vectors", "plain"])
@pytest.mark.parametrize("target", KERNELS)
def test_the_kernel_runs(target, source, tmp_path):
    lib = build(scheduled(KERNELS[target] if source == "vectors" else PLAIN, target), target=target)
    found, expected = result(lib, target, tmp_path)
    np.testing.assert_array_equal(found, expected)


def test_pointers_of_another_width_are_refused():
    with pytest.raises(BuildError, match=r"is for 64-bit addresses.*fix: create_llvm\(source, target=\"wasm_simd\"\)"):
        build(scheduled(PLAIN), target="wasm_simd")


def test_an_unknown_target_of_c():
    with pytest.raises(BuildError, match=r"unknown target 'neo' \(did you mean 'neon'\?\)"):
        create_llvm(PLAIN, target="neo")
