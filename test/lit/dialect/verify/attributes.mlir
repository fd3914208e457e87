// Attributes of a wrong type, place or arity are errors at the op, never a crash.
// RUN: tir-opt %s --split-input-file --verify-diagnostics

func.func @iters(%A: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    // expected-error @below {{tir.iters of affine.parallel must be a list of "S", "R" and "O", not 3 : i64}}
    affine.parallel (%v) = (%i) to (%i + 1) {
    } {tir.block = "A", tir.iters = 3, tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (4)>}
  }
  return
}

// -----

func.func @iter_kind(%A: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    // expected-error @below {{iter kind "X" must be S, R or O}}
    affine.parallel (%v) = (%i) to (%i + 1) {
    } {tir.block = "A", tir.iters = ["X"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (4)>}
  }
  return
}

// -----

func.func @missing() {
  affine.for %i = 0 to 4 {
    // expected-error @below {{block "A" has no attribute tir.extent}}
    affine.parallel (%v) = (%i) to (%i + 1) {
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>}
  }
  return
}

// -----

func.func @arity() {
  affine.for %i = 0 to 4 {
    // expected-error @below {{block "A" has 1 arguments; its 2 entries in tir.iters need 2}}
    affine.parallel (%v) = (%i) to (%i + 1) {
    } {tir.block = "A", tir.iters = ["S", "S"], tir.min = affine_map<() -> (0, 0)>, tir.extent = affine_map<() -> (4, 4)>}
  }
  return
}

// -----

func.func @map_arity() {
  affine.for %i = 0 to 4 {
    // expected-error @below {{tir.extent of block "A" must have 1 results}}
    affine.parallel (%v) = (%i) to (%i + 1) {
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (4, 4)>}
  }
  return
}

// -----

func.func @unknown_symbol() {
  affine.for %i = 0 to 4 {
    // expected-error @below {{no shape variable of the function is called n (it has none)}}
    affine.parallel (%v) = (%i) to (%i + 1) {
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<()[s0] -> (0)>, tir.extent = affine_map<()[s0] -> (s0)>,
       tir.syms = ["n"]}
  }
  return
}

// -----

func.func @misspelled() {
  // expected-error @below {{unknown attribute tir.kindd on affine.for; did you mean tir.kind?}}
  affine.for %i = 0 to 4 {
  } {tir.kindd = "parallel"}
  return
}

// -----

func.func @kind() {
  // expected-error @below {{tir.kind of affine.for must be one of serial, parallel, vectorized, unrolled, or a thread axis}}
  affine.for %i = 0 to 4 {
  } {tir.kind = "sideways"}
  return
}

// -----

func.func @misplaced(%A: memref<4xf32>) {
  %c = arith.constant 1.0 : f32
  // expected-error @below {{tir.block belongs on affine.parallel, not on affine.for}}
  affine.for %i = 0 to 4 {
    affine.store %c, %A[%i] : memref<4xf32>
  } {tir.block = "A"}
  return
}

// -----

func.func @stray() {
  affine.for %i = 0 to 4 {
    // expected-error @below {{has attributes of a block but no tir.block}}
    affine.parallel (%v) = (%i) to (%i + 1) {
    } {tir.iters = ["S"]}
  }
  return
}

// -----

func.func @wide_number() {
  // expected-error @below {{tir.id of affine.for must be an integer >= 0, not 99999999999999999999 : i128}}
  affine.for %i = 0 to 4 {
  } {tir.id = 99999999999999999999 : i128}
  return
}

// -----

func.func @annotations() {
  // expected-error @below {{tir.annotations of affine.for must be a dictionary}}
  affine.for %i = 0 to 4 {
  } {tir.annotations = [1]}
  return
}

// -----

// expected-error @below {{tir.name of a parameter must be a string, not 1 : i64}}
func.func @parameter(%A: memref<4xf32> {tir.name = 1}) {
  return
}

// -----

// expected-error @below {{tir.shape of parameter 0 must have 2 results, one per axis, over its tir.syms}}
func.func @shape(%A: memref<?x4xf32> {tir.shape = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]}) {
  return
}

// -----

func.func @guard(%A: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    // expected-error @below {{tir.where marks the guard of a block}}
    affine.if affine_set<(d0) : (d0 >= 0)>(%i) {
    } {tir.where}
  }
  return
}

// -----

func.func @init(%A: memref<4xf32>) {
  affine.for %i = 0 to 4 {
    // expected-error @below {{tir.init marks the init of a block}}
    affine.if affine_set<(d0) : (d0 == 0)>(%i) {
    } {tir.init}
  }
  return
}

// -----

func.func @regions() {
  affine.for %i = 0 to 4 {
    // expected-error @below {{tir.reads of affine.parallel must be a list of {buffer = string, min = affine_map, extent = affine_map}}}
    affine.parallel (%v) = (%i) to (%i + 1) {
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (4)>,
       tir.reads = [{buffer = "A"}]}
  }
  return
}

// -----

// expected-error @below {{memref<9223372036854775807x2xf32> has more elements than 64 bits can count}}
func.func @huge(%A: memref<9223372036854775807x2xf32>) {
  return
}

// -----

func.func @unknown_buffer(%A: memref<4xf32> {tir.name = "A"}) {
  affine.for %i = 0 to 4 {
    // expected-error @below {{tir.reads of block "A": no buffer B (there are A)}}
    affine.parallel (%v) = (%i) to (%i + 1) {
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<() -> (0)>, tir.extent = affine_map<() -> (4)>,
       tir.reads = [{buffer = "B", min = affine_map<() -> (0)>, extent = affine_map<() -> (4)>}]}
  }
  return
}

// -----

// expected-error @below {{tir.assume of function assumes must be over the 1 names of tir.syms}}
func.func @assumes(%A: memref<?xf32> {tir.name = "A", tir.shape = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]})
    attributes {tir.assume = affine_set<()[s0, s1] : (s0 - s1 >= 0)>, tir.syms = ["n"]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim {tir.name = "n"} %A, %c0 : memref<?xf32>
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to %n {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<?xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<()[s0] -> (0)>, tir.extent = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]}
  }
  return
}

// -----

// expected-error @below {{function assumes has no shape variable m (it has n)}}
func.func @assumes(%A: memref<?xf32> {tir.name = "A", tir.shape = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]})
    attributes {tir.assume = affine_set<()[s0] : (s0 mod 4 == 0)>, tir.syms = ["m"]} {
  %c0 = arith.constant 0 : index
  %n = memref.dim {tir.name = "n"} %A, %c0 : memref<?xf32>
  %c = arith.constant 1.0 : f32
  affine.for %i = 0 to %n {
    affine.parallel (%v) = (%i) to (%i + 1) {
      affine.store %c, %A[%v] : memref<?xf32>
    } {tir.block = "A", tir.iters = ["S"], tir.min = affine_map<()[s0] -> (0)>, tir.extent = affine_map<()[s0] -> (s0)>, tir.syms = ["n"]}
  }
  return
}
