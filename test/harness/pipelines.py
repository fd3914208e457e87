"""Kernels with asynchronous copies for tests of the PTX machine, as texts to plant faults in. Each block computes the
same into a part of its own of the result."""

from __future__ import annotations

import re

import numpy as np

from tir_mlir import ptx

WGMMA_STEPS = "\n".join(
    f"""add.s64 %a, %da, {2 * k};
add.s64 %b, %db, {2 * k};
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {{%f0, %f1, %f2, %f3}}, %a, %b, %more, 1, 1, 0, 0;
mov.pred %more, %yes;"""
    for k in range(4)
)
TENSOR_PIPELINE = f""".version 8.0
.target sm_90a
.address_size 64
// C[64, 8] = A[64, 256] * B[8, 256]^T of f16: a thread copies tiles of 64 columns in two stages by tensor maps,
// a warpgroup multiplies them
.visible .entry product(.param .align 64 .b8 map_a[128], .param .align 64 .b8 map_b[128], .param .u64 out)
.reqntid 256, 1, 1
{{
.reg .b32 %t, %i, %s, %r, %full, %empty, %bar, %ta, %tb, %x, %y, %zero, %w, %f<4>;
.reg .b64 %ma, %mb, %da, %db, %a, %b, %o, %p;
.reg .pred %q, %more, %yes, %first, %ready;
.shared .align 1024 .b8 tiles_a[16384];
.shared .align 1024 .b8 tiles_b[2048];
.shared .align 8 .b8 bars[32];
mov.u32 %t, %tid.x;
mov.b32 %zero, 0;
mov.b32 %bar, bars;
setp.eq.s32 %first, %t, 0;
@%first mbarrier.init.shared.b64 [%bar], 1;
@%first mbarrier.init.shared.b64 [%bar+8], 1;
@%first mbarrier.init.shared.b64 [%bar+16], 128;
@%first mbarrier.init.shared.b64 [%bar+24], 128;
fence.mbarrier_init.release.cluster;
bar.sync 0;
mov.b32 %i, 0;
setp.lt.u32 %q, %t, 128;
@%q bra CONSUMER;
setp.ne.s32 %q, %t, 128;
@%q bra END;
mov.b64 %ma, map_a;
cvta.param.u64 %ma, %ma;
mov.b64 %mb, map_b;
cvta.param.u64 %mb, %mb;
PRODUCE:
and.b32 %s, %i, 1;
shr.u32 %r, %i, 1;
xor.b32 %r, %r, 1;
and.b32 %r, %r, 1;
mad.lo.u32 %full, %s, 8, %bar;
add.s32 %empty, %full, 16;
WAIT_EMPTY:
mbarrier.try_wait.parity.shared.b64 %ready, [%empty], %r;
@!%ready bra WAIT_EMPTY;
mbarrier.arrive.expect_tx.shared.b64 _, [%full], 9216;
mov.b32 %ta, tiles_a;
mad.lo.u32 %ta, %s, 8192, %ta;
mov.b32 %tb, tiles_b;
mad.lo.u32 %tb, %s, 1024, %tb;
shl.b32 %x, %i, 6;
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%ta], [%ma, {{%x, %zero}}], [%full];
cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%tb], [%mb, {{%x, %zero}}], [%full];
add.s32 %i, %i, 1;
setp.lt.u32 %q, %i, 4;
@%q bra PRODUCE;
bra END;
CONSUMER:
setp.eq.s32 %yes, %zero, %zero;
setp.ne.s32 %more, %zero, %zero;
CONSUME:
and.b32 %s, %i, 1;
shr.u32 %r, %i, 1;
and.b32 %r, %r, 1;
mad.lo.u32 %full, %s, 8, %bar;
add.s32 %empty, %full, 16;
WAIT_FULL:
mbarrier.try_wait.parity.shared.b64 %ready, [%full], %r;
@!%ready bra WAIT_FULL;
mov.b32 %ta, tiles_a;
mad.lo.u32 %ta, %s, 8192, %ta;
mov.b32 %tb, tiles_b;
mad.lo.u32 %tb, %s, 1024, %tb;
shr.u32 %ta, %ta, 4;
shr.u32 %tb, %tb, 4;
cvt.u64.u32 %da, %ta;
cvt.u64.u32 %db, %tb;
or.b64 %da, %da, 4611686293305360384;
or.b64 %db, %db, 4611686293305360384;
wgmma.fence.sync.aligned;
{WGMMA_STEPS}
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
mbarrier.arrive.shared.b64 _, [%empty];
add.s32 %i, %i, 1;
setp.lt.u32 %q, %i, 4;
@%q bra CONSUME;
ld.param.b64 %o, [out];
cvta.to.global.u64 %o, %o;
mov.u32 %x, %ctaid.x;
mul.wide.u32 %p, %x, 2048;
add.s64 %o, %o, %p;
shr.u32 %x, %t, 5;
shl.b32 %x, %x, 4;
and.b32 %y, %t, 31;
shr.u32 %w, %y, 2;
add.s32 %x, %x, %w;
and.b32 %y, %t, 3;
shl.b32 %y, %y, 1;
mad.lo.u32 %x, %x, 8, %y;
mul.wide.u32 %p, %x, 4;
add.s64 %o, %o, %p;
st.global.v2.f32 [%o], {{%f0, %f1}};
st.global.v2.f32 [%o+256], {{%f2, %f3}};
END:
ret;
}}
"""

