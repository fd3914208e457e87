"""Fragments: matrices in the registers of a warp, in a layout of the hardware, and the calls that work on them."""

from __future__ import annotations

import re

from mlir import ir

from tir_mlir.dialect.ir.op_traits import may_write
from tir_mlir.dialect.ir.op_views import CallOp, IntToPtrOp, Operand, isa
from tir_mlir.dialect.ir.views import Buffer, Loop


class LdmatrixCallOp(CallOp):
    """A call of `ptx_ldmatrix`."""

    register = Operand(1)
    pointer = Operand(2)


class MatrixCallOp(CallOp):
    """A call of a matrix function other than `tvm_mma_sync`, `ptx_ldmatrix` and `ptx_mma`."""

    pointer = Operand(5)
    """What it loads from or stores to."""
    value = Operand(5)
    """What it fills a fragment with."""
    stride = Operand(6)


WARP = 32
"""The lanes of a warp."""

MATRIX_FUNCTIONS = frozenset(
    "tvm_load_matrix_sync tvm_store_matrix_sync tvm_fill_fragment tvm_mma_sync ptx_ldmatrix ptx_mma".split()
)
"""The functions that all lanes of a warp call together."""
MATRIX_LOADS, MATRIX_PRODUCTS = ("tvm_load_matrix_sync", "ptx_ldmatrix"), ("tvm_mma_sync", "ptx_mma")
_SCOPE = re.compile(r"(wmma|mma|wgmma|m16n8k8)\.\w+")


def is_fragment(buffer: Buffer) -> bool:
    """Whether a buffer is in a fragment scope (`wmma.matrix_a`): on a GPU its elements have no addresses."""
    return _SCOPE.fullmatch(buffer.scope) is not None


def matrix_function(op: ir.Operation) -> str | None:
    """The matrix function that an op calls, if it calls one."""
    if not isa(op, CallOp):
        return None
    callee = ir.FlatSymbolRefAttr(op.attributes["callee"]).value
    return callee if callee in MATRIX_FUNCTIONS else None


def matrix_pointer(call: ir.Operation) -> ir.Value | None:
    """The pointer to the memory that a matrix function loads or stores; None: it accesses none."""
    name = matrix_function(call)
    if name == "ptx_ldmatrix":
        return LdmatrixCallOp(call).pointer
    return MatrixCallOp(call).pointer if name in ("tvm_load_matrix_sync", "tvm_store_matrix_sync") else None


def has_strides(buffer: Buffer) -> bool:
    """Whether the strides of a buffer matter: not those of a fragment that only matrix functions access."""
    return not is_fragment(buffer) or not all(
        matrix_function(call) for use in buffer.value.uses for call in _calls(use.owner.operation)
    )


def _calls(op: ir.Operation) -> list[ir.Operation]:
    """The calls that use what is computed from the results of an op."""
    if isa(op, CallOp):
        return [op]
    return [call for result in op.results for use in result.uses for call in _calls(use.owner.operation)]


def is_warp_loop(loop: Loop) -> bool:
    """Whether a loop stands for the lanes of a warp, which run matrix functions together: of kind `threadIdx.x`, 32
    iterations, all the same. What they access, they access once."""
    if loop.kind != "threadIdx.x" or loop.const_extent != WARP or any(True for _ in loop.var.uses):
        return False
    effects = [op for op in loop.body_ops() if op.regions or (may_write(op.name) and not isa(op, IntToPtrOp))]
    return bool(effects) and all(matrix_function(op) for op in effects)
