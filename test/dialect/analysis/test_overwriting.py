"""Whether a result of a function may take the memory of an input: each position is read before it is written."""

from __future__ import annotations

import pytest
from harness.nests import nest

from tir_mlir.dialect.analysis import read_after_write
from tir_mlir.dialect.diagnostics import NotProvable

PARAMS = 'A: T.Buffer((16, 16)), C: T.Buffer((16, 16)), t: T.Buffer((16,), "int32")'
ONE = """
for i in {i}:
    for j in {j}:
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = {value}
"""
ROWS = """
S = T.alloc_buffer((16,))
for i in T.parallel(16):
    for k in range(16):
        with T.block("S"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = 0.0
            S[vi] = S[vi] + A[vi, vk]
    for j in T.vectorized(16):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = {value} / S[vi]
"""
SUM = """
for i, j, k in T.grid(16, 16, 16):
    with T.block("C"):
        vi, vj, vk = T.axis.remap("SSR", [i, j, k])
        with T.init():
            C[vi, vj] = 0.0
        C[vi, vj] = C[vi, vj] + A[vi, {index}]
"""


def found(body: str, params: str = PARAMS):
    with nest(params, body, check=False) as n:
        return read_after_write(n.func, n.buffers["A"], n.buffers["C"])


@pytest.mark.parametrize(
    "body",
    [
        ONE.format(i="T.parallel(16)", j="T.vectorized(16)", value="A[vi, vj] + 1.0"),
        ONE.format(i="range(15)", j="range(16)", value="A[vi, vj] + A[vi + 1, vj]"),
        ONE.format(i="range(15)", j="T.vectorized(16)", value="A[vi + 1, vj]"),
        ROWS.format(value="A[vi, vj]"),
    ],
    ids=["elementwise", "rows below", "only rows below", "row sums"],
)
def test_each_place_is_read_before_it_is_written(body):
    assert found(body) is None


@pytest.mark.parametrize(
    ("body", "pair"),
    [
        (ONE.format(i="range(16)", j="range(16)", value="A[15 - vi, vj]"), "C(i=8, j=0) and C(i=7, j=0)"),
        (ONE.format(i="range(16)", j="range(16)", value="A[vj, vi]"), "C(i=1, j=0) and C(i=0, j=1)"),
        (ONE.format(i="T.parallel(15)", j="range(16)", value="A[vi + 1, vj]"), "C(i=0, j=0) and C(i=1, j=0)"),
        (ONE.format(i="range(16)", j="T.vectorized(15)", value="A[vi, vj + 1]"), "C(i=0, j=0) and C(i=0, j=1)"),
        (ROWS.format(value="A[vi, 15 - vj]"), "C(i=0, j=8) and C(i=0, j=7)"),
        (SUM.format(index="vj"), "C(i=0, j=0, k=1) and C(i=0, j=0, k=0)"),
        (SUM.format(index="vk"), "C(i=0, j=1, k=0) and C(i=0, j=0, k=0)"),
    ],
    ids=["reversed", "transposed", "parallel", "lanes", "reversed rows", "sum", "product"],
)
def test_a_place_that_is_read_later_is_told(body, pair):
    clash = found(body)
    assert clash is not None
    assert pair in str(clash)


@pytest.mark.parametrize(
    ("body", "params", "why"),
    [
        (ONE.format(i="range(16)", j="range(16)", value="A[t[vi], vj]"), PARAMS, "index of A is computed from data"),
        (ONE.format(i="range(16)", j="range(16)", value="A[vj]"), "A: T.Buffer((16,)), C: T.Buffer((16, 16))", "shape"),
        (ONE.format(i="range(16)", j="range(16)", value="1.0") + "A[0, 0] = 1.0", PARAMS, "A is written itself"),
        ("for k in range(t[0]):\n    C[0, 0] = A[0, 0]", PARAMS, "A is accessed in a loop whose order is not known"),
    ],
    ids=["table", "shape", "written", "data loop"],
)
def test_what_is_undecided(body, params, why):
    with pytest.raises(NotProvable, match=why):
        found(body, params)


def test_symbolic_sizes():
    body = "n, m = T.int32(), T.int32()\nA = T.match_buffer(a, (n, m))\nC = T.match_buffer(c, (n, m))\n"
    body += ONE.format(i="range(n)", j="T.vectorized(m)", value="A[{}, vj]")
    assert found(body.format("vi"), "a: T.handle, c: T.handle") is None
    assert found(body.format("n - 1 - vi"), "a: T.handle, c: T.handle") is not None
