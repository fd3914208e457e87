"""schedules.gemm of int8 and int16 in int32: exact for all values, shapes, layouts and instructions."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys

import numpy as np
import pytest
from programs.parsed import parse
from programs.products import widened

from tir_mlir import Schedule, build, schedules
from tir_mlir.dialect.diagnostics import BuildError
from tir_mlir.intrin.dot_products import dot_product
from tir_mlir.schedules.products.contraction import contraction
from tir_mlir.schedules.products.gemm_dots import tile
from tir_mlir.target import AVX2, AVX512_VNNI, NEON, NEON_DOTPROD, SSE2, Target, host
from tir_mlir.target.host import architecture, features

AVX_VNNI = dataclasses.replace(AVX2, features=AVX2.features | {"avxvnni"})
PLAIN = Target(vector_bits=128, registers=8, l2=4 << 10, cores=2)
"""No instruction known, caches so small that every loop is there."""
SHARED = Target(vector_bits=128, registers=16, l2=64 << 10, cores=2)
"""No instruction known, and 32 KiB for the rows of the left operand, of 16 bits."""
RNG = np.random.default_rng(8)


def arrays(dtype: str, *shapes):
    """All values of a type, its least one often."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    made = [RNG.integers(low, high + 1, shape).astype(dtype) for shape in shapes]
    for array in made:
        array[RNG.random(array.shape) < 0.2] = low
    return made


def check(program, a, b, expected, **options):
    sch = Schedule(program)
    schedules.gemm(sch, "C", **options)
    c = np.full(expected.shape, 99, "int32")
    build(sch)["main"](a, b, c)
    np.testing.assert_array_equal(c, expected)
    return sch.mod.script()


def wide(a, b):
    return a.astype("int32") @ b.astype("int32")


def ragged(m, n, k, turned):
    """Operands, the right one perhaps transposed, and their product."""
    a, b = arrays("int8", (m, k), (n, k) if turned else (k, n))
    return a, b, wide(a, b.T if turned else b)


@pytest.mark.few(4)
@pytest.mark.parametrize("target", [None, PLAIN], ids=["host", "plain"])
@pytest.mark.parametrize(("m", "n", "k"), [(4, 2, 1), (16, 16, 16), (15, 17, 127), (127, 15, 1), (33, 40, 38)])
def test_ragged_sizes(m, n, k, target):
    a, b = arrays("int8", (m, k), (k, n))
    text = check(widened(m, n, k), a, b, wide(a, b), target=target, threads=1)
    assert any(f"dot_{types}" in text for types in ("int16", "int8", "uint8_int8"))


@pytest.mark.nightly
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("m", "n", "k"), [(33, 70, 31), (20, 64, 30)])
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_no_loop_of_the_schedule_falls_back_to_scalars(m, n, k, left, right):
    a, b = arrays("int8", (k, m) if left else (m, k), (n, k) if right else (k, n))
    expected = wide(a.T if left else a, b.T if right else b)
    check(widened(m, n, k, left_turned=left, right_turned=right), a, b, expected, threads=1)


@pytest.mark.few(2)
@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
def test_transposed_operands(left, right):
    m, n, k = 17, 33, 29
    a, b = arrays("int8", (k, m) if left else (m, k), (n, k) if right else (k, n))
    program = widened(m, n, k, left_turned=left, right_turned=right)
    check(program, a, b, wide(a.T if left else a, b.T if right else b), threads=1)


@pytest.mark.parametrize(("n", "k", "together"), [(48, 16, True), (33, 127, False)])
def test_groups_of_a_transposed_operand_are_moved_as_one(n, k, together):
    """Four bytes at a time, 3 to 4 times as fast as one by one (Zen 4); not where zeros fill the last group."""
    sch = Schedule(widened(17, n, k, right_turned=True))
    schedules.gemm(sch, "C", target=AVX512_VNNI, threads=1)
    last = sch.get(sch.get_loops("B_global" if together else "B_pad")[-1])
    assert (last.kind == "vectorized" and last.extent == 4) is together
    assert sch.verify()


@pytest.mark.few(2)
@pytest.mark.parametrize(("left", "right"), [("uint8", "int8"), ("uint8", "uint8"), ("int8", "uint8")])
@pytest.mark.parametrize("target", [None, PLAIN], ids=["host", "plain"])
def test_unsigned_operands(left, right, target):
    m, n, k = 18, 35, 30
    (a,), (b,) = arrays(left, (m, k)), arrays(right, (k, n))
    program = parse(widened(m, n, k).script().replace('A: T.Buffer((18, 30), "int8"', f'A: T.Buffer((18, 30), "{left}"')
                    .replace('B: T.Buffer((30, 35), "int8"', f'B: T.Buffer((30, 35), "{right}"'))  # fmt: skip
    text = check(program, a, b, wide(a, b), target=target, threads=1)
    assert any(f"dot_{types}" in text for types in ("int16", "int8", "uint8_int8")) and "shift" not in text


