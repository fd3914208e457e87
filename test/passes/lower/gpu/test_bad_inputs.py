"""Programs that one copy a block, missing barriers or limits make wrong on a GPU: each is refused, or right."""

from __future__ import annotations

import numpy as np
import pytest
from programs.parsed import parse

from fuzzing.kernels.machine import function_of, on_machine
from tir_mlir import Schedule
from tir_mlir.errors import LoweringError

HEAD = "from tvm.script import tir as T\n@T.prim_func\n"

ROTATING = """def f(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32")):
    for i in range(32):
        with T.block("row"):
            vi = T.axis.spatial(32, i)
            S = T.alloc_buffer((32,), "float32", scope=SCOPE)
            for k in range(32):
                with T.block("S"):
                    vk = T.axis.spatial(32, k)
                    S[(vi + vk) % 32] = A[vi, vk]
            for k in range(32):
                with T.block("B"):
                    vk = T.axis.spatial(32, k)
                    B[vi, vk] = S[(vi + vk) % 32]
"""


def kernel(text: str, *binds: tuple[str, int, str]) -> Schedule:
    """A program with loops bound: (block, number of its loop, axis)."""
    sch = Schedule(parse(HEAD + text))
    for block, number, tag in binds:
        sch.bind(sch.get_loops(block)[number], tag)
    return sch


def refusal(sch: Schedule) -> str:
    with pytest.raises(LoweringError) as caught:
        function_of(sch)
    return str(caught.value)


def right(sch: Schedule, expected, *shapes: tuple[int, ...]) -> list:
    """Run a kernel on the machine and compare its last argument; returns the reports."""
    rng = np.random.default_rng(0)
    arrays = [rng.integers(-9, 10, shape).astype(np.float32) for shape in shapes]
    wanted = expected(*(a.copy() for a in arrays))
    reports = on_machine(sch, arrays)
    assert np.array_equal(arrays[-1], wanted)
    return reports


# --- 1: a buffer for each thread, of which a block has one ------------------------------------------------------------


def test_each_thread_fills_and_reads_the_whole_of_a_shared_buffer():
    text = refusal(kernel(ROTATING.replace("SCOPE", '"shared"'), ("row", 0, "threadIdx.x")))
    assert "one copy a block of S will not do" in text
    assert "thread (threadIdx.x=0) at k=0" in text and "S[0] as written by thread (threadIdx.x=0)" in text
    assert "on a GPU, as written by thread (threadIdx.x=1) at k=31" in text and 'use scope "local"' in text


def test_the_same_with_a_local_buffer_is_right():
    sch = kernel(ROTATING.replace("SCOPE", '"local"'), ("row", 0, "threadIdx.x"))
    (report,) = right(sch, lambda a, b: a, (32, 32), (32, 32))
    assert report.barriers == 0


def test_the_same_with_a_block_for_each_iteration_is_right():
    sch = kernel(ROTATING.replace("SCOPE", '"shared"'), ("row", 0, "blockIdx.x"))
    right(sch, lambda a, b: a, (32, 32), (32, 32))


# --- 2: work of inner threads that uses the outer thread --------------------------------------------------------------

INNER = """def f(A: T.Buffer((32, 32), "float32"), B: T.Buffer((32, 32), "float32")):
    for i in range(32):
        with T.block("row"):
            vi = T.axis.spatial(32, i)
            S = T.alloc_buffer((32,), "float32", scope="shared")
            for j in range(32):
                with T.block("S"):
                    vj = T.axis.spatial(32, j)
                    S[vj] = A[ROW, vj]
            for k in range(32):
                with T.block("B"):
                    vk = T.axis.spatial(32, k)
                    B[vi, vk] = S[31 - vk]
"""


def test_work_of_inner_threads_that_uses_the_outer_thread():
    sch = kernel(INNER.replace("ROW", "vi"), ("row", 0, "threadIdx.x"), ("S", -1, "threadIdx.x"))
    text = refusal(sch)
    assert "loop j and loop i around it are both bound to threadIdx.x" in text and "depends on i" in text


