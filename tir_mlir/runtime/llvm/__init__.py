"""LLVM through its C API: LLVM dialect to LLVM IR, optimization, code generation, loading of object files."""
