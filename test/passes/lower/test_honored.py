"""Annotations of loops and buffers are honored, or a warning names the loop, the reason and the way out."""

from __future__ import annotations

import warnings
from textwrap import indent

import numpy as np
import pytest
from harness.schedules import quick_build
from programs.parsed import parse
from programs.short import main, nest, sblock

from tir_mlir import Schedule
from tir_mlir.passes.lower import LoweringWarning

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


SYMBOLIC = """
@T.prim_func
def main(a: T.handle, c: T.handle):
    m = T.int32()
    n = T.int32()
    A = T.match_buffer(a, (m, n))
    C = T.match_buffer(c, (m * n,))
    for i in {i}(m):
        for j in {j}(n):
            with T.block("C"):
                vi, vj = T.axis.remap("OO", [i, j])
                C[vi * n + vj] = A[vi, vj]
"""


def test_elements_that_may_be_common_are_not_said_to_be() -> None:
    assert warned(SYMBOLIC.format(i="range", j="T.vectorized")) == [
        'vectorized loop "j" runs serially: it could not be proved that no iteration accesses an element of buffer "C" '
        "that another writes (an index of C is not affine); write to another buffer (cache_write), or vectorize "
        "another loop"
    ]


def test_a_store_at_a_computed_index_is_not_called_a_loaded_one() -> None:
    assert warned(SYMBOLIC.format(i="T.vectorized", j="range")) == [
        'vectorized loop "i" runs serially: a store at an index that is not affine has no vector form; '
        "vectorize a loop along a row"
    ]


WITHOUT_VECTORS = {
    "vectors": (
        "A[1, v * 4 : v * 4 + 4] = A[0, v * 4 : v * 4 + 4]",
        "its accesses are vectors already, and vectors have one dimension; leave the loop serial, or unroll it",
    ),
    "a view": (
        "a = T.match_buffer(A[1, v], (), offset_factor=1)\n            a[()] = A[0, v]",
        "the view a has no vector form; vectorize a loop that does not contain it",
    ),
    "a loop over data": (
        "for k in range(T.Cast('int32', A[0, v])):\n                A[1, v] = A[0, v]",
        "loop k, whose bounds are data, has no vector form; vectorize a loop that does not contain it",
    ),
}


@pytest.mark.parametrize("case", WITHOUT_VECTORS)
def test_what_has_no_vector_form_is_said_in_the_words_of_the_language(case: str) -> None:
    body, reason = WITHOUT_VECTORS[case]
    assert warned(one_loop("T.vectorized(16)", body, TWO)) == [f'vectorized loop "i" runs serially: {reason}']


GUARDED = {
    "a padded read": (
        "B[vi, vj] = T.if_then_else(2 <= vj and vj < {m}, A[vi, vj - 2], T.float32(7))",
        lambda a, i, j, m: np.where((j >= 2) & (j < m), a[i, np.clip(j - 2, 0, 39)], np.float32(7)),
    ),
    "a choice of two rows": (
        "B[vi, vj] = T.if_then_else(vj * 2 < {m}, A[vi, vj], A[5 - vi, vj] * T.float32(3))",
        lambda a, i, j, m: np.where(j * 2 < m, a[i, j], a[5 - i, j] * np.float32(3)),
    ),
    "a condition on data": (
        "B[vi, vj] = T.if_then_else(A[vi, vj] > T.float32(0.5), A[5 - vi, vj], T.float32(0))",
        lambda a, i, j, m: np.where(a[i, j] > 0.5, a[5 - i, j], np.float32(0)),
    ),
    "a store": (
        "if 3 <= vj and vj < {m}:\n    B[vi, vj] = A[vi, vj]",
        lambda a, i, j, m: np.where((j >= 3) & (j < m), a[i, j], np.float32(-1)),
    ),
    "two stores": (
        "if vj % 3 == 1:\n    B[vi, vj] = A[vi, vj]\nelse:\n    B[vi, vj] = A[5 - vi, vj]",
        lambda a, i, j, m: np.where(j % 3 == 1, a[i, j], a[5 - i, j]),
    ),
}


