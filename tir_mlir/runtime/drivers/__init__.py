"""From the llvm dialect to code: in process (JIT), by LLVM tools (AOT), for another CPU; linking of kernels."""
