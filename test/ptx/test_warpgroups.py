"""`wgmma` beside NumPy: types, layouts of operands in shared memory, swizzles, an operand in registers."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from harness import ptx as kernels

from tir_mlir import ptx

M, N = 64, 16
_rng = np.random.default_rng(9)
STORED = {"f16": np.float16, "bf16": np.uint16, "tf32": np.uint32, "s8": np.int8, "u8": np.uint8}
MODES = {0: 0, 128: 1, 64: 2, 32: 3}


def numbers(type_, shape):
    """Small integers of a type: as stored, and their values."""
    values = _rng.integers(0 if type_ == "u8" else -8, 8, shape)
    if type_ == "bf16":
        return (values.astype(np.float32).view(np.uint32) >> 16).astype(np.uint16), values
    if type_ == "tf32":
        return values.astype(np.float32).view(np.uint32), values
    return values.astype(STORED[type_]), values


def pitch(swizzle):
    """The distance of groups of eight rows."""
    return 1024 if swizzle else 128


def image(matrix, swizzle, rows_first, groups):
    """The bytes of an operand [row, k] in shared memory, by the canonical layouts of the manual. `pitch`: from one
    group of 8 to the next."""
    size = matrix.itemsize
    raw = np.zeros(16384, np.uint8)
    width = swizzle or 16
    for r in range(matrix.shape[0]):
        for k in range(matrix.shape[1]):
            fast, slow = (r, k) if rows_first else (k, r)
            line, column = divmod(fast * size, width)
            byte = slow % 8 * width + column
            byte += line * 4096 + slow // 8 * groups if rows_first or not swizzle else slow // 8 * groups
            if swizzle:
                byte ^= (byte >> 7 & {32: 1, 64: 3, 128: 7}[swizzle]) << 4
            raw[byte : byte + size] = np.frombuffer(matrix[r, k].tobytes(), np.uint8)
    return raw


def descriptor(swizzle, rows_first, groups):
    """Leading and stride offsets: without a swizzle the roles of the two swap with the order of the elements."""
    leading, stride = (4096, groups) if swizzle or not rows_first else (groups, 4096)
    return leading >> 4 << 16 | stride >> 4 << 32 | MODES[swizzle] << 62


def product_kernel(type_, swizzle=128, trans=(0, 0), registers=False, name="k"):
    k = 32 // np.dtype(STORED[type_]).itemsize
    total = "s32" if type_ in ("s8", "u8") else "f32"
    descriptors = [descriptor(swizzle, bool(t), pitch(swizzle)) for t in trans]
    d = ", ".join(f"%r{i}" for i in range(N // 2))
    flags = "" if total == "s32" else ", 1, 1"
    if type_ in ("f16", "bf16"):
        flags += f", {trans[1]}" if registers else f", {trans[0]}, {trans[1]}"
    first = "{%r40, %r41, %r42, %r43}" if registers else "%d1"
    copies = "\n".join(
        f"""mad.wide.u32 %d10, %t, 16, %p{i};
mad.lo.u32 %r20, %t, 16, %r{30 + i};
mov.b32 %r25, 0;
LOOP{i}:
ld.global.v4.b32 {{%r21, %r22, %r23, %r24}}, [%d10];
st.shared.v4.b32 [%r20], {{%r21, %r22, %r23, %r24}};
add.s64 %d10, %d10, 2048;
add.s32 %r20, %r20, 2048;
add.s32 %r25, %r25, 1;
setp.lt.u32 %q1, %r25, 8;
@%q1 bra LOOP{i};"""
        for i in (0, 1)
    )
    body = f"""mov.b32 %r30, buffer;
