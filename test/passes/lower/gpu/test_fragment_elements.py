"""Operations on the elements of fragments, on the PTX machine: each lane runs those that it holds."""

from __future__ import annotations

import numpy as np
import pytest
from harness.fragment_programs import fragments, program, tensor

from tir_mlir import build, interpret

RNG = np.random.default_rng(0)
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 1e-45, 3e38, 1.00390625, 1.01171875], np.float32)  # ties of bf16


X = fragments("X", (16, 32), "accumulator")
READ = "i:16 j:32 | X[vi, vj] = A[vi, vj]\n"
A32, B32 = tensor("A", (16, 32)), tensor("B", (16, 32))


def run(func, *inputs: np.ndarray, shape=(16, 32), dtype=np.float32) -> np.ndarray:
    result = np.zeros(shape, dtype)
    interpret(func, *inputs, result, target="sm_80")
    return result


def random(*shape: int) -> np.ndarray:
    values = RNG.standard_normal(shape).astype(np.float32)
    values.ravel()[: len(SPECIAL)] = SPECIAL
    return values


def test_elementwise_with_rows_and_masks():
    a, s = random(16, 32), random(16)
    func = program(
        READ
        + """i:16 | M[vi] = S[vi] * T.float32(2)
        i:16 j:32 | X[vi, vj] = T.if_then_else(vj <= vi, T.max(X[vi, vj], A[vi, vj] * M[vi]), T.float32(-1))
        i:16 j:32 | B[vi, vj] = X[vi, vj]""",
        X + fragments("M", (16,), "row"),
        f"{A32}, {tensor('S', (16,))}, {B32}",
    )
    with np.errstate(all="ignore"):
        wanted = np.where(np.arange(32) <= np.arange(16)[:, None], np.maximum(a, a * (s * 2)[:, None]), -1)
    np.testing.assert_array_equal(run(func, a, s), wanted.astype(np.float32))


@pytest.mark.parametrize("order", ["i:16 j*32", "j*32 i:16"])
@pytest.mark.parametrize(
    ("update", "init", "reference"),
    [
        ("M[vi] = T.max(M[vi], X[vi, vj])", "M[vi] = T.min_value('float32')", lambda a: a.max(1)),
        ("M[vi] = M[vi] + X[vi, vj]", "M[vi] = T.float32(0)", lambda a: a.sum(1)),
        ("M[vi] = M[vi] + X[vi, vj]", "M[vi] = T.float32(7)", lambda a: a.sum(1) + 7),
        ("M[vi] = T.min(M[vi], X[vi, vj])", "M[vi] = T.float32(0.5)", lambda a: np.minimum(a.min(1), 0.5)),
    ],
)
def test_rows(update, init, reference, order):
    a = RNG.integers(-9, 9, (16, 32)).astype(np.float32)
    func = program(
        READ + f"{order} | {update} | {init}\n" + "i:16 | B[vi] = M[vi]",
        X + fragments("M", (16,), "row"),
        f"{A32}, {tensor('B', (16,))}",
    )
    np.testing.assert_array_equal(run(func, a, shape=(16,)), reference(a))


def test_rows_that_go_on():
    """A sum that starts from what was there counts it once."""
    a, s = (RNG.integers(-9, 9, shape).astype(np.float32) for shape in ((16, 32), (16,)))
    func = program(
        READ + "i:16 | M[vi] = S[vi]\n i:16 j*32 | M[vi] = M[vi] + X[vi, vj] * X[vi, vj]\n" + "i:16 | B[vi] = M[vi]",
        X + fragments("M", (16,), "row"),
        f"{A32}, {tensor('S', (16,))}, {tensor('B', (16,))}",
    )
    np.testing.assert_array_equal(run(func, a, s, shape=(16,)), s + (a * a).sum(1))


def test_columns():
    a = RNG.integers(-9, 9, (16, 32)).astype(np.float32)
    func = program(
        READ + "i*16 j:32 | M[vj] = M[vj] + X[vi, vj] | M[vj] = T.float32(0)\n" + "j:32 | B[vj] = M[vj]",
        X + fragments("M", (32,), "column"),
        f"{A32}, {tensor('B', (32,))}",
    )
    np.testing.assert_array_equal(run(func, a, shape=(32,)), a.sum(0))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_sums_become_an_operand_in_place(dtype):
    """Conversion of registers: ties to even, NaN and infinity kept; no shuffle, no shared memory."""
    a = random(16, 32)
    func = program(
        READ
        + f"""i:16 j:32 | P[vi, vj] = T.Cast("{dtype}", X[vi, vj])
        i:16 j:32 | B[vi, vj] = T.Cast("float32", P[vi, vj])""",
        X + fragments("P", (16, 32), "matrix_a", dtype),
        f"{A32}, {B32}",
    )
    with np.errstate(all="ignore"):
        wanted = a.astype(np.float16).astype(np.float32)
    if dtype == "bfloat16":
        bits = a.view(np.uint32).astype(np.uint64)
        wanted = ((bits + 0x7FFF + (bits >> 16 & 1)) & 0xFFFF0000).astype(np.uint32).view(np.float32)
        wanted[np.isnan(a)] = np.nan
    np.testing.assert_array_equal(run(func, a), wanted)
    text = build(func, target="sm_80").assembly
    assert "shfl" not in text
    assert "shared" not in text


def test_two_consumers_of_sums():
    a = random(16, 32)
    func = program(
        READ
        + """i:16 j:32 | P[vi, vj] = T.Cast("float16", X[vi, vj])
        i:16 j:32 | X[vi, vj] = X[vi, vj] + T.Cast("float32", P[vi, vj])
        i:16 j:32 | B[vi, vj] = X[vi, vj]""",
        X + fragments("P", (16, 32), "matrix_a", "float16"),
        f"{A32}, {B32}",
    )
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(func, a), a + a.astype(np.float16).astype(np.float32))


def test_transposed_sums_are_the_other_operand():
    """Lanes of sums of M x N hold what lanes of a matrix B of N x M do."""
    a = random(16, 32)
    func = program(
        READ
        + 'i:16 j:32 | P[vj, vi] = T.Cast("float16", X[vi, vj])\n i:16 j:32 | B[vi, vj] = T.Cast("float32", P[vj, vi])',
        X + fragments("P", (32, 16), "matrix_b", "float16"),
        f"{A32}, {B32}",
    )
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(run(func, a), a.astype(np.float16).astype(np.float32))


def test_a_row_is_stored_once_by_the_lanes_that_hold_it():
    text = build(
        program("i:16 | M[vi] = A[vi]\n i:16 | B[vi] = M[vi]", fragments("M", (16,), "row"),
                f"{tensor('A', (16,))}, {tensor('B', (16,))}"), target="sm_80").assembly  # fmt: skip
    assert text.count("st.global") == 2
    assert "setp.ne" in text
