// RUN: tir-opt %s -p tir-lower-abi | FileCheck %s

// CHECK: func.func @main({{.*}}) attributes {llvm.emit_c_interface}
// CHECK: func.func private @kernel({{.*}}) attributes {llvm.linkage = #llvm.linkage<internal>}
// A declaration is somebody else's: nothing is promised.
// CHECK: func.func private @outside(memref<8xf32>){{$}}
func.func @main(%A: memref<8xf32>) {
  call @kernel(%A) : (memref<8xf32>) -> ()
  call @outside(%A) : (memref<8xf32>) -> ()
  return
}
func.func private @kernel(%A: memref<8xf32>) {
  return
}
func.func private @outside(memref<8xf32>)
