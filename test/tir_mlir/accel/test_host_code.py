"""Statements on the CPU between instructions: the model runs them, and C has them as loops, equal to the bit."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from programs.parsed import parse
from programs.systolic import systolic

from tir_mlir import Schedule, accel, build
from tir_mlir.errors import BuildError, LoweringError
from tir_mlir.runtime.library import Library
from tir_mlir.runtime.tools import c_tools
from tir_mlir.script import tir as T

FLAGS = ("-std=c99", "-ffreestanding", "-Wall", "-Wextra", "-Werror")


def compiled(lib: Library, folder: Path, *flags: str) -> ctypes.CDLL:
    """The C of a library, as a shared object."""
    (source,) = lib.export(folder / "made.c")
    c_tools.compile_c(source, folder / "made.o", *FLAGS, *flags)
    c_tools.link_shared([str(folder / "made.o")], str(folder / "made.so"), [])
    return ctypes.CDLL(str(folder / "made.so"))


def run_c(library: ctypes.CDLL, *arrays: np.ndarray) -> None:
    library.made(*(ctypes.c_void_p(a.ctypes.data) for a in arrays))


@T.prim_func
def between(A: T.Buffer((33, 20), "int8"), B: T.Buffer((33, 20), "int8")):
    """A row of tiles through a scratchpad, with a sum on the CPU before, and a scaled copy after."""
    P = T.alloc_buffer((48, 32), "int8")
    Q = T.alloc_buffer((48, 32), "int8")
    for i, j in T.grid(48, 32):
        with T.block("P"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = T.if_then_else(vi < 33 and vj < 20, A[vi, vj] + A[(vi + 5) % 33, vj], T.int8(-7))
    for i, j in T.grid(3, 2):
        S = T.alloc_buffer((16, 16), "int8", scope="global.sp")
        for x, y in T.grid(16, 16):
            with T.block("S"):
                vi, vj, vx, vy = T.axis.remap("OOSS", [i, j, x, y])
                S[vx, vy] = P[vi * 16 + vx, vj * 16 + vy]
        for x, y in T.grid(16, 16):
            with T.block("Q"):
                vi, vj, vx, vy = T.axis.remap("SSSS", [i, j, x, y])
                Q[vi * 16 + vx, vj * 16 + vy] = S[vx, vy]
    for i, j in T.grid(33, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.Cast("int8", T.round(T.Cast("float32", Q[vi, vj]) * T.float32(0.5)))


def copying() -> accel.Machine:
    """A machine that copies tiles, with its model in C."""
    header = """static int8_t SP[64][16];
