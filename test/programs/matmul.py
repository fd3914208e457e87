"""Matrix products as loops and blocks. `products.py` has other layouts, types and names of sizes."""

from __future__ import annotations

from programs.short import each, program

from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


def matmul(n: int, m: int, p: int):
    """C (n x m) = A (n x p) B (p x m): loops i, j, k around block "C"."""

    return program(
        f"A:{n}x{p} B:{p}x{m} C:{n}x{m}",
        each(f"C i:{n} j:{m} k:{p}R", "C[vi, vj] += A[vi, vk] * B[vk, vj]", init="C[vi, vj] = 0.0"),
    )


def matmul_nt(n: int, m: int, k: int, dtype: str = "float32"):
    """C (n x m) = A (n x k) B^T (m x k): loops i, j, kk around block "C"."""

    @I.ir_module
    class Matmul:
        @T.prim_func
        def main(A: T.Buffer((n, k), dtype), B: T.Buffer((m, k), dtype), C: T.Buffer((n, m), dtype)):
            for i, j, kk in T.grid(n, m, k):
                with T.block("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, kk])
                    with T.init():
                        C[vi, vj] = T.Cast(dtype, 0)
                    C[vi, vj] += A[vi, vk] * B[vj, vk]

    return Matmul


def matmul_add(n: int, m: int = 32, k: int = 16):
    """D = A B + 1: block "D" adds to the allocated result of block "C"."""

    @I.ir_module
    class MatmulAdd:
        @T.prim_func
        def main(A: T.Buffer((n, k), "float32"), B: T.Buffer((k, m), "float32"), D: T.Buffer((n, m), "float32")):
            C = T.alloc_buffer((n, m), "float32")
            for i, j, k_ in T.grid(n, m, k):
                with T.block("C"):
                    vi, vj, vk = T.axis.remap("SSR", [i, j, k_])
                    with T.init():
                        C[vi, vj] = 0.0
                    C[vi, vj] += A[vi, vk] * B[vk, vj]
            for i, j in T.grid(n, m):
                with T.block("D"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    D[vi, vj] = C[vi, vj] + 1.0

    return MatmulAdd
