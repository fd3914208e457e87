"""The parts of `tir-opt`: arguments, pipeline text, reading, running, reporting. `tir_mlir.opt` is its door."""
