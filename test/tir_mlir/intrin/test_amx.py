"""Intrinsics on the tile registers of AMX: their code, their descriptions, and the room for tiles."""

from __future__ import annotations

import pytest
from programs.short import each, main

from tir_mlir import Schedule, TensorIntrin, build
from tir_mlir.dialect.diagnostics import BuildError, LoweringError
from tir_mlir.intrin.amx import DOTS
from tir_mlir.script import parse
from tir_mlir.target import AVX512_VNNI, SAPPHIRE_RAPIDS
from tir_mlir.target.host import features

COPY = main("A:{n}x16x64:int8 B:{n}x16x64:int8", each("B t:{n} i:16 j:64", "B[vt, vi, vj] = A[vt, vi, vj]"))


def through_tiles(n: int) -> Schedule:
    """A copy of `n` tiles through tile registers, all of them loaded first."""
    sch = Schedule(parse(COPY.format(n=n)))
    tiles = sch.cache_read("B", "A", "amx.tile")
    t, i, _ = sch.get_loops(tiles)
    sch.unroll(t)
    sch.tensorize(i, "amx_tileload_int8")
    return sch


@pytest.mark.parametrize("name", [
    *(dot.name for dot in DOTS), "amx_tilezero_int32", "amx_tilezero_float32", "amx_tilestore_int32",
    "amx_tilestore_float32",
    *(f"amx_tileload_{t}{v}" for t in ("int8", "uint8", "bfloat16", "float16") for v in ("", "_vnni")),
])  # fmt: skip
def test_every_intrinsic_exists(name):
    assert TensorIntrin.get(name) is not None


@pytest.mark.parametrize("name", ["amx_tileload_int32", "amx_tdpbssq", "amx_tilezero_int8", "amx_"])
def test_others_do_not(name):
    assert TensorIntrin.get(name, allow_missing=True) is None


def test_eight_tiles_fit():
    sch = through_tiles(8)
    assert sch.verify()
    assert "tileloadd" in build(sch, target=SAPPHIRE_RAPIDS).assembly


def test_nine_tiles_do_not():
    message = r"scope amx.tile hold 9 tiles of 1024 bytes at once \(A_amx.tile \(9, 16, 64\): 9\), and the CPU has 8"
    with pytest.raises(LoweringError, match=message):
        build(through_tiles(9), target=SAPPHIRE_RAPIDS)


def test_tiles_of_one_iteration_count_once():
    """Loads at the loop over tiles: one is in use at a time, of twenty."""
    sch = Schedule(parse(COPY.format(n=20)))
    tiles = sch.cache_read("B", "A", "amx.tile")
    sch.compute_at(tiles, sch.get_loops("B")[0])
    sch.tensorize(sch.get_loops(tiles)[-2], "amx_tileload_int8")
    assert "tileloadd" in build(sch, target=SAPPHIRE_RAPIDS).assembly


def test_a_cpu_without_tiles():
    with pytest.raises(BuildError, match="'amx_tileload_int8' uses amx-tile, which the target CPU lacks"):
        build(through_tiles(1), target=AVX512_VNNI)
    if "amx-tile" not in features():
        with pytest.raises(BuildError, match="'amx_tileload_int8' uses amx-tile, which the target CPU lacks"):
            build(through_tiles(1))
