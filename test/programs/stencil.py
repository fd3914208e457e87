"""Stencil programs, whose consumers need several elements of each row."""

from __future__ import annotations

from programs.short import each, program


def blur(n: int):
    """A producer "P" with a halo of one element on each side of what the consumer "C" computes."""

    return program(
        f"A:{n + 2} C:{n}; P:{n + 2}",
        each(f"P i:{n}+2", "P[vi] = A[vi] * 2.0"),
        each(f"C i:{n}", "C[vi] = P[vi] + P[vi + 1] + P[vi + 2]"),
    )
