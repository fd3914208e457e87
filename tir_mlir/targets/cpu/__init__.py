"""The back end of CPUs: to LLVM, in this process, by its tools, or as object files for others."""
