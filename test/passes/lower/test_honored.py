"""Annotations of loops and buffers are honored, or a warning names the loop, the reason and the way out."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from harness.schedules import quick_build

from tir_mlir import Schedule
from tir_mlir.passes.lower import LoweringWarning
from tir_mlir.script.parser import parse

RNG = np.random.default_rng(5)


def warned(program: str) -> list[str]:
    """The lowering warnings of a program, without the line that each begins with."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        quick_build(parse(program))
    return [str(w.message).split(": ", 1)[1] for w in caught if w.category is LoweringWarning]


def one_loop(loop: str, body: str, parameters: str) -> str:
    return f"""
@T.prim_func
def main({parameters}):
    for i in {loop}:
        with T.block("B"):
            v = T.axis.opaque({loop.split("(")[1].split(",")[0].rstrip(")")}, i)
            {body}
"""


TWO = 'A: T.Buffer((2, 70), "float32")'
ROWS = "A[1, v] = A[0, v] + A[0, v + 2]"


@pytest.mark.parametrize("n", [2, 7, 16, 62, 66])
def test_rows_of_one_buffer_are_vectors(n):
    program = one_loop(f"T.vectorized({n})", ROWS, TWO)
    assert warned(program) == []
    lib = quick_build(parse(program))
    assert "vector<" in str(lib.lowered)
    a = RNG.random((2, 70), np.float32)
    want = a.copy()
    want[1, :n] = want[0, :n] + want[0, 2 : n + 2]
    lib(a)
    np.testing.assert_array_equal(a, want)


PLANES = """
@T.prim_func
def main(A: T.Buffer((2, {n} + 2), "float32")):
    for t in range(5):
        for i in range({n}):
            with T.block("B"):
                vt = T.axis.opaque(5, t)
                vi = T.axis.opaque({n}, i)
                A[(vt + 1) % 2, vi] = A[vt % 2, vi] + A[vt % 2, vi + 2]
"""


@pytest.mark.parametrize("n", [1, 16, 61])
def test_planes_that_change_roles_are_vectors(n):
    sch = Schedule(parse(PLANES.format(n=n)))
    sch.vectorize(sch.get_loops("B")[-1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lib = quick_build(sch)
    assert ("vector<" in str(lib.lowered)) == (n > 1)
    a = RNG.random((2, n + 2), np.float32)
    want = a.copy()
    for t in range(5):
        want[(t + 1) % 2, :n] = want[t % 2, :n] + want[t % 2, 2:]
    lib(a)
    np.testing.assert_array_equal(a, want)


def test_a_recurrence_runs_as_written():
    program = one_loop("T.vectorized(62)", "A[1, v + 1] = A[1, v] + A[0, v]", TWO)
    assert warned(program) == [
        'vectorized loop "i" runs serially: an iteration accesses an element of buffer "A" that another one writes; '
        "write to another buffer (cache_write), or vectorize another loop"
    ]
    a = RNG.random((2, 70), np.float32)
    want = a.copy()
    for i in range(62):
        want[1, i + 1] = want[1, i] + want[0, i]
    with pytest.warns(LoweringWarning):
        quick_build(parse(program))(a)
    np.testing.assert_array_equal(a, want)


def test_a_condition():
    program = one_loop("T.vectorized(62)", "if v * v < 60:\n                A[1, v] = A[0, v]", TWO)
    (text,) = warned(program)
    assert text.startswith('vectorized loop "i" runs serially: scf.if has no vector form; vectorize a loop')


def test_vectors_in_vectors():
    program = """
@T.prim_func
def main(A: T.Buffer((8, 8), "float32")):
    for i in T.vectorized(8):
        for j in T.vectorized(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(1)
"""
    assert warned(program) == [
        'vectorized loop "j" runs serially: it is in vectorized loop "i", and vectors have one dimension; vectorize '
        "one of them"
    ]


def test_a_loop_too_long_to_unroll():
    (text,) = warned(one_loop("T.unroll(4100)", "A[0, v % 70] = T.float32(2)", TWO))
    assert text.startswith('unrolled loop "i" is kept as a loop: it would become ')
    assert text.endswith(" ops, at most 4096; split it and unroll the inner loop")


def test_a_loop_of_unknown_length_is_not_unrolled():
    program = """
@T.prim_func
def main(a: T.handle):
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    for i in T.unroll(n):
        with T.block("B"):
            v = T.axis.spatial(n, i)
            A[v] = T.float32(2)
"""
    assert warned(program) == [
        'unrolled loop "i" is kept as a loop: its extent is not constant; split it by a constant factor and unroll the '
        "inner loop"
    ]


def test_parallel_in_parallel():
    program = """
@T.prim_func
def main(A: T.Buffer((8, 8), "float32")):
    for i in T.parallel(8):
        for j in T.parallel(8):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = T.float32(1)
"""
    assert warned(program) == [
        'parallel loop "j" runs serially: it is in parallel loop "i", whose iterations already run on all cores; fuse '
        "them, or parallelize one"
    ]


def test_threads():
    program = one_loop('T.thread_binding(62, thread="threadIdx.x")', "A[0, v] = T.float32(1)", TWO)
    assert warned(program) == [
        'thread-bound loops "i" (threadIdx.x) run serially: a CPU has no such threads; use parallel for its cores and '
        "vectorize for its vectors"
    ]


COPY = """
@T.prim_func
def main(A: T.Buffer(({n},), "float32"), B: T.Buffer(({n},), "float32")):
    C = T.alloc_buffer(({n},), scope="{scope}")
    for i in range({n}):
        with T.block("C"):
            v = T.axis.spatial({n}, i)
            C[v] = A[{n} - 1 - v]
    for i in range({n}):
        with T.block("B"):
            v = T.axis.spatial({n}, i)
            B[v] = C[v]
"""


def test_scopes_that_a_cpu_has():
    for scope, n in (("local", 4096), ("shared", 5000), ("global.C_reg", 5000), ("warp", 32)):
        assert warned(COPY.format(scope=scope, n=n)) == []


def test_a_local_buffer_that_does_not_fit():
    assert warned(COPY.format(scope="local", n=4097)) == [
        'buffer "C" is in plain memory, not in scope "local": it is of 16388 bytes, and the stack holds at most 16384 '
        'bytes of constant size, 65536 in all; compute it at an inner loop, or use "global"'
    ]


def test_a_scope_that_no_cpu_has():
    (text,) = warned(COPY.format(scope="wmma.accumulator", n=16))
    assert text.startswith(
        'buffer "C" is in plain memory, not in scope "wmma.accumulator": a CPU has no such registers'
    )
