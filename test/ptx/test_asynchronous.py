"""Kernels with asynchronous copies and products: right as they are, and each fault planted in them is named."""

from __future__ import annotations

from pathlib import Path

import pytest
from harness import pipelines
from harness import ptx as kernels

from tir_mlir.errors import PtxError

RUNS = {
    "product": (pipelines.TENSOR_PIPELINE, pipelines.run_product, "sm_90a"),
    "sums": (pipelines.COPY_PIPELINE, pipelines.run_sums, "sm_80"),
    "increment": (pipelines.BULK_COPY, pipelines.run_increment, "sm_90a"),
}


BLOCKS = 3
WIDTHS = {"product": (160, 256), "sums": (96, 128, 256), "increment": (96, 128, 256)}
"""Threads of a block: `wgmma` needs a whole warpgroup, beside the thread that copies."""


@pytest.mark.parametrize(("name", "threads"), [(name, threads) for name in RUNS for threads in WIDTHS[name]])
def test_a_pipeline_is_right(name, threads):
    text, run, _ = RUNS[name]
    assert run(text, threads, BLOCKS) == 0


@pytest.mark.parametrize("name", RUNS)
def test_ptxas_accepts_a_pipeline(name, tmp_path: Path):
    text, _, target = RUNS[name]
    assert kernels.assemble(text, tmp_path, target) == ""


WAIT_FULL = """WAIT_FULL:
mbarrier.try_wait.parity.shared.b64 %ready, [%full], %r;
@!%ready bra WAIT_FULL;
"""
WAIT_EMPTY = WAIT_FULL.replace("FULL", "EMPTY").replace("full", "empty")
WAIT = WAIT_FULL.replace("_FULL", "").replace("%full", "%bar").replace("%r;", "0;")

