"""Tensor intrinsics: a description of the computation, an implementation that calls a kernel, and built-in ones."""

from __future__ import annotations

from tir_mlir.dialect.computation import TensorIntrin

__all__ = ["TensorIntrin"]


def register_built_in(name: str) -> None:
    """Register the built-in intrinsic of a name, if there is one: a trace may name it."""
    if name.startswith(("dot_", "sum_")):
        from tir_mlir.intrin import dot_products

        dot_products.register(name)
    elif name.startswith("matmul_"):
        from tir_mlir.intrin import matrix_products

        matrix_products.register(name)
    elif name.startswith("amx_"):
        from tir_mlir.intrin import amx

        amx.register(name)
    elif name.startswith(("outer_product_", "sme_outer_product_")):
        from tir_mlir.intrin import outer_products

        outer_products.register(name)
    elif name.startswith("wmma_"):
        from tir_mlir.intrin import wmma

        wmma.register(name)
