"""Attention on tensor cores: any size, causal, grouped queries, by the ready schedule; beside Triton's instructions."""

from __future__ import annotations

import re

import numpy as np
import pytest

from tir_mlir import Schedule, build, interpret, schedules
from tir_mlir.dialect.diagnostics import ScheduleError
from tir_mlir.examples.attention import HIDDEN, online_attention
from tir_mlir.schedules.gpu.attention import attention_tiles
from tir_mlir.target import CUDA

GPU = CUDA("sm_80")
TRITON = 19632
"""Instructions of warps of Triton 3.9 for 2 x 128 x 128 x 64, of which the issue's bar is 1.3 times."""


def inputs(heads, queries, keys, width, groups, scale=2.0):
    rng = np.random.default_rng(0)
    q = rng.standard_normal((heads, queries, width)) * scale
    k, v = rng.standard_normal((2, groups, keys, width)) * scale
    return [x.astype(np.float16) for x in (q, k, v)]


def reference(q, k, v, causal=False):
    k, v = (np.repeat(x, len(q) // len(x), 0).astype(np.float64) for x in (k, v))
    s = np.einsum("hid,hjd->hij", q.astype(np.float64), k) * q.shape[-1] ** -0.5
    if causal:
        (n, m) = s.shape[1:]
        s = np.where(np.arange(m) <= np.arange(n)[:, None] + m - n, s, HIDDEN)
    p = np.exp(s - s.max(-1, keepdims=True))
    return np.einsum("hij,hjd->hid", p / p.sum(-1, keepdims=True), v)


def check(heads, queries, keys, width, groups=None, causal=False, stages=2, **tiles):
    sch = Schedule(online_attention(heads, queries, keys, width, groups=groups, causal=causal, **tiles))
    attention_tiles(sch, GPU, stages=stages)
    q, k, v = inputs(heads, queries, keys, width, groups or heads)
    o = np.full(q.shape, np.nan, np.float32)
    report = interpret(sch, q, k, v, o, target="sm_80")
    np.testing.assert_allclose(o, reference(q, k, v, causal), rtol=1e-2, atol=4e-3)
    return report


def instructions(report) -> int:
    return int(re.search(r"instructions of warps +(\d+)", str(report))[1])


@pytest.mark.parametrize(("stages", "most", "barriers"), [(1, 0.8, 4), (2, 0.85, 2)])
def test_fewer_instructions_than_triton(stages, most, barriers):
    """All in registers: without a conflict of banks; with copies ahead, with a barrier a tile of keys."""
    report = check(2, 128, 128, 64, stages=stages)
    assert instructions(report) < most * TRITON
    assert report.bank_conflicts == 0
    assert ("cp.async.cg.shared.global" in report.instructions) == (stages > 1)
    assert report.instructions["bar.sync"] == 16 * barriers


@pytest.mark.nightly
def test_causal_tiles_above_the_diagonal_are_left_out():
    assert instructions(check(2, 128, 128, 64, causal=True)) < 0.77 * TRITON


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("sizes", "options"),
    [
        ((1, 17, 33, 24), {"causal": True}), ((4, 33, 65, 24), {"groups": 2}), ((1, 1, 1, 8), {}),
        ((2, 15, 127, 16), {}), ((1, 127, 16, 40), {"causal": True}), ((2, 100, 77, 128), {"columns": 32}),
        ((1, 16, 300, 72), {"rows": 16}), ((8, 40, 40, 32), {"groups": 1, "causal": True, "rows": 32}),
    ],
)  # fmt: skip
def test_any_size(sizes, options):
    check(*sizes, **options)


def test_infinity_and_nan_come_out():
    sch = Schedule(online_attention(1, 16, 16, 16, rows=16, columns=16))
    schedules.attention(sch, "O", target="sm_80")
    q, k, v = inputs(1, 16, 16, 16, 1)
    v[0, 3, 5], q[0, 2, 0], v[0, :, 7] = np.nan, np.inf, 6e4
    o = np.zeros(q.shape, np.float32)
    interpret(sch, q, k, v, o, target="sm_80")
    assert np.isnan(o[0, :, 5]).all()
    assert np.isnan(o[0, 2]).all()
    assert np.isfinite(np.delete(np.delete(o[0], 5, 1), 2, 0)).all()


def test_auto_finds_it():
    sch = Schedule(online_attention(1, 16, 32, 16, rows=16, columns=16, dtype="bfloat16"))
    assert set(schedules.auto(sch, target="sm_80").values()) == {"attention"}
    assert "mma.sync.aligned.m16n8k16.row.col.f32.bf16" in build(sch, target="sm_80").assembly


def test_refused():
    with pytest.raises(ScheduleError, match="a tile of 24 rows is not a whole number of warps"):
        attention_tiles(Schedule(online_attention(1, 24, 16, 16, rows=24)), GPU)
    with pytest.raises(ScheduleError, match=r"sm_75 has no mma\.sync"):
        attention_tiles(Schedule(online_attention(1, 16, 16, 16)), CUDA("sm_75"))
    with pytest.raises(ScheduleError, match="there are 0 products of tiles of float16 or bfloat16"):
        attention_tiles(Schedule(online_attention(1, 16, 16, 16, dtype="float32")), GPU)
