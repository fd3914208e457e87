"""The encoding of TensorIR on upstream MLIR (see README.md), and the analyses of programs in it."""
