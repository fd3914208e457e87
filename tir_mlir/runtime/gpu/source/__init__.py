"""Kernels as text in CUDA C or OpenCL C, printed from the device module."""

from tir_mlir.runtime.gpu.source.dialects import CUDA_C, OPENCL_C, Dialect, opencl_c
from tir_mlir.runtime.gpu.source.kernel_printer import source_of

__all__ = ["CUDA_C", "OPENCL_C", "Dialect", "opencl_c", "source_of"]
