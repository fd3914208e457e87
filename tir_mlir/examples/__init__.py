"""Programs to read and run: `python -m tir_mlir.examples.matmul`."""
