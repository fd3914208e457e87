// The module after each pass is a file; behind the last one stands what failed. A second run replaces the files.
// RUN: rm -rf %t && tir-opt %s --cse --dump=%t --tir-lower-scopes -o %t.out && ls %t | FileCheck %s --check-prefix=LIST
// RUN: FileCheck %s --check-prefix=INPUT < %t/00-input.mlir
// RUN: FileCheck %s --check-prefix=LAST < %t/02-tir-lower-scopes.mlir
// RUN: not tir-opt %s --dump=%t -p 'tir-vectorize{loop=i}' 2> %t.err
// RUN: ls %t | FileCheck %s --check-prefix=FAILED && FileCheck %s --check-prefix=ERROR < %t/01-error.txt
// RUN: not tir-opt %s --cse --dump=%s/x 2>&1 | FileCheck %s --check-prefix=NONE

// LIST: 00-input.mlir
// LIST-NEXT: 01-cse.mlir
// LIST-NEXT: 02-tir-lower-scopes.mlir
// LIST-NOT: mlir
// INPUT: memref<4xf32, "local">
// LAST-NOT: "local"
// FAILED: 00-input.mlir
// FAILED-NEXT: 01-error.txt
// FAILED-NOT: mlir
// ERROR: DriverError: tir-vectorize: no loop i in main
// NONE: error: dump: {{.*}}dump.mlir/x cannot be written: Not a directory
func.func @main(%a: memref<4xf32, "local"> {tir.name = "A"}) {
  return
}