COPY_PIPELINE = """.version 7.0
.target sm_80
.address_size 64
// out[t] = sum over tiles of in[tile, 63 - t]: tiles of 64 words come by cp.async in three stages
.visible .entry sums(.param .u64 in, .param .u64 out)
.reqntid 64, 1, 1
{
.reg .b32 %t, %i, %s, %to, %from, %x, %sum, %v, %next;
.reg .b64 %in, %out, %p, %g;
.reg .pred %q, %some;
.shared .align 16 .b8 stages[768];
ld.param.b64 %in, [in];
cvta.to.global.u64 %in, %in;
ld.param.b64 %out, [out];
cvta.to.global.u64 %out, %out;
mov.u32 %x, %ctaid.x;
mul.wide.u32 %p, %x, 256;
add.s64 %out, %out, %p;
mov.u32 %t, %tid.x;
mov.b32 %sum, 0;
mul.wide.u32 %p, %t, 4;
add.s64 %g, %in, %p;
mov.b32 %to, stages;
mad.lo.u32 %to, %t, 4, %to;
mov.b32 %from, stages;
sub.s32 %x, 63, %t;
mad.lo.u32 %from, %x, 4, %from;
cp.async.ca.shared.global [%to], [%g], 4;
cp.async.commit_group;
cp.async.ca.shared.global [%to+256], [%g+256], 4;
cp.async.commit_group;
mov.b32 %i, 0;
LOOP:
cp.async.wait_group 1;
bar.sync 0;
add.s32 %next, %i, 2;
setp.lt.u32 %some, %next, 8;
rem.u32 %s, %next, 3;
mad.lo.u32 %x, %s, 256, %to;
mul.wide.u32 %p, %next, 256;
add.s64 %p, %g, %p;
@%some cp.async.ca.shared.global [%x], [%p], 4;
cp.async.commit_group;
rem.u32 %s, %i, 3;
mad.lo.u32 %x, %s, 256, %from;
ld.shared.b32 %v, [%x];
add.s32 %sum, %sum, %v;
add.s32 %i, %i, 1;
setp.lt.u32 %q, %i, 8;
@%q bra LOOP;
mul.wide.u32 %p, %t, 4;
add.s64 %p, %out, %p;
st.global.b32 [%p], %sum;
ret;
}
"""

