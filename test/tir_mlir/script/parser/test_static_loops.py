"""Loops over Python values are unrolled when the program is parsed."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tir_mlir import Schedule, build
from tir_mlir.dialect.diagnostics import ScriptError
from tir_mlir.interpreter import interpret
from tir_mlir.script import parse
from tir_mlir.script import tir as T
from tir_mlir.script.structural_equal import difference

BATCHER = [(0, 1), (2, 3), (0, 2), (1, 3), (1, 2)]


@T.prim_func
def sorted_rows(A: T.Buffer((8, 4), "float32"), B: T.Buffer((8, 4), "float32")):
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            for j in T.static_range(4):
                B[vi, j] = A[vi, j]
            for a, b in BATCHER:
                low = T.min(B[vi, a], B[vi, b])
                high = T.max(B[vi, a], B[vi, b])
                B[vi, a] = low
                B[vi, b] = high


def run(program, *arrays: np.ndarray) -> None:
    build(program)(*arrays)


def test_a_sorting_network():
    a = np.array(list(itertools.permutations([4.0, 1.0, 3.0, 2.0]))[:8], "float32")
    for call in (build(sorted_rows), lambda *arrays: interpret(sorted_rows, *arrays)):
        b = np.zeros_like(a)
        call(a, b)
        np.testing.assert_array_equal(b, np.sort(a, axis=1))
    text = sorted_rows.script()
    assert difference(parse(text).mlir, sorted_rows.isolated_module.mlir) is None
    assert text.count("T.min(") == len(BATCHER)


STAGES = ((1, 2), (2, 4), (4, 8))


@T.prim_func
def walsh(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("copy"):
            vi = T.axis.spatial(8, i)
            B[vi] = A[vi]
    for number, (half, size) in enumerate(STAGES):
        for g, k in T.grid(8 // size, half):
            with T.block(f"stage{number}"):
                vg, vk = T.axis.remap("OO", [g, k])
                x = B[vg * size + vk]
                y = B[vg * size + vk + half]
                B[vg * size + vk] = x + y
                B[vg * size + vk + half] = x - y


def test_stages_of_a_transform():
    a = np.arange(8, dtype="float32") ** 2
    hadamard = np.array([[1.0]], "float32")
    for _ in range(3):
        hadamard = np.block([[hadamard, hadamard], [hadamard, -hadamard]])
    b = np.zeros(8, "float32")
    run(walsh, a, b)
    np.testing.assert_array_equal(b, hadamard @ a)
    sch = Schedule(walsh)
    assert [sch.get_loops(f"stage{n}")[1] and sch.get(sch.get_loops(f"stage{n}")[1]).extent for n in range(3)] == [
        1,
        2,
        4,
    ]


@T.prim_func
def polynomial(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            total = A[vi] * 0.0
            for c in (3.0, 2.0, 1.0):
                total = total * A[vi] + c
            for s in T.static_range(6, 0, -2):
                if s == 4:
                    total = total - s
            B[vi] = total


def test_a_name_is_bound_again_in_each_iteration():
    a, b = np.linspace(-2, 2, 16, dtype="float32"), np.zeros(16, "float32")
    run(polynomial, a, b)
    np.testing.assert_allclose(b, 3 * a * a + 2 * a + 1 - 4, rtol=1e-5, atol=1e-5)


def text(loop: str, body: str = "B[vi] = A[vi]", before: str = "pass") -> str:
    return f"""
N = 3
PAIRS = ((0, 1), (2, 3))
@T.prim_func
def main(A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), n: T.int32):
    for i in range(16):
        with T.block("B"):
            vi = T.axis.spatial(16, i)
            {before}
            {loop}
                {body}
"""


@pytest.mark.parametrize(("loop", "stores"), [
    ("for p in PAIRS:", 2), ("for k in [1, 2, 4]:", 3), ("for k, p in enumerate(PAIRS):", 2),
    ("for a, b in zip(range(3), 'xyz'):", 3), ("for k in reversed(range(N)):", 3), ("for k in T.static_range(N):", 3),
    ("for k in T.static_range(1, 9, 3):", 3), ("for k in T.static_range(0):", 0), ("for k in {1: 2, 3: 4}.items():", 2),
    ("for k in sorted({3, 1, 2}):", 3), ("for x in (A, B):", 2), ("for e in (vi, vi + 1):", 2),
])  # fmt: skip
def test_what_is_static(loop: str, stores: int):
    module = parse(text(loop, "B[vi] = A[vi]", "B[vi] = T.float32(0)"))
    assert module.script().count("B[vi] = ") == stores + 1


@pytest.mark.parametrize(("loop", "message"), [
    ("for k in A:", "over a tuple, list or range of Python values; this is buffer A"),
    ("for k in n:", "over a tuple, list or range of Python values; this is"),
    ("for k in 7:", "over a tuple, list or range of Python values; this is"),
    ("for k in {1, 2}:", "a set, which has no order"),
    ("for k in T.static_range(n):", "its start is a Python integer, not .*use range.n. or T.serial"),
    ("for k in T.static_range(0, vi):", "its stop is a Python integer"),
    ("for k in T.static_range(2.5):", "its start is a Python integer, not 2.5"),
    ("for k in T.static_range(0, 4, 0):", "the step of T.static_range is 0"),
    ("for k in T.static_range(1000000):", "more than 10000 iterations"),
    ("for a, b, c in PAIRS:", "cannot be unpacked into"),
    ("for a[0] in PAIRS:", "a static loop binds names"),
    ("for k in T.exp(1.0):", "a loop iterates over"),
    ("for k in enumerate(3):", "TypeError"),
])  # fmt: skip
def test_what_is_not_static(loop: str, message: str):
    with pytest.raises(ScriptError, match=message) as caught:
        parse(text(loop))
    assert caught.value.lineno == 10
