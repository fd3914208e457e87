// RUN: tir-opt %s --verify-diagnostics --split-input-file
// RUN: not tir-opt %s 2>&1 | FileCheck %s --check-prefix=WHOLE
// RUN: echo '// expected-error @below {{other}}' > %t.mlir && echo 'x.y' >> %t.mlir
// RUN: not tir-opt %t.mlir --verify-diagnostics 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: echo 'func.func @f() { return } // expected-error {{nothing}}' > %t.mlir
// RUN: not tir-opt %t.mlir --verify-diagnostics 2>&1 | FileCheck %s --check-prefix=MISSING

// WHOLE: verify-diagnostics.mlir:[[#@LINE+7]]:3: error: Dialect `x' not found
// OTHER: :2:1: error: unexpected error: Dialect `x' not found
// OTHER: :1:1: error: expected error "other" was not produced
// MISSING: :1:1: error: expected error "nothing" was not produced

func.func @below() {
  // expected-error @below {{Dialect `x' not found}}
  x.y
}

// -----

func.func @above() {
  x.y
  // expected-error @above {{Dialect `x' not found}}
}

// -----

func.func @same_line() {
  x.y // expected-error {{Dialect `x' not found}}
}

// -----

// expected-error @+2 {{Dialect `x' not found}} expected-note @+2 {{Available dialects}}
func.func @offset() {
  x.y
}

// -----

// expected-error-re @+2 {{Dialect {{.*}} not {{f[a-z]+}}}}
func.func @regex() {
  x.y
}

// -----

// no error here
func.func @fine() {
  return
}
