"""Small programs for the examples of the manual."""

from tir_mlir.script import tir as T


@T.prim_func
def elementwise(A: T.Buffer((32, 20), "float32"), B: T.Buffer((32, 20), "float32")):
    for i, j in T.grid(32, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0


@T.prim_func
def any_rows(a: T.handle, b: T.handle):
    m = T.int32()
    A = T.match_buffer(a, (m, 20))
    B = T.match_buffer(b, (m, 20))
    for i, j in T.grid(m, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0


@T.prim_func
def two_stages(A: T.Buffer((32, 20), "float32"), C: T.Buffer((32, 20), "float32")):
    B = T.alloc_buffer((32, 20))
    for i, j in T.grid(32, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * 2.0
    for i, j in T.grid(32, 20):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = B[vi, vj] + 1.0


@T.prim_func
def together(A: T.Buffer((32,), "float32"), C: T.Buffer((32,), "float32")):
    B = T.alloc_buffer((32,))
    for i in range(32):
        with T.block("B"):
            vi = T.axis.spatial(32, i)
            B[vi] = A[vi] * 2.0
        with T.block("C"):
            vi = T.axis.spatial(32, i)
            C[vi] = B[vi] + 1.0


@T.prim_func
def running(A: T.Buffer((32,), "float32"), C: T.Buffer((32,), "float32")):
    S = T.alloc_buffer((1,))
    for i in range(32):
        with T.block("S"):
            vi = T.axis.opaque(32, i)
            S[0] = T.if_then_else(vi == 0, 0.0, S[0]) + A[vi]
        with T.block("C"):
            vi = T.axis.spatial(32, i)
            C[vi] = S[0] * 2.0


@T.prim_func
def blur(A: T.Buffer((34,), "float32"), C: T.Buffer((32,), "float32")):
    B = T.alloc_buffer((34,))
    for i in range(34):
        with T.block("B"):
            vi = T.axis.spatial(34, i)
            B[vi] = A[vi] * 2.0
    for i in range(32):
        with T.block("C"):
            vi = T.axis.spatial(32, i)
            C[vi] = B[vi] + B[vi + 1] + B[vi + 2]


@T.prim_func
def matmul(A: T.Buffer((32, 16), "float32"), B: T.Buffer((16, 32), "float32"), C: T.Buffer((32, 32), "float32")):
    for i, j, k in T.grid(32, 32, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]


@T.prim_func
def sums_up_to(A: T.Buffer((64, 64), "float32"), C: T.Buffer((64,), "float32")):
    for i, k in T.grid(64, 64):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0.0
            C[vi] += T.if_then_else(vk <= vi, A[vi, vk], 0.0)


@T.prim_func
def row_sums(A: T.Buffer((32, 64), "float32"), C: T.Buffer((32,), "float32")):
    for i, k in T.grid(32, 64):
        with T.block("C"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                C[vi] = 0.0
            C[vi] += A[vi, vk]


@T.prim_func
def prefix(A: T.Buffer((32,), "float32"), B: T.Buffer((33,), "float32")):
    for i in range(32):
        with T.block("B"):
            vi = T.axis.opaque(32, i)
            B[vi + 1] = B[vi] + A[vi]


@T.prim_func
def padded(A: T.Buffer((30,), "float32"), B: T.Buffer((32,), "float32")):
    for i in range(32):
        with T.block("B"):
            vi = T.axis.spatial(32, i)
            B[vi] = T.if_then_else(1 <= vi and vi < 31, A[vi - 1], T.float32(0))


@T.prim_func
def in_place(A: T.Buffer((32,), "float32")):
    for i in range(32):
        with T.block("A"):
            vi = T.axis.spatial(32, i)
            A[vi] = A[vi] * 2.0


@T.prim_func
def bytes_matmul(A: T.Buffer((32, 16), "int8"), B: T.Buffer((16, 24), "int8"), C: T.Buffer((32, 24), "int32")):
    for i, j, k in T.grid(32, 24, 16):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0
            C[vi, vj] += T.Cast("int32", A[vi, vk]) * T.Cast("int32", B[vk, vj])


@T.prim_func
def odd_matmul(A: T.Buffer((30, 15), "float32"), B: T.Buffer((15, 20), "float32"), C: T.Buffer((30, 20), "float32")):
    for i, j, k in T.grid(30, 20, 15):
        with T.block("C"):
            vi, vj, vk = T.axis.remap("SSR", [i, j, k])
            with T.init():
                C[vi, vj] = 0.0
            C[vi, vj] += A[vi, vk] * B[vk, vj]


@T.prim_func
def sums_and_bias(A: T.Buffer((32, 64), "float32"), D: T.Buffer((32,), "float32"), C: T.Buffer((32,), "float32")):
    B = T.alloc_buffer((32,))
    for i, k in T.grid(32, 64):
        with T.block("B"):
            vi, vk = T.axis.remap("SR", [i, k])
            with T.init():
                B[vi] = 0.0
            B[vi] += A[vi, vk]
    for i in range(32):
        with T.block("C"):
            vi = T.axis.spatial(32, i)
            C[vi] = B[vi] + D[vi]


@T.prim_func
def repeated(A: T.Buffer((32, 20), "float32"), B: T.Buffer((16, 10), "float32")):
    for i, j in T.grid(16, 10):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi // 4 * 2 + vj, vj] + A[vi // 4 * 2 + vj, vj + 1]


@T.prim_func
def scaled(A: T.Buffer((32, 20), "float32"), B: T.Buffer((32, 20), "float32")):
    for i, j in T.grid(32, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = T.max(A[vi, vj] * T.float32(2), T.float32(0))


@T.prim_func
def three_stages(A: T.Buffer((32, 20), "float32"), D: T.Buffer((32, 20), "float32")):
    B = T.alloc_buffer((32, 20))
    C = T.alloc_buffer((32, 20))
    for i, j in T.grid(32, 20):
        with T.block("B"):
            vi, vj = T.axis.remap("SS", [i, j])
            B[vi, vj] = A[vi, vj] * T.float32(2)
    for i, j in T.grid(32, 20):
        with T.block("C"):
            vi, vj = T.axis.remap("SS", [i, j])
            C[vi, vj] = T.max(B[vi, vj], T.float32(0))
    for i, j in T.grid(32, 20):
        with T.block("D"):
            vi, vj = T.axis.remap("SS", [i, j])
            D[vi, vj] = C[vi, vj]
