// RUN: tir-opt %s --mlir-print-local-scope -p tir-lower-scopes | FileCheck %s

// All memory is one memory, and no tir attribute is left; layouts and what is not ours stay.
// CHECK-NOT: tir.
// CHECK-NOT: "shared"
// CHECK: func.func private @helper(memref<8xf32, strided<[2], offset: ?>>)
// CHECK: func.func @main(%{{.*}}: memref<8xf32> {other.fact = 1 : i64})
// CHECK: memref.alloc() {alignment = 64 : i64} : memref<16xf32>
// CHECK: memref.subview {{.*}} : memref<16xf32> to memref<8xf32, strided<[2], offset: ?>>
// CHECK: } {other.note = "kept"}
func.func private @helper(memref<8xf32, strided<[2], offset: ?>, "shared">)

func.func @main(%A: memref<8xf32, "global.A_reg"> {tir.name = "A", other.fact = 1 : i64}) attributes {tir.id = 0 : i64} {
  %S = memref.alloc() {tir.name = "S", alignment = 64 : i64} : memref<16xf32, "shared">
  affine.for %i = 0 to 2 {
    %v = memref.subview %S[%i] [8] [2] : memref<16xf32, "shared"> to memref<8xf32, strided<[2], offset: ?>, "shared">
    func.call @helper(%v) : (memref<8xf32, strided<[2], offset: ?>, "shared">) -> ()
  } {tir.loop = "i", tir.id = 1 : i64, other.note = "kept"}
  return
}
