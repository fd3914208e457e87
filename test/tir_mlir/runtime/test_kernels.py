import ctypes
import re

import numpy as np
import pytest
from mlir import ir

from tir_mlir import build
from tir_mlir.dialect.ir import enter_context
from tir_mlir.examples.matmul import schedule_matmul
from tir_mlir.runtime.kernels.outer_product import outer_product, tiling
from tir_mlir.runtime.kernels.registry import emit, find_kernel, register_kernel
from tir_mlir.target.host import Host, host

HOSTS = [Host(512, 32), Host(256, 16), Host(128, 16), Host(128, 32)]


def run(text: str, name: str, c, a, b) -> None:
    """Call an outer-product kernel on row-major views whose rows may lie further apart than they are long."""
    from mlir.execution_engine import ExecutionEngine

    with enter_context():
        engine = ExecutionEngine(ir.Module.parse(text), opt_level=2)
        address = engine.raw_lookup(name)
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (c, a, b)]
    strides = [ctypes.c_int32(x.strides[0] // 4) for x in (a, b, c)]
    slots = [*pointers, *strides, ctypes.c_int32()]
    ctypes.CFUNCTYPE(None, ctypes.c_void_p)(address)((ctypes.c_void_p * 7)(*[ctypes.addressof(s) for s in slots]))


@pytest.mark.parametrize(
    ("m", "n", "k", "machine"),
    [
        (16, 16, 16, host()),
        *((16, 16, 16, h) for h in HOSTS),
        (1, 4, 4, HOSTS[1]),
        (8, 64, 20, HOSTS[1]),
        (6, 12, 40, HOSTS[0]),
        (5, 32, 4, HOSTS[2]),
    ],
)
def test_outer_product(m, n, k, machine):
    random = np.random.default_rng(0)
    a, b, c = (random.standard_normal((rows, 80), dtype=np.float32) for rows in (m, n, m))
    want = c.copy()
    want[:, :n] += a[:, :k] @ b[:, :k].T
    run(outer_product("kernel", m, n, k, machine), "kernel", c, a, b)
    np.testing.assert_allclose(c, want, rtol=1e-4, atol=1e-4)  # what lies beyond column n is untouched too


def test_the_register_tile_fits():
    for machine in HOSTS:
        tile = tiling(16, 16, 16, machine)
        assert tile.rows * tile.columns + tile.columns + 1 <= machine.registers
    assert tiling(16, 16, 16, Host(256, 16)).rows == 4


def test_a_transposed_tile_that_fits_the_registers_stays_there():
    wide = Host(512, 32)
    assert tiling(16, 16, 16, wide).rows == 4  # with 16 vectors of B: a loop over four rows
    assert tiling(16, 16, 4, wide).rows == 16  # C would be loaded and stored for each 4 steps
    assert tiling(16, 16, 32, wide).rows == 16  # 32 vectors of B do not fit


def test_the_code_of_a_tile_is_short():
    text = outer_product("kernel", 16, 16, 16, Host(512, 32))
    assert text.count("fmuladd") == 64
    assert all("unroll = <disable = true>" in line for line in text.splitlines() if "cond_br" in line)


def test_unfit_sizes_are_refused():
    with pytest.raises(ValueError, match="n = 6 is not a multiple of 4"):
        outer_product("kernel", 4, 6, 4, HOSTS[0])
    with pytest.raises(ValueError, match="k = 5 is not a multiple of 4"):
        outer_product("kernel", 4, 4, 5, HOSTS[0])


def test_a_symbol_is_registered_once():
    assert find_kernel("tmm16") is not None
    with pytest.raises(ValueError, match="'tmm16' is registered already"):
        register_kernel("tmm16", lambda: emit(""))


def test_the_kernel_reads_the_copy_that_the_program_made():
    """Rows of the array are 4 KiB apart, which share a set of the cache; those of the tile's copy are adjacent."""
    if host().vector_bits < 512:
        pytest.skip("operands are broadcast from memory only by AVX-512")
    code = build(schedule_matmul(64, 64, 1024), cache=False).assembly
    offsets = [int(offset, 16) for offset in re.findall(r"vfmadd\S+\s+0x(\w+)\(.*1to16", code)]
    assert offsets and max(offsets) < 16 * 16 * 4
