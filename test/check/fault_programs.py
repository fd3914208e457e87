# ruff: noqa: E501 - a fault a line
"""Programs, right schedules of them, and faults planted into the schedules: (program, text, text in its place)."""

from __future__ import annotations

HEAD = "@T.prim_func\ndef main({}):\n"

MM = (
    HEAD.format('A: T.Buffer((20, 19), "float32"), B: T.Buffer((18, 19), "float32"), C: T.Buffer((20, 18), "float32")')
    + """
    for i, j, k in T.grid(20, 18, 19):
        with T.block("mm"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vj, vk]
"""
)
MM_TILED = (
    HEAD.format('A: T.Buffer((20, 19), "float32"), B: T.Buffer((18, 19), "float32"), C: T.Buffer((20, 18), "float32")')
    + """
    Ac = T.alloc_buffer((20, 19), "float32")
    Bt = T.alloc_buffer((19, 18), "float32")
    Cc = T.alloc_buffer((20, 18), "float32")
    for k, j in T.grid(19, 18):
        with T.block("Bt"):
            vk, vj = T.axis.remap("SS", [k, j])
            Bt[vk, vj] = B[vj, vk]
    for i0 in range(3):
        for a, b in T.grid(8, 19):
            with T.block("Ac"):
                T.where(i0 * 8 + a < 20)
                va = T.axis.spatial(20, i0 * 8 + a)
                vb = T.axis.spatial(19, b)
                Ac[va, vb] = A[va, vb]
        for i1, j in T.grid(8, 18):
            with T.block("init"):
                T.where(i0 * 8 + i1 < 20)
                vi = T.axis.spatial(20, i0 * 8 + i1)
                vj = T.axis.spatial(18, j)
                Cc[vi, vj] = 0.0
        for k0, k1, i1, j in T.grid(3, 7, 8, 18):
            with T.block("mm"):
                T.where(k0 * 7 + k1 < 19 and i0 * 8 + i1 < 20)
                vi = T.axis.spatial(20, i0 * 8 + i1)
                vj = T.axis.spatial(18, j)
                vk = T.axis.reduce(19, k0 * 7 + k1)
                Cc[vi, vj] = Cc[vi, vj] + Ac[vi, vk] * Bt[vk, vj]
    for i, j in T.grid(20, 18):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = Cc[vi, vj]
"""
)

SQUARE = (
    HEAD.format('A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")')
    + """
    for i, j in T.grid(16, 16):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.max(A[vi, vj], T.float32(0)) * T.float32(0.0625)
"""
)
SQUARE_PACKED = (
    HEAD.format('A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")')
    + """
    P = T.alloc_buffer((4, 4, 4, 4), "float32")
    for i, j in T.grid(16, 16):
        with T.block("p"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi // 4, vj // 4, vi % 4, vj % 4] = A[vi, vj]
    for f in range(256):
        with T.block("b"):
            vi = T.axis.spatial(16, f // 16)
            vj = T.axis.spatial(16, f % 16)
            B[vi, vj] = T.Select(P[vi // 4, vj // 4, vi % 4, vj % 4] > T.float32(0), P[vi // 4, vj // 4, vi % 4, vj % 4], T.float32(0)) / T.float32(16)
"""
)

