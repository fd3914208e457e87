"""Dot products of a few neighbouring integers, as the CPUs have them, and in plain code where one has none.

    C[j] += A[0] * B[j, 0] + ... + A[group - 1] * B[j, group - 1]      for the lanes j of a register

A is the same for all lanes. Products and sums are those of int32, exact for all values of A and B.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tir_mlir.dialect.intrinsics import TensorIntrin
from tir_mlir.target import Target

_DESC = """
@T.prim_func
def desc(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, ({group},), "{dtype}")
    B = T.match_buffer(b, ({lanes}, {group}), "{dtype}")
    C = T.match_buffer(c, ({lanes},), "int32", scope="local")
    with T.block("root"):
        for j, k in T.grid({lanes}, {group}):
            with T.block("update"):
                vj, vk = T.axis.remap("SR", [j, k])
                C[vj] = C[vj] + T.Cast("int32", A[vk]) * T.Cast("int32", B[vj, vk])
"""

_CALL = """
@T.prim_func
def impl(a: T.handle, b: T.handle, c: T.handle):
    A = T.match_buffer(a, ({group},), "{dtype}", strides=[1])
    B = T.match_buffer(b, ({lanes}, {group}), "{dtype}", strides=[{group}, 1])
    C = T.match_buffer(c, ({lanes},), "int32", strides=[1], scope="local")
    with T.block("root"):
        T.reads(C[0:{lanes}], A[0:{group}], B[0:{lanes}, 0:{group}])
        T.writes(C[0:{lanes}])
        T.call_extern("int32", "{name}", C.access_ptr("rw"), A.access_ptr("r"), B.access_ptr("r"))
"""

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
    """One such instruction: `lanes` sums of `group` products of `dtype`; `spare`: registers that it needs besides its
    operands; `needs`: the instruction sets that it is part of."""

    instruction: str
    lanes: int
    group: int
    dtype: str
    steps: str
    spare: int = 0
    needs: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """Name of the intrinsic and of its kernel."""
        way = self.instruction.split(".", 1)[-1].replace(".", "_") or "plain"
        return f"dot_{self.dtype}_{self.lanes}x{self.group}_{way}"

    def register(self) -> str:
        """Make it known to `tensorize` and `build`; its name comes back."""
        from tir_mlir.intrin.kernels import emit, known_kernels, register_kernel
        from tir_mlir.script.parser import parse

        facts = {"lanes": self.lanes, "group": self.group, "dtype": self.dtype, "name": self.name}
        text = self.kernel()
        if self.name not in known_kernels():
            register_kernel(self.name, lambda: emit(text), needs=self.needs)
        TensorIntrin.register(self.name, parse(_DESC.format(**facts))["desc"], parse(_CALL.format(**facts))["impl"])
        return self.name

    def kernel(self) -> str:
        """The kernel in the llvm dialect."""
        bits = int(self.dtype.removeprefix("int"))
        facts = {
            "name": self.name,
            "align": bits // 8,
            "word": f"i{bits * self.group}",
            "words": f"vector<{self.lanes}xi{bits * self.group}>",
            "zeros": [0] * self.lanes,
            "elements": f"vector<{self.lanes * self.group}xi{bits}>",
            "sums": f"vector<{self.lanes}xi32>",
            "instruction": self.instruction,
        }
        return _KERNEL.format(**facts, steps=self.steps.format(**facts))


def dot_product(target: Target, dtype: str) -> Dot | None:
    """The best one that a CPU has for products of int8 or int16; None for other types."""
    return next((d for d in _known(target) if _holds(d.dtype, dtype)), None)


def _known(target: Target) -> Iterator[Dot]:
    """All that a CPU has, the best first."""
    lanes = target.lanes(32)
    if target.arch == "x86_64":
        yield from _x86(target)
    if target.arch == "aarch64" and target.has("dotprod"):
        yield Dot("llvm.aarch64.neon.sdot.v4i32.v16i8", 4, 4, "int8", _ACCUMULATE, needs=("dotprod",))
    yield Dot("", lanes, 1, "int16", _PLAIN, spare=1)


def _x86(target: Target) -> Iterator[Dot]:
    pairs = "int16"  # of int8 there are only products that saturate
    if target.vector_bits >= 512 and target.has("avx512bw"):
        if target.has("avx512vnni"):
            yield Dot("llvm.x86.avx512.vpdpwssd.512", 16, 2, pairs, _ACCUMULATE, needs=("avx512bw", "avx512vnni"))
        yield Dot("llvm.x86.avx512.pmaddw.d.512", 16, 2, pairs, _MULTIPLY_PAIRS, 1, ("avx512bw",))
    if target.vector_bits >= 256 and target.has("avx2"):
        if target.has("avxvnni"):
            yield Dot("llvm.x86.avx512.vpdpwssd.256", 8, 2, pairs, _ACCUMULATE, needs=("avx2", "avxvnni"))
        yield Dot("llvm.x86.avx2.pmadd.wd", 8, 2, pairs, _MULTIPLY_PAIRS, 1, ("avx2",))
    if target.has("sse2"):
        yield Dot("llvm.x86.sse2.pmadd.wd", 4, 2, pairs, _MULTIPLY_PAIRS, 1, ("sse2",))


def _holds(wide: str, narrow: str) -> bool:
    return narrow in ("int8", "int16") and int(wide.removeprefix("int")) >= int(narrow.removeprefix("int"))
