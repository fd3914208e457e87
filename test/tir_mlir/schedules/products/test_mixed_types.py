"""Products of mixed types: operands are copied in a wider type only where that changes no value."""

from __future__ import annotations

import re

import numpy as np
import pytest
from programs.parsed import parse
from programs.short import each, main

from tir_mlir import Schedule, build, schedules
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.schedules.operand_types import store_as
from tir_mlir.schedules.products.contraction import contraction
from tir_mlir.schedules.steps import all_or_nothing

SUM = main(
    "A:{m}x{k}:{left} B:{k}x{n}:{right} C:{m}x{n}:{sums}",
    each("C i:{m} j:{n} k:{k}R", "C[vi, vj] = C[vi, vj] + {term}", init="C[vi, vj] = T.{sums}(0)"),
)
A, B = "A[vi, vk]", "B[vk, vj]"
NARROWING = {
    "scaled, then cast": ("float32", "int32", "int32", f'T.Cast("int32", {A} * T.float32(8)) * {B}'),
    "scaled, cast by the product": ("float32", "float32", "int32", f'T.Cast("int32", {A} * {B})'),
    "bits that differ": ("uint64", "uint64", "int32", f'T.Cast("int32", T.popcount(T.bitwise_xor({A}, {B})))'),
    "compared": ("float32", "float32", "int32", f'T.Cast("int32", {A} < {B})'),
    "distance": ("float64", "float64", "float32", f'T.Cast("float32", T.abs({A} - {B}))'),
    "shifted, then cast": ("int64", "int32", "int32", f'T.Cast("int32", T.shift_right({A}, T.int64(33))) * {B}'),
    "wide integers as floats": ("int32", "float32", "float32", f'T.Cast("float32", {A}) * {B}'),
    "multiplied narrow": ("int8", "int8", "int32", f'T.Cast("int32", T.Cast("int16", {A}) * T.Cast("int16", {B}))'),
    "distance of bytes": ("uint8", "uint8", "int32", f'T.Cast("int32", T.max({A}, {B}) - T.min({A}, {B}))'),
}
"""Terms that are another value if the operands are converted to the type of the sums before."""
TARGETS = ("avx2", "avx512_vnni", "sapphire_rapids", "neon_i8mm")


def _program(left, right, sums, term, m=17, n=24, k=9):
    return parse(SUM.format(left=left, right=right, sums=sums, term=term, m=m, n=n, k=k))


def _product(left, right, sums, m=17, n=24, k=9):
    cast = [x if t == sums else f'T.Cast("{sums}", {x})' for x, t in ((A, left), (B, right))]
    return _program(left, right, sums, " * ".join(cast), m, n, k)


def _copied_as(sch):
    """The types that copies were changed to, by the steps of a schedule."""
    return re.findall(r'unsafe_set_dtype\(block=\w+, buffer_index=0, dtype="(\w+)"\)', str(sch.trace))


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", NARROWING)
@pytest.mark.few(4)
def test_operands_that_are_used_in_their_own_type_are_copied_in_it(name, target):
    for schedule in (lambda sch: schedules.auto(sch, target, 1), lambda sch: schedules.gemm(sch, "C", target, 1)):
        sch = Schedule(_program(*NARROWING[name]))
        schedule(sch)
        assert "tensorize" not in str(sch.trace) and sch.verify()


@pytest.mark.few(4)
@pytest.mark.parametrize("name", ["scaled, then cast", "bits that differ", "compared", "distance"])
def test_the_operands_of_such_terms_have_no_wider_copies(name):
    sch = Schedule(_program(*NARROWING[name]))
    what = contraction(sch, "C")
    assert not what.left.is_widened and not what.right.is_widened and not what.plain
    schedules.gemm(sch, "C", "avx2", 1)
    assert _copied_as(sch) == []


def test_numbers_that_a_narrower_type_does_not_have_are_summed_as_they_are():
    """The compiled code: distances of float64 numbers that are equal as float32."""
    sch = Schedule(_program(*NARROWING["distance"]))
    schedules.auto(sch, threads=1)
    a, b, c = np.full((17, 9), 2.0**30 + 0.25), np.full((9, 24), 2.0**30), np.zeros((17, 24), np.float32)
    build(sch)["main"](a, b, c)
    np.testing.assert_array_equal(c, 9 * 0.25)


FAST = [
    # left, right, sums, target, copies, intrinsic
    ("float32", "float32", "float32", "avx2", [], None),
    ("float64", "float64", "float64", "avx2", [], None),
    ("float16", "float16", "float32", "avx2", ["float32"] * 2, None),
    ("bfloat16", "bfloat16", "float32", "avx2", ["float32"] * 2, None),
    ("float32", "float32", "float64", "avx2", ["float64"] * 2, None),
    ("int8", "float32", "float32", "avx2", ["float32"], None),
    ("int8", "int8", "int32", "avx2", ["int16"] * 2, "dot_int16_8x2"),
    ("uint8", "int8", "int32", "avx2", ["int16"] * 2, "dot_int16_8x2"),
    ("int16", "int16", "int32", "avx2", ["int16"], "dot_int16_8x2"),
    ("uint8", "int8", "int32", "avx512_vnni", ["uint8", "int8"], "dot_uint8_int8_16x4"),
    ("int8", "int8", "int32", "avx512_vnni", ["uint8", "int8"], "dot_uint8_int8_16x4"),
    ("bfloat16", "bfloat16", "float32", "zen4", ["bfloat16"], "dot_bfloat16_16x2"),
    ("int8", "int8", "int32", "sapphire_rapids", [], "amx_"),
    ("bfloat16", "bfloat16", "float32", "sapphire_rapids", [], "amx_"),
]