@pytest.mark.skipif(not {"avx512vnni"} <= features(), reason="no AVX-512 VNNI here")
@pytest.mark.parametrize(("m", "n", "k", "threads"), [(64, 64, 64, 1), (45, 70, 50, 1), (100, 96, 64, 2)])
def test_signed_operands_are_shifted(m, n, k, threads):
    a, b = arrays("int8", (m, k), (k, n))
    text = check(widened(m, n, k), a, b, wide(a, b), target=AVX512_VNNI, threads=threads)
    assert "vpdpbusd" in text and "* -128" in text


@pytest.mark.nightly
@pytest.mark.parametrize(("n", "k"), [(70, 64), (64, 63), (70, 63)])
@pytest.mark.parametrize("right", [False, True])
def test_panels_of_ragged_sizes_are_zeros_and_a_copy_without_conditions(n, k, right):
    options = {"target": AVX512_VNNI} if "avx512vnni" in features() else {}
    text = check(widened(40, n, k, right_turned=right), *ragged(40, n, k, right), threads=1, **options)
    _, *padded = text.split('T.block("B_pad_pad_const")')
    assert padded or not options  # other CPUs pack some of these shapes without a margin
    assert not any("if_then_else" in part for part in padded)


@pytest.mark.skipif(not {"avx512vnni"} <= features(), reason="no AVX-512 VNNI here")
def test_rows_of_ragged_panels_are_interleaved_in_registers():
    sch = Schedule(widened(40, 100, 64))
    schedules.gemm(sch, "C", target=AVX512_VNNI, threads=1)
    assert "vpextrb" not in build(sch, cache=False).assembly


@pytest.mark.parametrize(("m", "n", "k"), [(9, 1000, 70), (40, 1001, 131)])
def test_threads_share_the_panels_of_few_rows(m, n, k):
    a, b, expected = ragged(m, n, k, False)
    text = check(widened(m, n, k), a, b, expected, target=SHARED, threads=2)
    region = text.split("in T.parallel(")[-1]
    assert all(f'T.block("{name}")' in region for name in ("B_pad", "C_pad"))


def test_threads_share_the_rows_of_many():
    a, b = arrays("int8", (600, 70), (70, 100))
    text = check(widened(600, 100, 70), a, b, wide(a, b), target=SHARED, threads=2)
    assert 'T.block("B_pad")' not in text.split("in T.parallel(")[-1]


def test_int16():
    a, b = arrays("int16", (13, 37), (37, 22))
    assert "dot_int16" in check(widened(13, 22, 37, "int16"), a, b, wide(a, b), threads=1)


def test_few_rows_go_the_general_way():
    a, b = arrays("int8", (2, 37), (37, 22))
    assert "dot_" not in check(widened(2, 22, 37), a, b, wide(a, b), threads=1)


@pytest.mark.nightly
def test_threads_share_the_rows():
    a, b = arrays("int8", (150, 90), (90, 160))
    assert "T.parallel" in check(widened(150, 160, 90), a, b, wide(a, b), target=PLAIN, threads=2)


@pytest.mark.parametrize(
    ("size", "target", "found"), [(1024, AVX512_VNNI, (4, 4)), (1000, AVX512_VNNI, (5, 3)), (1024, AVX2, (6, 2))]
)
def test_tiles_have_as_many_accumulators_as_keep_the_units_busy(size, target, found):
    sch = Schedule(widened(size, size, size))
    what, dot = contraction(sch, "C"), dot_product(target, "int8", "int8", "int32")
    assert dot is not None
    plan = tile(what, dot, target, 1)
    assert (plan.rows, plan.vectors) == found


@pytest.mark.nightly
def test_a_batch():
    a, b = arrays("int8", (3, 17, 19), (3, 19, 18))
    check(widened(17, 18, 19, batch=3), a, b, wide(a, b), threads=1)


@pytest.mark.parametrize(
    ("target", "instruction"),
    [("avx2", "dot_int16_8x2"), ("sapphire_rapids", "amx_tdpbssd"), ("neoverse_v1", "matmul_int8_2x2x8")],
)
def test_threads_take_whole_products_of_a_batch(target, instruction):
    sch = Schedule(widened(256, 256, 256, batch=4))
    schedules.gemm(sch, "C", target=target, threads=2)
    assert "in T.parallel(4)" in sch.mod.script() and instruction in sch.mod.script()


def test_products_of_a_batch_on_threads_are_exact():
    a, b = arrays("int8", (4, 70, 100), (4, 100, 65))
    assert "in T.parallel(4)" in check(widened(70, 65, 100, batch=4), a, b, wide(a, b), target=SHARED, threads=2)


