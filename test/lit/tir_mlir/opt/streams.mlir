// Closed and full streams are errors like any other; a reader that goes away is not an error to tell of.
// RUN: not cold-tir-opt %s > /dev/full 2> %t.full
// RUN: FileCheck %s --check-prefix=FULL < %t.full
// RUN: not sh -c "cold-tir-opt %s >&-" 2>&1 | FileCheck %s --check-prefix=CLOSED
// RUN: not sh -c "cold-tir-opt <&-" 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: sh -c "cold-tir-opt %s | true" 2>&1 | FileCheck %s --allow-empty --check-prefix=GONE

// FULL: <stdout>:1:1: error: cannot be written: No space left on device
// FULL-NOT: {{.}}
// CLOSED: <stdout>:1:1: error: cannot be written: it is closed
// INPUT: <stdin>:1:1: error: cannot be read: it is closed
// GONE-NOT: {{.}}
func.func @main(%A: memref<8xf32>) {
  return
}
