"""Kernels to the llvm and nvvm dialects: math functions, local buffers in registers."""
