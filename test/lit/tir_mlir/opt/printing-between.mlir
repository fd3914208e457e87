// What each pass did and how long it took, on stderr.
// RUN: tir-opt %s -p 'tir-split{loop=i factors=4,none}, tir-lower-blocks, func.func(canonicalize)' --print-ir-after-all --print-ir-before-all \
// RUN:   --mlir-print-local-scope --timing -o %t 2>&1 | FileCheck %s
// RUN: FileCheck %s --check-prefix=RESULT < %t

//      CHECK: // -----// IR Dump Before tir-split{loop=i factors=4,none} //----- //
//      CHECK: affine.for %{{.*}} = 0 to 16
//      CHECK: // -----// IR Dump After tir-split{loop=i factors=4,none} //----- //
//      CHECK: affine.for %{{.*}} = 0 to 4
//      CHECK: // -----// IR Dump Before tir-lower-blocks //----- //
//      CHECK: // -----// IR Dump After tir-lower-blocks //----- //
//  CHECK-NOT: affine.parallel
//      CHECK: // -----// IR Dump After func.func(canonicalize) //----- //
//      CHECK: seconds share pass
// CHECK-NEXT: {{[0-9.]+}} {{[0-9.]+}}% tir-split
// CHECK-NEXT: {{[0-9.]+}} {{[0-9.]+}}% tir-lower-blocks
// CHECK-NEXT: {{[0-9.]+}} {{[0-9.]+}}% canonicalize
// CHECK-NEXT: {{[0-9.]+}} 100.0% total

// RESULT: func.func @main
// RESULT: affine.store %{{.*}}, %{{.*}}[%{{.*}} * 4 + %{{.*}}]

func.func @main(%A: memref<16xf32> {tir.name = "A"}) {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 16 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<16xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (16)>}
  } {tir.loop = "i"}
  return
}
