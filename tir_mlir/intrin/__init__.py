"""Tensor intrinsics: a description of the computation, an implementation that calls a kernel, and built-in ones."""

from __future__ import annotations

from typing import Any

from tir_mlir.dialect.computation import TensorIntrin, check_with, provide, try_with

__all__ = ["TensorIntrin"]


@provide
def _built_in(name: str) -> None:
    """Register a built-in intrinsic on demand: a trace may name one."""
    if name.startswith(("dot_", "sum_")):
        from tir_mlir.intrin import dot_products

        dot_products.register(name)
    elif name.startswith("matmul_"):
        from tir_mlir.intrin import matrix_products

        matrix_products.register(name)
    elif name.startswith("amx_"):
        from tir_mlir.intrin import amx

        amx.register(name)


@check_with
def _check(intrinsic: TensorIntrin, seed: int, kernel: str | None) -> Any:
    from tir_mlir.intrin.check import check_intrinsic

    return check_intrinsic(intrinsic, seed, kernel)


@try_with
def _try(intrinsic: TensorIntrin) -> str | None:
    from tir_mlir.intrin.trial import fault

    return fault(intrinsic)
