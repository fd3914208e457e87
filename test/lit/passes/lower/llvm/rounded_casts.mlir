// RUN: tir-opt %s -p tir-lower-rounded-casts --split-input-file | FileCheck %s

// Limits come first, moved by what is added after rounding.
// CHECK-LABEL: func.func @limited
// CHECK: %[[LOW:.*]] = arith.constant dense<-3.000000e+00> : vector<8xf32>
// CHECK: %[[HIGH:.*]] = arith.constant dense<2.520000e+02> : vector<8xf32>
// CHECK: %[[A:.*]] = arith.maximumf %arg0, %[[LOW]] fastmath<nnan>
// CHECK: %[[B:.*]] = arith.minimumf %[[A]], %[[HIGH]] fastmath<nnan>
// CHECK: %[[W:.*]] = arith.constant dense<0x4B400000> : vector<8xf32>
// CHECK: %[[R:.*]] = arith.addf %[[B]], %[[W]]
// CHECK: %[[N:.*]] = arith.bitcast %[[R]] : vector<8xf32> to vector<8xi32>
// CHECK: %[[M:.*]] = arith.addi %[[N]], {{.*}} : vector<8xi32>
// CHECK: %[[I:.*]] = arith.trunci %[[M]] : vector<8xi32> to vector<8xi8>
// CHECK: return %[[I]]
func.func @limited(%x: vector<8xf32>) -> vector<8xi8> {
  %zero = arith.constant dense<3.0> : vector<8xf32>
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %r = math.roundeven %x : vector<8xf32>
  %s = arith.addf %r, %zero : vector<8xf32>
  %a = arith.maximumf %s, %low : vector<8xf32>
  %b = arith.minimumf %a, %high : vector<8xf32>
  %i = arith.fptoui %b : vector<8xf32> to vector<8xi8>
  return %i : vector<8xi8>
}

// -----

// The maximum of a ReLU is not above the lower limit.
// CHECK-LABEL: func.func @relu
// CHECK: arith.maximumf %arg0, {{.*}} fastmath<nnan> : f32
func.func @relu(%x: f32) -> i8 {
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %relu = arith.maximumf %x, %low : f32
  %r = math.roundeven %relu : f32
  %a = arith.maximumf %r, %low : f32
  %b = arith.minimumf %a, %high : f32
  %i = arith.fptoui %b : f32 to i8
  return %i : i8
}

// -----

// A CPU of x86 rounds in the cast.
// CHECK-LABEL: func.func @once
// CHECK: %[[N:.*]] = llvm.intr.lrint({{.*}}) : (f32) -> i32
// CHECK: arith.trunci %[[N]] overflow<nsw> : i32 to i8
module attributes {tir.rounds_in_casts = true} {
  func.func @once(%x: f32) -> i8 {
    %low = arith.constant -128.0 : f32
    %high = arith.constant 127.0 : f32
    %r = math.roundeven %x : f32
    %b = arith.minimumf %r, %high : f32
    %a = arith.maximumf %b, %low : f32
    %i = arith.fptosi %a : f32 to i8
    return %i : i8
  }
}

// -----

// Left: a limit that the result does not represent, one that is no integer, one that is missing, and 32 bits.
// CHECK-LABEL: func.func @others
// CHECK-NOT: arith.trunci
// CHECK-COUNT-4: arith.fpto
module attributes {tir.rounds_in_casts = true} {
  func.func @others(%x: f32) -> (i8, i8, i8, i32) {
    %low = arith.constant 0.0 : f32
    %half = arith.constant 0.5 : f32
    %high = arith.constant 255.0 : f32
    %r = math.roundeven %x : f32
    %a = arith.maximumf %r, %low : f32
    %b = arith.minimumf %a, %high : f32
    %c = arith.maximumf %r, %half : f32
    %d = arith.minimumf %c, %high : f32
    %i = arith.fptosi %b : f32 to i8
    %j = arith.fptoui %d : f32 to i8
    %k = arith.fptoui %a : f32 to i8
    %l = arith.fptosi %b : f32 to i32
    return %i, %j, %k, %l : i8, i8, i8, i32
  }
}

// -----

// What is added may be an integer of up to 16 bits; one of 32 may be none of float32.
// CHECK-LABEL: func.func @cast_zero
// CHECK: %[[Z:.*]] = vector.broadcast
// CHECK: %[[LOW:.*]] = arith.subf {{.*}}, %[[Z]]
// CHECK: %[[HIGH:.*]] = arith.subf {{.*}}, %[[Z]]
// CHECK: %[[A:.*]] = arith.maximumf %arg0, %[[LOW]]
// CHECK: %[[B:.*]] = arith.minimumf %[[A]], %[[HIGH]]
// CHECK: %[[R:.*]] = arith.addf %[[B]]
// CHECK: %[[N:.*]] = arith.bitcast %[[R]] : vector<8xf32> to vector<8xi32>
// CHECK: %[[I:.*]] = arith.fptosi %[[Z]] : vector<8xf32> to vector<8xi32>
// CHECK: %[[M:.*]] = arith.addi %[[N]], %[[I]] : vector<8xi32>
// CHECK: arith.trunci %[[M]] : vector<8xi32> to vector<8xi8>
// CHECK: arith.fptoui
func.func @cast_zero(%x: vector<8xf32>, %zero: i8, %wide: i32) -> (vector<8xi8>, vector<8xi8>) {
  %low = arith.constant dense<0.0> : vector<8xf32>
  %high = arith.constant dense<255.0> : vector<8xf32>
  %z = arith.uitofp %zero : i8 to f32
  %zs = vector.broadcast %z : f32 to vector<8xf32>
  %w = arith.sitofp %wide : i32 to f32
  %ws = vector.broadcast %w : f32 to vector<8xf32>
  %r = math.roundeven %x : vector<8xf32>
  %s = arith.addf %r, %zs : vector<8xf32>
  %a = arith.maximumf %s, %low : vector<8xf32>
  %b = arith.minimumf %a, %high : vector<8xf32>
  %i = arith.fptoui %b : vector<8xf32> to vector<8xi8>
  %t = arith.addf %r, %ws : vector<8xf32>
  %c = arith.maximumf %t, %low : vector<8xf32>
  %d = arith.minimumf %c, %high : vector<8xf32>
  %j = arith.fptoui %d : vector<8xf32> to vector<8xi8>
  return %i, %j : vector<8xi8>, vector<8xi8>
}

// -----

// CHECK-LABEL: func.func @cast_zero_once
// CHECK: %[[C:.*]] = arith.cmpf ogt, %[[LOW:.*]], %arg0
// CHECK: %[[A:.*]] = arith.select %[[C]], %[[LOW]], %arg0
// CHECK: %[[D:.*]] = arith.cmpf olt, %[[HIGH:.*]], %[[A]]
// CHECK: %[[B:.*]] = arith.select %[[D]], %[[HIGH]], %[[A]]
// CHECK: llvm.intr.lrint(%[[B]])
module attributes {tir.rounds_in_casts = true} {
  func.func @cast_zero_once(%x: f32, %zero: i8) -> i8 {
    %low = arith.constant -128.0 : f32
    %high = arith.constant 127.0 : f32
    %z = arith.sitofp %zero : i8 to f32
    %r = math.roundeven %x : f32
    %s = arith.addf %r, %z : f32
    %b = arith.minimumf %s, %high : f32
    %a = arith.maximumf %b, %low : f32
    %i = arith.fptosi %a : f32 to i8
    return %i : i8
  }
}
