// RUN: not tir-opt --tir-lower-gpu-block-copies --split-input-file %s 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REFUSED < %t

// Each thread has its own part of one buffer: accepted, and printed as it is.

// CHECK-LABEL: func.func @own
func.func @own(%A: memref<8x32xf32> {tir.name = "A"}, %B: memref<8x32xf32> {tir.name = "B"})
    attributes {tir.id = 0 : i64} {
  affine.for %t = 0 to 32 {
    affine.for %k = 0 to 8 {
      %S = memref.alloc() {tir.name = "S"} : memref<32xf32, "shared">
      %a = affine.load %A[%k, %t] : memref<8x32xf32>
      affine.store %a, %S[%t] : memref<32xf32, "shared">
      %s = affine.load %S[%t] : memref<32xf32, "shared">
      affine.store %s, %B[%k, %t] : memref<8x32xf32>
    } {tir.loop = "k"}
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

// -----

// The threads fetch a row together, which each of them has for itself in the serial program: accepted.

// CHECK-LABEL: func.func @fetch
func.func @fetch(%A: memref<8x32xf32> {tir.name = "A"}, %B: memref<8x32xf32> {tir.name = "B"})
    attributes {tir.id = 0 : i64} {
  affine.for %t = 0 to 32 {
    affine.for %k = 0 to 8 {
      %S = memref.alloc() {tir.name = "S"} : memref<32xf32, "shared">
      affine.for %u = 0 to 32 {
        %a = affine.load %A[%k, %u] : memref<8x32xf32>
        affine.store %a, %S[%u] : memref<32xf32, "shared">
      } {tir.loop = "u", tir.kind = "threadIdx.x"}
      %s = affine.load %S[31 - %t] : memref<32xf32, "shared">
      affine.store %s, %B[%k, %t] : memref<8x32xf32>
    } {tir.loop = "k"}
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

// -----

// Each thread uses the whole buffer as its own.

// REFUSED: one copy a block of S will not do: in the program, thread (threadIdx.x=0) at k2=0 ({{.*}}) reads S[0] as written by
// REFUSED-SAME: thread (threadIdx.x=0) at k=0 ({{.*}}); on a GPU, as written by thread (threadIdx.x=1) at k=31
func.func @rotating(%A: memref<32x32xf32> {tir.name = "A"}, %B: memref<32x32xf32> {tir.name = "B"})
    attributes {tir.id = 0 : i64} {
  affine.for %t = 0 to 32 {
    %S = memref.alloc() {tir.name = "S"} : memref<32xf32, "shared">
    affine.for %k = 0 to 32 {
      %a = affine.load %A[%t, %k] : memref<32x32xf32>
      affine.store %a, %S[(%t + %k) mod 32] : memref<32xf32, "shared">
    } {tir.loop = "k"}
    affine.for %k = 0 to 32 {
      %s = affine.load %S[(%t + %k) mod 32] : memref<32xf32, "shared">
      affine.store %s, %B[%t, %k] : memref<32x32xf32>
    } {tir.loop = "k2"}
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}

// -----

// What the threads fetch together must not depend on the thread that asks.

// REFUSED: loop u and loop t around it are both bound to threadIdx.x
func.func @outer(%A: memref<32x32xf32> {tir.name = "A"}, %B: memref<32xf32> {tir.name = "B"})
    attributes {tir.id = 0 : i64} {
  affine.for %t = 0 to 32 {
    %S = memref.alloc() {tir.name = "S"} : memref<32xf32, "shared">
    affine.for %u = 0 to 32 {
      %a = affine.load %A[%t, %u] : memref<32x32xf32>
      affine.store %a, %S[%u] : memref<32xf32, "shared">
    } {tir.loop = "u", tir.kind = "threadIdx.x"}
    %s = affine.load %S[31 - %t] : memref<32xf32, "shared">
    affine.store %s, %B[%t] : memref<32xf32>
  } {tir.loop = "t", tir.kind = "threadIdx.x"}
  return
}
