"""Attention by an online softmax, written a row at a time, becomes a tile of rows by fission."""

from __future__ import annotations

import numpy as np
import pytest
from harness.schedules import quick_build
from programs.online_softmax import in_numpy, online_softmax, row_tile

from tir_mlir import Schedule
from tir_mlir.errors import ScheduleError


def check(sch: Schedule, n: int, m: int, d: int) -> None:
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal(s).astype("float32") for s in ((n, d), (m, d), (m, d)))
    o = np.full((n, d), np.nan, "float32")
    quick_build(sch.mod)(q, k, v, o)
    np.testing.assert_allclose(o, in_numpy(q, k, v), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("n", [1, 16, 33])
def test_rows_in_a_tile(n):
    sch = Schedule(online_softmax(n, 24, 8, 6))
    row_tile(sch, 16)
    assert [sch.get(lp).name for lp in sch.get_loops("S")] == ["i_0", "t", "i_1", "j", "k"]
    check(sch, n, 24, 8)


def test_the_tile_is_equal():
    sch = Schedule(online_softmax(9, 8, 3, 4))
    row_tile(sch, 4)
    assert sch.verify()


def test_stages_of_the_tile_are_scheduled_on_their_own():
    sch = Schedule(online_softmax(20, 32, 8, 16))
    row_tile(sch, 8)
    copy = sch.cache_read("S", "K", "local")
    sch.transform_layout("S", ("read", 1), lambda j, k: (k, j))
    sch.compute_at(copy, sch.get_loops("S")[1])
    i, j, k = sch.get_loops("S")[2:]
    sch.reorder(k, i, j)
    sch.decompose_reduction("S", k)
    for block in ("S_init", "S_update", "P", "O", "G", "D"):
        sch.vectorize(sch.get_loops(block)[-1])
    check(sch, 20, 32, 8)


def test_tiles_of_keys_stay_in_order(refused):
    """The weights of a tile are taken with the maximum so far, which the next tile replaces."""
    sch = Schedule(online_softmax(9, 24, 3, 4))
    row_tile(sch, 4)
    t = sch.get_loops("S")[1]
    refused(sch, "depend on each other", lambda: sch.parallel(t))
    refused(sch, "P.i_0=0, t=0, i_1=0, j=0. and M.i_0=0, t=1, i_1=0. touch M.0.", lambda: sch.fission(t, after="M"))
    sch.fission(t, after="N")  # scores do not depend on the maximum
    check(sch, 9, 24, 3)


def test_a_factor_shared_by_all_rows_keeps_them_together():
    """With one element for the factor of all rows, the stages cannot run for a tile of rows each."""
    sch = Schedule(online_softmax(9, 8, 3, 4, own_factor=False))
    with pytest.raises(ScheduleError, match=r"touch C.0.*") as refusal:
        row_tile(sch, 4)
    assert "give C a dimension for loop i_1" in refusal.value.fix
    assert sch.verify()
