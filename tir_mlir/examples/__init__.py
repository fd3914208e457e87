"""Programs to read and to run: `python -m tir_mlir.examples.demo`."""
