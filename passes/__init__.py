"""Rewrites of programs: schedule primitives, lowering to LLVM, conversion from and to linalg."""
