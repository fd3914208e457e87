"""LLVM through its C API: LLVM dialect to LLVM IR, optimisation, code generation, loading of object files."""
