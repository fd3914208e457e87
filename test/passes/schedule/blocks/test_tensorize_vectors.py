"""Implementations of intrinsics written with vector values: tensorized, verified, printed and run."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, program

from tir_mlir import Schedule, TensorIntrin, build, interpret
from tir_mlir.dialect.diagnostics import IntrinError, NotChecked, ScriptError
from tir_mlir.script.structural_equal import difference
from tir_mlir.target import NEON_DOTPROD, host

VNNI, PLAIN = "llvm.x86.avx512.vpdpbusd.512", "llvm.x86.some.dot"
BUFFERS = """
    A = T.match_buffer(a, (4,), "uint8", offset_factor=1)
    B = T.match_buffer(b, (16, 4), "int8", offset_factor=1)
    C = T.match_buffer(c, (16,), "int32", offset_factor=1)
"""
DESC = f"""
@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle):{BUFFERS}
    for i, k in T.grid(16, 4):
        with T.block("update"):
            vi, vk = T.axis.remap("SR", [i, k])
            C[vi] = C[vi] + T.Cast("int32", A[vk]) * T.Cast("int32", B[vi, vk])
"""
IMPL = f"""
@T.prim_func
def impl(a: T.handle, b: T.handle, c: T.handle):{BUFFERS}
    with T.block("root"):
        T.reads(C[0:16], A[0:4], B[0:16, 0:4])
        T.writes(C[0:16])
        four = T.reinterpret("int32", A.vload([0], "uint8x4"))
        rows = T.reinterpret("int32x16", B.vload([0, 0], "int8x64"))
        C[T.ramp(0, 1, 16)] = {{value}}