def test_work_of_inner_threads_that_all_share_is_right():
    sch = kernel(INNER.replace("ROW", "3"), ("row", 0, "threadIdx.x"), ("S", -1, "threadIdx.x"))
    right(sch, lambda a, b: np.tile(a[3, ::-1], (32, 1)), (32, 32), (32, 32))


# --- 3: a barrier needed where not all threads are --------------------------------------------------------------------

GUARDED = """def f(A: T.Buffer((3, 4, 16), "float32"), B: T.Buffer((3, 4, 16), "float32")):
    S = T.alloc_buffer((4, 16), "float32", scope="shared")
    for y in T.thread_binding(4, thread="threadIdx.y"):
        with T.block("row"):
            vy = T.axis.spatial(3, y)
            T.where(y < 3)
            for k in range(4):
                for x in T.thread_binding(16, thread="threadIdx.x"):
                    with T.block("S"):
                        vk, vx = T.axis.opaque(4, k), T.axis.spatial(16, x)
                        S[vy, vx] = A[vy, vk, vx]
                for x in T.thread_binding(16, thread="threadIdx.x"):
                    with T.block("B"):
                        vk, vx = T.axis.remap("SS", [k, x])
                        B[vy, vk, vx] = S[vy, 15 - vx]
"""


def test_a_barrier_where_not_all_threads_are():
    (report,) = right(kernel(GUARDED), lambda a, b: a[:, :, ::-1], (3, 4, 16), (3, 4, 16))
    assert report.barriers == 8


BUSY = """def f(A: T.Buffer((4, 8, 16), "float32"), B: T.Buffer((4, 8, 16), "float32")):
    S = T.alloc_buffer((4, 16), "float32", scope="shared")
    for y in T.thread_binding(4, thread="threadIdx.y"):
        for k in range(y + 3):
            for x in T.thread_binding(16, thread="threadIdx.x"):
                with T.block("S"):
                    vy, vk, vx = T.axis.spatial(4, y), T.axis.opaque(8, k), T.axis.spatial(16, x)
                    S[vy, vx] = A[vy, vk, vx]
            for x in T.thread_binding(16, thread="threadIdx.x"):
                with T.block("B"):
                    vy, vk, vx = T.axis.spatial(4, y), T.axis.opaque(8, k), T.axis.spatial(16, x)
                    B[vy, vk, vx] = S[vy, 15 - vx]
"""


def test_a_barrier_in_a_loop_that_threads_run_a_different_number_of_times():
    def expected(a, b):
        for y in range(4):
            b[y, : y + 3] = a[y, : y + 3, ::-1]
        return b

    right(kernel(BUSY), expected, (4, 8, 16), (4, 8, 16))


DATA = """def f(A: T.Buffer((4, 16), "float32"), B: T.Buffer((4, 16), "float32")):
    S = T.alloc_buffer((4, 16), "float32", scope="shared")
    for y in T.thread_binding(4, thread="threadIdx.y"):
        with T.block("row"):
            vy = T.axis.spatial(4, y)
            if A[vy, 0] > T.float32(0):
                for x in T.thread_binding(16, thread="threadIdx.x"):
                    with T.block("S"):
                        vx = T.axis.spatial(16, x)
                        S[vy, vx] = A[vy, vx]
                for x in T.thread_binding(16, thread="threadIdx.x"):
                    with T.block("B"):
                        vx = T.axis.spatial(16, x)
                        B[vy, vx] = S[vy, 15 - vx]
"""


def test_a_barrier_under_a_condition_on_data():
    text = refusal(kernel(DATA))
    assert "one copy a block of S will do: undecided, a condition on data decides whether S is accessed" in text


# --- 4, 5: overwritten too early, filled too late ---------------------------------------------------------------------

TURNS = """def f(A: T.Buffer((8, 64), "float32"), B: T.Buffer((8, 64), "float32")):
    S = T.alloc_buffer((64,), "float32", scope="shared")
    for k in range(8):
        for i in range(64):
            with T.block("S"):
                vk, vi = T.axis.remap("OS", [k, i])
                S[vi] = A[vk, vi]
        for i in range(64):
            with T.block("B"):
                vk, vi = T.axis.remap("SS", [k, i])
                B[vk, vi] = S[63 - vi]
"""


