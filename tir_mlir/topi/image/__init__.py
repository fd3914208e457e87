"""Operators of images."""

from tir_mlir.topi.image.resize import resample, resize2d
from tir_mlir.topi.image.sampling import grid_sample

__all__ = ["grid_sample", "resample", "resize2d"]
