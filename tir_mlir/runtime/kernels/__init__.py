"""The kernel registry and the built-in kernels: code for external functions that a program does not bring itself."""

from tir_mlir.runtime.kernels import dot_products as _dots  # noqa: F401 - these register themselves
from tir_mlir.runtime.kernels import outer_product as _tmm16  # noqa: F401
from tir_mlir.runtime.kernels.registry import (
    built_in_kernel,
    emit,
    find_kernel,
    known_kernels,
    needed_by,
    register_kernel,
)

__all__ = ["built_in_kernel", "emit", "find_kernel", "known_kernels", "needed_by", "register_kernel"]
