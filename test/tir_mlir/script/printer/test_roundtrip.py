"""parse(print(m)) is m, and printing it again gives the same text."""

import re
import textwrap
from pathlib import Path

import numpy as np
import pytest
from mlir import ir

from tir_mlir.dialect.ir import enter_context
from tir_mlir.script.parser import parse
from tir_mlir.script.printer import script
from tir_mlir.script.structural_equal import difference

HERE = Path(__file__).parent

PROGRAMS = {
    "relu": """
        A: T.Buffer((128, 128), "float32"), C: T.Buffer((128, 128), "float32")
        Y = T.alloc_buffer((128, 128), dtype="float32")
        for i, j, k in T.grid(128, 128, 128):
            with T.block("Y"):
                vi, vj, vk = T.axis.remap("SSR", [i, j, k])
                with T.init():
                    Y[vi, vj] = T.float32(0)
                Y[vi, vj] += A[vi, vk] * A[vk, vj]
        for i, j in T.grid(128, 128):
            with T.block("C"):
                vi = T.axis.spatial(128, i)
                vj = T.axis.spatial(128, j)
                C[vi, vj] = T.max(Y[vi, vj], T.float32(0))
        """,
    "tensorized block": """
        A: T.Buffer((64, 64), "float32"), C: T.Buffer((64, 64), "float32")
        for i0, j0, k0 in T.grid(4, 4, 4):
            with T.block("tmm-16x16"):
                vi0, vj0, vk0 = T.axis.remap("SSR", [i0, j0, k0])
                with T.init():
                    for i1, j1 in T.grid(16, 16):
                        with T.block("tmm_init"):
                            vi1, vj1 = T.axis.remap("SS", [i1, j1])
                            C[vi0 * 16 + vi1, vj0 * 16 + vj1] = T.float32(0)
                for i1, j1, k1 in T.grid(16, 16, 16):
                    with T.block("tmm"):
                        vi1, vj1, vk1 = T.axis.remap("SSR", [i1, j1, k1])
                        C[vi0 * 16 + vi1, vj0 * 16 + vj1] += (
                            A[vi0 * 16 + vi1, vk0 * 16 + vk1] * A[vj0 * 16 + vj1, vk0 * 16 + vk1]
                        )
        """,
    "predicate": """
        A: T.Buffer((50,), "float32"), B: T.Buffer((50,), "float32")
        for i_0, i_1 in T.grid(4, 16):
            with T.block("B"):
                vi = T.axis.spatial(50, i_0 * 16 + i_1)
                T.where(i_0 * 16 + i_1 < 50)
                B[vi] = A[vi] + T.float32(1)
        """,
    "loop kinds": """
        A: T.Buffer((16, 16, 4), "float32")
        for i in T.parallel(16):
            for j in T.serial(16, annotations={"my.pragma": 1, "my.text": "a\\"b", "my.on": True, "my.list": [1, 2.5]}):
                for k in T.vectorized(4):
                    A[i, j, k] = T.float32(0.1)
        for i in T.thread_binding(16, thread="blockIdx.x"):
            for j in T.unroll(16):
                for k in range(2, 4):
                    A[i, j, k] = T.float32(-1e-5)
        """,
    "axes": """
        A: T.Buffer((16, 16), "float32"), B: T.Buffer((16,), "float32")
        for i, j, k in T.grid(4, 4, 12):
            with T.block("b"):
                T.block_attr({"my.hint": 3})
                u = T.axis.spatial(16, i * 4 + j)
                v = T.axis.reduce((4, 16), k + 4)
                with T.init():
                    B[u] = 0.0
                B[u] = B[u] + A[u, v]
        """,
    "symbolic": """
        a: T.handle, B: T.Buffer((16,), "float32")
        n = T.int32()
        A = T.match_buffer(a, (n, 16), "float16")
        Y = T.alloc_buffer((n, 16), "float16", scope="shared")
        for i, j in T.grid(n, 16):
            with T.block("Y"):
                vi, vj = T.axis.remap("SS", [i, j])
                Y[vi, vj] = A[n - 1 - vi, 15 - vj]
        for i, j in T.grid(n, 16):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = Y[vi, vj]
        """,
    "size parameter": """
        n: T.int32, a: T.handle, x: T.float32
        A = T.match_buffer(a, (n,))
        for i in range(n):
            with T.block("A"):
                vi = T.axis.spatial(n, i)
                A[vi] = A[vi] * x
        """,
    "values": """
        A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32"), M: T.Buffer((16,), "int32"), \
L: T.Buffer((16,), "int64"), P: T.Buffer((16,), "bool"), H: T.Buffer((16,), "float16")
        for i in range(16):
            A[i] = (A[i] + B[i]) * (A[i] - B[i]) / T.exp(-A[i]) - (A[i] - B[i])
            A[i] = T.if_then_else(i < 8 and i >= 2, A[i], B[15 - i])
            A[i] = T.if_then_else(A[i] > B[i] or M[i] == 3, T.sqrt(A[i]), T.float32("inf"))
            A[i] = T.Select(not P[i], T.Cast("float32", M[i]), T.float32("nan"))
            A[i] = T.max(T.min(A[i], T.float32(6)), T.float32(0)) + T.pow(A[i], B[i])
            A[i] = A[M[i]] + A[i % 4 * 4 + i // 4]
            B[i] = T.Cast("float32", i * 2 + 1) + T.sigmoid(A[i]) + T.abs(A[i])
            M[i] = M[i] // 3 + M[i] % 5 - T.truncdiv(M[i], 2) + i
            M[i] = T.bitwise_and(M[i], 7) | M[i] << 2
            L[i] = T.Cast("int64", M[i]) * T.int64(3) + T.Cast("int64", i)
            P[i] = A[i] < B[i] and (M[i] != 0 or P[i])
            H[i] = T.Cast("float16", A[i]) + T.float16(0.1)
        """,
    "let": """
        A: T.Buffer((16,), "float32"), B: T.Buffer((16,), "float32")
        for i in range(16):
            x: T.let[T.float32] = A[i] * T.float32(2)
            y = x + x
            B[i] = y * x
            A[i] = y
        """,
    "if": """
        A: T.Buffer((16,), "float32")
        for i in range(16):
            if i < 3:
                A[i] = 1.0
            else:
                if A[i] > T.float32(0):
                    A[i] = 2.0
        """,
    "triangle": """
        A: T.Buffer((16, 16), "float32")
        for i in range(16):
            for j in range(i + 1):
                A[i, j] = 0.0
        """,
    "opaque root": """
        A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")
        with T.block("root"):
            T.reads(A[0:16, 0:16])
            T.writes(B[0:16, 0:16])
            Y = T.alloc_buffer((16, 16))
            for i, j in T.grid(16, 16):
                with T.block(""):
                    vi, vj = T.axis.remap("SS", [i, j])
                    Y[vi, vj] = A[vi, vj]
            for i, j in T.grid(16, 16):
                with T.block(""):
                    vi, vj = T.axis.remap("SS", [i, j])
                    B[vi, vj] = Y[vi, vj]
        """,
    "intrinsic": """
        a: T.handle, b: T.handle
        sa = T.int32()
        A = T.match_buffer(a, (16, 16), "float32", offset_factor=16, strides=[sa, 1], scope="global.A_reg")
        B = T.match_buffer(b, (16, 16), "float32", offset_factor=16, strides=[32, 1])
        with T.block("root"):
            T.reads(B[0:16, 0:16], A[0:16, 0:16])
            T.writes(B[0:16, 0:16])
            T.evaluate(T.call_extern("copy", B.access_ptr("w"), A.access_ptr("r", offset=4), sa, dtype="int32"))
        """,
    "rank 0": """
        A: T.Buffer((), "float32"), B: T.Buffer((8,), "float32")
        for i in range(8):
            with T.block("A"):
                vi = T.axis.reduce(8, i)
                with T.init():
                    A[()] = 0.0
                A[()] = A[()] + B[vi]
        """,
}


