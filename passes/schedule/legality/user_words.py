"""The uses of a buffer in the words of a program, for refusals."""

from __future__ import annotations

from mlir import ir

from tir_mlir.dialect.ir.op_traits import AFFINE_VECTOR_ACCESSES, POINTERS


def is_vector_access(op: ir.Operation) -> bool:
    """Whether an op loads or stores several elements."""
    return op.name in AFFINE_VECTOR_ACCESSES


def use_words(user: ir.Operation) -> str:
    """What an op that is not a plain load or store does with a buffer."""
    if is_vector_access(user):
        return "a vector access (several elements)"
    return "a pointer into it" if user.name in POINTERS else user.name
