"""Kernels of matrix products of two rows by two rows in one instruction of 64-bit ARM, `smmla` and its like, `bfmmla`.

C[i, j] += A[i, 0] * B[j, 0] + ... + A[i, depth - 1] * B[j, depth - 1]      for i, j < 2
"""

from __future__ import annotations

from dataclasses import dataclass

from tir_mlir.runtime.kernels.registry import Builder, emit, register_kernel

_KERNEL = """
llvm.func @{name}(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr, %stride: i32) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %x = llvm.load %a {{alignment = {align} : i64}} : !llvm.ptr -> {operand}
  %y = llvm.load %b {{alignment = {align} : i64}} : !llvm.ptr -> {operand}
  %row = llvm.sext %stride : i32 to i64
  %d = llvm.getelementptr %c[%row] : (!llvm.ptr, i64) -> !llvm.ptr, {sum}
  %upper = llvm.load %c {{alignment = 4 : i64}} : !llvm.ptr -> vector<2x{sum}>
  %lower = llvm.load %d {{alignment = 4 : i64}} : !llvm.ptr -> vector<2x{sum}>
  %old = llvm.shufflevector %upper, %lower [0, 1, 2, 3] : vector<2x{sum}>
  %new = llvm.call_intrinsic "{instruction}"(%old, %x, %y) : (vector<4x{sum}>, {operand}, {operand}) -> vector<4x{sum}>
  %above = llvm.shufflevector %new, %new [0, 1] : vector<4x{sum}>
  %below = llvm.shufflevector %new, %new [2, 3] : vector<4x{sum}>
  llvm.store %above, %c {{alignment = 4 : i64}} : vector<2x{sum}>, !llvm.ptr
  llvm.store %below, %d {{alignment = 4 : i64}} : vector<2x{sum}>, !llvm.ptr
  llvm.return %zero : i32
}}
"""


@dataclass(frozen=True)
class MatrixProduct:
    """An instruction that multiplies 2 x depth elements of `left` by 2 x depth of `right`, and adds to 2 x 2 of `sums`.
    needs: the required instruction sets."""

    instruction: str
    left: str
    right: str
    sums: str
    needs: tuple[str, ...]

    @property
    def bits(self) -> int:
        """The width of an element of A or B."""
        return 16 if self.left == "bfloat16" else 8

    @property
    def depth(self) -> int:
        """The terms of a sum: a row of an operand is 64 bits."""
        return 64 // self.bits

    @property
    def name(self) -> str:
        """Name of the intrinsic and of its kernel: `matmul_int8_2x2x8_smmla`."""
        types = self.left if self.left == self.right else f"{self.left}_{self.right}"
        return f"matmul_{types}_2x2x{self.depth}_{self.instruction.split('.')[3]}"

    def kernel(self) -> str:
        """The kernel in the llvm dialect."""
        element = "bf16" if self.left == "bfloat16" else "i8"
        operand = f"vector<{2 * self.depth}x{element}>"
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