@pytest.mark.parametrize("n", [2, 16, 37])
@pytest.mark.parametrize("case", GUARDED)
def test_conditions_are_masks(case, n):
    body, result = GUARDED[case]
    program = f"""
@T.prim_func
def main(A: T.Buffer((6, 40), "float32"), B: T.Buffer((6, 40), "float32")):
    for i in range(6):
        for j in T.vectorized({n}):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
""" + indent(body.format(m=n - 1), " " * 16)
    assert warned(program) == []
    lib = quick_build(parse(program))
    assert "vector<" in str(lib.lowered) or n == 2
    a, b = RNG.random((6, 40), np.float32), np.full((6, 40), -1, np.float32)
    i, j = np.meshgrid(np.arange(6), np.arange(n), indexing="ij")
    want = b.copy()
    want[:, :n] = result(a, i, j, n - 1)
    lib(a, b)
    np.testing.assert_array_equal(b, want)


@pytest.mark.parametrize("n", [1, 15, 16, 33])
def test_a_mask_in_a_part_of_a_vector(n):
    program = main(
        "A:n B:n",
        nest("j:n:vectorized", sblock("B", "vj:n=j", "B[vj] = T.if_then_else(vj >= 1, A[vj - 1], T.float32(0))")),
    )
    assert warned(program) == []
    lib = quick_build(parse(program))
    a, b = RNG.random(n, np.float32), np.zeros(n, np.float32)
    lib(a, b)
    np.testing.assert_array_equal(b, np.concatenate([[np.float32(0)], a[:-1]]))


STAYS = {
    "T.if_then_else(vj >= 1, T.floordiv(A[vi, vj], A[vi, vj - 1]), 0)": "a division of integers",
    "T.if_then_else(vj >= 1, A[vj, vi], 0)": "an access of A whose lanes are not adjacent",
}


@pytest.mark.parametrize("value", STAYS)
def test_what_cannot_run_under_a_mask_stays(value):
    program = main(
        "A:32x32:int32 B:32x32:int32", nest("i:32 j:32:vectorized", sblock("B", "SS i j", f"B[vi, vj] = {value}"))
    )
    (text,) = warned(program)
    assert f"a condition in it depends on the iteration and guards {STAYS[value]}" in text


def test_vectors_in_vectors():
    program = main("A:8x8", nest("i:8:vectorized j:8:vectorized", sblock("B", "SS i j", "A[vi, vj] = T.float32(1)")))
    assert warned(program) == [
        'vectorized loop "j" runs serially: it is in vectorized loop "i", and vectors have one dimension; vectorize '
        "one of them"
    ]


def test_a_loop_too_long_to_unroll():
    (text,) = warned(one_loop("T.unroll(4100)", "A[0, v % 70] = T.float32(2)", TWO))
    assert text.startswith('unrolled loop "i" is kept as a loop: it would become ')
    assert text.endswith(" ops, at most 4096; split it and unroll the inner loop")


def test_a_loop_of_unknown_length_is_not_unrolled():
    program = main("A:n", nest("i:n:unroll", sblock("B", "v:n=i", "A[v] = T.float32(2)")))
    assert warned(program) == [
        'unrolled loop "i" is kept as a loop: its extent is not constant; split it by a constant factor and unroll the '
        "inner loop"
    ]


def test_parallel_in_parallel():
    program = main("A:8x8", nest("i:8:parallel j:8:parallel", sblock("B", "SS i j", "A[vi, vj] = T.float32(1)")))
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


COPY = main(
    "A:{n} B:{n}",
    "C = T.alloc_buffer(({n},), scope='{scope}')",
    nest("i:{n}", sblock("C", "v:{n}=i", "C[v] = A[{n} - 1 - v]")),
    nest("i:{n}", sblock("B", "v:{n}=i", "B[v] = C[v]")),
)


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


@pytest.mark.parametrize("n", [16, 37])
def test_a_buffer_of_a_vectorized_loop_has_an_element_for_each_lane(n):
    program = COPY.format(n=n, scope="global")
    sch = Schedule(parse(program))
    _, lanes = sch.split(sch.get_loops("B")[0], [None, 16])
    sch.compute_at("C", lanes)
    sch.vectorize(lanes)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        lib = quick_build(sch)
    assert "vector<" in str(lib.lowered)
    a, b = RNG.random(n, np.float32), np.zeros(n, np.float32)
    lib(a, b)
    np.testing.assert_array_equal(b, a[::-1])
