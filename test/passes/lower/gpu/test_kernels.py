"""Programs with bound loops as kernels, run on the PTX machine: tails, symbolic sizes, several nests, vector copies."""

from __future__ import annotations

import numpy as np
import pytest
from programs import gpu_programs
from programs.parsed import parse
from programs.short import main, nest, sblock

from fuzzing.kernels.machine import on_machine
from tir_mlir import Schedule

RNG = np.random.default_rng(0)


def numbers(*shape: int) -> np.ndarray:
    """Small integers, whose sums are exact in float32."""
    return RNG.integers(-8, 8, shape).astype("float32")


@pytest.mark.parametrize("n", [1, 15, 16, 17, 127])
def test_tails(n):
    a, b = numbers(n), np.zeros(n, "float32")
    on_machine(gpu_programs.added(n), [a, b])
    np.testing.assert_array_equal(b, a + 1)


@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 127])
def test_symbolic_sizes(n):
    program = gpu_programs.added_symbolic()
    a, b = numbers(n), np.zeros(n, "float32")
    reports = on_machine(program, [a, b])
    np.testing.assert_array_equal(b, a + 1)
    assert len(reports) == (n > 0)  # no blocks: nothing is launched


def test_symbolic_rows():
    a, b = numbers(5, 7), np.zeros((7, 5), "float32")
    on_machine(gpu_programs.transposed_symbolic(), [a, b])
    np.testing.assert_array_equal(b, a.T)


def test_a_transpose_through_shared_memory():
    a, b = numbers(64, 64), np.zeros((64, 64), "float32")
    (report,) = on_machine(gpu_programs.transposed(64), [a, b])
    np.testing.assert_array_equal(b, a.T)
    assert report.bank_conflicts == 0  # rows of 33 elements


def test_two_nests_in_order():
    a, c = numbers(256), np.zeros(256, "float32")
    reports = on_machine(gpu_programs.two_nests(256), [a, c])
    np.testing.assert_array_equal(c, (a + 1) * 2 + (a[::-1] + 1))
    assert [r.kernel for r in reports] == ["f_kernel", "f_kernel_1"]


@pytest.mark.parametrize("program", [gpu_programs.row_sums_by_threads, gpu_programs.row_sums_by_factors])
def test_sums_over_threads(program):
    a, b = numbers(8, 256), np.zeros(8, "float32")
    on_machine(program(8, 256), [a, b])
    np.testing.assert_array_equal(b, a.sum(1))


def test_a_softmax_a_block_of_threads_for_each_row():
    a = RNG.standard_normal((4, 256)).astype("float32")
    b = np.zeros_like(a)
    on_machine(gpu_programs.softmax(4, 256), [a, b])
    power = np.exp(a.astype("float64") - a.max(1, keepdims=True))
    np.testing.assert_allclose(b, power / power.sum(1, keepdims=True), rtol=1e-6)


def test_a_tiled_product():
    a, b, c = numbers(64, 32), numbers(32, 128), np.zeros((64, 128), "float32")
    (report,) = on_machine(gpu_programs.product(64, 128, 32), [a, b, c])
    np.testing.assert_array_equal(c, a @ b)
    assert report.barriers == 4 * 4 * 4 * 2  # blocks, tiles of k, before and after the use of each


def test_virtual_threads_share_what_a_block_copies():
    a, b, c = numbers(32, 32), numbers(32, 32), np.zeros((32, 32), "float32")
    (report,) = on_machine(gpu_programs.product_by_virtual_threads(32), [a, b, c])
    np.testing.assert_array_equal(c, a @ b)
    assert report.barriers == 4 * 4 * 2  # blocks, tiles of k, before and after the use of each


def test_a_convolution_whose_halo_the_threads_fetch():
    x, w, y = numbers(4, 10, 10), numbers(8, 4, 3, 3), np.zeros((8, 8, 8), "float32")
    on_machine(gpu_programs.convolution(), [x, w, y])
    windows = np.lib.stride_tricks.sliding_window_view(x, (3, 3), axis=(1, 2))
    np.testing.assert_array_equal(y, np.einsum("chwrq,fcrq->fhw", windows, w))


def test_a_number_of_threads_that_depends_on_the_block():
    text = main("A:8x8 B:8x8", nest("i:8 j:8", sblock("B", "vi:8=i vj:8=j", "B[vi, vj] = A[vi, vj] * 2.0")), name="f")
    sch = Schedule(parse(text.replace("for j in range(8)", "for j in range(i + 1)")))
    i, j = sch.get_loops("B")
    gpu_programs.bind(sch, blockIdx_x=i, threadIdx_x=j)
    a, b = numbers(8, 8), np.zeros((8, 8), "float32")
    on_machine(sch, [a, b])
    np.testing.assert_array_equal(b, np.tril(a * 2))


def test_a_loop_that_does_not_start_at_0():
    text = main("A:20 B:20", nest("i:20", sblock("B", "vi:20=i", "B[vi] = A[vi] * 2.0")), name="f")
    sch = Schedule(parse(text.replace("range(20)", "range(3, 17)").replace("spatial(20", "spatial((3, 17)")))
    gpu_programs.bind(sch, threadIdx_x=sch.get_loops("B")[0])
    a, b = numbers(20), np.zeros(20, "float32")
    on_machine(sch, [a, b])
    np.testing.assert_array_equal(b[3:17], 2 * a[3:17])
    assert not b[:3].any() and not b[17:].any()


LASTING = """
@T.prim_func
def f(A: T.Buffer((8, 3), "float32"), B: T.Buffer((8,), "float32")):
    S = T.alloc_buffer((8,), "float32", scope="local")
    for p, q in T.grid(3, 8):
        with T.block("S"):
            vi = T.axis.spatial(8, (p * 8 + q) // 3)
            vk = T.axis.reduce(3, (p * 8 + q) % 3)
            with T.init():
                S[vi] = -9.0
            S[vi] = T.max(S[vi], A[vi, vk])
        for t in T.thread_binding(1, thread="threadIdx.x"):
            with T.block("B"):
                vi = T.axis.spatial(8, (p * 8 + q) // 3 + t)
                B[vi] = S[vi]
"""


def test_a_local_buffer_lasts_over_a_serial_loop_around_all_threads():
    a, b = numbers(8, 3), np.zeros(8, "float32")
    on_machine(Schedule(parse(LASTING)), [a, b])
    np.testing.assert_array_equal(b, a.max(1))


def test_a_vector_of_three_lanes():
    sch = Schedule(parse(main("A:8x4 B:8x4", nest("i:8 j:3", sblock("B", "vi:8=i vj:3=j", "B[vi, vj] = A[vi, vj]")))))
    i, j = sch.get_loops("B")
    gpu_programs.bind(sch, threadIdx_x=i)
    sch.vectorize(j)
    a, b = numbers(8, 4), np.zeros((8, 4), "float32")
    on_machine(sch, [a, b])
    np.testing.assert_array_equal(b, np.pad(a[:, :3], ((0, 0), (0, 1))))