static void mvin(const int8_t *from, int32_t stride, int32_t to) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) SP[to + i][j] = from[i * stride + j]; }
static void mvout(int8_t *to, int32_t stride, int32_t from) {
  for (int i = 0; i < 16; ++i) for (int j = 0; j < 16; ++j) to[i * stride + j] = SP[from + i][j]; }"""
    m = accel.Machine("copying", header=header)
    sp = m.memory("sp", rows=64, row=(16, "int8"))
    dma = m.unit("dma")

    @m.instruction(dma, call="mvin({D}, {D.strides[0]}, {R.row})", cycles=16)
    def mvin(D: m.host("int8"), R: sp):
        for i, j in T.grid(16, 16):
            R[i, j] = D[i, j]

    @m.instruction(dma, call="mvout({D}, {D.strides[0]}, {R.row})", cycles=16)
    def mvout(R: sp, D: m.host("int8")):
        for i, j in T.grid(16, 16):
            D[i, j] = R[i, j]

    return m


def built(machine: accel.Machine) -> Library:
    sch = Schedule(between)
    sch.tensorize(sch.get_loops("S")[2], "copying.mvin")
    sch.tensorize(sch.get_loops("Q")[2], "copying.mvout")
    return build(sch, target=machine)


def test_statements_between_instructions_run_on_the_cpu(tmp_path: Path) -> None:
    lib = built(copying())
    a = np.random.default_rng(0).integers(-128, 128, (33, 20), np.int8)
    b, c = np.zeros_like(a), np.zeros_like(a)
    lib(a, b)
    np.testing.assert_array_equal(b, np.round((a + np.roll(a, -5, 0)).astype(np.float32) / 2).astype(np.int8))
    run_c(compiled(lib, tmp_path), a, c)
    np.testing.assert_array_equal(b, c)
    assert "/* on the CPU: A -> P */" in lib.source


@pytest.mark.parametrize("level", ["-O0", "-O2", "-O3", "-Os"])
@pytest.mark.few(2)
def test_the_c_calls_nothing_but_instructions(tmp_path: Path, level: str) -> None:
    if shutil.which("gcc") is None or shutil.which("nm") is None:
        pytest.skip("needs gcc and nm: apt-get install gcc")
    machine = copying()
    machine.header = "\n".join(
        "void " + line.split("void ")[1].split(" {")[0] + ";" for line in machine.header.split("\n") if "void" in line
    )
    (source,) = built(machine).export(tmp_path / "made.c")
    subprocess.run(["gcc", *FLAGS, level, "-c", source, "-o", tmp_path / "made.o"], check=True)
    listed = subprocess.run(["nm", "-u", tmp_path / "made.o"], check=True, capture_output=True, text=True).stdout
    assert sorted(listed.split()[1::2]) == ["mvin", "mvout"]


FUNCTIONS = {
    "exp": "T.exp(A[vi])",
    "tanh": "T.tanh(A[vi])",
    "sqrt": "T.sqrt(T.abs(A[vi]))",
    "rsqrt": "T.rsqrt(T.abs(A[vi]) + T.float32(0.1))",
    "floor": "T.floor(A[vi]) + T.ceil(A[vi]) * T.float32(3) + T.trunc(A[vi])",
    "round": "T.round(A[vi] * T.float32(2)) / T.float32(3)",
    "relu": "T.max(A[vi], T.float32(0)) - T.min(A[vi], T.float32(1))",
    "sum": "A[vi] * A[vi] + A[vi]",
    "select": "T.if_then_else(A[vi] > T.float32(0.5) or T.isnan(A[vi]), T.float32(2), A[vi])",
    "int": 'T.Cast("float32", T.Cast("int32", T.max(T.min(A[vi], T.float32(1e6)), T.float32(-1e6))) // 7 % 5)',
    "bits": 'T.Cast("float32", (T.Cast("int32", vi) ^ 12345) << 3 >> 1 & 2047)',
    "ends": 'T.Cast("float32", T.Cast("int32", vi) + T.int32(-2147483648))',
}


def elementwise(expression: str) -> Library:
    text = f"""
@T.prim_func
def main(A: T.Buffer((400,), "float32"), B: T.Buffer((400,), "float32")):
    for i in range(400):
        with T.block("B"):
            vi = T.axis.spatial(400, i)
            B[vi] = {expression}
