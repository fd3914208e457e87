"""What a GPU cannot run is refused by name: threads, shared memory, blocks, work that is not bound."""

from __future__ import annotations

import numpy as np
import pytest
from programs import gpu_programs
from programs.parsed import parse
from programs.short import each, main

from fuzzing.kernels.machine import on_machine
from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import LoweringError


def bound(*extents: tuple[str, int]) -> Schedule:
    """B = 1 with a loop a dimension, each bound to an axis."""
    shape = "x".join(str(n) for _, n in extents)
    loops = " ".join(f"i{number}:{n}" for number, (_, n) in enumerate(extents))
    indices = ", ".join(f"vi{number}" for number in range(len(extents)))
    sch = Schedule(parse(main(f"B:{shape}", each(f"B {loops}", f"B[{indices}] = 1.0"), name="f")))
    for loop, (axis, _) in zip(sch.get_loops("B"), extents, strict=True):
        sch.bind(loop, axis)
    return sch


@pytest.mark.parametrize(
    ("extents", "message"),
    [
        (
            [("threadIdx.x", 1025)],
            r'f_kernel: a block has 1025 threads \(1025: loop "i0" is threadIdx.x\), sm_80 runs at most 1024; fix',
        ),
        (
            [("threadIdx.y", 32), ("threadIdx.x", 64)],
            r"a block has 2048 threads \(64 \* 32: .*\), sm_80 runs at most 1024",
        ),
        ([("threadIdx.z", 65)], r"65 threads along threadIdx.z \(.*\), sm_80 at most 64; fix: split"),
        ([("blockIdx.y", 65536)], r"65536 blocks along blockIdx.y \(.*\), sm_80 at most 65535; fix: bind the longest"),
        ([("blockIdx.z", 65536)], r"65536 blocks along blockIdx.z"),
    ],
)
def test_too_many_threads_or_blocks(extents, message):
    with pytest.raises(LoweringError, match=message):
        build(bound(*extents), target="sm_80")


def shared(n: int) -> Schedule:
    """B = A through one shared buffer of n numbers."""
    sch = Schedule(parse(main(f"A:{n} B:{n}", each(f"B i:{n}", f"B[vi] = A[{n - 1} - vi]"), name="f")))
    copy = sch.cache_read("B", 0, "shared")
    for block in ("B", copy):
        (loop,) = sch.get_loops(block)
        sch.bind(sch.split(loop, [None, 1024])[1], "threadIdx.x")
    outer = sch.add_unit_loop(sch.get_loops("B")[0])
    sch.bind(outer, "blockIdx.x")
    sch.compute_at(copy, outer)
    return sch


def test_shared_memory_of_48_kib_is_declared():
    assert ".shared .align 16 .b8 A_shared[49152]" in build(shared(12288), target="sm_60").assembly


@pytest.mark.nightly
def test_more_shared_memory_is_asked_for_by_the_launch():
    n = 12544  # 49 KiB
    a, b = np.arange(n, dtype="float32"), np.zeros(n, "float32")
    on_machine(shared(n), [a, b])
    np.testing.assert_array_equal(b, a[::-1])


@pytest.mark.parametrize(
    ("n", "chip", "room"), [(12544, "sm_60", 48 << 10), (57 << 10, "sm_80", 163 << 10), (57 << 10, "sm_90a", 227 << 10)]
)
def test_more_shared_memory_than_a_block_has(n, chip, room):
    message = rf'take {4 * n} bytes \("A_shared" {4 * n}\), {chip} has {room}; fix: use smaller tiles'
    with pytest.raises(LoweringError, match=message):
        build(shared(n), target=chip)


def test_indices_beyond_32_bits():
    """An offset of 2**31 elements does not fit, a lower one does."""
    texts = []
    for n in (2**31 + 1024, 2**31):
        sch = Schedule(parse(main(f"B:{n}:int8", each(f"B i:{n}", "B[vi] = T.int8(1)"), name="f")))
        gpu_programs.bind_split(sch, "B", 1024)
        texts.append(build(sch, target="sm_80").lowered)
    assert ["llvm.sext" in text for text in texts] == [True, False]


def test_a_loop_that_is_not_bound():
    program = main("A:8 B:8 C:8", each("B i:8", "B[vi] = A[vi]"), each("C j:8", "C[vj] = A[vj]"), name="f")
    sch = Schedule(parse(program))
    sch.bind(sch.get_loops("B")[0], "threadIdx.x")
    message = r'loop "j" of function f is not bound to blocks or threads, and a GPU runs nothing else; fix: bind it'
    with pytest.raises(LoweringError, match=message):
        build(sch, target="sm_80")


def test_a_statement_that_is_not_in_a_loop():
    text = main("A:8 B:1", each("A i:8", "A[vi] = 1.0"), "with T.block('B'):\n    B[0] = 2.0", name="f")
    sch = Schedule(parse(text))
    sch.bind(sch.get_loops("A")[0], "threadIdx.x")
    with pytest.raises(LoweringError, match=r'the write to buffer "B" of function f is not bound .* add_unit_loop'):
        build(sch, target="sm_80")


def test_nothing_is_bound():
    with pytest.raises(
        LoweringError, match=r"is not bound to blocks or threads, .* fix: bind it, for example sch.bind"
    ):
        build(parse(main("B:8", each("B i:8", "B[vi] = 1.0"), name="f")), target="sm_80")


def test_a_number_of_threads_that_only_a_call_knows():
    sch = Schedule(parse(gpu_programs.SYMBOLIC))
    sch.bind(sch.get_loops("B")[0], "threadIdx.x")
    with pytest.raises(LoweringError, match=r"bound to threadIdx.x, but the number of threads .* a constant"):
        build(sch, target="sm_80")


def test_more_threads_inside_of_fewer():
    text = main(
        "A:4x64 B:4x16",
        "for i in T.thread_binding(4, thread='blockIdx.x'):\n"
        "    for j in T.thread_binding(16, thread='threadIdx.x'):\n"
        "        for u in T.thread_binding(64, thread='threadIdx.x'):\n"
        "            with T.block('A'):\n"
        "                vi, vu = T.axis.remap('SS', [i, u])\n"
        "                A[vi, vu] = 1.0\n"
        "        with T.block('B'):\n"
        "            vi, vj = T.axis.remap('SS', [i, j])\n"
        "            B[vi, vj] = 1.0\n",
        name="f",
    )
    with pytest.raises(LoweringError, match=r'loop "u" is inside of loop "j", both threadIdx.x: it needs 64 threads'):
        build(parse(text), target="sm_80")
