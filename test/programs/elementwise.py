"""Elementwise blocks, alone and in chains."""

from __future__ import annotations

from programs.short import each, nest, program, sblock


def scale(n: int, m: int):
    """B = 2 A."""

    return program(f"A:{n}x{m} B:{n}x{m}", each(f"B i:{n} j:{m}", "B[vi, vj] = A[vi, vj] * 2.0"))


def pair(n: int, m: int):
    """Two stages: C = P + 1, P = 2 A."""

    return program(
        f"A:{n}x{m} C:{n}x{m}; P:{n}x{m}",
        each(f"P i:{n} j:{m}", "P[vi, vj] = A[vi, vj] * 2.0"),
        each(f"C i:{n} j:{m}", "C[vi, vj] = P[vi, vj] + 1.0"),
    )


def chain(n: int, m: int):
    """Three stages: D = C - 3, C = 2 B, B = A + 1."""

    return program(
        f"A:{n}x{m} D:{n}x{m}; B:{n}x{m} C:{n}x{m}",
        each(f"B i:{n} j:{m}", "B[vi, vj] = A[vi, vj] + 1.0"),
        each(f"C i:{n} j:{m}", "C[vi, vj] = B[vi, vj] * 2.0"),
        each(f"D i:{n} j:{m}", "D[vi, vj] = C[vi, vj] - 3.0"),
    )


def rows(n: int, m: int):
    """Two blocks under one loop; each iteration reuses the one-row buffer between them."""

    return program(
        f"A:{n}x{m} C:{n}x{m}; R:{m}",
        nest(
            f"i:{n}",
            nest(f"j:{m}", sblock("R", f"vi:{n}O=i vj:{m}=j", "R[vj] = A[vi, vj] * 2.0")),
            nest(f"j:{m}", sblock("C", "SS i j", f"C[vi, vj] = R[vj] + R[{m} - 1 - vj]")),
        ),
    )
