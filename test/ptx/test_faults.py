"""Each kind of fault, planted in a small kernel: the machine names what, who and where. ptxas accepts every text."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from harness import ptx as kernels

from tir_mlir import ptx
from tir_mlir.errors import PtxError

AT = kernels.at_thread("%p0", 4)
MINE = "mov.b32 %r1, buffer;\nshl.b32 %r2, %t, 2;\nadd.s32 %r3, %r1, %r2;"  # the word of the thread
REVERSED = "xor.b32 %r4, %r2, 252;\nadd.s32 %r4, %r1, %r4;"  # the word of thread 63 - t
STORE = f"{kernels.at_thread('%p1', 4)}\nst.global.b32 [%d63], %r5;"
IN = f"{AT}\nld.global.b32 %r5, [%d63];\n{MINE}\n"

# name -> body, shared bytes, block, kind of the fault, parts of its message
FAULTS = {
    "no barrier": (
        f"{IN}st.shared.b32 [%r3], %r5;\n{REVERSED}\nld.shared.b32 %r5, [%r4];\n{STORE}",
        256, 64, "race",
        ["thread (0, 0, 0) reads byte 252 of shared `buffer` (256 bytes), which thread (63, 0, 0) wrote",
         "no barrier orders the two", "ld.shared.b32 %r5, [%r4]"],
    ),
    "no barrier before the next write": (
        f"{IN}st.shared.b32 [%r3], %r5;\nbar.sync 0;\n{REVERSED}\nld.shared.b32 %r6, [%r4];\nst.shared.b32 [%r3], %r6;",
        256, 64, "race", ["writes byte", "which thread (63, 0, 0) read"],
    ),
    "two threads write one word": (
        "mov.b32 %r1, buffer;\nst.shared.b32 [%r1], %t;", 256, 64, "race",
        ["writes byte 0 of shared `buffer`", "writes at the same time"],
    ),
    "unwritten shared memory": (
        f"{MINE}\nld.shared.b32 %r5, [%r3];\n{STORE}", 256, 64, "unwritten",
        ["thread (0, 0, 0) reads byte 0 of shared `buffer` (256 bytes), which nobody wrote"],
    ),
    "unwritten output": (
        f"{kernels.at_thread('%p1', 4)}\nld.global.b32 %r5, [%d63];\n{STORE}", 0, 64, "unwritten",
        ["reads byte 0 of global `k_1` (256 bytes), which nobody wrote"],
    ),
    "outside of an argument": (
        f"{AT}\nld.global.b32 %r5, [%d63+4];\n{STORE}", 0, 64, "bounds",
        ["thread (63, 0, 0) reads 4 bytes outside of its memory: byte 256 of global `k_0` (256 bytes)"],
    ),
    "outside of shared memory": (
        f"{IN}st.shared.b32 [%r3+-4], %r5;", 256, 64, "bounds", ["thread (0, 0, 0) writes 4 bytes outside", "byte -4"],
    ),
    "the address of shared memory added twice": (
        f"{IN}mov.b32 %r9, buffer;\nadd.u32 %r9, %r9, %r9;\nst.shared.b32 [%r9], %r5;", 256, 64, "bounds",
        ["thread (0, 0, 0) writes 4 bytes outside"],
    ),
    "misaligned": (
        f"{AT}\nld.global.v2.b32 {{%r5, %r6}}, [%d63];\n{STORE}", 0, 64, "alignment",
        ["thread (1, 0, 0) reads 8 bytes of byte 4 of global `k_0`", "not aligned to 8 bytes"],
    ),
    "a barrier for half of the block": (
        "setp.gt.u32 %q1, %t, 31;\n@%q1 bra END;\nbar.sync 0;\nEND:", 0, 64, "barrier",
        ["a barrier that not all threads reach", "32 threads, (0, 0, 0) to (31, 0, 0), at `bar.sync 0`",
         "32 threads, (32, 0, 0) to (63, 0, 0), ended"],
    ),
    "a barrier for part of a warp": (
        "setp.gt.u32 %q1, %t, 15;\n@%q1 bra ELSE;\nbar.sync 0;\nbra END;\nELSE:\nbar.sync 0;\nEND:", 0, 32, "barrier",
        ["divergent barrier", "(0, 0, 0) here and (16, 0, 0)"],
    ),
    "a shuffle for part of a warp": (
        "setp.gt.u32 %q1, %t, 15;\n@%q1 bra END;\nshfl.sync.bfly.b32 %r1, %t, 1, 31, -1;\nEND:", 0, 32, "deadlock",
        ["16 threads, (0, 0, 0) to (15, 0, 0), at `shfl.sync.bfly.b32"],
    ),
    "a shuffle with a mask without itself": (
        "shfl.sync.bfly.b32 %r1, %t, 1, 31, 0xFFFF;", 0, 32, "barrier",
        ["thread (16, 0, 0) has a mask that does not name it"],
    ),
    "two counts at one barrier": (
        "setp.gt.u32 %q1, %t, 31;\n@%q1 bar.sync 1, 64;\n@!%q1 bar.sync 1, 32;", 0, 64, "barrier",
        ["comes to barrier 1 for 32 threads, others wait there for 64"],
    ),
    "a loop without an end": ("LOOP:\nbra LOOP;", 0, 32, "deadlock", ["does not come to an end"]),
    "a barrier and a named one": (
        "setp.gt.u32 %q1, %t, 31;\n@%q1 bra ELSE;\nbar.sync 1, 64;\nbra END;\nELSE:\nbar.sync 2, 64;\nEND:",
        0, 64, "barrier",
        ["at `bar.sync 1, 64`", "at `bar.sync 2, 64`"],
    ),
}  # fmt: skip


def text_of(name: str) -> str:
    body, shared, *_ = FAULTS[name]
    return kernels.module(kernels.kernel(body, 2, shared=shared))


def launch(text: str, threads: int, grid: int = 1) -> ptx.Report:
    a, b = np.arange(64, dtype=np.uint32), np.zeros(64, np.uint32)
    return ptx.launch(text, "k", (grid,), (threads,), [a, b], unwritten=[1])


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_found(name, monkeypatch):
    monkeypatch.setattr(sys.modules[ptx.launch.__module__], "STEPS", 1000)
    _, _, block, kind, parts = FAULTS[name]
    with pytest.raises(PtxError) as caught:
        launch(text_of(name), block)
    error = caught.value
    assert error.kind == kind, error
    for part in parts:
        assert part in str(error)
    assert error.kernel == "k" and error.block == (0, 0, 0) and error.line > 0


def test_ptxas_accepts_the_faults(tmp_path: Path):
    entries = [kernels.kernel(f[0], 2, f"k{n}", f[1]) for n, f in enumerate(FAULTS.values())]
    assert kernels.assemble(kernels.module(*entries), tmp_path) == ""


def test_both_threads_of_a_race_are_attributes():
    with pytest.raises(PtxError) as caught:
        launch(text_of("no barrier"), 64)
    assert caught.value.threads == ((0, 0, 0), (63, 0, 0))


def test_two_blocks_at_one_element_are_a_race():
    with pytest.raises(PtxError, match=r"of block \(0, 0, 0\) writes .* of block \(1, 0, 0\) writes at the same"):
        launch(kernels.module(kernels.kernel(f"mov.b32 %r5, 1;\n{STORE}")), 32, grid=2)


def test_two_blocks_read_one_element():
    launch(kernels.module(kernels.kernel(f"{AT}\nld.global.b32 %r5, [%d63];")), 32, grid=2)


SAME = "mov.b32 %r1, buffer;\nmov.b32 %r5, {};\nst.shared.b32 [%r1], %r5;\nbar.sync 0;\nld.shared.b32 %r5, [%r1];\n"


def test_lanes_of_a_warp_may_store_one_value_to_one_address():
    a, out = np.zeros((2, 32), np.uint32)
    ptx.launch(kernels.module(kernels.kernel(SAME.format(7) + STORE, shared=64)), "k", (1,), (32,), [a, out])
    np.testing.assert_array_equal(out, 7)


@pytest.mark.parametrize(("value", "threads"), [("%t", 32), ("7", 64)])
def test_stores_of_other_values_or_other_warps_to_one_address_are_a_race(value, threads):
    with pytest.raises(PtxError, match="writes at the same time"):
        launch(kernels.module(kernels.kernel(SAME.format(value) + STORE, shared=64)), threads)


def test_a_block_writes_what_another_one_reads():
    body = f"{AT}\nmov.u32 %r6, %ctaid.x;\nsetp.eq.s32 %q1, %r6, 0;\n"
    body += "@%q1 ld.global.b32 %r5, [%d63];\n@!%q1 st.global.b32 [%d63], %t;"
    with pytest.raises(PtxError, match=r"block \(1, 0, 0\) writes .* of block \(0, 0, 0\) read"):
        launch(kernels.module(kernels.kernel(body)), 32, grid=2)


def test_atomic_changes_of_several_blocks_are_no_race():
    body = "atom.global.add.u32 %r5, [%p0], 1;"
    a = np.zeros(1, np.uint32)
    ptx.launch(kernels.module(kernels.kernel(body, 1)), "k", (3,), (64,), [a])
    assert a[0] == 192


def test_a_barrier_mends_the_race():
    body = FAULTS["no barrier"][0].replace("st.shared.b32 [%r3], %r5;", "st.shared.b32 [%r3], %r5;\nbar.sync 0;")
    b = np.zeros(64, np.uint32)
    text = kernels.module(kernels.kernel(body, 2, shared=256))
    ptx.launch(text, "k", (1,), (64,), [np.arange(64, dtype=np.uint32), b], unwritten=[1])
    np.testing.assert_array_equal(b, np.arange(64)[::-1])


def test_a_fault_leaves_the_arrays_as_they_were():
    body = f"mov.b32 %r5, 9;\n{STORE}\ntrap;"
    b = np.zeros(64, np.uint32)
    with pytest.raises(PtxError, match="stops at a trap"):
        ptx.launch(kernels.module(kernels.kernel(body)), "k", (1,), (64,), [np.zeros(64, np.uint32), b])
    assert not b.any()


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("frobnicate.b32 %r1, %r2;", "does not know the instruction `frobnicate.b32 %r1, %r2`"),
        ("add.wobble.s32 %r1, %r2, %r3;", "does not know `.wobble` of the instruction"),
        ("add.s32 %r1, %r2, %r999;", "operand `%r999` of `add.s32 %r1, %r2, %r999` is not known"),
        ("add.s64 %r1, %d2, %d3;", "writes .s64 to %r1, which is .b32"),
        ("bra NOWHERE;", "branches to NOWHERE, which does not exist"),
        (".wild .b32 x;", "directive `.wild .b32 x` is not supported"),
    ],
)
def test_what_is_not_known_is_refused_with_its_line(body, message):
    text = kernels.module(kernels.kernel(body))
    with pytest.raises(PtxError) as caught:
        launch(text, 32)
    assert message in str(caught.value)
    assert text.splitlines()[caught.value.line - 1] == body


def test_the_source_line_of_an_instruction_is_named():
    body = FAULTS["no barrier"][0].replace("ld.shared", ".loc 1 12 3\nld.shared")
    text = kernels.module(kernels.kernel(body, 2, shared=256)) + '.file 1 "model.py"\n'
    with pytest.raises(PtxError) as caught:
        launch(text, 64)
    assert caught.value.source == ("model.py", 12) and "model.py:12" in str(caught.value)


def test_lines_of_the_caller_are_cited():
    text = text_of("no barrier")
    line = 1 + next(n for n, line in enumerate(text.splitlines()) if line.startswith("ld.shared"))
    with pytest.raises(PtxError, match="at S_local = S_shared"):
        ptx.launch(text, "k", (1,), (64,), [np.zeros(64, np.uint32)] * 2, lines={line: "S_local = S_shared[63 - t]"})


@pytest.mark.parametrize(
    ("grid", "block", "args", "message"),
    [
        ((1,), (2048,), 2, "at most 1024 threads"),
        ((0,), (32,), 2, r"the grid \(0,\) has to be"),
        ((1,), (32,), 1, "has 2 parameters, not 1"),
    ],
)
def test_a_launch_that_cannot_be_is_refused(grid, block, args, message):
    with pytest.raises(PtxError, match=message):
        ptx.launch(kernels.module(kernels.kernel("")), "k", grid, block, [np.zeros(64, np.uint32)] * args)


def test_the_block_a_kernel_is_compiled_for():
    text = kernels.module(kernels.kernel("")).replace(")\n{", ")\n.reqntid 32, 1, 1\n{")
    with pytest.raises(PtxError, match=r"compiled for blocks of \(32, 1, 1\), not of \(64, 1, 1\)"):
        launch(text, 64)


def test_a_kernel_that_is_not_there():
    with pytest.raises(PtxError, match="no kernel m; the text has k"):
        ptx.launch(kernels.module(kernels.kernel("")), "m", (1,), (32,), [])


def test_local_memory_that_nobody_wrote():
    declarations = ".local .align 4 .b8 depot[16];\n.reg .b64 %SP;"
    body = "mov.b64 %SP, depot;\nst.local.b32 [%SP], %t;\nld.local.b32 %r1, [%SP];\nld.local.b32 %r2, [%SP+8];"
    with pytest.raises(
        PtxError, match=r"thread \(0, 0, 0\) reads byte 8 of local `depot` \(16 bytes\), which nobody wrote"
    ):
        launch(kernels.module(kernels.kernel(body, declarations=declarations)), 32)