SOFTMAX = (
    HEAD.format('A: T.Buffer((5, 19), "float32"), B: T.Buffer((5, 19), "float32")')
    + """
    M = T.alloc_buffer((5,), "float32")
    S = T.alloc_buffer((5,), "float32")
    for i, j in T.grid(5, 19):
        with T.block("max"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                M[vi] = T.min_value("float32")
            M[vi] = T.max(M[vi], A[vi, vj] * A[vi, vj])
    for i, j in T.grid(5, 19):
        with T.block("sum"):
            vi, vj = T.axis.remap("SR", [i, j])
            with T.init():
                S[vi] = 0.0
            S[vi] += T.exp(A[vi, vj] * A[vi, vj] - M[vi])
    for i, j in T.grid(5, 19):
        with T.block("div"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.exp(A[vi, vj] * A[vi, vj] - M[vi]) / S[vi]
"""
)
SOFTMAX_FUSED = (
    HEAD.format('A: T.Buffer((5, 19), "float32"), B: T.Buffer((5, 19), "float32")')
    + """
    M = T.alloc_buffer((5,), "float32")
    P = T.alloc_buffer((5, 24), "float32")
    S = T.alloc_buffer((5,), "float32")
    for i in range(5):
        for j in range(24):
            with T.block("pad"):
                vi = T.axis.spatial(5, i)
                vj = T.axis.spatial(24, j)
                P[vi, vj] = T.if_then_else(vj < 19, A[vi, vj] * A[vi, vj], T.min_value("float32"))
        for j in range(24):
            with T.block("max"):
                vi = T.axis.spatial(5, i)
                vj = T.axis.reduce(24, j)
                with T.init():
                    M[vi] = T.min_value("float32")
                M[vi] = T.max(M[vi], P[vi, vj])
        for j in range(19):
            with T.block("sum"):
                vi = T.axis.spatial(5, i)
                vj = T.axis.reduce(19, j)
                with T.init():
                    S[vi] = T.float32(0)
                S[vi] += T.exp(P[vi, vj] - M[vi])
        for j in range(19):
            with T.block("div"):
                vi = T.axis.spatial(5, i)
                vj = T.axis.spatial(19, j)
                B[vi, vj] = T.exp(P[vi, vj] - M[vi]) / S[vi]
"""
)

CONV = (
    HEAD.format('X: T.Buffer((12, 10), "float32"), W: T.Buffer((3, 3), "float32"), Y: T.Buffer((12, 10), "float32")')
    + """
    P = T.alloc_buffer((14, 12), "float32")
    for i, j in T.grid(14, 12):
        with T.block("pad"):
            vi, vj = T.axis.remap("SS", [i, j])
            P[vi, vj] = T.if_then_else(1 <= vi and vi < 13 and 1 <= vj and vj < 11, X[vi - 1, vj - 1], T.float32(0))
    for i, j, r, s in T.grid(12, 10, 3, 3):
        with T.block("conv"):
            vi, vj, vr, vs = T.axis.remap("SSRR", [i, j, r, s])
            with T.init():
                Y[vi, vj] = 0.0
            Y[vi, vj] += P[vi + vr, vj + vs] * W[vr, vs]
"""
)
CONV_SCHEDULED = (
    CONV.replace("for i, j, r, s in T.grid(12, 10, 3, 3):", "for r, s, i, j in T.grid(3, 3, 12, 10):")
    .replace("            with T.init():\n                Y[vi, vj] = 0.0\n", "")
    .replace(
        "    for r, s, i, j",
        """    for i, j in T.grid(12, 10):
        with T.block("zero"):
            vi, vj = T.axis.remap("SS", [i, j])
            Y[vi, vj] = 0.0
    for r, s, i, j""",
    )
)

BLUR = (
    HEAD.format('A: T.Buffer((34,), "float32"), B: T.Buffer((30,), "float32")')
    + """
    X = T.alloc_buffer((32,), "float32")
    for i in range(32):
        with T.block("x"):
            vi = T.axis.spatial(32, i)
            X[vi] = (A[vi] + A[vi + 1] * 2.0 + A[vi + 2]) / 4.0
    for i in range(30):
        with T.block("b"):
            vi = T.axis.spatial(30, i)
            B[vi] = X[vi] - X[vi + 2]
"""
)
BLUR_TILED = (
    HEAD.format('A: T.Buffer((34,), "float32"), B: T.Buffer((30,), "float32")')
    + """
    X = T.alloc_buffer((32,), "float32")
    for t in range(5):
        for i in range(8):
            with T.block("x"):
                vi = T.axis.spatial(32, t * 6 + i)
                X[vi] = (A[vi] + A[vi + 2]) * 0.25 + A[vi + 1] * 0.5
        for i in range(6):
            with T.block("b"):
                vi = T.axis.spatial(30, t * 6 + i)
                B[vi] = X[vi] - X[vi + 2]
"""
)

INPLACE = (
    HEAD.format('A: T.Buffer((20,), "float32")')
    + """
    X = T.alloc_buffer((20,), "float32")
    for i in range(20):
        with T.block("copy"):
            vi = T.axis.spatial(20, i)
            X[vi] = A[vi]
    for i in range(18):
        with T.block("step"):
            vi = T.axis.opaque(18, i)
            A[vi + 1] = X[vi] + X[vi + 2]
"""
)

