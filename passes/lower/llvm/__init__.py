"""Last steps to the LLVM dialect: C interface, pointers, math functions, bfloat16."""
