"""The last steps before LLVM: C interface, pointers, elementary functions, bfloat16."""
