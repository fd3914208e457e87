"""Kernels of matrix products of two rows by two rows in one instruction of 64-bit ARM, `smmla` and its like, `bfmmla`.

C[i, j] += A[i, 0] * B[j, 0] + ... + A[i, group - 1] * B[j, group - 1]      for i, j < 2
"""

from __future__ import annotations

from dataclasses import dataclass

from tir_mlir.runtime.kernels.registry import Builder, emit, register_kernel

_KERNEL = """
llvm.func @{name}(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %x = llvm.load %a {{alignment = {align} : i64}} : !llvm.ptr -> {operand}
  %y = llvm.load %b {{alignment = {align} : i64}} : !llvm.ptr -> {operand}
  %old = llvm.load %c {{alignment = 4 : i64}} : !llvm.ptr -> vector<4x{sum}>
  %new = llvm.call_intrinsic "{instruction}"(%old, %x, %y) : (vector<4x{sum}>, {operand}, {operand}) -> vector<4x{sum}>
  llvm.store %new, %c {{alignment = 4 : i64}} : vector<4x{sum}>, !llvm.ptr
  llvm.return %zero : i32
}}
"""


@dataclass(frozen=True)
class MatrixProduct:
    """An instruction that multiplies 2 rows of `group` elements of `left_dtype` by 2 rows of `dtype`, and adds to 2 x 2
    of `sums`. needs: the required instruction sets. rows, lanes: of the sums."""

    instruction: str
    left_dtype: str
    dtype: str
    sums: str
    needs: tuple[str, ...]
    rows: int = 2
    lanes: int = 2

    @property
    def bits(self) -> int:
        """The width of an element of A or B."""
        return 16 if self.dtype == "bfloat16" else 8

    @property
    def group(self) -> int:
        """The terms of a sum: a row of an operand is 64 bits."""
        return 64 // self.bits

    @property
    def name(self) -> str:
        """Name of the intrinsic and of its kernel: `matmul_int8_2x2x8_smmla`."""
        types = self.dtype if self.left_dtype == self.dtype else f"{self.left_dtype}_{self.dtype}"
        return f"matmul_{types}_2x2x{self.group}_{self.instruction.split('.')[3]}"

    def kernel(self) -> str:
        """The kernel in the llvm dialect."""
        element = "bf16" if self.dtype == "bfloat16" else "i8"
        operand = f"vector<{2 * self.group}x{element}>"
        facts = {"name": self.name, "align": self.bits // 8, "operand": operand, "instruction": self.instruction}
        return _KERNEL.format(**facts, sum="f32" if self.sums == "float32" else "i32")


INSTRUCTIONS = (
    MatrixProduct("llvm.aarch64.neon.smmla.v4i32.v16i8", "int8", "int8", "int32", ("i8mm",)),
    MatrixProduct("llvm.aarch64.neon.ummla.v4i32.v16i8", "uint8", "uint8", "int32", ("i8mm",)),
    MatrixProduct("llvm.aarch64.neon.usmmla.v4i32.v16i8", "uint8", "int8", "int32", ("i8mm",)),
    MatrixProduct("llvm.aarch64.neon.bfmmla", "bfloat16", "bfloat16", "float32", ("bf16",)),
)
MATRIX_PRODUCTS = {one.name: one for one in INSTRUCTIONS}


def _builder(name: str) -> Builder:
    return lambda: emit(MATRIX_PRODUCTS[name].kernel())


for _name, _one in MATRIX_PRODUCTS.items():
    register_kernel(_name, _builder(_name), needs=_one.needs)
