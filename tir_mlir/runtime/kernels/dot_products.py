"""Kernels of dot products of adjacent narrow numbers: CPU instructions, with a generic fallback.

C[j] += A[0] * B[j, 0] + ... + A[group - 1] * B[j, group - 1]      for the lanes j of a register

and the same with A[j, 0], ..., A[j, group - 1].
"""

from __future__ import annotations

from dataclasses import dataclass

from tir_mlir.runtime.kernels.registry import Builder, emit, register_kernel

_KERNEL = """
llvm.func @{name}(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %one = llvm.load %a {{alignment = {align} : i64}} : !llvm.ptr -> {word}
  {splat}
  %x = llvm.bitcast %all : {words} to {elements}
  %y = llvm.load %b {{alignment = {align_y} : i64}} : !llvm.ptr -> {elements_y}
  %old = llvm.load %c {{alignment = 4 : i64}} : !llvm.ptr -> {sums}
  {steps}
  llvm.store %new, %c {{alignment = 4 : i64}} : {sums}, !llvm.ptr
  llvm.return %zero : i32
}}
"""

_SPLAT = """%none = llvm.mlir.poison : {words}
  %first = llvm.insertelement %one, %none[%zero : i32] : {words}
  %all = llvm.shufflevector %first, %none {zeros} : {words}"""
# the instruction takes its operand by element: LLVM would load it into all lanes, which occupies a unit of vectors
_ELEMENT = """%long = llvm.zext %one : {word} to i64
  %longs = llvm.mlir.constant(dense<0> : vector<2xi64>) : vector<2xi64>
  %low = llvm.insertelement %long, %longs[%zero : i32] : vector<2xi64>
  %first = llvm.bitcast %low : vector<2xi64> to {words}
  %all = llvm.shufflevector %first, %first {zeros} : {words}"""

