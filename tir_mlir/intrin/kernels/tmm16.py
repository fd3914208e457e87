"""The course's instruction: c[16,16] += a[16,16] * b[16,16]^T, rows of floats `stride_x` apart.

int tmm16(float *c, float *a, float *b, int stride_a, int stride_b, int stride_c)
"""

from __future__ import annotations

from tir_mlir.intrin.kernels.outer_product import outer_product
from tir_mlir.intrin.kernels.registry import emit, register_kernel
from tir_mlir.runtime.host import host

register_kernel("tmm16", lambda: emit(outer_product("tmm16", 16, 16, 16, host())))
