// Broken pipeline text is an error at its column.
// RUN: not tir-opt %s -p 'builtin.module(cse' 2>&1 | FileCheck %s --check-prefix=OPEN
// RUN: not tir-opt %s -p 'cse)' 2>&1 | FileCheck %s --check-prefix=CLOSED
// RUN: not tir-opt %s -p 'cse,,cse' 2>&1 | FileCheck %s --check-prefix=COMMA
// RUN: not tir-opt %s -p 'cse,' 2>&1 | FileCheck %s --check-prefix=LAST
// RUN: not tir-opt %s -p 'tir-split{loop=i' 2>&1 | FileCheck %s --check-prefix=BRACE
// RUN: not tir-opt %s -p 'cse canonicalize' 2>&1 | FileCheck %s --check-prefix=JUNK
// RUN: not tir-opt %s -p '{}' 2>&1 | FileCheck %s --check-prefix=NAME
// RUN: not tir-opt %s -p 'builtin.module(csee)' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not tir-opt %s -p 'tir-splat{loop=i}' 2>&1 | FileCheck %s --check-prefix=OURS
// RUN: not tir-opt %s -p 'tir-get-block{name=C}' 2>&1 | FileCheck %s --check-prefix=LOOKS
// RUN: not tir-opt %s -p 'func.func(cse,tir-lower)' 2>&1 | FileCheck %s --check-prefix=NESTED
// RUN: tir-opt %s -p '' | FileCheck %s
// RUN: tir-opt %s -p ' builtin.module ( func.func ( canonicalize , cse ) , any(cse) , canonicalize{ max-iterations=3 } ) ' | FileCheck %s

// OPEN: --pass-pipeline:1:19: error: the parenthesis of builtin.module( is not closed
// CLOSED: --pass-pipeline:1:4: error: unexpected ')'
// COMMA: --pass-pipeline:1:5: error: expected the name of a pass, not ','
// LAST: --pass-pipeline:1:5: error: expected a pass after the comma
// BRACE: --pass-pipeline:1:10: error: the brace is not closed
// JUNK: --pass-pipeline:1:5: error: unexpected 'c'
// NAME: --pass-pipeline:1:1: error: expected the name of a pass, not '{'
// UNKNOWN: --pass-pipeline:1:16: error: unknown pass csee; did you mean cse?
// OURS: --pass-pipeline:1:1: error: unknown pass tir-splat; did you mean tir-split?
// LOOKS: --pass-pipeline:1:1: error: unknown pass tir-get-block
// NESTED: --pass-pipeline:1:15: error: tir-lower works on a whole module: write it outside func.func(...)

// CHECK: func.func @f()
func.func @f() {
  return
}