INT8 = (
    HEAD.format('A: T.Buffer((8, 9), "int8"), B: T.Buffer((7, 9), "int8"), C: T.Buffer((8, 7), "int32")')
    + """
    for i, j, k in T.grid(8, 7, 9):
        with T.block("mm"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj, vk])
"""
)

HALF = (
    HEAD.format('A: T.Buffer((9, 12), "float16"), C: T.Buffer((9,), "float32")')
    + """
    for i, k in T.grid(9, 12):
        with T.block("sum"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = T.float32(0)
            C[vi] += T.Cast("float32", A[vi, vk])
"""
)

NORM = (
    HEAD.format('A: T.Buffer((4, 12), "float32"), B: T.Buffer((4, 12), "float32")')
    + """
    S = T.alloc_buffer((4,), "float32")
    Q = T.alloc_buffer((4,), "float32")
    for i, k in T.grid(4, 12):
        with T.block("s"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                S[vi] = 0.0
            S[vi] += A[vi, vk]
    for i, k in T.grid(4, 12):
        with T.block("q"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                Q[vi] = 0.0
            Q[vi] += (A[vi, vk] - S[vi] / 12.0) * (A[vi, vk] - S[vi] / 12.0)
    for i, k in T.grid(4, 12):
        with T.block("n"):
            vi, vk = T.axis.remap("SS", [i, k])
            B[vi, vk] = (A[vi, vk] - S[vi] / 12.0) * T.rsqrt(Q[vi] / 12.0 + 1e-5)
"""
)
NORM_MOMENTS = NORM.replace(
    "Q[vi] += (A[vi, vk] - S[vi] / 12.0) * (A[vi, vk] - S[vi] / 12.0)", "Q[vi] += A[vi, vk] * A[vi, vk]"
).replace(
    "T.rsqrt(Q[vi] / 12.0 + 1e-5)",
    "(1.0 / T.sqrt((Q[vi] - S[vi] * S[vi] * T.float32(0.0833333358168602)) / 12.0 + 1e-5))",
)

LEAST = (
    HEAD.format('A: T.Buffer((6, 9), "float32"), V: T.Buffer((6,), "float32"), I: T.Buffer((6,), "int32")')
    + """
    for i, k in T.grid(6, 9):
        with T.block("first"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                V[vi] = T.max_value("float32")
                I[vi] = -1
            v: T.float32 = T.Select(A[vi, vk] < V[vi], A[vi, vk], V[vi])
            n: T.int32 = T.Select(A[vi, vk] < V[vi], vk, I[vi])
            V[vi] = v
            I[vi] = n
"""
)

TAIL = (
    HEAD.format("a: T.handle, b: T.handle")
    + """
    n = T.int32()
    A = T.match_buffer(a, (n,), "float32")
    B = T.match_buffer(b, (n,), "float32")
    for i in range(n):
        with T.block("b"):
            vi = T.axis.spatial(n, i)
            B[vi] = A[vi] + 1.0
"""
)
TAIL_SPLIT = TAIL.replace("for i in range(n):", "for i0, i1 in T.grid((n + 15) // 16, 16):").replace(
    "            vi = T.axis.spatial(n, i)",
    "            T.where(i0 * 16 + i1 < n)\n            vi = T.axis.spatial(n, i0 * 16 + i1)",
)

PAIRS = {
    "mm": (MM, MM_TILED), "square": (SQUARE, SQUARE_PACKED), "softmax": (SOFTMAX, SOFTMAX_FUSED),
    "conv": (CONV, CONV_SCHEDULED), "blur": (BLUR, BLUR_TILED), "inplace": (INPLACE, INPLACE), "int8": (INT8, INT8),
    "half": (HALF, HALF), "norm": (NORM, NORM_MOMENTS), "least": (LEAST, LEAST), "tail": (TAIL, TAIL_SPLIT),
}  # fmt: skip

