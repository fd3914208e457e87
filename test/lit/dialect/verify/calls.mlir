// Calls between programs, and typed views of arenas.
// RUN: tir-opt %s --split-input-file --verify-diagnostics

func.func private @copy(%A: memref<8xf32> {tir.name = "A"}, %B: memref<8xf32> {tir.name = "B"}) {
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      %a = affine.load %A[%v] : memref<8xf32>
      affine.store %a, %B[%v] : memref<8xf32>
    } {tir.block = "B", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i"}
  return
}

func.func @twice(%x: memref<8xf32> {tir.name = "x"}) {
  // expected-error @below {{copy writes B, so that A must be other memory: x is passed for both}}
  func.call @copy(%x, %x) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func private @copy(%A: memref<8xf32> {tir.name = "A"}, %B: memref<8xf32> {tir.name = "B"}) {
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      %a = affine.load %A[%v] : memref<8xf32>
      affine.store %a, %B[%v] : memref<8xf32>
    } {tir.block = "B", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i"}
  return
}

func.func @overlap(%arena: memref<128xi8> {tir.name = "arena"}) {
  %c0 = arith.constant 0 : index
  %c28 = arith.constant 28 : index
  %c32 = arith.constant 32 : index
  %u = memref.view %arena[%c0][] {tir.name = "u"} : memref<128xi8> to memref<8xf32>
  %v = memref.view %arena[%c28][] {tir.name = "v"} : memref<128xi8> to memref<8xf32>
  %w = memref.view %arena[%c32][] {tir.name = "w"} : memref<128xi8> to memref<8xf32>
  func.call @copy(%u, %w) : (memref<8xf32>, memref<8xf32>) -> ()
  // expected-error @below {{both are parts of arena, which overlap}}
  func.call @copy(%u, %v) : (memref<8xf32>, memref<8xf32>) -> ()
  return
}

// -----

func.func private @copy(%A: memref<8xf32> {tir.name = "A"}, %B: memref<8xf32> {tir.name = "B"}) {
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      %a = affine.load %A[%v] : memref<8xf32>
      affine.store %a, %B[%v] : memref<8xf32>
    } {tir.block = "B", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i"}
  return
}

func.func @outside(%arena: memref<128xi8> {tir.name = "arena"}) {
  %c100 = arith.constant 100 : index
  // expected-error @below {{the view v has the bytes 100 to 132 of arena, which has 128}}
  %v = memref.view %arena[%c100][] {tir.name = "v"} : memref<128xi8> to memref<8xf32>
  return
}

// -----

func.func private @copy(%A: memref<8xf32> {tir.name = "A"}, %B: memref<8xf32> {tir.name = "B"}) {
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      %a = affine.load %A[%v] : memref<8xf32>
      affine.store %a, %B[%v] : memref<8xf32>
    } {tir.block = "B", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i"}
  return
}

func.func @between(%arena: memref<128xi8> {tir.name = "arena"}) {
  %c2 = arith.constant 2 : index
  // expected-error @below {{the view v starts at a multiple of 4, the bytes of a float32: byte 2 is not}}
  %v = memref.view %arena[%c2][] {tir.name = "v"} : memref<128xi8> to memref<8xf32>
  return
}

// -----

func.func private @copy(%A: memref<8xf32> {tir.name = "A"}, %B: memref<8xf32> {tir.name = "B"}) {
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      %a = affine.load %A[%v] : memref<8xf32>
      affine.store %a, %B[%v] : memref<8xf32>
    } {tir.block = "B", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i"}
  return
}

func.func @f(%A: memref<8xf32> {tir.name = "A"}) {
  // expected-error @below {{f calls f: programs do not call themselves}}
  func.call @f(%A) : (memref<8xf32>) -> ()
  return
}
