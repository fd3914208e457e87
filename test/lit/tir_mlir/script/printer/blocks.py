# The order in a block: iters, where, reads, writes, attributes, allocations, matched buffers, init, body.
# RUN: tir-opt %s --split-input-file --emit=script | FileCheck %s

from tir_mlir.script import tir as T


@T.prim_func
def where(A: T.Buffer((13,), "float32")):
    for i, j in T.grid(4, 4):
        with T.block("A"):
            vi = T.axis.spatial(13, i * 4 + j)
            T.where(i * 4 + j < 13)
            A[vi] = T.float32(0)


# CHECK-LABEL: def where(A: T.Buffer((13,), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i, j in T.grid(4, 4):
# CHECK-NEXT: with T.block("A"):
# CHECK-NEXT: vi = T.axis.spatial(13, i * 4 + j)
# CHECK-NEXT: T.where(i * 4 + j < 13)
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi])
# CHECK-NEXT: A[vi] = T.float32(0.0)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def init(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
    for i, j in T.grid(4, 8):
        with T.block("B"):
            vi, vj = T.axis.remap("SR", [i, j])
            T.block_attr({"key": 1})
            with T.init():
                B[vi] = T.float32(0)
            B[vi] = B[vi] + A[vi, vj]


# CHECK-LABEL: def init(A: T.Buffer((4, 8), "float32"), B: T.Buffer((4,), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i, j in T.grid(4, 8):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi, vj = T.axis.remap("SR", [i, j])
# CHECK-NEXT: T.reads(A[vi, vj])
# CHECK-NEXT: T.writes(B[vi])
# CHECK-NEXT: T.block_attr({"key": 1})
# CHECK-NEXT: with T.init():
# CHECK-NEXT: B[vi] = T.float32(0.0)
# CHECK-NEXT: B[vi] = B[vi] + A[vi, vj]

# -----

from tir_mlir.script import tir as T


@T.prim_func
def root_and_alloc(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
    C = T.alloc_buffer((8,))
    D = T.alloc_buffer((8,), "float16", scope="shared")
    for i in range(8):
        with T.block("C"):
            vi = T.axis.spatial(8, i)
            C[vi] = A[vi]
    for i in range(8):
        with T.block("D"):
            vi = T.axis.spatial(8, i)
            D[vi] = T.Cast("float16", C[vi])
    for i in range(8):
        with T.block("B"):
            vi = T.axis.spatial(8, i)
            B[vi] = T.Cast("float32", D[vi])


# CHECK-LABEL: def root_and_alloc(A: T.Buffer((8,), "float32"), B: T.Buffer((8,), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: C = T.alloc_buffer((8,))
# CHECK-NEXT: D = T.alloc_buffer((8,), "float16", scope="shared")
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: with T.block("C"):
# CHECK-NEXT: vi = T.axis.spatial(8, i)
# CHECK-NEXT: T.reads(A[vi])
# CHECK-NEXT: T.writes(C[vi])
# CHECK-NEXT: C[vi] = A[vi]
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: with T.block("D"):
# CHECK-NEXT: vi = T.axis.spatial(8, i)
# CHECK-NEXT: T.reads(C[vi])
# CHECK-NEXT: T.writes(D[vi])
# CHECK-NEXT: D[vi] = T.Cast("float16", C[vi])
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: with T.block("B"):
# CHECK-NEXT: vi = T.axis.spatial(8, i)
# CHECK-NEXT: T.reads(D[vi])
# CHECK-NEXT: T.writes(B[vi])
# CHECK-NEXT: B[vi] = T.Cast("float32", D[vi])

# -----

from tir_mlir.script import tir as T


@T.prim_func
def nested(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
    for i in range(4):
        with T.block("outer"):
            vi = T.axis.spatial(4, i)
            S = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:16], (4, 16), strides=["s", 1], offset_factor=1)
            for a, b in T.grid(4, 16):
                with T.block("inner"):
                    va, vb = T.axis.remap("SS", [a, b])
                    B[vi * 4 + va, vb] = S[va, vb]


# CHECK-LABEL: def nested(A: T.Buffer((16, 16), "float32"), B: T.Buffer((16, 16), "float32")):
# CHECK-NEXT: # with T.block("root"):
# CHECK-NEXT: for i in range(4):
# CHECK-NEXT: with T.block("outer"):
# CHECK-NEXT: vi = T.axis.spatial(4, i)
# CHECK-NEXT: T.reads(A[vi * 4:vi * 4 + 4, 0:16])
# CHECK-NEXT: T.writes(B[vi * 4:vi * 4 + 4, 0:16])
# CHECK-NEXT: S = T.match_buffer(A[vi * 4:vi * 4 + 4, 0:16], (4, 16), strides=("s", 1), offset_factor=1)
# CHECK-NEXT: for a, b in T.grid(4, 16):
# CHECK-NEXT: with T.block("inner"):
# CHECK-NEXT: va, vb = T.axis.remap("SS", [a, b])
# CHECK-NEXT: T.reads(S[va, vb])
# CHECK-NEXT: T.writes(B[vi * 4 + va, vb])
# CHECK-NEXT: B[vi * 4 + va, vb] = S[va, vb]

# -----

from tir_mlir.script import tir as T


@T.prim_func
def opaque(A: T.Buffer((16,), "float32")):
    with T.block(""):
        T.reads(A[0:16])
        T.writes(A[0:16])
        T.call_extern("int32", "kernel", A.access_ptr("rw"), 16)


# CHECK-LABEL: def opaque(A: T.Buffer((16,), "float32")):
# CHECK-NEXT: with T.block(""):
# CHECK-NEXT: T.reads(A[0:16])
# CHECK-NEXT: T.writes(A[0:16])
# CHECK-NEXT: T.call_extern("int32", "kernel", T.tvm_access_ptr(T.type_annotation("float32"), A.data, A.elem_offset, 16, 3), 16)

# -----

from tir_mlir.script import tir as T


@T.prim_func
def root_with_facts(A: T.Buffer((8,), "float32")):
    with T.block():
        T.block_attr({"parallel": 4})
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = T.float32(0)


# CHECK-LABEL: def root_with_facts(A: T.Buffer((8,), "float32")):
# CHECK-NEXT: with T.block("root"):
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes()
# CHECK-NEXT: T.block_attr({"parallel": 4})
# CHECK-NEXT: for i in range(8):
# CHECK-NEXT: with T.block("A"):

# -----

from tir_mlir.script import tir as T


@T.prim_func
def stop(A: T.Buffer((8,), "float32")):
    for i in range(8):
        with T.block("A"):
            vi = T.axis.spatial(8, i)
            breakpoint()
            A[vi] = T.float32(0)


# CHECK-LABEL: def stop(A: T.Buffer((8,), "float32")):
# CHECK: with T.block("A"):
# CHECK-NEXT: vi = T.axis.spatial(8, i)
# CHECK-NEXT: T.reads()
# CHECK-NEXT: T.writes(A[vi])
# CHECK-NEXT: T.block_attr({"breakpoint": T.bool(True)})
# CHECK-NEXT: A[vi] = T.float32(0.0)
