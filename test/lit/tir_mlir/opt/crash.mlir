// Should MLIR itself end the process, that is an error with a place and exit code 1, and the shell sees no signal.
// RUN: %python -c "open(r'%t.mlir', 'w').write('module attributes {a.b = ' + '[' * 200000 + ']' * 200000 + '} {}')"
// RUN: not tir-opt %t.mlir 2>&1 | FileCheck %s

// CHECK: {{.*}}.mlir:1:1: error: MLIR crashed (killed by SIG{{[A-Z]+}}) while reading it
