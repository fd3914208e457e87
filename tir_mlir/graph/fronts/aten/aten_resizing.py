"""Images of another size."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.diagnostics import GraphError
from tir_mlir.graph.fronts.aten.aten_table import Translation, aten
from tir_mlir.graph.fronts.aten.torch_emitter import TorchEmitter


def _resize(method: str) -> Translation:
    def translated(
        e: TorchEmitter,
        x: Any,
        output_size: Any,
        align_corners: bool = False,
        scale_factors: Any = None,
        scales_h: Any = None,
        scales_w: Any = None,
    ) -> Any:
        size = e.shape[2:]
        scales = scale_factors or [s for s in (scales_h, scales_w) if s is not None]
        for scale, old, new in zip(scales, x.shape[2:], size, strict=False):
            if not (isinstance(old, int) and isinstance(new, int) and old * scale == new):
                raise GraphError(f"a scale of {scale} of {old}, which is no whole number\n  fix: pass size=")
        corners = "align_corners" if align_corners else "half_pixel" if method == "linear" else "asymmetric"
        return e.op(
            "image.resize2d",
            x,
            size=list(size),
            layout="NCHW",
            method="nearest_neighbor" if method == "nearest" else method,
            coordinate_transformation_mode=corners,
            rounding_method="" if method == "linear" else "floor",
        )

    return translated


aten("upsample_nearest2d")(_resize("nearest"))
aten("upsample_bilinear2d")(_resize("linear"))
