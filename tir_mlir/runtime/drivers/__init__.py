"""From the llvm dialect to code: in process, by the tools, for another CPU; linking of kernels."""