def build(program: str) -> ir.Module:
    params, body = textwrap.dedent(program).strip().split("\n", 1)
    text = f"@I.ir_module\nclass Module:\n    @T.prim_func\n    def main({params}):\n{textwrap.indent(body, ' ' * 8)}"
    return parse(text).mlir


def check(module: ir.Module, **options: str | bool) -> str:
    text = script(module, **options)  # type: ignore[arg-type]
    again = parse(text).mlir
    assert difference(module, again) is None, text
    assert script(again, **options) == text  # type: ignore[arg-type]
    return text


@pytest.mark.parametrize("name", PROGRAMS)
def test_round_trip(name):
    module = build(PROGRAMS[name])
    check(module)
    check(module, syntax_sugar=False)
    check(module, spelling="sblock")


def test_the_tensorized_chapter_reads_back():
    with enter_context():
        module = ir.Module.parse((HERE / "chapter_tensorized.mlir").read_text())
    again = parse(script(module)).mlir
    # a view that is called A next to a parameter A comes back as A_1: compare structure
    assert script(again) == script(module)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_the_least_number_of_a_type_prints_as_one_that_the_type_has(dtype):
    program = f"""
@T.prim_func
def main(A: T.Buffer((1,), "{dtype}")):
    for i in range(1):
        with T.block("A"):
            vi = T.axis.spatial(1, i)
            A[vi] = T.min_value("{dtype}")
"""
    text = script(parse(program).mlir)
    (literal,) = re.findall(rf"T\.{dtype}\((-[\d.e+]+)\)", text)
    assert abs(float(literal)) <= float(np.finfo(dtype).max)
    assert np.dtype(dtype).type(literal) == np.finfo(dtype).min
    assert difference(parse(text).mlir, parse(program).mlir) is None
