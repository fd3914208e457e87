"""Schedules for common operators: functions that schedule a block, with tile sizes chosen from the target."""

from __future__ import annotations

from tir_mlir.schedules.convolutions.conv2d import conv2d
from tir_mlir.schedules.products.gemm import gemm
from tir_mlir.schedules.products.gemv import gemv
from tir_mlir.schedules.products.packing import WeightPanels
from tir_mlir.schedules.programs.attention import attention
from tir_mlir.schedules.programs.auto import auto
from tir_mlir.schedules.programs.plain import plain, plain_panels, tile
from tir_mlir.schedules.programs.prepack import prepack
from tir_mlir.schedules.rows.elementwise import elementwise
from tir_mlir.schedules.rows.independent import independent
from tir_mlir.schedules.rows.reduction import reduction
from tir_mlir.schedules.rows.rowwise import layer_norm, rowwise, softmax
from tir_mlir.schedules.rows.transpose import transpose

__all__ = [
    "WeightPanels",
    "attention",
    "auto",
    "conv2d",
    "elementwise",
    "gemm",
    "gemv",
    "independent",
    "layer_norm",
    "plain",
    "plain_panels",
    "prepack",
    "reduction",
    "rowwise",
    "softmax",
    "tile",
    "transpose",
]