"""
    return build(parse(text), target=systolic())


def check_bits(lib: Library, folder: Path) -> None:
    """Check that C and the model store the same bits, for numbers at the ends of float32 and others."""
    ends = [0.0, -0.0, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-40, 1e-45, 3e38, 8388607.5, 8388609.0, np.inf, -np.inf, np.nan]
    some = np.random.default_rng(0).normal(0, 20, 400 - len(ends)).astype(np.float32)
    a = np.concatenate([np.array(ends, np.float32), some])
    b, c = np.zeros_like(a), np.zeros_like(a)
    lib(a, b)
    run_c(compiled(lib, folder, "-O2", "-Wno-unused-function"), a, c)
    is_nan = np.isnan(b)
    np.testing.assert_array_equal(is_nan, np.isnan(c))
    np.testing.assert_array_equal(b.view(np.int32)[~is_nan], c.view(np.int32)[~is_nan])


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.few(3)
def test_c_has_the_bits_of_the_model(tmp_path: Path, name: str) -> None:
    check_bits(elementwise(FUNCTIONS[name]), tmp_path)


def test_what_c_has_nothing_for_is_computed_by_arithmetic(tmp_path: Path) -> None:
    lib = elementwise("T.pow(A[vi], T.float32(1.5))")
    with pytest.raises(BuildError, match="C99 without a library has no pow of f32; fix: compute it by arithmetic"):
        _ = lib.source
    check_bits(elementwise("A[vi] * T.sqrt(A[vi])"), tmp_path)


def test_a_statement_on_a_buffer_of_the_machine_is_refused() -> None:
    machine = copying()
    sch = Schedule(between)
    sch.tensorize(sch.get_loops("S")[2], "copying.mvin")
    with pytest.raises(
        LoweringError, match=r"uses S, which is in memory sp .* one of them \(copying.mvin, copying.mvo"
    ):
        build(sch, target=machine)


TYPES = {
    "int64": ("int64", "T.max(A[vi], T.int64(-(2**63))) // T.int64(7) + A[vi] % T.int64(2**63 - 1)"),
    "int32": ("int32", "T.max(A[vi], -2147483648) // 3 + (A[vi] - 5) % 7 * 2147483647"),
    "uint8": ("uint8", "T.max(A[vi], T.uint8(200)) // T.uint8(7) + (A[vi] >> T.uint8(3))"),
    "uint32": ("uint32", "T.Select(A[vi] > T.uint32(4000000000), A[vi] % T.uint32(7), A[vi] // T.uint32(3))"),
    "bool": ("bool", "A[vi] and vi % 3 == 1 or not A[vi]"),
}  # fmt: skip


@pytest.mark.parametrize("name", TYPES)
def test_c_has_the_numbers_of_each_type(tmp_path: Path, name: str) -> None:
    dtype, expression = TYPES[name]
    text = f"""
@T.prim_func
def main(A: T.Buffer((300,), "{dtype}"), B: T.Buffer((300,), "{dtype}")):
    for i in range(300):
        with T.block("B"):
            vi = T.axis.spatial(300, i)
            B[vi] = {expression}
"""
    lib = build(parse(text), target=systolic())
    bits = np.random.default_rng(0).integers(0, 256, 300 * 8, np.uint8)
    a = bits[:300] > 127 if dtype == "bool" else bits.view(dtype)[:300].copy()
    b, c = np.zeros_like(a), np.zeros_like(a)
    lib(a, b)
    run_c(compiled(lib, tmp_path, "-O2", "-Wno-unused-function"), a, c)
    np.testing.assert_array_equal(b, c)


def test_buffers_are_not_called_as_functions_of_the_calls(tmp_path: Path) -> None:
    @T.prim_func
    def main(zero: T.Buffer((20,), "int32"), mvin: T.Buffer((20,), "int32"), least: T.Buffer((20,), "int32")):
        for compute in range(20):
            with T.block("least"):
                vi = T.axis.spatial(20, compute)
                least[vi] = T.min(zero[vi], mvin[vi])

    lib = build(main, target=systolic())
    a, b, c = np.arange(20, dtype=np.int32), np.arange(20, 0, -1).astype(np.int32), np.zeros(20, np.int32)
    run_c(compiled(lib, tmp_path, "-Wno-unused-function"), a, b, c)
    np.testing.assert_array_equal(c, np.minimum(a, b))


def test_a_number_as_parameter_is_refused() -> None:
    @T.prim_func
    def main(n: T.int32, B: T.Buffer((20,), "int32")):
        for i in range(20):
            with T.block("B"):
                vi = T.axis.spatial(20, i)
                B[vi] = n

    with pytest.raises(LoweringError, match=r"parameter n of main is a number; a program of .* has arrays only"):
        build(main, target=systolic())
