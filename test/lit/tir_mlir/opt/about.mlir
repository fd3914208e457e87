// What the tool tells of itself.
// RUN: tir-opt --version | FileCheck %s --check-prefix=VERSION
// RUN: tir-opt --help | FileCheck %s --check-prefix=HELP
// RUN: tir-opt --list-passes | FileCheck %s --check-prefix=PASSES

// VERSION: tir-opt
// VERSION: mlir {{.*[0-9]+.*}}
// VERSION: mlir-opt {{[0-9.]+}} ({{.*}}: {{.*}}mlir-opt)
// HELP: usage: tir-opt
// HELP: --pass-pipeline
// HELP: names in options:
// PASSES: schedule primitives:
// PASSES: tir-split{loop factors [preserve_unit_iters] [disable_predication]} Split a loop into a nest of loops.
// PASSES: passes on a whole module:
// PASSES: tir-from-linalg
// PASSES: tir-lower-unroll{[limit=]} Unroll loops
// PASSES: upstream passes
// PASSES: canonicalize
