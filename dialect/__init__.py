"""What the IR means: the encoding of TensorIR on upstream MLIR (see README.md) and the questions one can ask of it."""
