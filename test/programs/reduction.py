"""Row sums of a matrix: alone, repeated, and between other blocks."""

from __future__ import annotations

from programs.short import each, nest, program, sblock


def row_sums(n: int, m: int):
    """C (n) = the sums of the rows of A (n x m): loops i, k around block "C"."""

    return program(f"A:{n}x{m} C:{n}", each(f"C i:{n} k:{m}R", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))


def scaled_row_sums(n: int, m: int):
    """A reduction "S" and a block "C" that doubles its result."""

    return program(
        f"A:{n}x{m} C:{n}; S:{n}",
        each(f"S i:{n} k:{m}R", "S[vi] += A[vi, vk]", init="S[vi] = 0.0"),
        each(f"C i:{n}", "C[vi] = S[vi] * 2.0"),
    )


def staged_row_sums(n: int, m: int = 4):
    """P feeds Q elementwise, Q feeds S, a sum over m."""

    return program(
        f"A:{n}x{m} S:{n}; P:{n}x{m} Q:{n}x{m}",
        each(f"P i:{n} j:{m}", "P[vi, vj] = A[vi, vj] * 2.0"),
        each(f"Q i:{n} j:{m}", "Q[vi, vj] = P[vi, vj] + 1.0"),
        each(f"S i:{n} k:{m}R", "S[vi] += Q[vi, vk]", init="S[vi] = 0.0"),
    )


RepeatedRowSums = program(
    "A:8x4 C:8", nest("i:8 t:2 k:4", sblock("C", "SR i k", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))
)
"""Loop t computes each sum twice, each time from its init."""
SymbolicRowSums = program("A:nx8 C:n", each("C i:n k:8R", "C[vi] += A[vi, vk]", init="C[vi] = 0.0"))
"""`row_sums` of n rows of 8."""