FAULTS = [
    ("mm", "Ac[va, vb] = A[va, vb]", "Ac[va, vb] = A[va, 18 - vb]", "cache index reversed"),
    ("mm", "Ac[va, vb] = A[va, vb]", "Ac[va, vb] = A[va, vb] * 2.0", "cache holds something else"),
    ("mm", "Bt[vk, vj] = B[vj, vk]", "Bt[vk, vj] = B[17 - vj, vk]", "packed rows in reverse"),
    ("mm", "vk = T.axis.reduce(19, k0 * 7 + k1)", "vk = T.axis.reduce(19, 18 - k0 * 7)", "inner part of the sum index lost"),
    ("mm", "T.where(k0 * 7 + k1 < 19 and", "T.where(k0 * 7 + k1 < 18 and", "guard of the sum one short"),
    ("mm", "T.grid(3, 7, 8, 18)", "T.grid(2, 7, 8, 18)", "outer loop of the sum one short"),
    ("mm", "T.grid(3, 7, 8, 18)", "T.grid(3, 6, 8, 18)", "inner loop of the sum one short"),
    ("mm", "                T.where(k0 * 7 + k1 < 19 and i0 * 8 + i1 < 20)", "                T.where(k0 * 7 + k1 < 19 and i0 * 8 + i1 < 19)", "guard of the rows one short"),
    ("mm", "Cc[vi, vj] = 0.0", "Cc[vi, vj] = Cc[vi, vj] * 0.0", "zero times what nobody wrote"),
    ("mm", "Cc[vi, vj] = 0.0", "Cc[vi, vj] = 1.0", "sum starts at 1"),
    ("mm", "Cc[vi, vj] = Cc[vi, vj] + Ac", "Cc[vi, vj] = Ac", "overwritten instead of summed"),
    ("mm", "Cc[vi, vj] + Ac[vi, vk] * Bt", "Cc[vi, vj] - Ac[vi, vk] * Bt", "subtracted instead of summed"),
    ("mm", "Cc[vi, vj] + Ac[vi, vk] * Bt[vk, vj]", "T.max(Cc[vi, vj], Ac[vi, vk] * Bt[vk, vj])", "max instead of a sum"),
    ("mm", "C[vi, vj] = Cc[vi, vj]", "C[vi, vj] = Cc[19 - vi, vj]", "result rows in reverse"),
    ("mm", "T.where(i0 * 8 + i1 < 20)", "T.where(i0 * 8 + i1 < 19)", "last row not set to zero"),
    ("mm", "Ac[vi, vk] * Bt", "A[vi, vk] * Ac[vi, vk] * Bt", "a factor twice"),
    ("mm", "    for i, j in T.grid(20, 18):", "    for i, j in T.grid(19, 18):", "last row not written back"),
    ("square", "P[vi // 4, vj // 4, vi % 4, vj % 4] = A", "P[vi // 4, vj // 4, vj % 4, vi % 4] = A", "packed tiles transposed"),
    ("square", "P[vi // 4, vj // 4, vi % 4, vj % 4] = A", "P[vj // 4, vi // 4, vi % 4, vj % 4] = A", "tiles at each other's places"),
    ("square", "B[vi, vj] = T.Select", "B[vj, vi] = T.Select", "wrong inverse of a fused loop"),
    ("square", "T.float32(16)", "T.float32(17)", "divided by another number"),
    ("square", "> T.float32(0), P", "< T.float32(0), P", "comparison turned round"),
    ("square", "P[vi // 4, vj // 4, vi % 4, vj % 4], T.float32(0))", "P[vi // 4, vj // 4, vi % 4, vj % 4], T.float32(1))", "wrong other branch"),
    ("square", "] = A[vi, vj]", "] = A[vj, vi]", "source transposed"),
    ("softmax", "T.if_then_else(vj < 19,", "T.if_then_else(vj < 18,", "padding covers data"),
    ("softmax", 'A[vi, vj] * A[vi, vj], T.min_value("float32"))', "A[vi, vj] * A[vi, vj], T.float32(0))", "padding of a max is 0"),
    ("softmax", 'M[vi] = T.min_value("float32")', "M[vi] = T.float32(0)", "max starts at 0"),
    ("softmax", 'M[vi] = T.min_value("float32")', "M[vi] = T.float32(-10000)", "max starts at -10000"),
    ("softmax", 'M[vi] = T.min_value("float32")', "M[vi] = T.float32(-1e9)", "max starts at -1e9"),
    ("softmax", 'M[vi] = T.min_value("float32")', 'M[vi] = T.max_value("float32")', "max starts at the identity of min"),
    ("softmax", "M[vi] = T.max(M[vi]", "M[vi] = T.min(M[vi]", "min instead of max"),
    ("softmax", "S[vi] = T.float32(0)", "S[vi] = T.float32(1)", "sum starts at 1"),
    ("softmax", "        for j in range(19):\n            with T.block(\"sum\"):\n                vi = T.axis.spatial(5, i)\n                vj = T.axis.reduce(19, j)", "        for j in range(18):\n            with T.block(\"sum\"):\n                vi = T.axis.spatial(5, i)\n                vj = T.axis.reduce(18, j)", "last term of a sum lost"),
    ("softmax", "S[vi] += T.exp(P[vi, vj] - M[vi])", "S[vi] += T.exp(P[vi, vj])", "maximum not taken off"),
    ("softmax", "B[vi, vj] = T.exp(P", "B[vi, vj] = T.exp2(P", "another function"),
    ("softmax", "/ S[vi]", "* S[vi]", "multiplied instead of divided"),
    ("conv", "P[vi + vr, vj + vs] * W[vr, vs]", "P[vi + vr, vj + vs] * W[vs, vr]", "window transposed"),
    ("conv", "P[vi + vr, vj + vs]", "P[vi + vs, vj + vr]", "offsets of the window swapped"),
    ("conv", "P[vi + vr, vj + vs]", "P[vi + 2 - vr, vj + vs]", "window turned round"),
    ("conv", "T.grid(3, 3, 12, 10)", "T.grid(2, 3, 12, 10)", "window one short"),
    ("conv", "X[vi - 1, vj - 1], T.float32(0))", "X[vi - 1, vj - 1], T.float32(1))", "padding is 1"),
    ("conv", "vj < 11, X", "vj < 10, X", "padding one too wide"),
    ("conv", "            Y[vi, vj] = 0.0", "            Y[vi, vj] = X[vi, vj]", "wrong start of a sum"),
    ("blur", "A[vi + 1] * 0.5", "A[vi + 1] * 0.25", "wrong weight"),
    ("blur", "A[vi + 1] * 0.5", "A[vi] * 0.5", "stencil one off"),
    ("blur", "X[vi] - X[vi + 2]", "X[vi + 2] - X[vi]", "difference turned round"),
    ("blur", "X[vi] - X[vi + 2]", "X[vi] - X[vi + 1]", "reach of a stencil"),
    ("inplace", "A[vi + 1] = X[vi] + X[vi + 2]", "A[vi + 1] = A[vi] + A[vi + 2]", "stencil in place"),
    ("inplace", "X[vi] + X[vi + 2]", "A[vi] + X[vi + 2]", "stale copy passed by"),
    ("int8", 'T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vj, vk])', 'T.Cast("int32", A[vi, vk] * B[vj, vk])', "product wraps in 8 bits"),
    ("int8", 'T.Cast("int32", A[vi, vk])', 'T.bitwise_and(T.Cast("int32", A[vi, vk]), 255)', "zeros instead of the sign"),
    ("int8", 'C[vi, vj] += T', 'C[vi, vj] = T.min(C[vi, vj], 1000) + T', "sum saturates"),
    ("half", 'T.Cast("float32", A[vi, vk])', 'T.Cast("float32", T.Cast("float16", T.Cast("float32", A[vi, vk]) * 2.0)) * 0.5', "rounded on the way"),
    ("half", "C[vi] += ", 'C[vi] = T.Cast("float32", T.Cast("float16", C[vi])) + ', "sum kept in half precision"),
    ("half", "C[vi] += ", 'C[vi] = T.Cast("float32", T.Cast("bfloat16", C[vi])) + ', "sum kept in bfloat16"),
    ("norm", "1e-5", "1e-6", "another epsilon"),
    ("norm", "/ 12.0 + 1e-5", "/ 11.0 + 1e-5", "divided by n - 1"),
    ("norm", "(1.0 / T.sqrt(", "(T.sqrt(", "root instead of its inverse"),
    ("norm", "- S[vi] * S[vi] *", "- S[vi] *", "moment not squared"),
    ("least", "A[vi, vk] < V[vi], vk", "A[vi, vk] <= V[vi], vk", "ties go to the last"),
    ("least", 'V[vi] = T.max_value("float32")', "V[vi] = T.float32(1e9)", "min starts at 1e9"),
    ("tail", "i0 * 16 + i1 < n)", "i0 * 16 + i1 < n - 1)", "guard of a tail one short"),
    ("tail", "A[vi] + 1.0", "A[n - 1 - vi] + 1.0", "reversed"),
]  # fmt: skip