@pytest.mark.parametrize(("left", "right", "sums", "target", "copies", "intrinsic"), FAST)
@pytest.mark.few(2)
def test_the_usual_products_keep_their_plans(left, right, sums, target, copies, intrinsic):
    """Widened while they are packed, or multiplied by an instruction."""
    sch = Schedule(_product(left, right, sums, 34, 40, 70))
    schedules.gemm(sch, "C", target, 1)
    assert sorted(_copied_as(sch)) == sorted(copies)
    used = re.findall(r'tensor_intrin="(\w+)"', str(sch.trace))
    assert (intrinsic is None and not used) or (intrinsic and any(name.startswith(intrinsic) for name in used))
    loads = re.findall(r"\bC_local\[.*?\] \+ .*", sch.mod.script())
    assert intrinsic or (loads and not any("Cast" in line for line in loads))


def test_a_copy_is_not_stored_in_a_type_without_its_values():
    sch = Schedule(_product("int32", "float32", "float32"))
    copy = sch.cache_read("C", "A", "global")
    before = sch.mod.script()
    with pytest.raises(ScheduleError, match="float32 does not represent every value of int32"):
        store_as(sch, copy, "float32")
    assert sch.mod.script() == before


SHUFFLED = """
@T.prim_func
def main(A: T.Buffer((40, 9), "float32"), B: T.Buffer((9, 24), "float32"), C: T.Buffer((40, 24), "float32")):
    for k, j, i in T.grid(9, 24, 40):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.float32(0)
            C[vi, vj] = C[vi, vj] + A[vi, vk] * B[vk, vj]
"""


@pytest.mark.few(2)
@pytest.mark.parametrize("schedule", [schedules.gemm, schedules.reduction])
def test_loops_in_another_order_than_the_iters_are_found_by_their_bindings(schedule):
    sch = Schedule(parse(SHUFFLED))
    schedule(sch, "C", "avx2", 1)
    assert sch.verify() and "vectorize" in str(sch.trace)


@pytest.mark.few(3)
@pytest.mark.parametrize("schedule", [schedules.gemm, schedules.gemv, schedules.reduction])
def test_a_block_whose_loops_were_split_is_refused(schedule):
    sch = Schedule(parse(SHUFFLED.replace("40, ", "1, ").replace("24, 40", "24, 1")))
    sch.split(sch.get_loops("C")[0], [None, 2])
    before, steps = sch.mod.script(), len(sch.trace)
    with pytest.raises(ScheduleError, match="has 3 iters but 4 loops; schedule it before"):
        schedule(sch, sch.get_block("C"), "avx2", 1)
    assert sch.mod.script() == before and len(sch.trace) <= steps + 1  # the lookup of the block


WHOLE = (
    "attention",
    "conv2d",
    "elementwise",
    "gemm",
    "gemv",
    "independent",
    "prepack",
    "reduction",
    "rowwise",
    "transpose",
)


def test_a_refused_schedule_leaves_no_step_behind():
    @all_or_nothing
    def split_twice(sch, block):
        for _ in range(2):
            sch.split(sch.get_loops(block)[0], [None, 4])
        raise ScheduleError("no third time")

    sch = Schedule(parse(SHUFFLED))
    block = sch.get_block("C")
    before, steps = sch.mod.script(), len(sch.trace)
    with pytest.raises(ScheduleError, match="no third time"):
        split_twice(sch, block)
    assert sch.mod.script() == before and len(sch.trace) == steps
    assert all(hasattr(getattr(schedules, name), "__wrapped__") for name in WHOLE)


TWICE_WRITTEN = main(
    "Q:8x16:int8 A:32x8 C:32x16; U:8x16 W:8x16",
    each("zero:8x16", "U[vi, vj] = T.float32(0)"),
    each("U:8x8", "U[vi, vj * 2] = T.Cast('float32', Q[vi, vj])"),
    each("W:8x16", "W[vi, vj] = U[vi, vj]"),
    each("C i:32 j:16 k:8R", "C[vi, vj] = C[vi, vj] + A[vi, vk] * W[vk, vj]", init="C[vi, vj] = T.float32(0)"),
)


def test_an_operand_of_what_several_blocks_write_is_read_as_it_is():
    sch = Schedule(parse(TWICE_WRITTEN))
    schedules.gemm(sch, "C", "avx2", 1)
    assert sch.verify()


@pytest.mark.parametrize("schedule", [schedules.elementwise, schedules.transpose])
def test_a_block_whose_writes_are_hidden_is_refused(schedule):
    sch = Schedule(parse(TWICE_WRITTEN))
    sch.unsafe_hide_buffer_access("W", "write", [0])
    with pytest.raises(ScheduleError, match='block "W" declares no writes'):
        schedule(sch, "W", "avx2", 1)
