"""LLVM through its C API: optimisation, code generation, loading of object files."""
