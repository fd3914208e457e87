"""Instructions that a whole warp executes, beside what NumPy computes; ptxas accepts all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from harness import ptx as kernels

from tir_mlir import ptx

N = 64
_rng = np.random.default_rng(3)
A = _rng.integers(0, 2**32, N, np.uint32)
FEW = A % 5
ROWS = A.reshape(2, 32)
LANE = np.arange(32)


def shuffled(source, inside):
    """The value of lane `source`, own value where not `inside`."""
    source = np.where(inside, source, LANE)
    return ROWS[:, source].ravel()


def ballots(flags):
    return np.repeat((flags.reshape(2, 32).astype(np.uint64) << LANE.astype(np.uint64)).sum(1), 32).astype(np.uint32)


def reduced(function):
    return np.repeat([function.reduce(row, dtype=np.uint32) for row in ROWS], 32)


EQUAL = np.array(
    [[sum(int(x == y) << i for i, y in enumerate(row)) for x in row] for row in FEW.reshape(2, 32)], np.uint32
)
ALL = "0xFFFFFFFF"
FLAG = "setp.gt.u32 %q1, {0}, 0x7FFFFFFF;\n"
TABLE = {
    "shfl.bfly": (f"shfl.sync.bfly.b32 {{d}}, {{0}}, 5, 31, {ALL};", A, shuffled(LANE ^ 5, LANE >= 0)),
    "shfl.down": (f"shfl.sync.down.b32 {{d}}, {{0}}, 3, 31, {ALL};", A, shuffled(LANE + 3, LANE + 3 <= 31)),
    "shfl.up": (f"shfl.sync.up.b32 {{d}}, {{0}}, 3, 0, {ALL};", A, shuffled(LANE - 3, LANE - 3 >= 0)),
    "shfl.idx": (f"shfl.sync.idx.b32 {{d}}, {{0}}, 7, 31, {ALL};", A, shuffled(LANE * 0 + 7, LANE >= 0)),
    "shfl of segments of 8": (
        f"shfl.sync.idx.b32 {{d}}, {{0}}, 2, 0x181F, {ALL};", A, shuffled(LANE // 8 * 8 + 2, LANE >= 0)),
    "shfl.down of segments of 16": (
        f"shfl.sync.down.b32 {{d}}, {{0}}, 1, 0x100F, {ALL};", A, shuffled(LANE + 1, LANE % 16 < 15)),
    "shfl's predicate": (
        f"shfl.sync.down.b32 %r9|%q1, {{0}}, 4, 31, {ALL};\nselp.u32 {{d}}, 1, 0, %q1;", A,
        np.tile(LANE + 4 <= 31, 2).astype(np.uint32)),
    "vote.any": (f"{FLAG}vote.sync.any.pred %q2, %q1, {ALL};\nselp.u32 {{d}}, 1, 0, %q2;", A, np.ones(N, np.uint32)),
    "vote.all": (f"{FLAG}vote.sync.all.pred %q2, %q1, {ALL};\nselp.u32 {{d}}, 1, 0, %q2;", A, np.zeros(N, np.uint32)),
    "vote.ballot": (f"{FLAG}vote.sync.ballot.b32 {{d}}, %q1, {ALL};", A, ballots(A > 0x7FFFFFFF)),
    "redux.add": (f"redux.sync.add.u32 {{d}}, {{0}}, {ALL};", A, reduced(np.add)),
    "redux.max": (f"redux.sync.max.u32 {{d}}, {{0}}, {ALL};", A, reduced(np.maximum)),
    "redux.xor": (f"redux.sync.xor.b32 {{d}}, {{0}}, {ALL};", A, reduced(np.bitwise_xor)),
    "match.any": (f"match.any.sync.b32 {{d}}, {{0}}, {ALL};", FEW, EQUAL.ravel()),
    "match.all": (f"match.all.sync.b32 {{d}}|%q1, {{0}}, {ALL};", FEW, np.zeros(N, np.uint32)),
    "elect": (f"elect.sync %r9|%q1, {ALL};\nselp.u32 {{d}}, 1, 0, %q1;", A, np.tile(LANE == 0, 2).astype(np.uint32)),
    "activemask": ("activemask.b32 {d};", A, np.full(N, 2**32 - 1, np.uint32)),
    "half of the lanes": (
        "mov.b32 {d}, 0;\nand.b32 %r9, %t, 1;\nsetp.eq.s32 %q1, %r9, 0;\n"
        "@%q1 shfl.sync.bfly.b32 {d}, {0}, 2, 31, 0x55555555;", A,
        np.where(np.arange(N) % 2 == 0, shuffled(LANE ^ 2, LANE >= 0), 0).astype(np.uint32)),
    "bar.red.popc": (f"{FLAG}bar.red.popc.u32 {{d}}, 0, %q1;", A, np.full(N, (A > 0x7FFFFFFF).sum(), np.uint32)),
    "bar.red.or": (f"{FLAG}bar.red.or.pred %q2, 0, %q1;\nselp.u32 {{d}}, 1, 0, %q2;", A, np.ones(N, np.uint32)),
    "bar.red.and": (f"{FLAG}bar.red.and.pred %q2, 0, !%q1;\nselp.u32 {{d}}, 1, 0, %q2;", A, np.zeros(N, np.uint32)),
    "brx.idx": (
        "and.b32 %r9, {0}, 1;\nJUMPS: .branchtargets EVEN, ODD;\nbrx.idx %r9, JUMPS;\nEVEN:\nmov.b32 {d}, 7;\n"
        "bra END;\nODD:\nmov.b32 {d}, 9;\nEND:", A, np.where(A % 2 == 0, 7, 9).astype(np.uint32)),
    "bar.warp.sync": (f"bar.warp.sync {ALL};\nmov.b32 {{d}}, {{0}};", A, A),
}  # fmt: skip


@pytest.mark.parametrize("name", TABLE)
def test_warp_instruction(name):
    text, values, expected = TABLE[name]
    np.testing.assert_array_equal(kernels.run_elementwise(text, [values], expected.dtype), expected)


def test_ptxas_accepts_the_table(tmp_path: Path):
    entries = [kernels.elementwise(t, [a], e.dtype, f"k{n}") for n, (t, a, e) in enumerate(TABLE.values())]
    assert kernels.assemble(kernels.module(*entries), tmp_path) == ""


def test_a_block_that_is_no_multiple_of_a_warp():
    """The last warp has the lanes that there are."""
    out = np.zeros(40, np.uint32)
    text = kernels.module(kernels.elementwise(f"redux.sync.add.u32 {{d}}, {{0}}, {ALL};", [A[:40]], np.uint32))
    ptx.launch(text, "k", (1,), (40,), [A[:40].copy(), out])
    assert (out[:32] == A[:32].sum(dtype=np.uint32)).all() and (out[32:] == A[32:40].sum(dtype=np.uint32)).all()


WARP_SUM = """mov.b32 %r1, buffer;
mad.lo.u32 %r3, %t, 4, %r1;
st.shared.b32 [%r3], %t;
{sync}
xor.b32 %r4, %t, 1;
mad.lo.u32 %r4, %r4, 4, %r1;
ld.shared.b32 %r5, [%r4];
"""


@pytest.mark.parametrize("sync", ["bar.warp.sync 0xFFFFFFFF;", "bar.sync 0;", "barrier.sync 3, 64;"])
def test_threads_of_a_warp_are_ordered_by(sync):
    text = kernels.module(kernels.kernel(WARP_SUM.format(sync=sync), 0, shared=256))
    ptx.launch(text, "k", (1,), (64,), [])


@pytest.mark.parametrize("sync", ["", "shfl.sync.idx.b32 %r9, %t, 0, 31, 0xFFFFFFFF;", "bar.warp.sync 0x55555555;"])
def test_threads_of_a_warp_are_not_ordered_by(sync):
    sync = sync if "0x55" not in sync else "and.b32 %r9, %t, 1;\nsetp.eq.s32 %q1, %r9, 0;\n@%q1 " + sync
    text = kernels.module(kernels.kernel(WARP_SUM.format(sync=sync), 0, shared=256))
    with pytest.raises(ptx.PtxError, match=r"thread \(0, 0, 0\) reads byte 4 .*, which thread \(1, 0, 0\) wrote"):
        ptx.launch(text, "k", (1,), (64,), [])
