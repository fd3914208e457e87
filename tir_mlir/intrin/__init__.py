"""Tensor intrinsics: a description of the computation, an implementation that calls a kernel, and built-in ones.

`register_kernel`, `built_in_kernel`, `emit` and `find_kernel` are those of `tir_mlir.runtime.kernels`; they are loaded
when first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tir_mlir.dialect.computation import TensorIntrin, intrinsics
from tir_mlir.extensions import implement

if TYPE_CHECKING:
    from tir_mlir.runtime.kernels import built_in_kernel as built_in_kernel
    from tir_mlir.runtime.kernels import emit as emit
    from tir_mlir.runtime.kernels import find_kernel as find_kernel
    from tir_mlir.runtime.kernels import register_kernel as register_kernel

__all__ = ["TensorIntrin", "built_in_kernel", "emit", "find_kernel", "register_kernel"]


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'tir_mlir.intrin' has no attribute {name!r}; it has {', '.join(__all__)}")
    return getattr(importlib.import_module("tir_mlir.runtime.kernels"), name)


@implement(intrinsics.register_built_in)
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
    elif name.startswith("mma_"):
        from tir_mlir.intrin import mma

        mma.register(name)
    elif name.startswith("dp4a_"):
        from tir_mlir.intrin import dp4a

        dp4a.register(name)
    elif name.startswith("wmma_"):
        from tir_mlir.intrin import wmma

        wmma.register(name)
