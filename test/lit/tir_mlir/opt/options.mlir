// Options are typed by the primitive's signature; mistakes are shown in the pipeline, before anything is read.
// RUN: not tir-opt nothing.mlir -p 'builtin.module(tir-split{loop=i factor=4})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN --match-full-lines --strict-whitespace
// RUN: not tir-opt nothing.mlir --tir-split=loop=i 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: not tir-opt nothing.mlir --tir-split="loop=i factors=1 loop=j" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not tir-opt nothing.mlir --tir-split="loop" 2>&1 | FileCheck %s --check-prefix=FORM
// RUN: not tir-opt nothing.mlir --tir-lower-unroll="limt=3" 2>&1 | FileCheck %s --check-prefix=LOWERING
// RUN: not tir-opt nothing.mlir --canonicalize="x=1" 2>&1 | FileCheck %s --check-prefix=UPSTREAM
// RUN: not tir-opt %s --tir-split="loop=i,factors=none,4" 2>&1 | FileCheck %s --check-prefix=COMMAS
// RUN: not tir-opt nothing.mlir --tir-verify="x=1" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: tir-opt %s --split-input-file --verify-diagnostics --tir-split="loop=i factors=a,4"

//      UNKNOWN:--pass-pipeline:1:16: error: tir-split: unknown option "factor"; did you mean factors?; tir-split takes loop, factors, [preserve_unit_iters], [disable_predication], [func]
// UNKNOWN-NEXT:builtin.module(tir-split{loop=i factor=4})
// UNKNOWN-NEXT:               ^
// MISSING: --tir-split:1:1: error: tir-split: option factors is missing; tir-split takes
// COMMAS: error: tir-split: option factors is missing; {{.*}}; options are separated by spaces
// TWICE: error: tir-split: duplicate option loop
// FORM: error: tir-split: option "loop" is not of the form name=value
// LOWERING: error: tir-lower-unroll: unknown option "limt"; it takes limit
// UPSTREAM: --canonicalize:1:1: error: canonicalize: no such option x
// NONE: error: tir-verify has no options

// expected-error @below {{tir-split: option factors=a,4: expected an integer or none}}
func.func @main(%A: memref<16xf32>) {
  affine.for %i = 0 to 16 {
  } {tir.loop = "i"}
  return
}
