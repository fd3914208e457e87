// The rules of the encoding, on programs whose attributes are well formed.
// RUN: tir-opt %s --split-input-file --verify-diagnostics

func.func @not_one_point() {
  affine.for %i = 0 to 4 {
    // expected-error @below {{block "A" is not a single point: its upper bounds must be its lower bounds + 1}}
    affine.parallel (%v) = (%i) to (%i + 2) {
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (4)>}
  }
  return
}

// -----

func.func @step(%A: memref<8xf32>) {
  %c = arith.constant 1.0 : f32
  // expected-error @below {{loop i has a step other than 1}}
  affine.for %i = 0 to 8 step 2 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<8xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i"}
  return
}

// -----

// MLIR takes what is computed at the top of a function for a symbol; a program makes no index of it, but of a constant.
func.func @computed(%A: memref<8xf32>) {
  %c = arith.constant 1.0 : f32
  %c1 = arith.constant 1 : index
  %c2 = arith.addi %c1, %c1 : index
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i + symbol(%c1) - 1) to (%i + symbol(%c1)) {
      affine.store %c, %A[%v] : memref<8xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  }
  affine.for %i = 0 to 8 {
    // expected-error @below {{affine.parallel uses an index that arith.addi computes; in a tensor program an index is made of loop variables, iters and shape variables: write it as affine.apply}}
    affine.parallel (%v) = (%i + symbol(%c2) - 2) to (%i + symbol(%c2) - 1) {
      affine.store %c, %A[%v] : memref<8xf32>
    } {tir.block = "B", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  }
  return
}

// -----

func.func @domain(%A: memref<128xf32>) {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 129 {
    // expected-error @below {{block "A": iter vi has the domain [0, 128), but it is bound to 128 at i = 128}}
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<128xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.names = ["vi"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (128)>}
  } {tir.loop = "i"}
  return
}

// -----

func.func @cover(%A: memref<128xf32> {tir.name = "A"}) {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 127 {
    // expected-error @below {{do not cover its domain (vi in [0, 128)): no iteration runs vi = 127}}
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<128xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.names = ["vi"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (128)>}
  } {tir.loop = "i"}
  return
}

// -----

func.func @isolation(%A: memref<8xf32>) {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      // expected-error @below {{block "A" uses the loop variable i of a loop around it}}
      affine.store %c, %A[%i] : memref<8xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i"}
  return
}

// -----

func.func @bounds(%A: memref<8xf32> {tir.name = "A"}) {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      // expected-error @below {{A is written at index 8}}
      affine.store %c, %A[%v + 1] : memref<8xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.names = ["vi"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i"}
  return
}

// -----

func.func @kinds(%A: memref<8xf32> {tir.name = "A"}) {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    // expected-error @below {{iter vi of block "A" is declared spatial, but the iterations}}
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[0] : memref<8xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.names = ["vi"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  } {tir.loop = "i"}
  return
}

// -----

func.func @carried(%A: memref<8xf32>) {
  %c = arith.constant 1.0 : f32
  // expected-error @below {{this loop carries values (iter_args)}}
  %r = affine.for %i = 0 to 8 iter_args(%x = %c) -> f32 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<8xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
    affine.yield %x : f32
  }
  return
}

// -----

// expected-error @below {{parameter A has a symbolic shape but no tir.shape and tir.syms}}
func.func @no_shape(%A: memref<?xf32> {tir.name = "A"}) {
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to 8 {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<?xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (8)>}
  }
  return
}