add.s32 %r31, %r30, 16384;
{copies}
mad.wide.u32 %d10, %t, 16, %p2;
ld.global.v4.b32 {{%r40, %r41, %r42, %r43}}, [%d10];
fence.proxy.async.shared::cta;
bar.sync 0;
shr.u32 %r32, %r30, 4;
cvt.u64.u32 %d1, %r32;
or.b64 %d1, %d1, {descriptors[0]};
shr.u32 %r32, %r31, 4;
cvt.u64.u32 %d2, %r32;
or.b64 %d2, %d2, {descriptors[1]};
setp.ne.s32 %q1, %t, %t;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n{N}k{k}.{total}.{type_}.{type_} {{{d}}}, {first}, %d2, %q1{flags};
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
mad.wide.u32 %d10, %t, {2 * N}, %p3;
st.global.v4.b32 [%d10], {{%r0, %r1, %r2, %r3}};
st.global.v4.b32 [%d10+16], {{%r4, %r5, %r6, %r7}};"""
    return kernels.kernel(body, 4, name, shared=32768).replace(".align 128 .b8 buffer", ".align 1024 .b8 buffer")


CASES = [
    ("f16", 128, (0, 0), False), ("bf16", 128, (0, 0), False), ("tf32", 128, (0, 0), False), ("s8", 128, (0, 0), False),
    ("u8", 128, (0, 0), False), ("f16", 64, (0, 0), False), ("f16", 32, (0, 0), False), ("f16", 0, (0, 0), False),
    ("f16", 128, (1, 0), False), ("f16", 128, (0, 1), False), ("bf16", 128, (1, 1), False), ("f16", 64, (0, 1), False),
    ("f16", 128, (0, 0), True), ("bf16", 128, (0, 1), True),
]  # fmt: skip


@pytest.mark.parametrize(("type_", "swizzle", "trans", "registers"), CASES)
def test_product(type_, swizzle, trans, registers):
    k = 32 // np.dtype(STORED[type_]).itemsize
    (a, x), (b, y) = numbers(type_, (M, k)), numbers(type_, (N, k))
    images = [image(m, swizzle, bool(t), pitch(swizzle)) for m, t in zip((a, b), trans, strict=False)]
    t, r, e = np.arange(128)[:, None, None], np.arange(4)[None, :, None], np.arange(2)[None, None]
    rows, columns = t // 32 * 16 + t % 32 // 4 + 8 * (r % 2), t % 4 * 2 + e + 8 * (r // 2)
    words = np.ascontiguousarray(a[rows, columns]).view(np.uint8) if registers else np.zeros(2048, np.uint8)
    out = np.zeros((128, N // 2), np.int32 if type_ in ("s8", "u8") else np.float32)
    text = kernels.module(product_kernel(type_, swizzle, trans, registers))
    ptx.launch(text, "k", (1,), (128,), [*images, words, out], unwritten=[3])
    i, thread = np.arange(N // 2)[None], np.arange(128)[:, None]
    expected = (x @ y.T)[thread // 32 * 16 + thread % 32 // 4 + 8 * (i // 2 % 2), thread % 4 * 2 + i % 2 + 8 * (i // 4)]
    np.testing.assert_array_equal(out, expected)


def test_ptxas_accepts_the_kernels(tmp_path: Path):
    entries = [product_kernel(*case, name=f"k{n}") for n, case in enumerate(CASES)]
    assert kernels.assemble(kernels.module(*entries), tmp_path) == ""


def test_descriptors_that_differ_are_refused():
    text = kernels.module(product_kernel("f16")).replace("setp.ne.s32 %q1", "and.b64 %d2, %d2, -2;\nsetp.ne.s32 %q1")
    text = text.replace(
        "cvt.u64.u32 %d2, %r32;", "and.b32 %r33, %t, 64;\nadd.s32 %r32, %r32, %r33;\ncvt.u64.u32 %d2, %r32;"
    )
    images = [np.zeros(16384, np.uint8)] * 2
    with pytest.raises(ptx.PtxError, match=r"thread \(64, 0, 0\) has another descriptor than thread \(0, 0, 0\)"):
        ptx.launch(
            text, "k", (1,), (128,), [images[0], images[1].copy(), np.zeros(2048, np.uint8), np.zeros(1024, np.uint32)]
        )


def ones(text, threads=128, grid=1):
    """Run a product on zeros."""
    arrays = [np.zeros(n, np.uint8) for n in (16384, 16384, 2048, 4096)]
    ptx.launch(text, "k", (grid,), (threads,), arrays)


FENCES = {
    "none before the first product": ("wgmma.fence.sync.aligned;\n", "", "starts its first wgmma without"),
    "an accumulator that was set": (
        "wgmma.mma_async", "mov.b32 %r3, 0;\nwgmma.mma_async", "thread (0, 0, 0) accesses %r3, which a wgmma then"),
    "an operand that was set": (
        "wgmma.mma_async", "mov.b32 %r41, 0;\nwgmma.mma_async", "thread (0, 0, 0) accesses %r41, which a wgmma then"),
}  # fmt: skip


@pytest.mark.parametrize("name", FENCES)
def test_a_fence_of_registers_that_is_missing(name):
    old, new, message = FENCES[name]
    text = kernels.module(product_kernel("f16", registers=True))
    ones(text)
    with pytest.raises(ptx.PtxError, match=re.escape(message)) as caught:
        ones(text.replace(old, new))
    assert caught.value.kind == "race"


def test_products_of_another_shape_on_the_same_accumulators_need_a_fence():
    text = kernels.module(product_kernel("f16"))
    product = next(line for line in text.splitlines() if line.startswith("wgmma.mma_async"))
    ones(text.replace(product, f"{product}\n{product}"))
    narrow = product.replace("n16k16", "n8k16").replace(", %r4, %r5, %r6, %r7", "")
    with pytest.raises(ptx.PtxError, match=r"on %r0, an accumulator of another wgmma, without a `wgmma.fence`"):
        ones(text.replace(product, f"{product}\n{narrow}"))


def test_a_warpgroup_that_is_not_whole():
    with pytest.raises(ptx.PtxError, match="a warpgroup of 96 threads: it has 128"):
        ones(kernels.module(product_kernel("f16")), 96)


COPIES = """.version 8.0
.target sm_90a
.address_size 64
.visible .entry k(.param .u64 a, .param .u64 c) .reqntid THREADS, 1, 1
{
.reg .b32 %r<8>; .reg .b64 %rd<12>; .reg .f32 %f<4>; .reg .pred %p;
.shared .align 1024 .b8 s[4096];
mov.u32 %r0, %tid.x; shl.b32 %r1, %r0, 4; and.b32 %r1, %r1, 2047; mov.u32 %r2, s; add.s32 %r3, %r2, %r1;
ld.param.b64 %rd0, [a]; cvt.u64.u32 %rd1, %r1; add.s64 %rd2, %rd0, %rd1;
setp.gt.u32 %p, %r0, 127;
@%p bra END;
cp.async.cg.shared.global [%r3+2048], [%rd2], 16;
cp.async.commit_group;
cp.async.cg.shared.global [%r3], [%rd2], 16;
cp.async.commit_group;
cp.async.wait_group 0;
bar.sync 1, 128;
fence.proxy.async.shared::cta;
shr.u32 %r4, %r2, 4; cvt.u64.u32 %rd3, %r4; or.b64 %rd4, %rd3, 0x0000001000080000; add.s64 %rd5, %rd4, 128;
setp.eq.u32 %p, %r2, 0xffffffff;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %rd4, %rd5, %p, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
ld.param.b64 %rd6, [c]; mov.u32 %r5, %ctaid.x; shl.b32 %r6, %r5, 7; add.s32 %r6, %r6, %r0;
mul.wide.u32 %rd7, %r6, 4; add.s64 %rd8, %rd6, %rd7;
st.global.f32 [%rd8], %f0;
END:
ret;
}
"""


@pytest.mark.parametrize("threads", [128, 160, 256])
@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ("", None),
        ("fence.proxy.async.shared::cta;", "asynchronous copy of a thread wrote, is read asynchronously without"),
        ("cp.async.wait_group 0;", "which an asynchronous copy of a thread wrote"),
    ],
)
def test_copies_of_threads_for_a_product(threads, fault, message):
    """`cp.async` is of the generic proxy: it needs a proxy fence before a product reads what it wrote."""
    out = np.zeros((3, 128), np.float32)
    text = COPIES.replace("THREADS", str(threads)).replace(fault or "nothing", "")
    if message is None:
        ptx.launch(text, "k", (3,), (threads,), [np.ones(1024, np.float16), out])
        assert (out == 16).all()
        return
    with pytest.raises(ptx.PtxError, match=message):
        ptx.launch(text, "k", (3,), (threads,), [np.ones(1024, np.float16), out])