# legal rewrites that must be found equal: (program, text, text in its place)
CONTROLS = [
    ("mm", "vk = T.axis.reduce(19, k0 * 7 + k1)", "vk = T.axis.reduce(19, 18 - (k0 * 7 + k1))", "sum in reverse"),
    ("mm", "T.grid(3, 7, 8, 18)", "T.grid(3, 7, 8, 18)", "as it is"),
    ("square", "/ T.float32(16)", "* T.float32(0.0625)", "division as a product"),
    ("softmax", "S[vi] += T.exp(P[vi, vj] - M[vi])", "S[vi] = T.exp(P[vi, vj] - M[vi]) + S[vi]", "sum turned round"),
    ("norm", "T.sqrt(", "T.sqrt(", "moments instead of two passes"),
    ("half", 'T.Cast("float32", A[vi, vk])', 'T.Cast("float32", T.Cast("float16", T.Cast("float32", A[vi, vk])))', "a round trip"),
    ("conv", "P[vi + vr, vj + vs] * W[vr, vs]", "W[vr, vs] * P[vi + vr, vj + vs]", "factors turned round"),
    ("blur", "(A[vi] + A[vi + 2]) * 0.25", "(A[vi] + A[vi + 2]) / 4.0", "weights as divisions"),
    ("int8", "C[vi, vj] += T", "C[vi, vj] = 0 + C[vi, vj] + T", "a zero more"),
    ("tail", "(n + 15) // 16, 16", "(n + 31) // 16, 16", "a tile more than needed"),
]  # fmt: skip