@pytest.mark.nightly
def test_sizes_known_when_it_runs():
    """A sum over nothing writes nothing: the tiles want to know that there is something to sum."""
    plain = Schedule(widened("m", "n", "k"))
    schedules.gemm(plain, "C", target=PLAIN, threads=1)
    assert "dot_" not in plain.mod.script()
    sch = Schedule(widened("m", "n", "k", promise="T.assume(k >= 1)"))
    schedules.gemm(sch, "C", threads=1)
    run = build(sch)["main"]
    for m, n, k in ((1, 1, 1), (16, 16, 16), (17, 127, 15)):
        a, b = arrays("int8", (m, k), (k, n))
        c = np.empty((m, n), "int32")
        run(a, b, c)
        np.testing.assert_array_equal(c, wide(a, b))


@pytest.mark.nightly
def test_the_trace_is_the_schedule():
    sch, again = Schedule(widened(40, 40, 41)), Schedule(widened(40, 40, 41))
    schedules.gemm(sch, "C", threads=1)
    sch.trace.apply_to_schedule(again, remove_postproc=False)
    assert again.mod.script() == sch.mod.script()


@pytest.mark.skipif(not {"avx2"} <= features(), reason="no AVX2 here")
def test_the_instruction_works_in_registers():
    sch = Schedule(widened(60, 64, 64))
    schedules.gemm(sch, "C", target=AVX2, threads=1)
    lines = build(sch, cache=False).assembly.splitlines()
    # on a CPU that has it, LLVM makes one instruction of the product and the sum
    products = [i for i, line in enumerate(lines) if "vpmaddwd" in line or "vpdpwssd" in line]
    loop = lines[products[0] : products[11]]
    assert not [line for line in loop if "%rsp" in line or ("vmovdqu" in line and line.rstrip().endswith(")"))]


def test_each_cpu_has_its_instruction():
    names = {
        SSE2: "dot_int16_4x2_x86_sse2_pmadd_wd", AVX2: "dot_int16_8x2_x86_avx2_pmadd_wd",
        AVX512_VNNI: "dot_uint8_int8_16x4_x86_avx512_vpdpbusd_512",
        AVX_VNNI: "dot_uint8_int8_8x4_x86_avx512_vpdpbusd_256",
        NEON: "dot_int16_4x1_plain",
        NEON_DOTPROD: "dot_int8_4x4_aarch64_neon_sdot_v4i32_v16i8", PLAIN: "dot_int16_4x1_plain",
    }  # fmt: skip
    assert {target: dot_product(target, "int8").name for target in names} == names
    assert dot_product(AVX512_VNNI, "int16").name == "dot_int16_16x2_x86_avx512_vpdpwssd_512"
    assert dot_product(NEON_DOTPROD, "int16").name == "dot_int16_4x1_plain"
    assert dot_product(host(), "float32") is None and dot_product(host(), "int32") is None


@pytest.mark.skipif(architecture() != "x86_64", reason="an instruction set that this machine certainly lacks")
def test_code_for_another_cpu_is_refused():
    sch = Schedule(widened(16, 16, 16))
    schedules.gemm(sch, "C", target=NEON_DOTPROD, threads=1)
    with pytest.raises(BuildError, match="uses dotprod, which the target CPU lacks"):
        build(sch)


@pytest.mark.nightly
def test_another_process_has_the_instruction():
    """A trace names it, and so does the printed program: neither needs this module."""
    sch = Schedule(widened(16, 16, 16))
    schedules.gemm(sch, "C", threads=1)
    code = f"""
import json, sys
import numpy as np
from tir_mlir import Schedule, build
from tir_mlir.script.parser import parse
sch = Schedule(parse({widened(16, 16, 16).script()!r}))
{sch.trace}
apply_trace(sch)
a, b, c = np.full((16, 16), -128, "int8"), np.full((16, 16), -128, "int8"), np.zeros((16, 16), "int32")
for mod in (sch, parse({sch.mod.script()!r})):
    c[:] = 0
    build(mod)(a, b, c)
    assert (c == 16 * 128 * 128).all()
"""
    subprocess.run([sys.executable, "-c", code], check=True, env={**os.environ, "PYTHONPATH": ":".join(sys.path)})


@pytest.mark.parametrize(("strides", "copied"), [("", False), (", strides=[96, 2]", True)])
def test_rows_with_groups_of_the_type_are_read_in_place(strides, copied):
    sch = Schedule(
        parse(f"""
@T.prim_func
def main(a: T.handle, B: T.Buffer((48, 64), "int8"), C: T.Buffer((22, 64), "int32")):
    A = T.match_buffer(a, (22, 48), "uint8"{strides})
    for i, j, k in T.grid(22, 64, 48):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])
""")
    )
    schedules.gemm(sch, "C", target=AVX512_VNNI, threads=1)
    assert "dot_uint8" in sch.mod.script() and ("A_global" in sch.mod.script()) == copied
    assert sch.verify()
