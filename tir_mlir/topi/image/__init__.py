"""Operators of images."""

from tir_mlir.topi.image.resize import resize2d

__all__ = ["resize2d"]
