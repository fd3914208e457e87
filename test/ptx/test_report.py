"""What a report counts: passes over banks, sectors, divergent branches, barriers, instructions; its table."""

from __future__ import annotations

import numpy as np
import pytest
from harness import ptx as kernels

from tir_mlir import ptx
from tir_mlir.ptx.report import Report


def launch(body: str, threads: int = 32, shared: int = 16384, grid: int = 1, words: int = 8192) -> Report:
    text = kernels.module(kernels.kernel(body, 1, shared=shared))
    return ptx.launch(text, "k", (grid,), (threads,), [np.zeros(words, np.uint32)])


def shared_at(expression: str) -> str:
    return f"mov.b32 %r1, buffer;\n{expression}\nadd.s32 %r3, %r1, %r2;\n"


@pytest.mark.parametrize(("stride", "passes"), [(1, 1), (2, 2), (3, 1), (8, 8), (32, 32), (33, 1)])
def test_passes_of_a_stride_of_words(stride, passes):
    report = launch(shared_at(f"mul.lo.u32 %r2, %t, {4 * stride};") + "st.shared.b32 [%r3], %t;")
    assert (report.shared_requests, report.shared_passes, report.bank_conflicts) == (1, passes, passes - 1)


def test_lanes_that_read_one_word_share_a_pass():
    body = shared_at("mov.b32 %r2, 0;") + "setp.eq.s32 %q1, %t, 0;\n@%q1 st.shared.b32 [%r3], %t;\nbar.sync 0;\n"
    report = launch(body + "ld.shared.b32 %r5, [%r3];")
    assert (report.shared_requests, report.shared_passes) == (2, 2)


@pytest.mark.parametrize(("size", "name", "passes"), [(8, "v2.b32", 2), (16, "v4.b32", 4)])
def test_wide_accesses_take_as_many_passes_as_their_words(size, name, passes):
    values = ", ".join(["%t"] * (size // 4))
    report = launch(shared_at(f"mul.lo.u32 %r2, %t, {size};") + f"st.shared.{name} [%r3], {{{values}}};")
    assert (report.shared_passes, report.bank_conflicts) == (passes, 0)


@pytest.mark.parametrize(("stride", "sectors"), [(1, 4), (2, 8), (8, 32), (64, 32)])
def test_sectors_of_a_stride_of_words(stride, sectors):
    report = launch(kernels.at_thread("%p0", 4 * stride) + "\nst.global.b32 [%d63], %t;")
    assert (report.global_requests, report.sectors, report.sectors_least) == (1, sectors, 4)


def test_shared_memory_of_a_block_is_what_is_declared_and_dynamic():
    dynamic = ".extern .shared .align 16 .b8 more[];"
    text = kernels.module(dynamic + "\n" + kernels.kernel("", 0, shared=512))
    assert ptx.launch(text, "k", (1,), (32,), [], shared_bytes=4096).shared_bytes == 512 + 4096


def test_a_loop_counts_each_turn():
    body = (
        shared_at("shl.b32 %r2, %t, 2;") + "mov.b32 %r9, 0;\nLOOP:\nst.shared.b32 [%r3], %t;\nadd.s32 %r3, %r3, 128;\n"
    )
    body += "add.s32 %r9, %r9, 1;\nsetp.lt.u32 %q1, %r9, 5;\n@%q1 bra LOOP;"
    report = launch(body)
    assert report.shared_requests == 5 and report.instructions["st.shared.b32"] == 5
    assert (report.branches, report.divergent) == (5, 0)


def test_divergent_branches_are_of_warps():
    report = launch("setp.lt.u32 %q1, %t, 40;\n@%q1 bra END;\nadd.s32 %r1, %r1, 1;\nEND:", threads=64)
    assert (report.branches, report.divergent) == (2, 1)


def test_barriers_are_of_blocks():
    assert launch("bar.sync 0;\nbar.sync 1;", threads=64, grid=3).barriers == 6


def test_blocks_in_batches_count_and_race_alike(monkeypatch):
    import sys

    body = kernels.at_thread("%p0", 4) + "\nmov.u32 %r5, %ctaid.x;\nmad.wide.u32 %d63, %r5, 256, %d63;\n"
    store = "ld.global.b32 %r7, [%d63];\nst.global.b32 [%d63], %r5;\nbar.sync 0;"
    whole = launch(body + store, threads=64, grid=5)
    monkeypatch.setattr(sys.modules[ptx.launch.__module__], "LANES", 64)
    parts = launch(body + store, threads=64, grid=5)
    assert str(whole) == str(parts)
    with pytest.raises(ptx.PtxError, match=r"of block \(1, 0, 0\) reads .* of block \(0, 0, 0\) wrote"):
        launch(body.replace("%r5, 256", "%r5, 128") + store, threads=64, grid=5)


def test_the_table():
    report = launch(shared_at("shl.b32 %r2, %t, 3;") + "st.shared.b32 [%r3], %t;\nbar.sync 0;")
    assert str(report).splitlines()[:10] == [
        "kernel k: grid 1 x 1 x 1, block 32 x 1 x 1",
        "",
        "instructions of warps            9",
        "branches of warps                0  0 divergent",
        "barriers of blocks               1",
        "shared requests                  1  2 passes each, 1 by conflicts",
        "global requests                  0  0 sectors each, 0 are needed",
        "",
        "  line  requests   each  least  instruction",
        "    19         1      2      1  st.shared.b32 [%r3], %t",
    ]