def test_a_buffer_that_the_next_iteration_overwrites_has_two_barriers():
    turns = TURNS.replace('T.axis.remap("OS", [k, i])', "T.axis.opaque(8, k), T.axis.spatial(64, i)")
    sch = kernel(turns, ("S", 1, "threadIdx.x"), ("B", 1, "threadIdx.x"))
    (report,) = right(sch, lambda a, b: a[:, ::-1], (8, 64), (8, 64))
    assert report.barriers == 16


LATE = """def f(A: T.Buffer((64,), "float32"), B: T.Buffer((64,), "float32"), C: T.Buffer((64,), "float32")):
    S = T.alloc_buffer((64,), "float32", scope="shared")
    for i in range(32):
        with T.block("low"):
            vi = T.axis.spatial(32, i)
            S[vi] = A[vi]
    for i in range(64):
        with T.block("B"):
            vi = T.axis.spatial(64, i)
            B[vi] = T.if_then_else(vi < 32, S[31 - vi % 32], 0.0)
    for i in range(32):
        with T.block("high"):
            vi = T.axis.spatial(32, i)
            S[vi + 32] = A[vi + 32]
    for i in range(64):
        with T.block("C"):
            vi = T.axis.spatial(64, i)
            C[vi] = B[vi] + S[63 - vi]
"""


def test_a_part_that_is_filled_after_the_copy_of_another_kernel():
    sch = kernel(LATE, *((block, 0, "threadIdx.x") for block in ("low", "B", "high", "C")))
    text = refusal(sch)
    assert "S of scope shared lasts as long as one kernel" in text and "use scope global" in text


# --- 6: limits --------------------------------------------------------------------------------------------------------

COPY = """def f(A: T.Buffer((N,), "float32"), B: T.Buffer((N,), "float32")):
    for i in range(N):
        with T.block("B"):
            vi = T.axis.spatial(N, i)
            B[vi] = A[vi]
"""


def test_too_many_threads():
    text = refusal(kernel(COPY.replace("N", "1025"), ("B", 0, "threadIdx.x")))
    assert "1025 threads" in text and "at most 1024" in text


@pytest.mark.parametrize(("count", "refused"), [(12 * 1024, False), (12 * 1024 + 256, True), (57 * 1024 + 256, True)])
def test_shared_memory(count, refused):
    sch = Schedule(parse(HEAD + COPY.replace("N", str(count))))
    cache = sch.cache_read("B", 0, "shared")
    outer, inner = sch.split(sch.get_loops("B")[0], [None, 256])
    sch.bind(inner, "threadIdx.x")
    _, own = sch.split(sch.get_loops(cache)[0], [None, 256])
    sch.bind(own, "threadIdx.x")
    sch.bind(outer, "vthread.x")
    del cache
    if refused:
        with pytest.raises(LoweringError):
            function_of(sch)


# --- 7: writes outside of blocks --------------------------------------------------------------------------------------

OUTSIDE = """def f(A: T.Buffer((4,), "float32"), C: T.Buffer((4,), "float32"), B: T.Buffer((4, 8), "float32")):
    for k in range(4):
        with T.block("C"):
            vk = T.axis.spatial(4, k)
            C[vk] = A[vk]
        for b in range(8):
            with T.block("B"):
                vk, vb = T.axis.remap("SS", [k, b])
                B[vk, vb] = C[vk]
"""


def test_a_write_outside_of_blocks_that_they_read():
    text = refusal(kernel(OUTSIDE, ("B", 1, "blockIdx.x")))
    assert "block (blockIdx.x=1)" in text and "C[0]" in text and "block (blockIdx.x=0)" in text


def test_a_write_outside_of_blocks_that_none_reads_is_done_once():
    sch = kernel(OUTSIDE.replace("= C[vk]", "= A[vk]"), ("B", 1, "blockIdx.x"))
    right(sch, lambda a, c, b: np.tile(a[:, None], (1, 8)), (4,), (4,), (4, 8))