# faults that the parser would refuse, in the MLIR text of the schedule: (program, pattern, text in its place, which
# match of it, what)
BROKEN = [
    ("mm", r"= 0 to 3 {", "= 0 to 2 {", 0, "last tile of rows left out"),
    ("mm", r"= 0 to 19 {", "= 0 to 18 {", 0, "packing one short"),
    ("mm", r"= 0 to 19 {", "= 0 to 18 {", 1, "cache one column short"),
    ("mm", r"= 0 to 18 {", "= 0 to 19 {", 0, "packing one too long"),
    ("mm", r"= 0 to 8 {", "= 0 to 7 {", 1, "initialised rows one short"),
    ("mm", r"\+ 19 >= 0", "+ 27 >= 0", 0, "guard dropped"),
    ("mm", r"affine.store %cst[_0-9]*, %alloc.*\n", "\n", 0, "initialisation missing"),
    ("mm", r"(affine.store .*, %arg2\[%arg\d+)", r"\1 + 1", 0, "written one row too low"),
    ("mm", r"(affine.load %arg0\[%arg\d+)", r"\1 - 1", 0, "read one row too high"),
    ("conv", r"(= affine.load %alloc\[)(%arg\d+) \+ (%arg\d+)", r"\1\2 + \3 + 1", 0, "window one too low"),
    ("conv", r"affine.store %cst[_0-9]*, %arg2.*\n", "\n", 0, "sums start at what the caller left there"),
    ("blur", r"= 0 to 8 {", "= 0 to 7 {", 0, "halo one short"),
    ("blur", r"= 0 to 8 {", "= 0 to 9 {", 0, "tile one too long"),
    ("softmax", r"= 0 to 24 {", "= 0 to 23 {", 0, "padding one short"),
    ("tail", r"affine_set<.*>", "affine_set<(d0, d1)[s0] : (s0 - d0 * 16 - d1 + 15 >= 0)>", 0, "tail not guarded"),
]
