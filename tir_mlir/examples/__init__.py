"""Example programs: `python -m tir_mlir.examples.demo`."""
