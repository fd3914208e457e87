"""Kernels of Intel AMX: the matrix unit of a CPU, with eight tile registers of 16 rows of 64 bytes.

In memory a tile is 1,024 contiguous bytes, its rows one after the other. Once kernels are inlined, LLVM keeps tiles
whose addresses are known in registers tmm0 to tmm7, and configures them once in a function.
"""

from __future__ import annotations

from collections.abc import Callable

from tir_mlir.runtime.kernels.registry import Builder, emit, register_kernel

ROWS = 16
ROW_BYTES = 64
"""The size of a tile."""
TILES = 8
"""The number of tile registers."""

_HEAD = """
llvm.func @{name}({parameters}) -> i32 {{
  %done = llvm.mlir.constant(0 : i32) : i32
  %rows = llvm.mlir.constant(16 : i16) : i16
  %bytes = llvm.mlir.constant(64 : i16) : i16
"""
_TAIL = """
  llvm.return %done : i32
}
"""
_KEEP = """
  %vector = llvm.call_intrinsic "llvm.x86.cast.tile.to.vector.v256i32"(%tile) : (!llvm.x86_amx) -> vector<256xi32>
  llvm.store %vector, %{to} {{alignment = 64 : i64}} : vector<256xi32>, !llvm.ptr"""
_TAKE = """
  %{name}_vector = llvm.load %{name} {{alignment = 64 : i64}} : !llvm.ptr -> vector<256xi32>
  %{name}_tile = llvm.call_intrinsic "llvm.x86.cast.vector.to.tile.v256i32"(%{name}_vector)
    : (vector<256xi32>) -> !llvm.x86_amx"""
_STRIDE = """
  %elements = llvm.sext %stride : i32 to i64
  %size = llvm.mlir.constant({size} : i64) : i64
  %apart = llvm.mul %elements, %size : i64"""

_ZERO = """
  %tile = llvm.call_intrinsic "llvm.x86.tilezero.internal"(%rows, %bytes) : (i16, i16) -> !llvm.x86_amx"""
_LOAD = """
  %tile = llvm.call_intrinsic "llvm.x86.tileloadd64.internal"(%rows, %bytes, %a, %apart)
    : (i16, i16, !llvm.ptr, i64) -> !llvm.x86_amx"""
_STORE = """
  llvm.call_intrinsic "llvm.x86.tilestored64.internal"(%rows, %bytes, %a, %apart, %c_tile)
    : (i16, i16, !llvm.ptr, i64, !llvm.x86_amx) -> ()"""
_DOT = """
  %tile = llvm.call_intrinsic "llvm.x86.{instruction}.internal"(%rows, %bytes, %bytes, %c_tile, %a_tile, %b_tile)
    : (i16, i16, i16, !llvm.x86_amx, !llvm.x86_amx, !llvm.x86_amx) -> !llvm.x86_amx"""


def zero(name: str) -> str:
    """c = 0"""
    return _HEAD.format(name=name, parameters="%c: !llvm.ptr") + _ZERO + _KEEP.format(to="c") + _TAIL


def load(name: str, size: int) -> str:
    """The tile c = the rows at a, `stride` elements of `size` bytes apart."""
    head = _HEAD.format(name=name, parameters="%c: !llvm.ptr, %a: !llvm.ptr, %stride: i32")
    return head + _STRIDE.format(size=size) + _LOAD + _KEEP.format(to="c") + _TAIL


def store(name: str, size: int) -> str:
    """The rows at a, `stride` elements of `size` bytes apart = the tile c."""
    head = _HEAD.format(name=name, parameters="%a: !llvm.ptr, %c: !llvm.ptr, %stride: i32")
    return head + _STRIDE.format(size=size) + _TAKE.format(name="c") + _STORE + _TAIL


def dot(name: str, instruction: str) -> str:
    """The tile c += the product of the tiles a and b."""
    head = _HEAD.format(name=name, parameters="%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr")
    takes = "".join(_TAKE.format(name=tile) for tile in "cab")
    return head + takes + _DOT.format(instruction=instruction) + _KEEP.format(to="c") + _TAIL


def add_kernel(name: str, write: Callable[..., str], argument: int | str | None, *needs: str) -> None:
    """Register a kernel of this file, once."""
    register_kernel(name, _builder(name, write, argument), override=True, needs=("amx-tile", *needs))


def _builder(name: str, write: Callable[..., str], argument: int | str | None) -> Builder:
    return lambda: emit(write(name) if argument is None else write(name, argument))
