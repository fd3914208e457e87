"""Accesses by generic addresses: each lane's memory is the one that its address lies in; ptxas accepts all of them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from harness import ptx as kernels

from tir_mlir import ptx
from tir_mlir.errors import PtxError

N = 64
A = np.arange(100, 100 + N, dtype=np.uint32)
STORE = f"{kernels.at_thread('%p1', 4)}\nst.global.b32 [%d63], %r5;"
SHARED = """mov.b32 %r1, buffer;
shl.b32 %r2, %t, 2;
add.s32 %r3, %r1, %r2;
st.shared.b32 [%r3], %t;
cvt.u64.u32 %d1, %r3;
cvta.shared.u64 %d1, %d1;
"""  # the word of the thread, which holds the number of the thread
GLOBAL = f"{kernels.at_thread('%p0', 4, '%d2')}\ncvta.global.u64 %d2, %d2;\n"
LOCAL = "mov.b64 %d3, depot;\nxor.b32 %r6, %t, 0x4000;\nst.local.b32 [%d3], %r6;\ncvta.local.u64 %d3, %d3;\n"
DEPOT = ".local .align 4 .b8 depot[4];"
BODIES = {
    "shared": (f"{SHARED}ld.b32 %r5, [%d1];\n", np.arange(N)),
    "global": (f"{GLOBAL}ld.b32 %r5, [%d2];\n", A),
    "local": (f"{LOCAL}ld.b32 %r5, [%d3];\n", np.arange(N) ^ 0x4000),
    "two memories in one warp": (
        f"{SHARED}{GLOBAL}and.b32 %r7, %t, 1;\nsetp.eq.s32 %q1, %r7, 0;\nselp.b64 %d4, %d1, %d2, %q1;\n"
        "ld.b32 %r5, [%d4];\n", np.where(np.arange(N) % 2 == 0, np.arange(N), A)),
    "a store": (f"{SHARED}add.u32 %r8, %t, 9;\nst.b32 [%d1], %r8;\nld.shared.b32 %r5, [%r3];\n", np.arange(N) + 9),
}  # fmt: skip
PAST_THE_END = f"{GLOBAL}ld.v2.b32 {{%r5, %r9}}, [%d2];\n"


def kernel_of(name: str, entry: str = "k") -> str:
    return kernels.kernel(BODIES[name][0] + STORE, name=entry, shared=4 * N, declarations=DEPOT)


def launch(kernel: str, threads: int, values: np.ndarray) -> np.ndarray:
    out = np.zeros(threads, np.uint32)
    ptx.launch(kernels.module(kernel), "k", (1,), (threads,), [values, out], unwritten=[1])
    return out


@pytest.mark.parametrize("name", BODIES)
def test_a_lane_accesses_the_memory_of_its_address(name):
    np.testing.assert_array_equal(launch(kernel_of(name), N, A), BODIES[name][1])


def test_bytes_that_nothing_reads_may_lie_past_the_end():
    np.testing.assert_array_equal(launch(kernels.kernel(PAST_THE_END + STORE), 1, A[:1]), A[:1])


def test_bytes_that_are_read_may_not():
    body = f"{PAST_THE_END}add.u32 %r5, %r5, %r9;\n{STORE}"
    with pytest.raises(PtxError, match=r"reads 8 bytes outside of its memory: byte 0 of global `k_0` \(4 bytes\)"):
        launch(kernels.kernel(body), 1, A[:1])


def test_ptxas_accepts_the_bodies(tmp_path: Path):
    entries = [kernel_of(name, f"k{n}") for n, name in enumerate(BODIES)]
    assert kernels.assemble(kernels.module(*entries), tmp_path) == ""
