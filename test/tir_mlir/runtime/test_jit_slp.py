"""Programs on which LLVM 22.1's superword vectorizer makes code that aborts: each runs in a process of its own."""

import subprocess
import sys
import textwrap

import pytest

PROGRAM = """
    import numpy as np
    from tir_mlir import build
    from tir_mlir.script.parser import parse

    lib = build(parse('''
    @T.prim_func
    def main(A: T.Buffer((8, 6), "float32"), E: T.Buffer((8, 6), "float32"), C: T.Buffer((8, 6), "float32")):
        B = T.alloc_buffer((8, 6))
        D = T.alloc_buffer((8, 6))
        F = T.alloc_buffer((8, 6))
        G = T.alloc_buffer((8, 6))
        for i in range(8):
            for j in range(6):
                with T.block("a"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    A[vi, vj] = C[vi, 5 - vj] * T.float32(2) + C[vi, 5 - vj] * T.float32(1)
            for j in range(6):
                with T.block("d"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    D[vi, 5 - vj] = A[vi, vj] * T.float32(2) + C[7 - vi, vj] * T.float32(3)
        for i, j in T.grid(8, 6):
            with T.block("g"):
                vi, vj = T.axis.remap("SS", [i, j])
                G[vi, 5 - vj] = E[vi, vj] * T.float32(1)
        for i in range(8):
            for j in range(6):
                with T.block("c"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    C[vi, vj] = G[7 - vi, vj] * T.float32(1) + G[7 - vi, 5 - vj] * T.float32(2)
        for i in range(8):
            for j in range(6):
                with T.block("b"):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = G[vi, vj] * T.float32(3) + T.cast(vi * 3 + vj, "float32")
        for i, j in T.grid(8, 6):
            with T.block("f"):
                vi, vj = T.axis.remap("SS", [i, j])
                F[vi, vj] = T.if_then_else(vi < 7 and vj > 1, G[vi + 1, vj - 2], G[0, vj]) * T.float32(3) \\
                    + B[vi, vj] * T.float32(3) + T.cast(vi * 3 + vj, "float32")
        for i, j in T.grid(8, 6):
            with T.block("e"):
                vi, vj = T.axis.remap("SS", [i, j])
                E[vi, vj] = D[vi, vj] * T.float32(3) + F[vi, vj] * T.float32(2)
    '''), driver=DRIVER)
    a, e, c = (np.arange(48, dtype="float32").reshape(8, 6) + k for k in range(3))
    a_new = c[:, ::-1] * 3
    d = (a_new * 2 + c[::-1] * 3)[:, ::-1]
    g = e[:, ::-1].copy()
    count = np.add.outer(np.arange(8) * 3, np.arange(6)).astype("float32")
    shifted = np.repeat(g[:1], 8, axis=0)
    shifted[:7, 2:] = g[1:, :4]
    lib["main"](a, e, c)
    np.testing.assert_array_equal(a, a_new)
    np.testing.assert_array_equal(c, g[::-1] + 2 * g[::-1, ::-1])
    np.testing.assert_array_equal(e, d * 3 + (shifted * 3 + (g * 3 + count) * 3 + count) * 2)
    print("right")
"""


@pytest.mark.parametrize("driver", ["jit", "tools"])
@pytest.mark.nightly
def test_reversed_loads_do_not_abort(driver):
    program = textwrap.dedent(PROGRAM).replace("DRIVER", repr(driver))
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stdout) == (0, "right\n"), done.stderr
