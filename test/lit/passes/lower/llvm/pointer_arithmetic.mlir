// RUN: tir-opt %s --split-input-file -p tir-lower-pointer-arithmetic | FileCheck %s

// A pointer computed as an integer becomes an address within the memory that it came from.
// CHECK-LABEL: llvm.func @sum
// CHECK-NOT: inttoptr
// CHECK: %[[AT:.*]] = llvm.getelementptr %arg0[%arg1] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: %[[END:.*]] = llvm.getelementptr %[[AT]][%arg2] : (!llvm.ptr, i64) -> !llvm.ptr, i8
// CHECK: llvm.load %[[END]]
llvm.func @sum(%p: !llvm.ptr, %i: i64, %j: i64) -> f32 {
  %0 = llvm.ptrtoint %p : !llvm.ptr to i64
  %1 = llvm.add %i, %0 : i64
  %2 = llvm.add %1, %j : i64
  %3 = llvm.inttoptr %2 : i64 to !llvm.ptr
  %4 = llvm.load %3 : !llvm.ptr -> f32
  llvm.return %4 : f32
}

// -----

// CHECK-LABEL: llvm.func @start
// CHECK-NEXT: llvm.load %arg0
llvm.func @start(%p: !llvm.ptr) -> f32 {
  %0 = llvm.ptrtoint %p : !llvm.ptr to i64
  %1 = llvm.inttoptr %0 : i64 to !llvm.ptr
  %2 = llvm.load %1 : !llvm.ptr -> f32
  llvm.return %2 : f32
}

// -----

// Memory that is aligned by hand, and integers of another origin, remain as they are.
// CHECK-LABEL: llvm.func @aligned
// CHECK: llvm.inttoptr
// CHECK: llvm.inttoptr
llvm.func @aligned(%p: !llvm.ptr, %low: i64, %n: i64) -> f32 {
  %0 = llvm.ptrtoint %p : !llvm.ptr to i64
  %1 = llvm.sub %0, %low : i64
  %2 = llvm.inttoptr %1 : i64 to !llvm.ptr
  %3 = llvm.add %low, %n : i64
  %4 = llvm.inttoptr %3 : i64 to !llvm.ptr
  %5 = llvm.load %2 : !llvm.ptr -> f32
  llvm.store %5, %4 : f32, !llvm.ptr
  llvm.return %5 : f32
}