_LANES = """
llvm.func @{name}(%c: !llvm.ptr, %a: !llvm.ptr, %b: !llvm.ptr) -> i32 {{
  %zero = llvm.mlir.constant(0 : i32) : i32
  %x = llvm.load %a {{alignment = {align} : i64}} : !llvm.ptr -> {elements}
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
_WIDEN_PAIRS = """%wide = llvm.sext %y : {elements_y} to {elements}
  %sum = llvm.call_intrinsic "{instruction}"(%x, %wide) : ({elements}, {elements}) -> {sums}
  %new = llvm.add %old, %sum : {sums}"""
# sums of two products are saturated to 16 bits: without the highest bits of y, and of these alone, they fit; where y is
# known to have none, as numbers of 4 bits, the second ones are nothing
_MULTIPLY_BYTES = """%low_bits = llvm.mlir.constant(dense<127> : {elements}) : {elements}
  %top_bit = llvm.mlir.constant(dense<-128> : {elements}) : {elements}
  %ones = llvm.mlir.constant(dense<1> : {pairs}) : {pairs}
  %low = llvm.and %y, %low_bits : {elements}
  %high = llvm.and %y, %top_bit : {elements}
  %low_pairs = llvm.call_intrinsic "{instruction}"(%low, %x) : ({elements}, {elements}) -> {pairs}
  %high_pairs = llvm.call_intrinsic "{instruction}"(%high, %x) : ({elements}, {elements}) -> {pairs}
  %low_sum = llvm.call_intrinsic "{add_pairs}"(%low_pairs, %ones) : ({pairs}, {pairs}) -> {sums}
  %high_sum = llvm.call_intrinsic "{add_pairs}"(%high_pairs, %ones) : ({pairs}, {pairs}) -> {sums}
  %sum = llvm.add %low_sum, %high_sum : {sums}
  %new = llvm.add %old, %sum : {sums}"""
_ACCUMULATE = (
    """%new = llvm.call_intrinsic "{instruction}"(%old, %x, %y) : ({sums}, {elements}, {elements}) -> {sums}"""
)
_ACCUMULATE_TURNED = (
    """%new = llvm.call_intrinsic "{instruction}"(%old, %y, %x) : ({sums}, {elements}, {elements}) -> {sums}"""
)
_PLAIN = """%wide_x = llvm.sext %x : {elements} to {sums}
  %wide_y = llvm.sext %y : {elements} to {sums}
  %product = llvm.mul %wide_x, %wide_y : {sums}
  %new = llvm.add %old, %product : {sums}"""

# scalable registers: the fixed vectors are their first lanes
_IN_SVE = """%bytes = llvm.mlir.poison : vector<[16]xi8>
  %words = llvm.mlir.poison : vector<[4]xi32>
  %xs = llvm.intr.vector.insert %x, %bytes[0] : {elements} into vector<[16]xi8>
  %ys = llvm.intr.vector.insert %y, %bytes[0] : {elements} into vector<[16]xi8>
  %olds = llvm.intr.vector.insert %old, %words[0] : {sums} into vector<[4]xi32>
  %news = llvm.call_intrinsic "{instruction}"(%olds, %xs, %ys)
    : (vector<[4]xi32>, vector<[16]xi8>, vector<[16]xi8>) -> vector<[4]xi32>
  %new = llvm.intr.vector.extract %news[0] : {sums} from vector<[4]xi32>"""
_IN_RISCV = """%halves = llvm.mlir.poison : vector<[2]xi16>
  %words = llvm.mlir.poison : vector<[2]xi32>
  %ys = llvm.intr.vector.insert %y, %halves[0] : {elements} into vector<[2]xi16>
  %olds = llvm.intr.vector.insert %old, %words[0] : {sums} into vector<[2]xi32>
  %length = llvm.mlir.constant({lanes} : i64) : i64
  %policy = llvm.mlir.constant(0 : i64) : i64
  %news = llvm.call_intrinsic "{instruction}"(%olds, %one, %ys, %length, %policy)
    : (vector<[2]xi32>, i16, vector<[2]xi16>, i64, i64) -> vector<[2]xi32>
  %new = llvm.intr.vector.extract %news[0] : {sums} from vector<[2]xi32>"""


_BITS = {"int8": 8, "uint8": 8, "int16": 16, "bfloat16": 16}
_MLIR = {"bfloat16": "bf16", "float32": "f32"}


@dataclass(frozen=True)
class Dot:
    """A dot product instruction: `lanes` sums of `group` products of `dtype`.

    spare: registers needed besides its operands.
    needs: the required instruction sets.
    left: the type of A, if it is not `dtype`.
    slow: instruction sets of CPUs on which it is slower than widened operands.
    rows: of A at once, whose elements all lanes share.
    unpacked: B is in registers, where it is unpacked from fewer bits.
    widening: B is widened to the type of A in registers: the multiplies whose place that takes, a register of B.
    """

    instruction: str
    lanes: int
    group: int
    dtype: str
    steps: str
    spare: int = 0
    needs: tuple[str, ...] = ()
    left: str = ""
    sums: str = "int32"
    slow: tuple[str, ...] = ()
    unpacked: bool = False
    widening: float | None = None
    rows: int = 1

    @property
    def left_dtype(self) -> str:
        """The type of A."""
        return self.left or self.dtype

    @property
    def bits(self) -> int:
        """The width of an element of A."""
        return _BITS[self.left_dtype]

    @property
    def name(self) -> str:
        """Name of the intrinsic and of its kernel."""
        way = self.instruction.split(".", 1)[-1].replace(".", "_") or "plain"
        return f"dot_{self.left and self.left + '_'}{self.dtype}_{self.lanes}x{self.group}_{way}"

    @property
    def sum_name(self) -> str:
        """Name of the intrinsic, and of its kernel, that sums B alone: the products with ones."""
        return f"sum_{self.name.removeprefix('dot_')}"

    @property
    def lanes_name(self) -> str:
        """Name of the intrinsic, and of its kernel, whose A has elements for each lane."""
        return self.name.replace("dot_", "dot_lanes_", 1)

    def kernel(self, text: str = _KERNEL) -> str:
        """The kernel in the llvm dialect."""
        bits = self.bits
        facts = {
            "name": {_KERNEL: self.name, _LANES: self.lanes_name, _SUM: self.sum_name}[text],
            "align": bits // 8,
            "word": f"i{bits * self.group}",
            "words": f"vector<{self.lanes}xi{bits * self.group}>",
            "zeros": [0] * self.lanes,
            "elements": f"vector<{self.lanes * self.group}x{_MLIR.get(self.left_dtype, f'i{bits}')}>",
            "elements_y": f"vector<{self.lanes * self.group}x{_MLIR.get(self.dtype, f'i{_BITS[self.dtype]}')}>",
            "align_y": _BITS[self.dtype] // 8,
            "sums": f"vector<{self.lanes}x{_MLIR.get(self.sums, 'i32')}>",
            "instruction": self.instruction,
            "add_pairs": self.instruction.replace("pmadd.ub.sw", "pmadd.wd").replace("pmaddubs.w", "pmaddw.d"),
            "pairs": f"vector<{self.lanes * self.group // 2}xi16>",
            "lanes": self.lanes,
        }
        splat = _ELEMENT if ".neon." in self.instruction else _SPLAT
        return text.format(**facts, steps=self.steps.format(**facts), splat=splat.format(**facts))


def _scalable(instruction: str, lanes: int, group: int, dtype: str, steps: str, *needs: str, left: str = "") -> Dot:
    """A dot product in registers of variable length, of which the code needs this many lanes."""
    return Dot(instruction, lanes, group, dtype, steps, needs=(*needs, f"vl{32 * lanes}b"), left=left)


def _in_sve(name: str, *needs: str, left: str = "") -> list[Dot]:
    """The dot products of bytes of SVE, for its lengths."""
    instruction = f"llvm.aarch64.sve.{name}.nxv4i32"
    return [_scalable(instruction, n, 4, "int8", _IN_SVE, "sve", *needs, left=left) for n in (8, 16, 32, 64)]


PAIRS = "int16"  # x86 multiplies int8 only with saturation
_BYTES = {"lanes": 16, "group": 4, "dtype": "int8", "left": "uint8", "steps": _ACCUMULATE}
# the numbers of the lanes are the unsigned ones
_TURNED = {**_BYTES, "dtype": "uint8", "left": "int8", "steps": _ACCUMULATE_TURNED, "unpacked": True}
_WIDENED = {
    "lanes": 8, "group": 2, "dtype": "int8", "left": PAIRS, "steps": _WIDEN_PAIRS, "spare": 1, "widening": 0.0,
}  # fmt: skip
INSTRUCTIONS = (
    Dot("llvm.x86.avx512.vpdpbusd.512", **_BYTES, needs=("avx512bw", "avx512vnni")),
    Dot("llvm.x86.avx512.vpdpbusd.256", **{**_BYTES, "lanes": 8}, needs=("avx2", "avxvnni")),
    Dot("llvm.x86.avx512.vpdpbusd.512", **_TURNED, needs=("avx512bw", "avx512vnni")),
    Dot("llvm.x86.avx512.vpdpbusd.256", **{**_TURNED, "lanes": 8}, needs=("avx2", "avxvnni")),
    Dot("llvm.x86.avx512.pmaddubs.w.512", **{**_TURNED, "steps": _MULTIPLY_BYTES}, spare=1, needs=("avx512bw",)),
    Dot("llvm.x86.avx2.pmadd.ub.sw", **{**_TURNED, "lanes": 8, "steps": _MULTIPLY_BYTES}, spare=1, needs=("avx2",)),
    Dot(
        "llvm.x86.avx512bf16.dpbf16ps.512",
        16,
        2,
        "bfloat16",
        _ACCUMULATE,
        sums="float32",
        needs=("avx512bf16",),
        slow=("avx512fp16",),
    ),  # Intel's cores have half of the rate of widened FMAs
    # without products of bytes, weights of bytes are widened in registers: 512 bits leave two units for all of it
    Dot("llvm.x86.avx512.pmaddw.d.512", **{**_WIDENED, "lanes": 16, "widening": 1.0}, needs=("avx512bw",)),
    Dot("llvm.x86.avx2.pmadd.wd", **_WIDENED, needs=("avx2",)),
    Dot("llvm.x86.avx512.vpdpwssd.512", 16, 2, PAIRS, _ACCUMULATE, needs=("avx512bw", "avx512vnni")),
    Dot("llvm.x86.avx512.pmaddw.d.512", 16, 2, PAIRS, _MULTIPLY_PAIRS, 1, ("avx512bw",)),
    Dot("llvm.x86.avx512.vpdpwssd.256", 8, 2, PAIRS, _ACCUMULATE, needs=("avx2", "avxvnni")),
    Dot("llvm.x86.avx2.pmadd.wd", 8, 2, PAIRS, _MULTIPLY_PAIRS, 1, ("avx2",)),
    Dot("llvm.x86.sse2.pmadd.wd", 4, 2, PAIRS, _MULTIPLY_PAIRS, 1, ("sse2",)),
    Dot("llvm.aarch64.neon.sdot.v4i32.v16i8", 4, 4, "int8", _ACCUMULATE_TURNED, needs=("dotprod",)),
    Dot("llvm.aarch64.neon.usdot.v4i32.v16i8", 4, 4, "int8", _ACCUMULATE, needs=("i8mm",), left="uint8"),
    Dot("llvm.wasm.dot", 4, 2, PAIRS, _MULTIPLY_PAIRS, 1, ("simd128",)),
    *_in_sve("sdot"),
    *_in_sve("usdot", "i8mm", left="uint8"),
    *(_scalable("llvm.riscv.vwmacc.nxv2i32.i16.nxv2i16.i64", n, 1, PAIRS, _IN_RISCV, "v") for n in (4, 8, 16, 32)),
)
"""Per architecture, the best first."""
PLAIN = {lanes: Dot("", lanes, 1, "int16", _PLAIN, spare=1) for lanes in (1, 2, 4, 8, 16, 32, 64)}
"""The generic fallbacks, by lanes."""
BY_NAME = {dot.name: dot for dot in (*INSTRUCTIONS, *PLAIN.values())}
BY_LANES_NAME = {
    dot.lanes_name: dot for dot in BY_NAME.values() if dot.steps not in (_IN_RISCV, _WIDEN_PAIRS) and not dot.unpacked
}
BY_SUM_NAME = {dot.sum_name: dot for dot in INSTRUCTIONS if dot.bits == 8 and not dot.unpacked}


def _builder(name: str) -> Builder:
    return lambda: emit(BY_NAME[name].kernel())


def _lanes_builder(name: str) -> Builder:
    return lambda: emit(BY_LANES_NAME[name].kernel(_LANES))


def _sum_builder(name: str) -> Builder:
    return lambda: emit(BY_SUM_NAME[name].kernel(_SUM))


for _name, _dot in BY_NAME.items():
    register_kernel(_name, _builder(_name), needs=_dot.needs)
for _name, _dot in BY_LANES_NAME.items():
    register_kernel(_name, _lanes_builder(_name), needs=_dot.needs)
for _name, _dot in BY_SUM_NAME.items():
    register_kernel(_name, _sum_builder(_name), needs=_dot.needs)
