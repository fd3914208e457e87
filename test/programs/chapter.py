"""The program of the hardware-specialization chapter in MLIR: the tensorized program and its kernel."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def chapter(n: int) -> str:
    """Return the chapter's tensorized program for n x n matrices (n a multiple of 16)."""
    text = (HERE / "chapter.mlir").read_text()
    return text.replace("1024", f"{n}").replace("to 64 ", f"to {n // 16} ").replace("(64, 64", f"({n // 16}, {n // 16}")


TMM16 = """
func.func private @tmm16(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr, %sa: i32, %sb: i32, %sc: i32) -> i32 {
  %zero = arith.constant 0 : index
  %n = arith.constant 16 : index
  %one = arith.constant 1 : index
  scf.for %i = %zero to %n step %one {
    scf.for %j = %zero to %n step %one {
      scf.for %k = %zero to %n step %one {
        %i32 = arith.index_cast %i : index to i32
        %j32 = arith.index_cast %j : index to i32
        %k32 = arith.index_cast %k : index to i32
        %ci = arith.muli %i32, %sc : i32
        %cj = arith.addi %ci, %j32 : i32
        %ai = arith.muli %i32, %sa : i32
        %ak = arith.addi %ai, %k32 : i32
        %bj = arith.muli %j32, %sb : i32
        %bk = arith.addi %bj, %k32 : i32
        %cp = llvm.getelementptr %c[%cj] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %ap = llvm.getelementptr %a[%ak] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %bp = llvm.getelementptr %b[%bk] : (!llvm.ptr, i32) -> !llvm.ptr, f32
        %x = llvm.load %cp : !llvm.ptr -> f32
        %y = llvm.load %ap : !llvm.ptr -> f32
        %z = llvm.load %bp : !llvm.ptr -> f32
        %p = arith.mulf %y, %z : f32
        %s = arith.addf %x, %p : f32
        llvm.store %s, %cp : f32, !llvm.ptr
      }
    }
  }
  %r = arith.constant 0 : i32
  return %r : i32
}
"""
