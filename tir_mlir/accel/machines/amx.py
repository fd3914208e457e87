"""Intel AMX: eight registers that are tiles of 16 rows of 64 bytes, and instructions on them.

Facts are those of the Intel 64 and IA-32 Architectures Software Developer's Manual (volume 1, chapter 18; volume 2,
LDTILECFG, TDPBSSD, TILELOADD, TILESTORED, TILEZERO), cycles those of its Optimization Reference Manual (chapter 20).
Calls are the intrinsics of `immintrin.h`, in which tiles are numbers in the code. LDTILECFG gives each tile its rows
and bytes of a row, and zeros all: here tiles are whole, and it is issued once.
"""

# pyright: reportInvalidTypeForm=false

from __future__ import annotations

from tir_mlir.accel.machine import Machine
from tir_mlir.accel.machines.memoize_machine import memoize_machine
from tir_mlir.accel.operands import ExecutionUnit, MemorySpace, Register, between
from tir_mlir.script import tir as T

_HEADER = """#include <immintrin.h>

/* all tiles alike; the 64 bytes are the palette, then at 16 bytes of a row, and at 48 rows, of each tile */
static inline void amx_configure(int palette, int rows, int bytes)
{
  uint8_t config[64] = {0};
  config[0] = (uint8_t)palette;
  for (int tile = 0; tile < 8; ++tile) {
    config[16 + 2 * tile] = (uint8_t)bytes;
    config[48 + tile] = (uint8_t)rows;
  }
  _tile_loadconfig(config);
}"""


@memoize_machine
def amx() -> Machine:
    """The machine, with the products of bytes. The CPU has to permit the use of tiles before (Linux: arch_prctl)."""
    m = Machine("amx", header=_HEADER)
    tiles = m.memory("tiles", rows=8, row=(16, 64, "int8"), immediate=True, renamed=True)
    cfg = m.state("cfg", palette=between(0, 1), rows=between(1, 16), bytes=between(4, 64, 4))
    load, multiply, store = (m.unit(name, queue=8) for name in ("load", "tmul", "store"))

    @m.instruction(multiply, sets=cfg, clears=[tiles], call="amx_configure({palette}, {rows}, {bytes})")
    def ldtilecfg(palette: T.int32, rows: T.int32, bytes: T.int32): ...

    _describe_loads(m, load, tiles, cfg)
    _describe_sums(m, multiply, store, tiles, cfg)
    _describe_products(m, multiply, tiles, cfg)
    return m


def _describe_loads(m: Machine, load: ExecutionUnit, tiles: MemorySpace, cfg: Register) -> None:
    """Rows of groups of four bytes: of A as they are, of B as terms k to k + 3 of each column."""
    signed, unsigned = tiles.of("int8", 16, 16, 4), tiles.of("uint8", 16, 16, 4)

    @m.instruction(load, call="_tile_loadd({R.row}, {D}, {D.strides[0]})", cycles=8, latency=37)
    def tileloadd(D: m.host("int8"), R: signed):
        T.assume(cfg.palette == 1)
        T.assume(cfg.rows == 16)
        T.assume(cfg.bytes == 64)
        T.assume(D.strides[1] == 4)
        for i, k, t in T.grid(16, 16, 4):
            R[i, k, t] = D[i, k, t]

    @m.instruction(load, call="_tile_loadd({R.row}, {D}, {D.strides[0]})", cycles=8, latency=37)
    def tileloadd_unsigned(D: m.host("uint8"), R: unsigned):
        T.assume(cfg.palette == 1)
        T.assume(cfg.rows == 16)
        T.assume(cfg.bytes == 64)
        T.assume(D.strides[1] == 4)
        for i, k, t in T.grid(16, 16, 4):
            R[i, k, t] = D[i, k, t]


def _describe_sums(
    m: Machine, multiply: ExecutionUnit, store: ExecutionUnit, tiles: MemorySpace, cfg: Register
) -> None:
    sums = tiles.of("int32", 16, 16)

    @m.instruction(multiply, call="_tile_zero({C.row})", cycles=1)
    def tilezero(C: sums):
        T.assume(cfg.palette == 1)
        T.assume(cfg.rows == 16)
        T.assume(cfg.bytes == 64)
        for i, j in T.grid(16, 16):
            C[i, j] = 0

    @m.instruction(store, call="_tile_stored({C.row}, {D}, {D.strides[0]} * 4)", cycles=16)
    def tilestored(C: sums, D: m.host("int32")):
        T.assume(cfg.palette == 1)
        T.assume(cfg.rows == 16)
        T.assume(cfg.bytes == 64)
        for i, j in T.grid(16, 16):
            D[i, j] = C[i, j]


def _describe_products(m: Machine, multiply: ExecutionUnit, tiles: MemorySpace, cfg: Register) -> None:
    """Each element gets 64 products; their names say whether the bytes of A and of B are signed."""
    signed, unsigned, sums = tiles.of("int8", 16, 16, 4), tiles.of("uint8", 16, 16, 4), tiles.of("int32", 16, 16)

    @m.instruction(multiply, call="_tile_dpbssd({C.row}, {A.row}, {B.row})", cycles=16, latency=36)
    def tdpbssd(A: signed, B: signed, C: sums):
        T.assume(cfg.palette == 1)
        T.assume(cfg.rows == 16)
        T.assume(cfg.bytes == 64)
        for i, j, k, t in T.grid(16, 16, 16, 4):
            C[i, j] += T.Cast("int32", A[i, k, t]) * T.Cast("int32", B[k, j, t])

    @m.instruction(multiply, call="_tile_dpbusd({C.row}, {A.row}, {B.row})", cycles=16, latency=36)
    def tdpbusd(A: unsigned, B: signed, C: sums):
        T.assume(cfg.palette == 1)
        T.assume(cfg.rows == 16)
        T.assume(cfg.bytes == 64)
        for i, j, k, t in T.grid(16, 16, 16, 4):
            C[i, j] += T.Cast("int32", A[i, k, t]) * T.Cast("int32", B[k, j, t])

    @m.instruction(multiply, call="_tile_dpbuud({C.row}, {A.row}, {B.row})", cycles=16, latency=36)
    def tdpbuud(A: unsigned, B: unsigned, C: sums):
        T.assume(cfg.palette == 1)
        T.assume(cfg.rows == 16)
        T.assume(cfg.bytes == 64)
        for i, j, k, t in T.grid(16, 16, 16, 4):
            C[i, j] += T.Cast("int32", A[i, k, t]) * T.Cast("int32", B[k, j, t])