"""
BY_INTRINSIC = f'T.call_llvm_pure_intrin("int32x16", "{VNNI}", C[0:16], T.broadcast(four, 16), rows)'
GEMM = """
@T.prim_func
def main(X: T.Buffer((6, {k}), "uint8"), W: T.Buffer((2, {ko}, 16, 4), "int8"), Y: T.Buffer((6, 32), "int32")):
    for i, jo, ko, ji, ki in T.grid(6, 2, {ko}, 16, 4):
        with T.block("C"):
            vi = T.axis.spatial(6, i)
            vj = T.axis.spatial(32, jo * 16 + ji)
            vk = T.axis.reduce({k}, ko * 4 + ki)
            with T.init():
                Y[vi, vj] = 0
            Y[vi, vj] += T.Cast("int32", X[vi, vk]) * T.Cast("int32", W[vj // 16, vk // 4, vj % 16, vk % 4])
"""


def register(name: str, value: str) -> str:
    TensorIntrin.register(name, parse(DESC)["desc"], parse(IMPL.format(value=value))["impl"], override=True)
    return name


def bytes_of(dtype: str, *shape: int) -> np.ndarray:
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return np.random.default_rng(len(shape)).integers(low, high, shape, dtype, endpoint=True)


def tensorized(name: str, k: int = 20) -> Schedule:
    sch = Schedule(parse(GEMM.format(k=k, ko=k // 4)))
    _, _, ko, ji, _ = sch.get_loops("C")
    sch.decompose_reduction("C", ko)
    sch.tensorize(ji, name)
    return sch


@pytest.mark.skipif(not host().has("avx512vnni"), reason="the CPU has no VNNI")
def test_a_dot_product_in_the_language_runs_as_the_instruction() -> None:
    sch = tensorized(register("vectors.vnni", BY_INTRINSIC))
    lib = build(sch)
    assert "vpdpbusd" in lib.assembly
    x, w, y = bytes_of("uint8", 6, 20), bytes_of("int8", 2, 5, 16, 4), np.zeros((6, 32), "int32")
    lib["main"](x, w, y)
    np.testing.assert_array_equal(y, x.astype("int32") @ w.transpose(1, 3, 0, 2).reshape(20, 32).astype("int32"))


@pytest.mark.skipif(not host().has("avx512vnni"), reason="the CPU has no VNNI")
def test_check_runs_the_instruction() -> None:
    assert TensorIntrin.check(register("vectors.vnni", BY_INTRINSIC))


def test_verify_and_the_interpreter_know_what_the_instruction_computes() -> None:
    sch = tensorized(register("vectors.vnni", BY_INTRINSIC))
    assert sch.verify()
    x, w, y = bytes_of("uint8", 6, 20), bytes_of("int8", 2, 5, 16, 4), np.zeros((6, 32), "int32")
    interpret(sch, x, w, y)
    np.testing.assert_array_equal(y, x.astype("int32") @ w.transpose(1, 3, 0, 2).reshape(20, 32).astype("int32"))


def test_the_tensorized_program_parses_and_prints_the_same() -> None:
    sch = tensorized(register("vectors.vnni", BY_INTRINSIC))
    for spelling in ("block", "sblock"):
        text = sch.mod.script(spelling=spelling)
        assert difference(sch.mod.mlir, parse(text).mlir) is None


def test_an_implementation_that_computes_something_else_is_refused_at_registration() -> None:
    swapped = BY_INTRINSIC.replace("T.broadcast(four, 16), rows", "rows, T.broadcast(four, 16)")
    with pytest.raises(IntrinError, match=r"C\[0\] is .* in the implementation and .* in the description"):
        register("vectors.swapped", swapped)


def test_verify_says_that_it_does_not_know_an_intrinsic() -> None:
    sch = tensorized(register("vectors.unknown", BY_INTRINSIC.replace(VNNI, PLAIN)))
    with pytest.raises(NotChecked, match=f'"{PLAIN}" has no exact semantics; .* TensorIntrin.check'):
        sch.verify()


def test_rows_that_are_apart_in_memory_are_read_one_by_one() -> None:
    register("vectors.vnni", BY_INTRINSIC)
    text = GEMM.format(k=20, ko=5).replace("(2, 5, 16, 4)", "(32, 20)")
    sch = Schedule(parse(text.replace("W[vj // 16, vk // 4, vj % 16, vk % 4]", "W[vj, vk]")))
    _, _, ko, ji, _ = sch.get_loops("C")
    sch.decompose_reduction("C", ko)
    sch.tensorize(ji, "vectors.vnni")
    assert sch.verify()
    assert difference(sch.mod.mlir, parse(sch.mod.script()).mlir) is None
    x, w, y = bytes_of("uint8", 6, 20), bytes_of("int8", 32, 20), np.zeros((6, 32), "int32")
    interpret(sch, x, w, y)
    np.testing.assert_array_equal(y, x.astype("int32") @ w.T.astype("int32"))
    if host().has("avx512vnni"):
        again = np.zeros_like(y)
        build(sch)["main"](x, w, again)
        np.testing.assert_array_equal(again, y)


def test_a_dot_product_of_arm_is_built_for_arm() -> None:
    text = """
@T.prim_func
def {name}(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, (4,), "int8", offset_factor=1)
    B = T.match_buffer(b, (4, 4), "int8", offset_factor=1)
    C = T.match_buffer(c, (4,), "int32", offset_factor=1)
    {body}
"""
    loops = """for i, k in T.grid(4, 4):
        with T.block("update"):
            vi, vk = T.axis.remap("SR", [i, k])
            C[vi] = C[vi] + T.Cast("int32", A[vk]) * T.Cast("int32", B[vi, vk])"""
    dot = """with T.block("root"):
        T.reads(C[0:4], A[0:4], B[0:4, 0:4])
        T.writes(C[0:4])
        vec_a = T.reinterpret(T.broadcast(T.reinterpret(A.vload([0], "int8x4"), dtype="int32"), 4), dtype="int8x16")
        C[T.ramp(T.int32(0), 1, 4)] = T.call_llvm_pure_intrin(
            T.llvm_lookup_intrinsic_id("llvm.aarch64.neon.sdot.v4i32.v16i8"), T.uint32(3),
            C.vload([0], "int32x4"), vec_a, B.vload([0, 0], "int8x16"), dtype="int32x4")"""
    desc, impl = (parse(text.format(name=n, body=b))[n] for n, b in (("desc", loops), ("impl", dot)))
    TensorIntrin.register("vectors.sdot", desc, impl, override=True)
    program = GEMM.format(k=20, ko=5).replace("uint8", "int8").replace("16", "4").replace("32)", "8)")
    program = program.replace("(32,", "(8,")
    sch = Schedule(parse(program))
    _, _, ko, ji, _ = sch.get_loops("C")
    sch.decompose_reduction("C", ko)
    sch.tensorize(ji, "vectors.sdot")
    assert sch.verify()
    assert "sdot" in build(sch, target=NEON_DOTPROD).assembly


ROWS = """
@T.prim_func
def {name}(a: T.handle, b: T.handle, c: T.handle):
    s = T.int32()
    A = T.match_buffer(a, (4,), "float32", offset_factor=1)
    B = T.match_buffer(b, (16,), "float32", offset_factor=1)
    C = T.match_buffer(c, (4, 16), "float32", strides=[s, 1], offset_factor=1)
    {body}
"""
ROWS_DESC = """for i, j in T.grid(4, 16):
        with T.block("update"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = C[vi, vj] + A[vi] * B[vj]"""
ROWS_IMPL = """with T.block("root"):
        T.reads(A[0:4], B[0:16], C[0:4, 0:16])
        T.writes(C[0:4, 0:16])
        row = B.vload([0], "float32x16")
        for i in range(4):
            C.vstore([i, 0], {value})"""
PRODUCT = "C.vload([i, 0], 'float32x16') + T.broadcast(A[i], 16) * row"


def test_rows_of_a_strided_operand_at_odd_offsets() -> None:
    bodies = {"desc": ROWS_DESC, "impl": ROWS_IMPL.format(value=PRODUCT)}
    desc, impl = (parse(ROWS.format(name=n, body=b))[n] for n, b in bodies.items())
    TensorIntrin.register("vectors.rows", desc, impl, override=True)
    assert TensorIntrin.check("vectors.rows")
    sch = Schedule(
        program("X:9 Y:50 Z:9x51", each("Z:8x48", "Z[vi + 1, vj + 3] = Z[vi + 1, vj + 3] + X[vi + 1] * Y[vj + 1]"))
    )
    i, j = sch.get_loops("Z")
    _, i_1 = sch.split(i, factors=[None, 4])
    j_0, j_1 = sch.split(j, factors=[None, 16])
    sch.reorder(j_0, i_1, j_1)
    sch.tensorize(i_1, "vectors.rows")
    assert sch.verify()
    assert difference(sch.mod.mlir, parse(sch.mod.script()).mlir) is None
    x, y, z = (np.random.default_rng(n).uniform(-1, 1, s).astype("float32") for n, s in enumerate([9, 50, (9, 51)]))
    want, run = z.copy(), z.copy()
    want[1:, 3:] += np.outer(x[1:], y[1:49])
    interpret(sch, x, y, run)
    build(sch)["main"](x, y, z)
    np.testing.assert_allclose(z, want, rtol=1e-6)
    np.testing.assert_allclose(run, want, rtol=1e-6)


def test_several_rows_of_an_operand_with_variable_strides_are_refused() -> None:
    body = ROWS_IMPL.replace(
        "for i in range(4):\n            C.vstore([i, 0], {value})", "C.vstore([0, 0], C[0, 0:64])"
    )
    with pytest.raises(ScriptError, match="64 elements of C are several rows, which its strides hold apart"):
        parse(ROWS.format(name="impl", body=body))
