"""Products of bytes on GPUs without tensor cores for them: four terms an instruction, exact for all numbers."""

from __future__ import annotations

import numpy as np
import pytest
from programs.short import each, program

from tir_mlir import Schedule, build, interpret, schedules

CONVOLUTION = program(
    "A:1x4x6x7:int8 K:5x4x3x3:int8 Y:1x5x4x5:int32",
    each("Y n:1 f:5 h:4 w:5 c:4R r:3R s:3R",
         'Y[vn, vf, vh, vw] += T.Cast("int32", A[vn, vc, vh + vr, vw + vs]) * T.Cast("int32", K[vf, vc, vr, vs])',
         init="Y[vn, vf, vh, vw] = 0"),
)  # fmt: skip


def product(m, n, k, left="int8", right="int8", turned=True):
    b, shape = ("B[vj, vk]", f"{n}x{k}") if turned else ("B[vk, vj]", f"{k}x{n}")
    update = f'C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", {b})'
    return program(
        f"A:{m}x{k}:{left} B:{shape}:{right} C:{m}x{n}:int32",
        each(f"C i:{m} j:{n} k:{k}R", update, init="C[vi, vj] = 0"),
    )


def numbers(shape, dtype):
    ends = np.iinfo(dtype)
    return np.random.default_rng(0).integers(ends.min, ends.max + 1, shape).astype(dtype)


def run(size, left="int8", right="int8", turned=True, target="sm_61"):
    """Run a product on random bytes, and check it. Returns the report."""
    m, n, k = size
    sch = Schedule(product(m, n, k, left, right, turned))
    assert schedules.auto(sch, target=target) == {"C": "product"}
    a, b, c = numbers((m, k), left), numbers((n, k) if turned else (k, n), right), np.zeros((m, n), np.int32)
    report = interpret(sch, a, b, c, target=target)
    wide = b.astype(np.int32)
    assert np.array_equal(c, a.astype(np.int32) @ (wide.T if turned else wide))
    return report


def dots(report):
    return sum(count for name, count in report.instructions.items() if name.startswith("dp4a"))


@pytest.mark.few(4)
@pytest.mark.parametrize("turned", [True, False])
@pytest.mark.parametrize(("left", "right"), [("int8", "int8"), ("uint8", "int8"), ("uint8", "uint8")])
@pytest.mark.parametrize("size", [(33, 65, 20), (1, 127, 15), (64, 32, 32), (2, 3, 1)])
def test_products_are_exact(size, left, right, turned):
    assert dots(run(size, left, right, turned))


@pytest.mark.parametrize("target", ["sm_60", "sm_75"])
def test_convolutions_are_exact(target):
    sch = Schedule(CONVOLUTION)
    assert schedules.auto(sch, target=target) == {"Y": "product"}
    assert sch.verify(target=target)
    assert ("dp4a" in build(sch, target=target).assembly) == (target == "sm_75")


def test_instructions():
    """64 x 64 x 64: 0.41 instructions a product; 1.5 without dp4a."""
    report, without = run((64, 64, 64), target="sm_75"), run((64, 64, 64), target="sm_60")
    assert dots(report) * 4 * 32 == 64**3 and not dots(without)
    assert report.bank_conflicts == 0
    assert 32 * sum(report.instructions.values()) < 0.45 * 64**3


def test_the_source():
    sch = Schedule(product(64, 64, 64))
    schedules.auto(sch, target="sm_75")
    assert "= __dp4a(*(const int *)&v" in build(sch, target="sm_75").source


def tensorized(left, right, sums, name):
    """A tiled product whose innermost loop is an intrinsic."""
    update = f'C[vi, vj] += T.Cast("{sums}", A[vi, vk]) * T.Cast("{sums}", B[vj, vk])'
    sch = Schedule(program(f"A:8x32:{left} B:8x32:{right} C:8x8:{sums}",
                           each("C i:8 j:8 k:32R", update, init=f"C[vi, vj] = T.{sums}(0)")))  # fmt: skip
    i, j, k = sch.get_loops("C")
    k_0, k_1 = sch.split(k, [None, 4])
    all_ = sch.add_unit_loop(i)
    sch.bind(all_, "blockIdx.x")
    sch.bind(i, "threadIdx.y")
    sch.bind(j, "threadIdx.x")
    sch.reverse_compute_at(sch.cache_write("C", 0, "local"), j)
    for operand in (0, 1):
        copy = sch.cache_read("C", operand, "shared")
        sch.compute_at(copy, all_)
        y, x = sch.get_loops(copy)[-2:]
        sch.bind(y, "threadIdx.y")
        sch.bind(sch.split(x, [None, 8])[1], "threadIdx.x")
    sch.decompose_reduction("C", k_0)
    sch.tensorize(k_1, name)
    return sch


@pytest.mark.parametrize(("left", "right", "sums"), [
    ("int8", "int8", "int32"), ("int8", "uint8", "int32"), ("uint8", "int8", "int32"), ("uint8", "uint8", "uint32"),
])  # fmt: skip
def test_intrinsics(left, right, sums):
    name = "dp4a_" + "".join(f"{dtype[0]}{dtype.strip('uint')}" for dtype in (left, right)) + f"{sums[0]}32"
    sch = tensorized(left, right, sums, name.replace("i", "s"))
    assert "dp4a" in build(sch, target="sm_61").assembly
    assert sch.verify(target="sm_61") and sch.verify()
