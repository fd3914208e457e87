"""`tvm.relax`: TVM's names for graphs of operators, over `tir_mlir.graph`."""
