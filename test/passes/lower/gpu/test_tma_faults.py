"""Faults planted in the PTX of copies by the TMA and products of warpgroups: the machine names each of them."""

import re
from functools import cache

import numpy as np
import pytest
from programs.tma_products import simt, warpgroups

from tir_mlir import build, ptx
from tir_mlir.ptx.tensors import TensorMap

SIZE = {"wgmma": (128, 64, 320), "shared": (128, 64, 320), "threads": (32, 32, 96)}
BOXES = {"wgmma": ((128, 64), (64, 64), 128), "shared": ((128, 64), (64, 64), 128), "threads": ((32, 16), (16, 32), 0)}


@cache
def kernel(name):
    """The text of a kernel, and how it is launched."""
    make = {
        "wgmma": lambda: warpgroups(SIZE[name], 3, True),
        "shared": lambda: warpgroups(SIZE[name], 3, False),
        "threads": lambda: simt(SIZE[name], 3, True),
    }[name]
    lib = build(make(), target="sm_90a")
    (launch,) = lib.report().launches
    return lib.assembly, launch.grid, launch.block, launch.shared_bytes


def run(name, text):
    (m, n, k), (first, second, swizzle), random = SIZE[name], BOXES[name], np.random.default_rng(0)
    a, b = (random.integers(-3, 4, s).astype(np.float16) for s in ((m, k), (k, n)))
    c, (_, grid, block, shared) = np.zeros((m, n), np.float32), kernel(name)
    maps = [TensorMap(a, first, swizzle), TensorMap(b, second, swizzle)]
    ptx.launch(text, "main_kernel", grid, block, [c, *maps], shared, unwritten=[0])
    np.testing.assert_array_equal(c, a.astype(np.float32) @ b)


def change(pattern, replacement, number=0):
    """An edit of one match of a pattern, by its number."""

    def edit(text):
        match = list(re.finditer(pattern, text))[number]
        return text[: match.start()] + match.expand(replacement) + text[match.end() :]

    return edit


def change_all(pattern, replacement):
    def edit(text):
        assert re.search(pattern, text)
        return re.sub(pattern, replacement, text)

    return edit


WAIT = r"(mbarrier.try_wait.parity\S* over, \[%\w+\]), %\w+;"
INIT = r"(mbarrier.init\S* \[%\w+\]), %\w+;"
ARRIVE = r"mbarrier.arrive.shared::cta.b64 _, \[%\w+\];"
EXPECT = r"(mbarrier.arrive.expect_tx\S* _, \[%\w+\]), %\w+;"
FAULTS = {
    "no fence before a product": ("wgmma", change(r"wgmma.fence.sync.aligned;", ""), "wgmma.fence"),
    "no fence, the last product": ("wgmma", change_all(r"wgmma.fence.sync.aligned;", ""), "wgmma.fence"),
    "a wait for one product fewer": ("wgmma", change_all(r"(wgmma.wait_group\S*\s+)1;", r"\g<1>2;"), "race"),
    "no wait in the loop": ("wgmma", change_all(r"wgmma.wait_group\S*\s+1;", ""), "race"),
    "no wait at the end": ("wgmma", change_all(r"wgmma.wait_group\S*\s+0;", ""), "may not be done with"),
    "no commit": ("wgmma", change_all(r"wgmma.commit_group\S*;", ""), "race"),
    "the phase of free tiles": ("wgmma", change(WAIT, r"\1, 0;"), "deadlock"),
    "the phase of full tiles": ("wgmma", change(WAIT, r"\1, 1;", -3), "race|nobody wrote|nobody waits|unwritten"),
    "a count too high": ("wgmma", change(INIT, r"\1, 9;", 3), "deadlock"),
    "a count too low": ("wgmma", change(INIT, r"\1, 7;", 3), "one too many|race"),
    "a count of full tiles": ("wgmma", change(INIT, r"\1, 2;"), "deadlock"),
    "no arrival at free tiles": ("wgmma", change_all(ARRIVE, ""), "deadlock"),
    "too few bytes": ("wgmma", change_all(EXPECT, r"\1, 8192;"), "race|too many|nobody waits|deadlock"),
    "too many bytes": ("wgmma", change_all(EXPECT, r"\1, 32768;"), "deadlock"),
    "no expected bytes": ("wgmma", change_all(EXPECT, r"\1, 0;"), "race|too many|nobody waits|deadlock"),
    "a copy less": ("wgmma", change(r"cp.async.bulk.tensor[^;]*;", ""), "deadlock"),
    "no barrier behind the start of mbarriers": ("wgmma", change(r"bar.sync\s+0;", ""), "race"),
    "a product waits late, tiles are filled by a thread": (
        "shared", change_all(r"wgmma.wait_group\S*\s+0;", ""), "race|may not be done with"),
    "no barrier before a tile is filled": ("shared", change(r"bar.sync\s+0;", "", -1), "race"),
    "the phase, with the copies of a thread": ("shared", change(WAIT, r"\1, 1;", -1), "race|nobody w|unwritten"),
    "threads: no arrival": ("threads", change_all(ARRIVE, ""), "deadlock"),
    "threads: the phase of full tiles": ("threads", change(WAIT, r"\1, 1;", -1), "race|nobody w|unwritten"),
    "threads: the phase of free tiles": ("threads", change(WAIT, r"\1, 0;"), "deadlock"),
    "threads: too many bytes": ("threads", change_all(EXPECT, r"\1, 4096;"), "deadlock"),
    "threads: lanes are not in step": ("threads", change_all(r"bar.warp.sync[^;]*;", ""), "race"),
}  # fmt: skip


@pytest.mark.few(1)
@pytest.mark.parametrize("name", SIZE)
def test_without_a_fault(name):
    run(name, kernel(name)[0])


@pytest.mark.few(2)
@pytest.mark.parametrize("fault", FAULTS)
def test_a_fault_is_named(fault):
    name, edit, word = FAULTS[fault]
    with pytest.raises(ptx.PtxError) as caught:
        run(name, edit(kernel(name)[0]))
    assert re.search(word, f"{caught.value.kind} {caught.value}"), caught.value
