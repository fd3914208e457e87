// RUN: tir-opt %s -p tir-lower-keep-rolled-marks | FileCheck %s

// CHECK-LABEL: llvm.func @f
// CHECK: llvm.br ^bb1 {loop_annotation = #{{[a-z_0-9]+}}}
// CHECK-NOT: llvm.loop_annotation
llvm.func @f() {
  llvm.br ^bb1
^bb1:
  llvm.br ^bb1 {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
}

// CHECK-LABEL: llvm.func @in_threads
// CHECK: omp.parallel
// CHECK: llvm.br ^bb1 {loop_annotation = #{{[a-z_0-9]+}}}
// CHECK-NOT: llvm.loop_annotation
llvm.func @in_threads() {
  omp.parallel {
    llvm.br ^bb1
  ^bb1:
    llvm.br ^bb1 {llvm.loop_annotation = #llvm.loop_annotation<unroll = <disable = true>>}
  }
  llvm.return
}
