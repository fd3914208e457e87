"""What rewrites a TensorIR module: schedule primitives, and the passes that take it down to LLVM."""
