"""Kernels of dot products of adjacent integers: CPU instructions, with a generic fallback.

C[j] += A[0] * B[j, 0] + ... + A[group - 1] * B[j, group - 1]      for the lanes j of a register
"""

from __future__ import annotations

from dataclasses import dataclass

from tir_mlir.intrin.kernels.registry import Builder, emit, register_kernel

_KERNEL = """
llvm.func @{name}(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.load %a {{alignment = {align} : i64}} : !llvm.ptr -> {word}
  %none = llvm.mlir.poison : {words}
  %first = llvm.insertelement %one, %none[%zero : i32] : {words}
  %all = llvm.shufflevector %first, %none {zeros} : {words}
  %x = llvm.bitcast %all : {words} to {elements}
  %y = llvm.load %b {{alignment = {align} : i64}} : !llvm.ptr -> {elements}
  %old = llvm.load %c {{alignment = 4 : i64}} : !llvm.ptr -> {sums}
  {steps}
  llvm.store %new, %c {{alignment = 4 : i64}} : {sums}, !llvm.ptr
  llvm.return %zero : i32
}}
"""

_SUM = """
llvm.func @{name}(%c: !llvm.ptr, %b: !llvm.ptr) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %x = llvm.mlir.constant(dense<1> : {elements}) : {elements}
  %y = llvm.load %b {{alignment = {align} : i64}} : !llvm.ptr -> {elements}
  %old = llvm.load %c {{alignment = 4 : i64}} : !llvm.ptr -> {sums}
  {steps}
  llvm.store %new, %c {{alignment = 4 : i64}} : {sums}, !llvm.ptr
  llvm.return %zero : i32
}}
"""

_MULTIPLY_PAIRS = """%sum = llvm.call_intrinsic "{instruction}"(%x, %y) : ({elements}, {elements}) -> {sums}
  %new = llvm.add %old, %sum : {sums}"""
_ACCUMULATE = (
    """%new = llvm.call_intrinsic "{instruction}"(%old, %x, %y) : ({sums}, {elements}, {elements}) -> {sums}"""
)
_PLAIN = """%wide_x = llvm.sext %x : {elements} to {sums}
  %wide_y = llvm.sext %y : {elements} to {sums}
  %product = llvm.mul %wide_x, %wide_y : {sums}
  %new = llvm.add %old, %product : {sums}"""


@dataclass(frozen=True)
class Dot:
    """A dot product instruction: `lanes` sums of `group` products of `dtype`. `spare`: registers needed besides its
    operands. `needs`: the required instruction sets. `left`: the type of A, if it is not `dtype`."""

    instruction: str
    lanes: int
    group: int
    dtype: str
    steps: str
    spare: int = 0
    needs: tuple[str, ...] = ()
    left: str = ""

    @property
    def left_dtype(self) -> str:
        """The type of A."""
        return self.left or self.dtype

    @property
    def bits(self) -> int:
        """The width of an element of A or B."""
        return int(self.dtype.removeprefix("int"))

    @property
    def name(self) -> str:
        """Name of the intrinsic and of its kernel."""
        way = self.instruction.split(".", 1)[-1].replace(".", "_") or "plain"
        return f"dot_{self.left and self.left + '_'}{self.dtype}_{self.lanes}x{self.group}_{way}"

    @property
    def sum_name(self) -> str:
        """Name of the intrinsic, and of its kernel, that sums B alone: the products with ones."""
        return f"sum_{self.name.removeprefix('dot_')}"

    def kernel(self, text: str = _KERNEL) -> str:
        """The kernel in the llvm dialect."""
        bits = self.bits
        facts = {
            "name": self.name if text == _KERNEL else self.sum_name,
            "align": bits // 8,
            "word": f"i{bits * self.group}",
            "words": f"vector<{self.lanes}xi{bits * self.group}>",
            "zeros": [0] * self.lanes,
            "elements": f"vector<{self.lanes * self.group}xi{bits}>",
            "sums": f"vector<{self.lanes}xi32>",
            "instruction": self.instruction,
        }
        return text.format(**facts, steps=self.steps.format(**facts))


PAIRS = "int16"  # x86 multiplies int8 only with saturation
_BYTES = {"lanes": 16, "group": 4, "dtype": "int8", "left": "uint8", "steps": _ACCUMULATE}
INSTRUCTIONS = (
    Dot("llvm.x86.avx512.vpdpbusd.512", **_BYTES, needs=("avx512bw", "avx512vnni")),
    Dot("llvm.x86.avx512.vpdpbusd.256", **{**_BYTES, "lanes": 8}, needs=("avx2", "avxvnni")),
    Dot("llvm.x86.avx512.vpdpwssd.512", 16, 2, PAIRS, _ACCUMULATE, needs=("avx512bw", "avx512vnni")),
    Dot("llvm.x86.avx512.pmaddw.d.512", 16, 2, PAIRS, _MULTIPLY_PAIRS, 1, ("avx512bw",)),
    Dot("llvm.x86.avx512.vpdpwssd.256", 8, 2, PAIRS, _ACCUMULATE, needs=("avx2", "avxvnni")),
    Dot("llvm.x86.avx2.pmadd.wd", 8, 2, PAIRS, _MULTIPLY_PAIRS, 1, ("avx2",)),
    Dot("llvm.x86.sse2.pmadd.wd", 4, 2, PAIRS, _MULTIPLY_PAIRS, 1, ("sse2",)),
    Dot("llvm.aarch64.neon.sdot.v4i32.v16i8", 4, 4, "int8", _ACCUMULATE, needs=("dotprod",)),
)
"""Per architecture, the best first."""
PLAIN = {lanes: Dot("", lanes, 1, "int16", _PLAIN, spare=1) for lanes in (1, 2, 4, 8, 16, 32, 64)}
"""The generic fallbacks, by lanes."""
BY_NAME = {dot.name: dot for dot in (*INSTRUCTIONS, *PLAIN.values())}
BY_SUM_NAME = {dot.sum_name: dot for dot in INSTRUCTIONS if dot.left}


def _builder(name: str) -> Builder:
    return lambda: emit(BY_NAME[name].kernel())


def _sum_builder(name: str) -> Builder:
    return lambda: emit(BY_SUM_NAME[name].kernel(_SUM))


for _name, _dot in BY_NAME.items():
    register_kernel(_name, _builder(_name), needs=_dot.needs)
for _name, _dot in BY_SUM_NAME.items():
    register_kernel(_name, _sum_builder(_name), needs=_dot.needs)
