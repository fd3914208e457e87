"""Tensor intrinsics: what an instruction computes, the program that stands for it, and the kernels behind it."""

from tir_mlir.dialect.intrinsics import TensorIntrin

__all__ = ["TensorIntrin"]
