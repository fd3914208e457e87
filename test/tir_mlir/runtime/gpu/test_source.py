"""Kernels as text: CUDA C and OpenCL C of one device module, and what compilers make of it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from harness import tensor_cores
from harness.opencl import need_opencl
from programs.bound import BOUND, elementwise, matmul, softmax
from programs.short import each, program

from tir_mlir import Schedule, build, ptx, schedules
from tir_mlir.dialect.calls.function_texts import symbol
from tir_mlir.dialect.diagnostics import BuildError, DeviceError, SourceError
from tir_mlir.script import IRModule

HEADER = Path(__file__).parents[3] / "harness" / "cuda_words.h"


def cuda(sch) -> str:
    return build(sch, target="sm_80").source


def test_a_kernel_reads_as_its_schedule():
    assert cuda(elementwise()) == (
        'extern "C" __global__ void __launch_bounds__(128) main_kernel('
        "const float *__restrict__ A, float *__restrict__ B) {\n"
        "  const int block_x = blockIdx.x;\n"
        "  const int thread_x = threadIdx.x;\n"
        "  if (block_x * 128 + thread_x < 1000) {\n"
        "    B[block_x * 128 + thread_x] = A[block_x * 128 + thread_x] + 1.0f;\n"
        "  }\n"
        "}\n"
    )


@pytest.mark.parametrize("target", ["sm_80", "opencl", "gfx90a"])
@pytest.mark.parametrize("name", ["f(){}/**/", "a b", 'a"b', "größe", "a.b"])
def test_a_kernel_has_a_name_of_c(name, target):
    text = str(elementwise().mod.mlir).replace("@main(", f"{symbol(name)}(")
    lib = build(IRModule.from_mlir(text), target=target)
    assert re.search(r"\b\w+_[0-9a-f]{8}_kernel\(", lib.source)


@pytest.mark.parametrize(
    "line",
    [
        "__shared__ __align__(16) float A_shared[128];",
        "for (int k_0 = 0; k_0 < 8; ++k_0) {",
        "  __syncthreads();",
        "const float2 v0 = *(const float2 *)&A[",
        "C_local[i_2 * 2 + j_2] = C_local[i_2 * 2 + j_2] + A_shared[thread_y * 16 + i_2 * 8 + k_1] * B_shared[",
    ],
)
def test_names_are_those_of_the_program(line):
    assert line in cuda(matmul())


def test_sizes_are_arguments():
    assert "float *__restrict__ B, const long long n)" in cuda(elementwise("n"))


def test_sums_use_shuffles_in_cuda_and_shared_memory_in_opencl():
    assert "__shfl_xor_sync(0xffffffffu, " in cuda(softmax())
    text = build(softmax(), target="opencl").source
    assert "__local float partials[32]" in text
    assert "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);" in text


def test_the_emulated_library_has_the_same_text():
    assert build(matmul(), target="cuda-emulated").source == cuda(matmul())


def test_a_library_for_a_cpu_has_no_kernels():
    with pytest.raises(BuildError, match="no kernels of a GPU"):
        build(matmul()).source


def test_divisions_of_what_may_be_negative():
    """In C, quotients are rounded to zero."""
    sch = Schedule(program("A:16 B:16", each("B:16", "B[vi] = T.cast((vi - 5) // 3, 'float32')")))
    sch.bind(sch.get_loops("B")[0], "threadIdx.x")
    text = cuda(sch)
    assert "floor_div(thread_x - 5, 3)" in text
    assert "return a / b - (a % b < 0);" in text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("T.max(A[vi], T.float32(0))", "maximum(A[thread_x], 0.0f)"),
        ("T.exp(A[vi]) * T.float32(0.1)", "expf(A[thread_x]) * 0.1f"),
        ("T.sqrt(-A[vi])", "sqrtf(-A[thread_x])"),
        ("T.if_then_else(vi < 3, A[vi], T.float32(1))", "if (thread_x < 3)"),
        ("(A[vi] - 1.0) - (A[vi] - 2.0)", "A[thread_x] - 1.0f - (A[thread_x] - 2.0f)"),
    ],
)
def test_expressions(text, expected):
    sch = Schedule(program("A:16 B:16", each("B:16", f"B[vi] = {text}")))
    sch.bind(sch.get_loops("B")[0], "threadIdx.x")
    assert expected in cuda(sch)


def compiled(text: str, folder: Path) -> str:
    """The PTX that clang makes of CUDA C."""
    source, target = folder / "kernel.cu", folder / "kernel.ptx"
    source.write_text(HEADER.read_text() + text)
    options = "-x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -O2 -S -fdeclspec".split()
    subprocess.run(
        [sys.executable, "-m", "ziglang", "clang", *options, "-o", target, source], check=True, capture_output=True
    )
    return target.read_text()


LAUNCHES = {
    "elementwise": ((8, 1, 1), (128, 1, 1)),
    "sum over threads": ((16, 1, 1), (32, 1, 1)),
    "softmax": ((8, 1, 1), (32, 1, 1)),
    "transpose": ((4, 4, 1), (16, 16, 1)),
    "matmul": ((4, 4, 1), (8, 8, 1)),
    "convolution": ((2, 2, 1), (8, 8, 1)),
}


@pytest.mark.parametrize("name", LAUNCHES)
def test_clang_compiles_cuda_c_and_the_machine_runs_it(name, tmp_path):
    text = compiled(cuda(BOUND[name].schedule()), tmp_path)
    grid, block = LAUNCHES[name]
    BOUND[name].check(lambda *arrays: ptx.launch(text, "main_kernel", grid, block, list(arrays)))


@pytest.mark.parametrize("name", BOUND)
@pytest.mark.few(4)
def test_opencl_runs(name):
    need_opencl()
    BOUND[name].check(build(BOUND[name].schedule(), target="opencl"))


def test_opencl_is_written(tmp_path):
    (path,) = build(matmul(), target="opencl").export(tmp_path / "f.cl")
    assert path.read_text().startswith("__kernel __attribute__((reqd_work_group_size(8, 8, 1)))\nvoid main_kernel(")


def test_opencl_has_no_ptx():
    lib = build(matmul(), target="opencl")
    with pytest.raises(BuildError, match="this library has no kernels in PTX"):
        lib.report()


def test_opencl_of_other_files_is_refused(tmp_path):
    with pytest.raises(BuildError, match=r'a file \.so is not for OpenCL; fix: lib.export\("f.cl"\)'):
        build(matmul(), target="opencl").export(tmp_path / "f.so")


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "float16", "float64"])
def test_types(dtype):
    """Of all numbers, in CUDA C."""
    sch = Schedule(program(f"A:64:{dtype} B:64:{dtype}", each("B:64", "B[vi] = A[vi] * A[63 - vi] + A[vi]")))
    sch.bind(sch.get_loops("B")[0], "threadIdx.x")
    text = cuda(sch)
    assert {"int8": "signed char", "int32": "int", "int64": "long long", "float16": "__half", "float64": "double"}[
        dtype
    ] + " *__restrict__ B" in text


@pytest.mark.parametrize("dtype", ["int32", "int64", "float64"])
def test_types_in_opencl(dtype):
    need_opencl()
    sch = Schedule(program(f"A:64:{dtype} B:64:{dtype}", each("B:64", "B[vi] = A[vi] * A[63 - vi] + A[vi]")))
    sch.bind(sch.get_loops("B")[0], "threadIdx.x")
    a, b = np.arange(64).astype(dtype), np.zeros(64, dtype)
    build(sch, target="opencl")(a, b)
    assert (b == a * a[::-1] + a).all()


def test_a_barrier_that_starts_a_condition_stands_before_it_in_opencl():
    """PoCL loses it in a loop. All threads of a block have the same condition."""
    text = each("Z i:3 k:8R", "Z[vi] += E[vi, vk]", init="Z[vi] = 0.0")
    sch = Schedule(program("E:3x8 Z:3", text))
    i, k = sch.get_loops("Z")
    sch.split(i, [None, 8])  # of eight iterations, three do something
    sch.bind(sch.split(k, [None, 3])[1], "threadIdx.y")
    lib = build(sch, target="opencl")
    assert re.search(r"barrier\(.*\);\n +if \(.*i_1 < 3\) \{\n +const float", lib.source)
    need_opencl()
    e, z = np.arange(24, dtype=np.float32).reshape(3, 8), np.empty(3, np.float32)
    lib(e, z)
    assert (z == e.sum(1)).all()


def test_a_library_without_a_text_in_c_has_no_source():
    sch = Schedule(tensor_cores.product(64, 64, 64))
    schedules.gemm(sch, "product", target="sm_80")
    for lib, why in (
        (build(sch, target="sm_80"), "CUDA C has no type for"),
        (build(Schedule(program("A:3 B:3", each("i:3", "B[vi] = A[vi]")))), "no kernels of a GPU"),
    ):
        assert not hasattr(lib, "source")
        with pytest.raises(SourceError, match=why):
            _ = lib.source


def test_a_runtime_older_than_the_cpu_is_named_with_others(monkeypatch):
    pyopencl = pytest.importorskip("pyopencl")

    def refuse(program):
        raise pyopencl.RuntimeError("error: unknown target CPU 'generic'")

    monkeypatch.setattr(pyopencl.Program, "build", refuse)
    with pytest.raises(DeviceError, match=r"compiles no kernels: its LLVM is older than the CPU; fix: Intel's runtime"):
        BOUND["elementwise"].check(build(elementwise(), target="opencl"))
