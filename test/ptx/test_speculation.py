"""Loads that the compiler moved before their condition count where their value is used."""

from __future__ import annotations

import numpy as np
import pytest
from harness import ptx as kernels

from tir_mlir import ptx

WRITE = "mov.b32 %r1, buffer;\nsetp.eq.s32 %q1, %t, 0;\n@%q1 st.shared.b32 [%r1], 7;\n"
LOAD = "ld.shared.b32 %r2, [%r1];\nadd.s32 %r3, %r2, %t;\n"


PUT_BACK = """mov.b64 %d1, depot;
setp.eq.s32 %q1, %t, 0;
@%q1 st.local.b32 [%d1+8], 7;
ld.local.v2.b32 {%r2, %r3}, [%d1+8];
@%q1 add.s32 %r2, %r2, 1;
st.local.v2.b32 [%d1+8], {%r2, %r3};
mov.b32 %r4, 5;
"""
"""Thread 0 adds 1 to a number in local memory; the others, which never wrote it, put it back."""


def launch(body: str) -> np.ndarray:
    out = np.zeros(32, np.uint32)
    store = kernels.at_thread("%p0", 4) + "\nst.global.b32 [%d63], %r4;"
    depot = ".local .align 16 .b8 depot[16];"
    text = kernels.module(kernels.kernel(body + store, 1, shared=64, declarations=depot))
    ptx.launch(text, "k", (1,), (32,), [out], unwritten=[0])
    return out


@pytest.mark.parametrize(
    "choice",
    ["selp.b32 %r4, %r3, 5, %q1;", "setp.ne.s32 %q2, %t, 0;\nselp.b32 %r4, 5, %r3, %q2;"],
)
def test_a_value_that_other_threads_throw_away_is_no_race(choice):
    np.testing.assert_array_equal(launch(WRITE + LOAD + choice), [7] + [5] * 31)


@pytest.mark.parametrize("rounds", [1, 3])
def test_a_value_that_other_threads_drop_after_a_branch_is_no_race(rounds):
    """Thread 0 keeps a running sum; the others load it too and never look at it."""
    body = WRITE + "mov.b32 %r4, 5;\nmov.b32 %r5, 0;\nLOOP:\nbar.sync 0;\nld.shared.b32 %r2, [%r1];\n@!%q1 bra NEXT;\n"
    body += "add.s32 %r4, %r2, 1;\nst.shared.b32 [%r1], %r4;\nNEXT:\nadd.s32 %r5, %r5, 1;\n"
    body += f"setp.lt.s32 %q2, %r5, {rounds};\n@%q2 bra LOOP;"
    np.testing.assert_array_equal(launch(body), [7 + rounds] + [5] * 31)


def test_a_value_that_is_carried_by_a_loop_and_then_used_is_a_race():
    body = WRITE + "mov.b32 %r4, 0;\nmov.b32 %r5, 0;\nLOOP:\nld.shared.b32 %r2, [%r1];\nadd.s32 %r4, %r4, %r2;\n"
    with pytest.raises(ptx.PtxError, match="reads byte 0 of shared `buffer`"):
        launch(body + "add.s32 %r5, %r5, 1;\nsetp.lt.s32 %q2, %r5, 3;\n@%q2 bra LOOP;")


def test_a_condition_on_the_value_and_on_the_thread():
    choice = "setp.eq.s32 %q2, %r3, 7;\nand.pred %q3, %q2, %q1;\nselp.b32 %r4, 1, 0, %q3;\n"
    np.testing.assert_array_equal(launch(WRITE + LOAD + choice), [1] + [0] * 31)


@pytest.mark.parametrize(
    "choice",
    [
        "mov.b32 %r4, %r3;",
        "setp.lt.u32 %q2, %t, 2;\nselp.b32 %r4, %r3, 5, %q2;",  # thread 1 uses it
        "selp.b32 %r4, %r3, 5, %q1;\nadd.s32 %r4, %r4, %r3;",
        "selp.b32 %r4, %r3, %r2, %q1;",
        "setp.eq.s32 %q2, %r3, 7;\nselp.b32 %r4, 1, 0, %q2;",
        "bar.warp.sync -1;\nselp.b32 %r4, %r3, 5, %q1;\nst.shared.b32 [%r1+4], %r3;",
    ],
)
def test_a_value_that_another_thread_uses_is_a_race(choice):
    with pytest.raises(
        ptx.PtxError, match=r"reads byte 0 of shared `buffer` \(64 bytes\), which thread \(0, 0, 0\) wrote"
    ):
        launch(WRITE + LOAD + choice)


def test_a_later_write_sees_the_threads_that_used_the_value():
    write = "setp.eq.s32 %q4, %t, {};\n@%q4 st.shared.b32 [%r1], 9;\n"
    body = WRITE + "bar.sync 0;\n" + LOAD + "selp.b32 %r4, %r3, 5, %q1;\n"
    launch(body + write.format(0))
    with pytest.raises(ptx.PtxError, match=r"thread \(3, 0, 0\) writes byte 0 .* which thread \(0, 0, 0\) read"):
        launch(body + write.format(3))


@pytest.mark.parametrize("use", ["", "@%q1 ld.local.b32 %r4, [%d1+8];", "@!%q1 ld.local.b32 %r5, [%d1+8];"])
def test_what_local_memory_holds_may_be_put_back(use):
    np.testing.assert_array_equal(launch(PUT_BACK + use), [8 if "%r4" in use else 5] + [5] * 31)


@pytest.mark.parametrize(
    ("use", "byte"),
    [
        ("ld.local.b32 %r4, [%d1+8];", 8),
        ("ld.local.b8 %r4, [%d1+9];", 8),
        ("@%q1 ld.local.b32 %r4, [%d1+12];", 12),  # thread 0, too, wrote one element of two
        ("ld.local.b32 %r5, [%d1+8];\nst.local.b32 [%d1], %r5;\nld.local.b32 %r4, [%d1];", 8),
        ("cvta.local.u64 %d2, %d1;\nld.b32 %r4, [%d2+8];", 8),
    ],
)
def test_what_was_put_back_is_read_where_it_is_used(use, byte):
    with pytest.raises(ptx.PtxError, match=rf"reads byte {byte} of local `depot` \(16 bytes\), which nobody wrote"):
        launch(PUT_BACK + use)


def test_what_is_stored_later_is_read():
    body = "st.local.b32 [%d1+8], %t;\nld.local.b32 %r4, [%d1+8];"
    np.testing.assert_array_equal(launch(PUT_BACK + body), np.arange(32))