BULK_COPY = """.version 8.0
.target sm_90a
.address_size 64
// out = in + 1 for 64 words: a bulk copy into shared memory, a change by 64 threads, a bulk copy out of it
.visible .entry increment(.param .u64 in, .param .u64 out)
.reqntid 64, 1, 1
{
.reg .b32 %t, %bar, %buffer, %x, %v;
.reg .b64 %in, %out, %p;
.reg .pred %first, %ready;
.shared .align 128 .b8 buffer[256];
.shared .align 8 .b8 bar[8];
ld.param.b64 %in, [in];
cvta.to.global.u64 %in, %in;
ld.param.b64 %out, [out];
cvta.to.global.u64 %out, %out;
mov.u32 %x, %ctaid.x;
mul.wide.u32 %p, %x, 256;
add.s64 %out, %out, %p;
mov.u32 %t, %tid.x;
setp.eq.s32 %first, %t, 0;
mov.b32 %bar, bar;
mov.b32 %buffer, buffer;
@%first mbarrier.init.shared.b64 [%bar], 1;
fence.mbarrier_init.release.cluster;
bar.sync 0;
@%first mbarrier.arrive.expect_tx.shared.b64 _, [%bar], 256;
@%first cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%buffer], [%in], 256, [%bar];
WAIT:
mbarrier.try_wait.parity.shared.b64 %ready, [%bar], 0;
@!%ready bra WAIT;
mad.lo.u32 %x, %t, 4, %buffer;
ld.shared.b32 %v, [%x];
add.s32 %v, %v, 1;
st.shared.b32 [%x], %v;
fence.proxy.async.shared::cta;
bar.sync 0;
@%first cp.async.bulk.global.shared::cta.bulk_group [%out], [%buffer], 256;
@%first cp.async.bulk.commit_group;
@%first cp.async.bulk.wait_group.read 0;
ret;
}
"""


def resized(text: str, threads: int) -> str:
    """COPY_PIPELINE or BULK_COPY (with a fault) for blocks of so many threads instead of 64."""
    sizes = {"63": threads - 1, "64": threads, "256": 4 * threads, "768": 12 * threads}
    head, size, body = text.partition(".address_size 64")
    return head + size + re.sub(r"\b(63|64|256|768)\b", lambda m: str(sizes[m.group()]), body)


def run_product(text: str, threads: int = 256, blocks: int = 1) -> float:
    """Run TENSOR_PIPELINE (with a fault); returns the largest error."""
    rng = np.random.default_rng(1)
    a, b = (rng.integers(-4, 4, (rows, 256)).astype(np.float16) for rows in (64, 8))
    out = np.zeros((blocks, 64, 8), np.float32)
    text = text.replace(".reqntid 256", f".reqntid {threads}")
    ptx.launch(text, "product", (blocks,), (threads,),
               [ptx.TensorMap(a, (64, 64), 128), ptx.TensorMap(b, (8, 64), 128), out], unwritten=[2])  # fmt: skip
    return float(np.abs(out - a.astype(np.float32) @ b.astype(np.float32).T).max())


def run_sums(text: str, threads: int = 64, blocks: int = 1) -> float:
    """Run COPY_PIPELINE (with a fault); returns the largest error."""
    data = np.random.default_rng(2).integers(0, 1000, (8, threads)).astype(np.uint32)
    out = np.zeros((blocks, threads), np.uint32)
    ptx.launch(resized(text, threads), "sums", (blocks,), (threads,), [data, out], unwritten=[1])
    return float(np.abs(out.astype(np.int64) - data.sum(0)[::-1].astype(np.int64)).max())


def run_increment(text: str, threads: int = 64, blocks: int = 1) -> float:
    """Run BULK_COPY (with a fault); returns the largest error."""
    data = np.arange(threads, dtype=np.uint32)
    out = np.zeros((blocks, threads), np.uint32)
    ptx.launch(resized(text, threads), "increment", (blocks,), (threads,), [data, out], unwritten=[1])
    return float(np.abs(out.astype(np.int64) - data - 1).max())