# pipeline, what is replaced, by what, kind of the fault (None: wrong numbers), part of the message
FAULTS = {
    # waits
    "no wait for the tile": ("product", WAIT_FULL, "", "race", "which an asynchronous copy of an mbarrier wrote"),
    "no wait for the free stage": ("product", WAIT_EMPTY, "", "barrier", "one too many"),
    "no wait for the product": (
        "product", "wgmma.wait_group.sync.aligned 0;\n", "", "race", "which an asynchronous wgmma of a warpgroup read"),
    "a wait for all but one product": (
        "product", "wait_group.sync.aligned 0", "wait_group.sync.aligned 1", "race", "wgmma"),
    "no commit of the product": (
        "product", "wgmma.commit_group.sync.aligned;\n", "", "race", "which an asynchronous wgmma of a warpgroup read"),
    "no wait for a copy": (
        "sums", "cp.async.wait_group 1;\n", "", "race", "which an asynchronous copy of a thread wrote"),
    "a wait for one copy too few": (
        "sums", "cp.async.wait_group 1", "cp.async.wait_group 2", "race", "asynchronous copy of a thread wrote"),
    "no commit of a copy": (
        "sums", "@%some cp.async.ca.shared.global [%x], [%p], 4;\ncp.async.commit_group;\n",
        "@%some cp.async.ca.shared.global [%x], [%p], 4;\n", "race", "asynchronous copy of a thread wrote"),
    "no wait for the bulk copy": ("increment", WAIT, "", "race", "which an asynchronous copy of an mbarrier wrote"),
    # phases
    "the other phase of the tile": (
        "product", "shr.u32 %r, %i, 1;\nand.b32 %r, %r, 1;\nmad.lo.u32 %full",
        "shr.u32 %r, %i, 1;\nxor.b32 %r, %r, 1;\nand.b32 %r, %r, 1;\nmad.lo.u32 %full", "race",
        "copy of an mbarrier wrote"),
    "the other phase of the free stage": (
        "product", "xor.b32 %r, %r, 1;\n", "", "deadlock",
        "`mbarrier.try_wait.parity.shared.b64 %ready, [%empty], %r`"),
    "a phase that never comes": ("increment", "[%bar], 0;\n@!", "[%bar], 1;\n@!", "race", "copy of an mbarrier wrote"),
    # counts
    "one arrival too few": (
        "product", "@%first mbarrier.init.shared.b64 [%bar], 1", "@%first mbarrier.init.shared.b64 [%bar], 2",
        "deadlock", "1 of 2 arrived"),
    "an arrival too many": (
        "product", "[%bar+16], 128", "[%bar+16], 96", "barrier", "which counts 96 arrivals a phase: one too many"),
    "no arrival": ("product", "mbarrier.arrive.shared.b64 _, [%empty];\n", "", "deadlock", "0 of 128 arrived"),
    "too few bytes": ("product", "[%full], 9216", "[%full], 8192", "race", "copy of an mbarrier wrote"),
    "too many bytes": ("product", "[%full], 9216", "[%full], 16384", "deadlock", "7168 bytes are missing"),
    "no bytes": ("increment", "arrive.expect_tx.shared.b64 _, [%bar], 256", "arrive.shared.b64 _, [%bar]", "race",
                 "copy of an mbarrier wrote"),
    # addresses
    "one stage": ("product", "mad.lo.u32 %ta, %s, 8192, %ta;\nmov.b32 %tb", "mov.b32 %tb", "race", "%ta"),
    "stages of half the size": (
        "product", "mad.lo.u32 %ta, %s, 8192, %ta;\nmov.b32 %tb, tiles_b;\nmad.lo.u32 %tb, %s, 1024, %tb;\nshl",
        "mad.lo.u32 %ta, %s, 4096, %ta;\nmov.b32 %tb, tiles_b;\nmad.lo.u32 %tb, %s, 1024, %tb;\nshl", "race", "%ta"),
    "a tile that is not aligned": (
        "product",
        "mov.b32 %ta, tiles_a;\nmad.lo.u32 %ta, %s, 8192, %ta;\nmov.b32 %tb, tiles_b;\nmad.lo.u32 %tb, %s, 1024",
        "mov.b32 %ta, tiles_a+64;\nmad.lo.u32 %ta, %s, 8192, %ta;\nmov.b32 %tb, tiles_b;\nmad.lo.u32 %tb, %s, 1024",
        "alignment", "not aligned to 128 bytes"),
    "coordinates of another tile": ("product", "[%ma, {%x, %zero}]", "[%ma, {%zero, %x}]", None, ""),
    "two stages for three": (
        "sums", "rem.u32 %s, %next, 3", "rem.u32 %s, %next, 2", "race", ""),
    "a product of another stride": ("product", "4611686293305360384", "4611686087146930176", None, ""),
    "a product without swizzle": ("product", "%da, 4611686293305360384", "%da, 274877972480", None, ""),
    # barriers and fences
    "no barrier after the initialization": (
        "product", "bar.sync 0;\n", "", "race", "which thread (0, 0, 0) initializes"),
    "no initialization": (
        "product", "@%first mbarrier.init.shared.b64 [%bar], 1;\n", "", "unwritten", "as an mbarrier, which it is not"),
    "no barrier between the copies of two threads": ("sums", "bar.sync 0;\n", "", "race", "copy of a thread wrote"),
    "no barrier before the bulk copy": (
        "increment", "fence.proxy.async.shared::cta;\nbar.sync 0;", "fence.proxy.async.shared::cta;", "race", ""),
    "no proxy fence": (
        "increment", "fence.proxy.async.shared::cta;\n", "", "race", "without a `fence.proxy.async` after the write"),
    "a proxy fence before the write": (
        "increment", "st.shared.b32 [%x], %v;\nfence.proxy.async.shared::cta;",
        "fence.proxy.async.shared::cta;\nst.shared.b32 [%x], %v;", "race", "without a `fence.proxy.async` after"),
    "an accumulator before the product is done": (
        "product", "wgmma.wait_group.sync.aligned 0;", "mov.b32 %w, %f0;\nwgmma.wait_group.sync.aligned 0;", "race",
        "accesses %f0, which a wgmma may not be done with"),
    "a copy that nobody waits for": (
        "increment", WAIT + "mad.lo.u32 %x, %t, 4, %buffer;\nld.shared.b32 %v, [%x];\nadd.s32 %v, %v, 1;\n"
        "st.shared.b32 [%x], %v;\nfence.proxy.async.shared::cta;\nbar.sync 0;\n"
        "@%first cp.async.bulk.global.shared::cta.bulk_group [%out], [%buffer], 256;\n", "", "deadlock",
        "nobody waits for"),
    "half of a warpgroup": (
        "product", "wgmma.fence.sync.aligned;\n", "setp.lt.u32 %q, %t, 64;\n@%q bra END;\nwgmma.fence.sync.aligned;\n",
        "deadlock", "64 threads, (64, 0, 0) to (127, 0, 0), at `wgmma.fence"),
}  # fmt: skip


@pytest.mark.parametrize(("name", "threads"), [(name, n) for name, fault in FAULTS.items() for n in WIDTHS[fault[0]]])
def test_a_planted_fault_is_found(name, threads):
    pipeline, old, new, kind, message = FAULTS[name]
    text, run, _ = RUNS[pipeline]
    assert old in text
    if kind is None:
        assert run(text.replace(old, new, 1), threads, BLOCKS) > 0
        return
    with pytest.raises(PtxError) as caught:
        run(text.replace(old, new, 1), threads, BLOCKS)
    assert caught.value.kind == kind, caught.value
    assert message in str(caught.value)


@pytest.mark.parametrize("threads", [96, 128, 256])
@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_wait_that_one_block_leaves_out(block, threads):
    text = pipelines.COPY_PIPELINE
    leave = f"mov.u32 %x, %ctaid.x;\nsetp.eq.u32 %q, %x, {block};\n@!%q cp.async.wait_group 1;\n"
    with pytest.raises(PtxError, match="which an asynchronous copy of a thread wrote") as caught:
        pipelines.run_sums(text.replace("cp.async.wait_group 1;\n", leave), threads, BLOCKS)
    assert caught.value.block == (block, 0, 0)
