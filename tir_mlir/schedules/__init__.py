"""Schedules for common operators: functions that schedule a block, with tile sizes chosen from the target."""

from __future__ import annotations

from tir_mlir.schedules.conv2d import conv2d
from tir_mlir.schedules.elementwise import elementwise
from tir_mlir.schedules.gemm import gemm
from tir_mlir.schedules.gemv import gemv
from tir_mlir.schedules.reduction import reduction
from tir_mlir.schedules.rowwise import layer_norm, rowwise, softmax

__all__ = ["conv2d", "elementwise", "gemm", "gemv", "layer_norm", "reduction", "rowwise", "softmax"]
