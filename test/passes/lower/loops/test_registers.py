"""A tile of sums that does not fit into registers is reported; one that does is not."""

from __future__ import annotations

import warnings

import pytest

from tir_mlir import Schedule, build, te
from tir_mlir.passes.lower import LoweringWarning
from tir_mlir.target import host


def tile(rows: int, vectors: int):
    """A product whose sums are a tile of so many vector registers."""
    columns = vectors * host().lanes(32)
    a, b = te.placeholder((rows, 40), "float32", name="A"), te.placeholder((40, columns), "float32", name="B")
    r = te.reduce_axis((0, 40), name="r")
    c = te.compute((rows, columns), lambda i, j: te.sum(a[i, r] * b[r, j], axis=r), name="C")
    sch = Schedule(te.create_prim_func([a, b, c]))
    sch.cache_write("C", 0, "local")
    i, j, k = sch.get_loops("C")
    sch.reorder(k, i, j)
    init = sch.decompose_reduction("C", k)
    for block in ("C", init):
        *_, i, j = sch.get_loops(sch.get_block("C_update") if block == "C" else block)
        sch.unroll(i)
        sch.vectorize(j)
    return sch


def test_a_tile_that_does_not_fit_is_reported():
    needed = host().registers + 2
    with pytest.warns(
        LoweringWarning, match=rf"loop r keeps {needed} registers of accumulators and needs 2 more .* this CPU has"
    ):
        build(tile(needed // 2, 2), cache=False)


def test_a_tile_that_fits_is_not():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        build(tile((host().registers - 4) // 2, 2), cache=False)
