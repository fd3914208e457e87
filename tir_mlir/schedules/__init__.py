"""Schedules for common operators: functions that schedule a block, with tile sizes chosen from the target."""

from __future__ import annotations

from tir_mlir.schedules.convolutions.conv2d import conv2d
from tir_mlir.schedules.products.gemm import gemm
from tir_mlir.schedules.products.gemv import gemv
from tir_mlir.schedules.rows.elementwise import elementwise
from tir_mlir.schedules.rows.reduction import reduction
from tir_mlir.schedules.rows.rowwise import layer_norm, rowwise, softmax

__all__ = ["conv2d", "elementwise", "gemm", "gemv", "layer_norm", "reduction", "rowwise", "softmax"]
