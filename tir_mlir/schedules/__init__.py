"""Schedules of well-known programs: plain functions over a Schedule, which choose everything from the target."""

from __future__ import annotations

from tir_mlir.schedules.conv2d import conv2d
from tir_mlir.schedules.gemm import gemm
from tir_mlir.schedules.gemv import gemv

__all__ = ["conv2d", "gemm", "gemv"]
