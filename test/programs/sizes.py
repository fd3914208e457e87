"""Shapes and dtypes of program arguments, as `same_result` takes them."""

from __future__ import annotations

Argument = tuple[tuple[int, ...], str]


def square(n: int, m: int, dtype: str = "float32") -> tuple[Argument, Argument]:
    """An input and an output of n x m."""
    return ((n, m), dtype), ((n, m), dtype)


def matmul_sizes(n: int, m: int, k: int, dtype: str = "float32") -> tuple[Argument, ...]:
    """Of `matmul`: C (n x m) = A (n x k) B (k x m)."""
    return ((n, k), dtype), ((k, m), dtype), ((n, m), dtype)


def matmul_nt_sizes(n: int, m: int, k: int, dtype: str = "float32") -> tuple[Argument, ...]:
    """Of `matmul_nt`: C (n x m) = A (n x k) B^T (m x k)."""
    return ((n, k), dtype), ((m, k), dtype), ((n, m), dtype)


def vectors(n: int, extra: int = 0) -> tuple[Argument, Argument]:
    """An input of n + extra elements and an output of n."""
    return ((n + extra,), "float32"), ((n,), "float32")
