// RUN: tir-opt --tir-lower-gpu-unroll-locals --split-input-file --verify-diagnostics %s | FileCheck %s

// The loops that index a local buffer are unrolled; the one around them is not.
// CHECK-LABEL: gpu.func @marked
// CHECK: scf.for %{{.*}} = %c0 to %c64
// CHECK: scf.for %{{.*}} = %c0 to %c4
// CHECK: scf.for %{{.*}} = %c0 to %c4
// CHECK: } {llvm.loop_annotation = #[[A:.*]]}
// CHECK: } {llvm.loop_annotation = #[[A]]}
// CHECK-NEXT: }{{$}}
gpu.module @m {
  gpu.func @marked(%A: memref<64xf32, #gpu.address_space<global>>) kernel {
    %L = memref.alloca() {tir.name = "L"} : memref<16xf32, #gpu.address_space<private>>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %c4 = arith.constant 4 : index
    %c64 = arith.constant 64 : index
    scf.for %k = %c0 to %c64 step %c1 {
      scf.for %i = %c0 to %c4 step %c1 {
        %r = arith.muli %i, %c4 : index
        scf.for %j = %c0 to %c4 step %c1 {
          %n = arith.addi %r, %j : index
          %x = memref.load %L[%n] : memref<16xf32, #gpu.address_space<private>>
          memref.store %x, %A[%k] : memref<64xf32, #gpu.address_space<global>>
        }
      }
    }
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @thread() kernel {
    // expected-warning @+1 {{buffer "L" of scope local remains in memory, not registers: its index at}}
    %L = memref.alloca() {tir.name = "L"} : memref<16xf32, #gpu.address_space<private>>
    %t = gpu.thread_id x
    %x = arith.constant 0.0 : f32
    memref.store %x, %L[%t] : memref<16xf32, #gpu.address_space<private>>
    gpu.return
  }
}

// -----

gpu.module @m {
  gpu.func @symbolic(%n: index) kernel {
    // expected-warning @+1 {{buffer "M" of scope local remains in memory, not registers: the loop at}}
    %L = memref.alloca() {tir.name = "M"} : memref<16xf32, #gpu.address_space<private>>
    %c0 = arith.constant 0 : index
    %c1 = arith.constant 1 : index
    %x = arith.constant 0.0 : f32
    scf.for %k = %c0 to %n step %c1 {
      memref.store %x, %L[%k] : memref<16xf32, #gpu.address_space<private>>
    }
    gpu.return
  }
}
