# Calls of functions of the module, with regions and numbers, and views of an arena.
# RUN: tir-opt %s --emit=script | FileCheck %s
# RUN: tir-opt %s | FileCheck %s --check-prefix=MLIR

from tir_mlir.script import ir as I
from tir_mlir.script import tir as T


@I.ir_module
class Model:
    @T.prim_func
    def main(x: T.Buffer((4, 8), "float32"), n: T.int32, arena: T.Buffer((256,), "int8")):
        t = T.decl_buffer((4, 8), "float32", data=arena.data)
        u = T.decl_buffer((8,), "int32", data=arena.data, elem_offset=32)
        Model.fill(t, 2.0, n + 1)
        cls.rows(A=t[1:3, 2:7], B=x[0:2, 0:5])
        T.call("count", u)

    @T.prim_func(private=True)
    def fill(a: T.handle, f: T.float32, k: T.int32):
        m, n = T.int32(), T.int32()
        A = T.match_buffer(a, (m, n))
        for i, j in T.grid(m, n):
            with T.block("A"):
                vi, vj = T.axis.remap("SS", [i, j])
                A[vi, vj] = f * T.Cast("float32", vi + k)

    @T.prim_func(private=True)
    def rows(a: T.handle, b: T.handle):
        n = T.int32()
        A = T.match_buffer(a, (2, n), strides=["s", 1])
        B = T.match_buffer(b, (2, n), strides=["t", 1])
        for i, j in T.grid(2, n):
            with T.block("B"):
                vi, vj = T.axis.remap("SS", [i, j])
                B[vi, vj] = A[vi, vj]

    @T.prim_func(private=True)
    def count(A: T.Buffer((8,), "int32")):
        for i in range(8):
            with T.block("A"):
                vi = T.axis.spatial(8, i)
                A[vi] = vi


# CHECK: def main(x: T.Buffer((4, 8), "float32"), n: T.int32, arena: T.Buffer((256,), "int8")):
# CHECK-NEXT: t = T.decl_buffer((4, 8), "float32", data=arena.data)
# CHECK-NEXT: u = T.decl_buffer((8,), "int32", data=arena.data, byte_offset=128)
# CHECK-NEXT: T.call("fill", t, T.float32(2.0), n + 1)
# CHECK-NEXT: T.call("rows", t[1:3, 2:7], x[0:2, 0:5])
# CHECK-NEXT: T.call("count", u)

# MLIR: func.func @main
# MLIR: %[[T:.*]] = memref.view %{{.*}}[%{{.*}}][] {tir.name = "t"} : memref<256xi8> to memref<4x8xf32>
# MLIR: %[[U:.*]] = memref.view %{{.*}}[%{{.*}}][] {tir.name = "u"} : memref<256xi8> to memref<8xi32>
# MLIR: %[[C:.*]] = memref.cast %[[T]] : memref<4x8xf32> to memref<?x?xf32>
# MLIR: call @fill(%[[C]], %{{.*}}, %{{.*}}) : (memref<?x?xf32>, f32, index) -> ()
# MLIR: memref.subview %[[T]][1, 2] [2, 5] [1, 1]
# MLIR: call @count(%[[U]]) : (memref<8xi32>) -> ()
# MLIR: func.func private @fill
