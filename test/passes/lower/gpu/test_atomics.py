"""Updates of elements that data choose: atomic instructions, on the machine, on a CPU, and refused."""

from __future__ import annotations

import numpy as np
import pytest
from programs.scatters import MAXIMA, READ, WRITE, private, scatter
from programs.short import each, program

from fuzzing.kernels.machine import on_machine
from tir_mlir import Schedule, build, schedules
from tir_mlir.errors import LoweringError
from tir_mlir.target import CUDA


@pytest.mark.parametrize(("n", "width"), [(1, 1), (33, 7), (100, 4)])
@pytest.mark.parametrize("dtype", ["int32", "float32", "int64", "float64", "float16"])
@pytest.mark.few(3)
def test_a_scatter(n, width, dtype):
    rng = np.random.default_rng(0)
    x, p = rng.integers(-4, 5, (n, width)).astype(dtype), rng.integers(0, 5, n).astype(np.int32)
    wanted = np.zeros((5, width), dtype)
    np.add.at(wanted, p, x)
    sch = scatter(n, width, dtype)
    assert schedules.auto(sch, target="sm_80")["add"] == "scatter"
    y = np.empty_like(wanted)
    on_machine(sch, [x, p, y])
    assert np.array_equal(y, wanted)
    y = np.empty_like(wanted)
    build(sch, target=CUDA("sm_80", emulated=True))(x, p, y)
    assert np.array_equal(y, wanted)


@pytest.mark.parametrize("n", [1, 100, 1000])
def test_counts_of_a_block_in_shared_memory(n):
    x, wanted = np.arange(n, dtype=np.int32) ** 2 % 70, np.empty(70, np.int32)
    _, report = on_machine(private(n), [x, wanted])
    assert np.array_equal(wanted, np.bincount(x, minlength=70))
    assert report.barriers == 2 * 3
    h = np.empty(70, np.int32)
    build(private(n), target=CUDA("sm_80", emulated=True))(x, h)
    assert np.array_equal(h, wanted)


def test_the_instructions():
    lines = build(private(100), target="sm_80").assembly.splitlines()
    updates = [line.split()[0] for line in lines if "atom" in line]
    assert updates == ["atom.shared.add.u32", "atom.global.add.u32"]
    assert "atomicAdd(&S[" in build(private(100), target="sm_80").source


@pytest.mark.parametrize(("between", "why"), [
    (MAXIMA, "different operators do not commute"),
    (WRITE, "threads update S by atomic instructions, in any order, and a read of it"),
    (READ, "threads update H by atomic instructions, in any order, and a write of it"),
])  # fmt: skip
def test_what_does_not_commute_is_refused(between, why):
    with pytest.raises(LoweringError, match=why):
        build(private(100, between), target="sm_80")


def test_a_type_that_the_chip_does_not_update_is_refused():
    sch = scatter(33, 7, "float16")
    assert schedules.auto(sch, target="sm_60")["add"] != "scatter"
    sch = scatter(33, 7, "float16")
    sch.bind(sch.get_loops("add")[0], "threadIdx.x")
    sch.bind(sch.get_loops("zero")[0], "threadIdx.x")
    with pytest.raises(LoweringError, match="sm_60 has no instruction that updates float16 at once"):
        build(sch, target="sm_60")


@pytest.mark.parametrize("target", ["sm_80", "emulated"])
@pytest.mark.parametrize("shape", [(70,), (3, 70)])
def test_a_copy_in_shared_memory_for_each_block(shape, target):
    rows = "" if len(shape) == 1 else "R[vi], "
    size = "x".join(map(str, shape))
    sch = Schedule(program(f"X:1000:int32 R:1000:int32 H:{size}:int32",
                           each("H i:1000R", f"H[{rows}X[vi]] += R[vi] + 1")))  # fmt: skip
    outer, _, inner = sch.split(sch.get_loops("H")[0], [3, None, 64])
    sch.bind(outer, "blockIdx.x")
    sch.bind(inner, "threadIdx.x")
    sch.annotate(outer, "shared_updates", "H")
    x, r = np.arange(1000, dtype=np.int32) ** 2 % 70, np.arange(1000, dtype=np.int32) % 3
    h, wanted = np.ones(shape, np.int32), np.ones(shape, np.int32)
    np.add.at(wanted, x if len(shape) == 1 else (r, x), r + 1)
    if target == "sm_80":
        (report,) = on_machine(sch, [x, r, h])
        assert report.barriers == 2 * 3
    else:
        build(sch, target=CUDA("sm_80", emulated=True))(x, r, h)
    assert np.array_equal(h, wanted)


def test_a_histogram_of_many_numbers_is_counted_in_shared_memory():
    sch = Schedule(program("X:9000:int32 H:10:int32", each("H i:9000R", "H[X[vi]] += 1")))
    assert schedules.auto(sch, target="sm_80") == {"H": "scatter"}
    x, h = np.arange(9000, dtype=np.int32) % 7, np.zeros(10, np.int32)
    (report,) = on_machine(sch, [x, h])
    assert np.array_equal(h, np.bincount(x, minlength=10)) and report.shared_bytes == 40
