// Text on which MLIR ends the process, by its depth, is an error with its position and exit code 1; the shell sees no signal.
// RUN: %python -c "open(r'%t.mlir', 'w').write('module attributes {a.b = ' + '[' * 200000 + ']' * 200000 + '} {}')"
// RUN: not tir-opt %t.mlir 2>&1 | FileCheck %s

// CHECK: {{.*}}.mlir:1:275: error: more than 250 brackets in each other, aliases written out
