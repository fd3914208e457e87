// Pieces are modules of their own; an error in one does not keep the others from being printed.
// RUN: not tir-opt %s --split-input-file > %t 2> %t.err
// RUN: FileCheck %s < %t
// RUN: FileCheck %s --check-prefix=ERROR < %t.err

// CHECK: func.func @first
func.func @first() { return }

// -----

// ERROR: split-input.mlir:[[#@LINE+1]]:1: error: Dialect `x' not found
x.y

// -----

// CHECK: // -----
// CHECK: func.func @first
func.func @first() { return }
