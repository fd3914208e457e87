# ruff: noqa: E501 - a statement of a program a line
"""Programs and correct schedules of them, into which faults are injected."""

from tir_mlir.examples import matmul as chapter

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

ROWS = (
    HEAD.format('A: T.Buffer((9, 12), "float32"), B: T.Buffer((9, 12), "float32")')
    + """
    for i, j in T.grid(9, 12):
        with T.block("b"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * A[vi, 11 - vj]
"""
)
ROWS_CACHED = (
    HEAD.format('A: T.Buffer((9, 12), "float32"), B: T.Buffer((9, 12), "float32")')
    + """
    R = T.alloc_buffer((12,), "float32")
    for i in range(9):
        for j in range(12):
            with T.block("r"):
                vi = T.axis.opaque(9, i)
                vj = T.axis.spatial(12, j)
                R[vj] = A[vi, vj]
        for j in range(12):
            with T.block("b"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = R[vj] * R[11 - vj]
"""
)

COUNT = (
    HEAD.format('I: T.Buffer((24,), "int32"), A: T.Buffer((24,), "float32"), B: T.Buffer((24,), "float32")')
    + """
    for i in range(24):
        with T.block("scatter"):
            vi = T.axis.opaque(24, i)
            B[I[vi]] = A[vi]
"""
)

CHAPTER, CHAPTER_SCHEDULED = chapter.matmul(32, 32, 48), chapter.schedule_matmul(32, 32, 48).mod

PAIRS = {
    "mm": (MM, MM_TILED), "square": (SQUARE, SQUARE_PACKED), "softmax": (SOFTMAX, SOFTMAX_FUSED),
    "conv": (CONV, CONV_SCHEDULED), "blur": (BLUR, BLUR_TILED), "inplace": (INPLACE, INPLACE), "int8": (INT8, INT8),
    "half": (HALF, HALF), "norm": (NORM, NORM_MOMENTS), "least": (LEAST, LEAST), "tail": (TAIL, TAIL_SPLIT),
    "rows": (ROWS, ROWS_CACHED), "count": (COUNT, COUNT), "chapter": (CHAPTER, CHAPTER_SCHEDULED),
}  # fmt: skip
