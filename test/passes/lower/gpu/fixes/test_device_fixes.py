"""Fixes for refusals of what a device or its language lacks, and of launches: each is followed."""

from __future__ import annotations

import numpy as np
from harness.fix_rows import each_of
from harness.kernel_fixes import KernelRow
from mlir import ir
from programs.bound import softmax
from programs.parsed import parse
from programs.short import each, main

from fuzzing.kernels.machine import function_of
from tir_mlir import Schedule, build
from tir_mlir.dialect.ir import enter_context, held_module
from tir_mlir.runtime.gpu.host_program import HostProgram
from tir_mlir.runtime.gpu.source import OPENCL_C, source_of
from tir_mlir.target import CUDA, OPENCL, OpenCL
from tir_mlir.targets.kernels import DEVICE, device_stages
from tir_mlir.targets.stages import BuildOptions, Compilation


def mapped(value: str, dtype: str) -> Schedule:
    """B of a type is an expression of A's elements, one a thread."""
    sch = Schedule(parse(main(f"A:8:{dtype} B:8:{dtype}", each("B", f"B[vi] = {value}"))))
    sch.bind(sch.get_loops("B")[0], "threadIdx.x")
    return sch


def in_opencl(program: Schedule) -> None:
    assert "__kernel" in build(program, target=OPENCL).source


ROWS = [
    KernelRow("a function of float64", lambda: mapped("T.pow(A[vi], A[vi])", "float64"),
              "pow of float64 has no code for a GPU; fix: write it with exp, log, sqrt and arithmetic, or compute it "
              "in float32",
              (lambda: mapped("T.exp(A[vi] * T.log(A[vi] * A[vi] + T.float64(1)))", "float64"),
               lambda: mapped('T.cast(T.pow(T.cast(T.abs(A[vi]), "float32"), T.float32(1.5)), "float64")', "float64"))),
    KernelRow("bfloat16 in OpenCL C", lambda: mapped("A[vi]", "bfloat16"),
              "OpenCL C has no type for bf16; fix: compute in another type", (lambda: mapped("A[vi]", "float32"),),
              target=OPENCL, accepts=in_opencl),
]  # fmt: skip


# --- launches ---------------------------------------------------------------------------------------------------------

ROWS_OF_BYTES = """@T.prim_func
def f(b: T.handle):
    n = T.int32()
    B = T.match_buffer(b, (n, 2), "int8")
    for i, j in T.grid(n, 2):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.int8(1)
"""


def rows_of_bytes(*axes: str) -> Schedule:
    """Rows on `blockIdx.y`, or in parts of 256 on two axes."""
    sch = Schedule(parse(ROWS_OF_BYTES))
    i, j = sch.get_loops("B")
    sch.bind(j, "threadIdx.x")
    for loop, axis in zip(sch.split(i, [None, 256]) if axes[1:] else [i], axes, strict=True):
        sch.bind(loop, axis)
    return sch


def launched(sch: Schedule, target: str) -> None:
    """What a call for 70,000 rows launches."""
    function_of(sch, target).program.prepare([(70000, 2)])


def is_launched(sch: Schedule) -> None:
    launched(sch, "sm_80")
    assert sch.verify(target="sm_80")
    b = np.zeros((70000, 2), "int8")
    build(sch, target="cuda-emulated")(b)
    assert b.all()


LAUNCHES = [
    KernelRow("a grid that a call makes too long", lambda: rows_of_bytes("blockIdx.y"),
              "split the loop and bind the outer part to another axis",
              (lambda: rows_of_bytes("blockIdx.z", "blockIdx.y"),), build=launched, accepts=is_launched),
]  # fmt: skip


# --- the text of kernels in a language, and host functions, by hand --------------------------------------------------


def shared(n: int) -> Schedule:
    """B = A turned by way of one shared buffer of n numbers."""
    sch = Schedule(parse(main(f"A:{n} B:{n}", each(f"B i:{n}", f"B[vi] = A[{n - 1} - vi]"))))
    copy = sch.cache_read("B", 0, "shared")
    outer = sch.add_unit_loop(sch.get_loops("B")[0])
    sch.bind(outer, "blockIdx.x")
    sch.compute_at(copy, outer)
    for block in ("B", copy):
        sch.bind(sch.split(sch.get_loops(block)[-1], [None, 128])[1], "threadIdx.x")
    return sch


def cuda_kernels_in_opencl(program: Schedule, target: CUDA) -> None:
    """Print kernels that were lowered for a GPU of NVIDIA in OpenCL C."""
    with enter_context():
        compilation = Compilation(
            program=held_module(program), source="", signatures=(), options=BuildOptions(target=target)
        )
        compilation.run(device_stages(target))
        source_of(compilation.values[DEVICE], OPENCL_C)


def in_large_opencl(program: Schedule) -> None:
    assert "__local float A_shared[12800]" in build(program, target=OpenCL(shared=64 << 10)).source


LAUNCH = "gpu.launch_func @k::@f blocks in (%grid, %one, %one) threads in (%one, %one, %one)"
IN_A_LOOP = f"scf.for %i = %one to %x step %one {{ {LAUNCH} }}"
GRID = "%grid = arith.muli %x, %x : index"
OF_A_CAST = "%y = arith.index_cast %x : i32 to index\n%grid = arith.muli %y, %y : index"


def host(grid: str = GRID, launch: str = LAUNCH, kind: str = "index") -> str:
    """A host function that launches a kernel, of a number of some kind."""
    return f"""module attributes {{gpu.container_module}} {{
      func.func @f(%x: {kind}) {{
        %one = arith.constant 1 : index
        {grid}
        {launch}
        return
      }}
      gpu.module @k {{ gpu.func @f() kernel {{ gpu.return }} }}
    }}"""


def prepared(text: str, target: object = None) -> None:
    with enter_context():
        module = ir.Module.parse(text)
        program = HostProgram(module.body.operations[0].operation)
        assert len(program.prepare([3 if "%x: index" in text else None]).launches) == 1


BY_HAND = [
    KernelRow("shuffles in OpenCL C", softmax,
              "has no shuffles; fix: build for OPENCL, which combines in shared memory",
              (softmax,), target=CUDA("sm_80"), build=cuda_kernels_in_opencl, accepts=in_opencl),
    KernelRow("shared memory of a launch in OpenCL C", lambda: shared(12800),
              "OpenCL C declares its shared memory; fix: build for OPENCL", (lambda: shared(12800),),
              target=CUDA("sm_80"), build=cuda_kernels_in_opencl, accepts=in_large_opencl),
    KernelRow("a loop around a launch", lambda: host(launch=IN_A_LOOP),
              "cannot run between kernels; fix: bind its loop", (host,), build=prepared, accepts=prepared),
    KernelRow("a grid of a number that is not a size", lambda: host(OF_A_CAST, kind="i32"),
              "depends on a number that is not a size; fix: make it the size of a buffer, or T.int64",
              (host,), build=prepared, accepts=prepared),
]  # fmt: skip


@each_of(ROWS + LAUNCHES + BY_HAND)
def test_the_way_out(row):
    row.follow()
