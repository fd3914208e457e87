"""The outer products of ARM's SME: ZA is four tiles of floats, a vector each of rows and of columns makes a product.

Facts are those of the Arm Architecture Reference Manual (DDI 0487: SME, FMOPA, LD1W, ST1W, ZERO), calls the intrinsics
of `arm_sme.h` (Arm C Language Extensions). The length of the streaming vectors is that of a machine. Streaming mode and
ZA are of a function, by its attributes: C has no call for them.
"""

# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from tir_mlir.accel.machine import Machine
from tir_mlir.accel.machines.memoize_machine import memoize_machine
from tir_mlir.accel.operands import MemorySpace, Register, upto
from tir_mlir.script import tir as T

_ATTRIBUTES = '__arm_new("za") __arm_locally_streaming'
_LANES = "svwhilelt_b32(0, {n})"
_STORE = (
    "for (int32_t i = 0; i < {rows}; ++i) "
    "svst1_hor_za32({C.row}, (uint32_t)i, svwhilelt_b32(0, {cols}), {D} + i * {D.strides[0]})"
)


@memoize_machine
def sme(svl: int = 512) -> Machine:
    """The machine. svl: bits of a streaming vector; 512 as Apple's M4 has, or another power of two from 128 on."""
    side = svl // 32
    m = Machine("sme", header="#include <arm_sme.h>", attributes=_ATTRIBUTES)
    z = m.memory("z", rows=8, row=(side, "float32"), immediate=True, renamed=True, declared="svfloat32_t z{row}")
    za = m.memory("za", rows=4, row=(side, side, "float32"), immediate=True)
    load, outer, _ = (m.unit(name, queue=8) for name in ("load", "outer", "store"))
    length = m.state("length", checked="int32")

    @m.instruction(outer, sets=length, call=f"if (svcntsw() != {side}) __builtin_trap()")
    def check_length(checked: T.int32):
        """End the program on a CPU whose vectors have another length: tiles would be others."""

    @m.instruction(load, call=f"z{{R.row}} = svld1_f32({_LANES}, {{D}})", cycles=1, latency=4)
    def ld1w(D: m.host("float32"), R: z, n: upto(side)):
        """Zeros behind the first n."""
        T.assume(length.checked == 1)
        for i in range(side):
            R[i] = T.if_then_else(i < n, D[i], T.float32(0))

    _describe_tiles(m, z, za, length)
    return m


def _describe_tiles(m: Machine, z: MemorySpace, za: MemorySpace, length: Register) -> None:
    """Zeros, outer products, and slices in memory."""
    (side,), outer, store = z.row, m.units["outer"], m.units["store"]

    @m.instruction(outer, call="svzero_mask_za(17u << {C.row})", cycles=1)
    def zero(C: za):
        """A tile of words is two of the eight tiles of doublewords that a mask names: 0x11 << tile."""
        T.assume(length.checked == 1)
        for i, j in T.grid(side, side):
            C[i, j] = T.float32(0)

    lanes = "svptrue_b32()"

    @m.instruction(
        outer, call=f"svmopa_za32_f32_m({{C.row}}, {lanes}, {lanes}, z{{A.row}}, z{{B.row}})", cycles=1, latency=3
    )
    def fmopa(A: z, B: z, C: za):
        T.assume(length.checked == 1)
        for i, j in T.grid(side, side):
            C[i, j] += A[i] * B[j]

    @m.instruction(store, call=_STORE, cycles=lambda rows, cols: rows)
    def st1w(C: za, D: m.host("float32"), rows: upto(side), cols: upto(side)):
        """The slices of a tile, a row each."""
        T.assume(length.checked == 1)
        for i, j in T.grid(side, side):
            if i < rows and j < cols:
                D[i, j] = C[i, j]
