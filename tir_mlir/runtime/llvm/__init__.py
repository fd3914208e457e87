"""LLVM through its C interface: optimization, object code, loading."""
