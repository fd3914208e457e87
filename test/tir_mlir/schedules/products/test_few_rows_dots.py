"""schedules.gemm of few rows of int8 with weights of 4 bits, by dot products whose operands are both vectors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from programs.quantized import Weights, integer_rows, packed_weights

from tir_mlir import Schedule, build, schedules
from tir_mlir.intrin.dot_products import dot_of_lanes
from tir_mlir.schedules.products.contraction import contraction
from tir_mlir.schedules.products.dequantization import mark_dequantized
from tir_mlir.schedules.products.unpacked_weights import StoredOrder, UnpackedProduct, UnpackedTile
from tir_mlir.target import AVX2, AVX512_VNNI, NEON_DOTPROD, SSE2, Target
from tir_mlir.target.host import features

RNG = np.random.default_rng(3)
vnni = pytest.mark.skipif(not {"avx512vnni"} <= features(), reason="no AVX-512 VNNI here")
avx2 = pytest.mark.skipif(not {"avx2"} <= features(), reason="no AVX2 here")


def check(m: int, weights: Weights, least: bool = False, **options) -> Schedule:
    sch = Schedule(integer_rows(m, weights))
    schedules.gemm(sch, "C", **options)
    q, _, _ = packed_weights(weights, RNG)
    a = RNG.integers(-128, 128, (m, weights.k)).astype("int8")
    if least:
        q[:], a[:] = 0, -128
    c = np.full((m, weights.n), 99, "int32")
    build(sch)["main"](q, a, c)
    np.testing.assert_array_equal(c, a.astype("int32") @ unpacked(weights, q).T)
    return sch


def unpacked(weights: Weights, q: np.ndarray) -> np.ndarray:
    """The matrix that stored bytes stand for."""
    n, k, half = weights.n, weights.k, weights.group // 2
    low, high = ((x.astype("int32") - 8) for x in (q & 15, q >> 4))
    if weights.form == "pairs":
        return np.stack([low, high], axis=2).reshape(n, k)
    return np.stack([x.reshape(n, -1, half) for x in (low, high)], axis=2).reshape(n, k)


@pytest.mark.few(2)
@vnni
@pytest.mark.parametrize("weights", [
    Weights(33, 256), Weights(20, 512, form="pairs"), Weights(17, 256, 256), Weights(9, 256, 8), Weights(8, 128, 64),
])  # fmt: skip
@pytest.mark.parametrize("m", [1, 17])
@pytest.mark.nightly
def test_orders_of_weights_in_bytes(m, weights):
    assert "dot_lanes_uint8_int8_16x4" in check(m, weights, target="avx512_vnni", threads=1).mod.script()


@avx2
@pytest.mark.parametrize("m", [1, 9])
@pytest.mark.nightly
def test_pairs_of_words(m):
    assert "dot_lanes_int16_8x2" in check(m, Weights(13, 128), target=AVX2, threads=1).mod.script()


@vnni
def test_the_least_values():
    check(5, Weights(6, 256), least=True, target="avx512_vnni", threads=1)


@pytest.mark.few(3)
@pytest.mark.parametrize("target", [AVX512_VNNI, AVX2, NEON_DOTPROD], ids=["vnni", "avx2", "neon"])
@pytest.mark.parametrize("m", [1, 5])
def test_verify(m, target):
    sch = Schedule(integer_rows(m, Weights(7, 128)))
    schedules.gemm(sch, "C", target=target, threads=1)
    assert "dot_lanes_" in sch.mod.script()
    assert sch.verify()


@pytest.mark.few(2)
@avx2
@pytest.mark.parametrize(("m", "n"), [(33, 15), (63, 16), (64, 17)])
def test_weights_are_unpacked_once_for_many_rows(m, n):
    sch = check(m, Weights(n, 1024), target=replace(AVX2, l1=5 << 10), threads=1)
    assert "C_rf_rf_local" in sch.mod.script()


@pytest.mark.parametrize("target", [replace(AVX2, l1=8 << 10), "icelake"], ids=["small cache", "rows beyond L1"])
def test_columns_that_l1_holds_whole_are_not_summed_in_parts(target):
    sch = Schedule(integer_rows(32, Weights(16, 2048 if target == "icelake" else 512)))
    schedules.gemm(sch, "C", target=target, threads=1)
    text = sch.mod.script()
    assert "C_rf_rf" not in text
    assert text.index('T.block("W_global")') < text.index('T.block("C_rf_init")')  # before the rows, not for each tile


def test_tiles_unpack_their_own_weights_while_units_of_products_are_busy():
    sch = Schedule(integer_rows(32, Weights(16, 2048)))
    schedules.gemm(sch, "C", target="zen4", threads=1)
    text = sch.mod.script()
    assert text.index('T.block("C_rf_init")') < text.index('T.block("W_global")')


@pytest.mark.parametrize("target", [AVX512_VNNI, NEON_DOTPROD], ids=["vnni", "neon"])
def test_verify_of_weights_that_are_unpacked_in_parts(target):
    sch = Schedule(integer_rows(5, Weights(7, 256)))
    block = sch.get_block("C")
    what, (producer,) = mark_dequantized(sch, block, contraction(sch, block))
    dot = dot_of_lanes(target, "int8", "int8")
    order = StoredOrder(16, 2, dot.lanes * dot.group, dot.group)
    UnpackedProduct(sch, block, what, producer, dot, order, UnpackedTile(2, 2, 1, 4, 4, ()), 1).run()
    assert sch.verify()


@pytest.mark.nightly
@vnni
def test_threads_share_the_columns():
    sch = check(32, Weights(530, 512), target="avx512_vnni", threads=2)
    assert "T.parallel(2)" in sch.mod.script()


@pytest.mark.nightly
@vnni
@pytest.mark.filterwarnings("error")
def test_the_inner_loop_works_in_registers():
    sch = Schedule(integer_rows(32, Weights(96, 1024)))
    schedules.gemm(sch, "C", target="avx512_vnni", threads=1)
    lines = build(sch, cache=False).assembly.splitlines()
    products = [i for i, line in enumerate(lines) if "vpdpbusd" in line]
    loop = "\n".join(lines[products[-32] : products[-1]])
    assert not any(word in loop for word in ("movb", "vpextr", "(%rsp)"))  # unpacked weights are at (%rsp,%r10)


@pytest.mark.parametrize(
    ("m", "weights"), [(3, Weights(9, 96)), (129, Weights(9, 128)), (3, Weights(9, 128, turned=True))]
)
def test_near_misses_have_the_general_schedule(m, weights):
    """A sum that does not fill vectors, many rows, weights that are not contiguous along the sum."""
    sch = Schedule(integer_rows(m, weights))
    schedules.gemm(sch, "C", target=AVX512_VNNI, threads=1)
    assert "dot_lanes_" not in sch.mod.script()
    assert sch.verify()


def test_targets_without_an_instruction():
    assert dot_of_lanes(Target(vector_bits=128, registers=8), "int8", "int8") is None
    assert dot_of_lanes(SSE2, "int8", "int8").group == 2
    assert dot_of_lanes(AVX512_VNNI, "float32", "float32") is None


@pytest.mark.parametrize(("distance", "width"), [(16, 64), (64, 64), (128, 64), (1, 64), (4, 8)])
def test_an_order_visits_every_step_once(distance, width):
    order = StoredOrder(distance, 2, width, 4)
    steps = range(4 * order.block)
    assert len({order.split(k) for k in steps}) == len(steps)
    bytes_ = {
        (v, g, t): {k % distance + k // (2 * distance) * distance} for k in steps for v, _, g, t in [order.split(k)]
    }
    assert all(byte == {v * width + g * 4 + t} for (v, g, t), byte in bytes_.items())
