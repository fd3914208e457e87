"""Programs that several tests here run."""

from __future__ import annotations

from tir_mlir.script.parser import parse

MATMUL = """
@T.prim_func
def main(A: T.Buffer(({m}, {k}), "{dtype}"), B: T.Buffer(({k}, {n}), "{dtype}"), C: T.Buffer(({m}, {n}), "{out}")):
    for i, j, k in T.grid({m}, {n}, {k}):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = T.Cast("{out}", 0)
            C[vi, vj] = C[vi, vj] + {a} * {b}
"""


def matmul(m, n, k, dtype="float32", out=""):
    out = out or dtype
    a, b = ("A[vi, vk]", "B[vk, vj]")
    if out != dtype:
        a, b = f'T.Cast("{out}", {a})', f'T.Cast("{out}", {b})'
    return parse(MATMUL.format(m=m, n=n, k=k, dtype=dtype, out=out, a=a, b=b))
